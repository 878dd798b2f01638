package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/services/client"
	"umpire/services/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve returns a client of a server that answers as handle does.
func serve(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &client.Client{Base: server.URL + "/", Token: "T", HTTP: server.Client()}
}

// asked is a request as the server got it.
type asked struct{ call, token, key, kind, body string }

// TestCalls sends each call as the contract has it.
func TestCalls(t *testing.T) {
	t.Parallel()
	var got asked
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got = asked{
			r.Method + " " + r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Idempotency-Key"),
			r.Header.Get("Content-Type"), string(body),
		}
		fmt.Fprint(w, `{"match":"m","revision":3,"token":"S","hash":"h","claim":"c","matches":[]}`)
	})
	const kind = "application/json"
	move := map[string]any{"type": "add", "cups": 1}
	for name, call := range map[string]struct {
		do   func(ctx context.Context) (any, error)
		want asked
	}{
		"create": {func(ctx context.Context) (any, error) { return c.Create(ctx, map[string]string{"game": "g"}) },
			asked{"POST /v1/matches", "Bearer T", "", kind, `{"game":"g"}`}},
		"claim": {func(ctx context.Context) (any, error) { return c.As("").Claim(ctx, "secret") },
			asked{"POST /v1/claims", "", "", kind, `{"claim":"secret"}`}},
		"submit": {func(ctx context.Context) (any, error) { return c.Submit(ctx, "m", 2, "k", move) },
			asked{"POST /v1/matches/m/submissions", "Bearer T", "k", kind, `{"phase":2,"submission":{"cups":1,"type":"add"}}`}},
		"submit to any phase": {func(ctx context.Context) (any, error) { return c.As("S").Submit(ctx, "m", 0, "", move) },
			asked{"POST /v1/matches/m/submissions", "Bearer S", "", kind, `{"submission":{"cups":1,"type":"add"}}`}},
		"control": {func(ctx context.Context) (any, error) {
			return c.Control(ctx, "m", "pause", map[string]any{"why": "lunch"})
		}, asked{"POST /v1/matches/m/pause", "Bearer T", "", kind, `{"why":"lunch"}`}},
		"view": {func(ctx context.Context) (any, error) { return c.View(ctx, "m", "?revision=3") },
			asked{"GET /v1/matches/m?revision=3", "Bearer T", "", "", ""}},
		"list": {func(ctx context.Context) (any, error) { return c.List(ctx, "?limit=2") },
			asked{"GET /v1/matches?limit=2", "Bearer T", "", "", ""}},
	} {
		answer, err := call.do(t.Context())
		require.NoError(t, err, name)
		assert.Equal(t, call.want, got, name)
		data, err := json.Marshal(answer)
		require.NoError(t, err, name)
		assert.NotEqual(t, "null", string(data), name)
	}
	receipt, err := c.Submit(t.Context(), "m", 2, "k", move)
	require.NoError(t, err)
	assert.EqualValues(t, 3, receipt.Revision)
	assert.Equal(t, "h", receipt.Hash)
	assert.Equal(t, "T", c.Token, "a client with another token is another")
}

// TestErrors: what the server refuses is the same error here.
func TestErrors(t *testing.T) {
	t.Parallel()
	given := problem.New("illegal-move", "not in your hand")
	status, body := given.Status, given.Reply().Body
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
	every := func() []error {
		_, create := c.Create(t.Context(), nil)
		_, view := c.View(t.Context(), "m", "")
		list := []error{create, view}
		for _, err := range c.Events(t.Context(), "m", "") {
			list = append(list, err)
		}
		for _, err := range c.Stream(t.Context(), "m") {
			list = append(list, err)
		}
		require.Len(t, list, 4)
		return list
	}
	for _, err := range every() {
		var p *problem.Problem
		require.ErrorAs(t, err, &p)
		assert.Equal(t, given, p)
	}
	status, body = 502, []byte("<html>Bad Gateway</html>")
	for _, err := range every() {
		var p *problem.Problem
		require.ErrorAs(t, err, &p)
		assert.Equal(t, problem.Unavailable, p.Code)
		assert.Equal(t, 502, p.Status)
	}
	status, body = 200, []byte("no JSON")
	_, err := c.Create(t.Context(), nil)
	require.Error(t, err)
	var p *problem.Problem
	assert.NotErrorAs(t, err, &p)
	_, err = c.Create(t.Context(), func() {})
	require.ErrorContains(t, err, "/v1/matches", "what has no JSON form is not sent")
}

// TestNobodyThere names what is wrong, and no token.
func TestNobodyThere(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"http://127.0.0.1:1", "http://[::1", "nonsense"} {
		c := &client.Client{Base: base, Token: "secret"}
		_, err := c.View(t.Context(), "m", "")
		require.Error(t, err, base)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// TestStreams reads views from server-sent events and events from lines.
func TestStreams(t *testing.T) {
	t.Parallel()
	long := `{"pad":"` + strings.Repeat("x", 3<<20) + `"}`
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer T", r.Header.Get("Authorization"))
		switch r.URL.RequestURI() {
		case "/v1/matches/m/stream":
			fmt.Fprintf(w, ": 17\n\nevent: view\nid: 1\ndata: {\"revision\":1}\n\n: 18\n\nevent: view\nid: 2\ndata: %s\n\n", long)
		case "/v1/matches/m/events?after=3":
			fmt.Fprintf(w, "{\"revision\":4}\n\n%s\n", long)
		default:
			t.Errorf("%s is asked for", r.URL)
		}
	})
	read := func(lines func(func(json.RawMessage, error) bool)) (list []string) {
		for raw, err := range lines {
			require.NoError(t, err)
			list = append(list, string(raw))
		}
		return list
	}
	assert.Equal(t, []string{`{"revision":1}`, long}, read(c.Stream(t.Context(), "m")))
	assert.Equal(t, []string{`{"revision":4}`, long}, read(c.Events(t.Context(), "m", "?after=3")))
	for raw, err := range c.Events(t.Context(), "m", "?after=3") { // whoever has seen enough may leave
		require.NoError(t, err)
		assert.JSONEq(t, `{"revision":4}`, string(raw))
		break
	}
}

// TestAStreamThatBreaks is an error and never a short stream.
func TestAStreamThatBreaks(t *testing.T) {
	t.Parallel()
	over := strings.Repeat("x", 5<<20)
	for name, c := range map[string]*client.Client{
		"cut": serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "{\"revision\":1}\n")
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			panic(http.ErrAbortHandler)
		}),
		"a line without end": serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "{\"revision\":1}\n"+over)
		}),
	} {
		var last error
		n := 0
		for _, err := range c.Events(t.Context(), "m", "") {
			n++
			last = err
		}
		assert.Equal(t, 2, n, name)
		require.Error(t, last, name)
	}
}

// TestAContextEndsAStream that has nothing to tell.
func TestAContextEndsAStream(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "data: {}\n\n")
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range c.Stream(ctx, "m") {
		if n++; n == 1 {
			require.NoError(t, err)
			cancel()
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
	}
	assert.Equal(t, 2, n)
}
