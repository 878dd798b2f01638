package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
	"umpire/services/gateway"
	"umpire/services/problem"
	"umpire/services/projector"
)

// TestCallsAreCarried to the service that they are for, with the body as it stands, and the answer back.
func TestCallsAreCarried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for call, want := range map[string]struct {
		subject, match, action string
		status                 int
	}{
		"POST /v1/matches":               {queue.Create, "", "", 201},
		"POST /v1/claims":                {queue.Claim, "", "", 200},
		"POST /v1/matches/m/submissions": {queue.Submit, "m", "", 200},
		"POST /v1/matches/m/pause":       {queue.Control, "m", "pause", 200},
		"POST /v1/matches/m/resume":      {queue.Control, "m", "resume", 200},
		"POST /v1/matches/m/extend":      {queue.Control, "m", "extend", 200},
		"POST /v1/matches/m/void":        {queue.Control, "m", "void", 200},
		"POST /v1/matches/m/reissue":     {queue.Control, "m", "reissue", 200},
		"GET /v1/matches/m":              {queue.View, "m", "", 200},
		"GET /v1/matches":                {queue.Matches, "", "", 200},
	} {
		method, path, _ := strings.Cut(call, " ")
		answer := `{ "as": "it stands" }`
		w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: []byte(answer)} })
		var sent io.Reader
		if method == http.MethodPost {
			sent = strings.NewReader("{ any: bytes \xff\n}")
		}
		resp, body := w.read(method, path, sent, "Authorization", "Bearer T", "Idempotency-Key", "k 1")
		assert.Equal(t, want.status, resp.StatusCode, call)
		assert.Equal(t, answer, body, call)
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"), call)
		assert.Equal(t, fmt.Sprint(noon.UnixMilli()), resp.Header.Get("Server-Time"), call)
		assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), call)
		got := w.requests()
		require.Len(t, got, 1, call)
		assert.Equal(t, want.subject, got[0].subject, call)
		assert.Equal(t, "T", got[0].header.Get(queue.HeaderToken), call)
		assert.Equal(t, want.match, got[0].header.Get(queue.HeaderMatch), call)
		assert.Equal(t, want.action, got[0].header.Get(queue.HeaderAction), call)
		assert.Equal(t, w.url, got[0].header.Get(queue.HeaderBase), call)
		if method == http.MethodPost {
			assert.Equal(t, "{ any: bytes \xff\n}", got[0].body, call)
		}
		key := map[bool]string{true: "k 1"}[want.subject == queue.Submit]
		assert.Equal(t, key, got[0].header.Get(queue.HeaderKey), call)
	}
}

func TestLinksBeginWhereTheyAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *gateway.Options) { o.Base = "https://umpire.example/" })
	w.read(http.MethodPost, "/v1/matches", strings.NewReader("{}"))
	assert.Equal(t, "https://umpire.example", w.requests()[0].header.Get(queue.HeaderBase))
}

// TestQuestions turns a query into the question that the projector gets.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for path, want := range map[string]string{
		"/v1/matches":                           `{}`,
		"/v1/matches?status=running&limit=7":    `{"status":"running","limit":7}`,
		"/v1/matches?game=glass-full&cursor=a1": `{"game":"glass-full","cursor":"a1"}`,
		"/v1/matches?limit=0":                   `{"limit":-1}`,
		"/v1/matches/m":                         `{}`,
		"/v1/matches/m?audience=host":           `{"audience":"host"}`,
		"/v1/matches/m?revision=0":              `{"revision":0}`,
		"/v1/matches/m?min_revision=0":          `{}`,
		"/v1/matches/m?revision=3&audience=ada": `{"revision":3,"audience":"ada"}`,
	} {
		resp, body := w.read(http.MethodGet, path, nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", path, body)
		got := w.requests()
		require.Len(t, got, 1, path)
		assert.JSONEq(t, want, got[0].body, path)
	}
	for _, bad := range []string{
		"/v1/matches?limit=x", "/v1/matches?limit=1.5", "/v1/matches/m?revision=-1", "/v1/matches/m?revision=x",
		"/v1/matches/m?min_revision=x", "/v1/matches/m?revision=99999999999999999999",
	} {
		assert.EqualValues(t, "malformed", w.refused(http.MethodGet, bad, nil).Code, bad)
	}
	assert.Empty(t, w.requests(), "what can't be read is asked of nobody")
}

// TestBearers goes through the forms of an Authorization header.
func TestBearers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for header, want := range map[string]string{
		"Bearer T": "T", "bearer T": "T", "BEARER T": "T", "Bearer  T": "T",
		"Bearer": "!", "Bearer ": "!", "T": "!", "Basic dTpw": "!", "BearerT": "!", "Bearer\tT": "!",
	} {
		for _, call := range []string{
			"GET /v1/matches/m", "GET /v1/matches/m/events", "POST /v1/matches/m/submissions", "POST /v1/matches", "GET /v1/matches",
			"GET /v1/matches/m?min_revision=0",
		} {
			method, path, _ := strings.Cut(call, " ")
			resp, body := w.read(method, path, nil, "Authorization", header)
			got := w.requests()
			if want != "!" {
				require.NotEmpty(t, got, "%s: %q", call, header)
				assert.Equal(t, want, got[0].header.Get(queue.HeaderToken), "%s: %q", call, header)
				continue
			}
			assert.Empty(t, got, "%s: %q", call, header)
			assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, "%s: %q", call, header)
			assert.Equal(t, "Bearer", resp.Header.Get("WWW-Authenticate"), "%s: %q", call, header)
			assert.Contains(t, body, `"unauthorized"`)
			assert.NotContains(t, body, "dTpw")
		}
	}
	w.read(http.MethodGet, "/v1/matches/m", nil)
	assert.Empty(t, w.requests()[0].header.Get(queue.HeaderToken), "who gives none is the public")
}

// TestIdsStayInTheirHeader: nothing in a path can add a header to a request.
func TestIdsStayInTheirHeader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, id := range []string{"m%0d%0aUmpire-Token:%20T", "m%0aUmpire-Token:T", "%0d", "m%0d%0a%0d%0abody"} {
		resp, _ := w.read(http.MethodGet, "/v1/matches/"+id, nil)
		assert.GreaterOrEqual(t, resp.StatusCode, 400, id)
		resp, _ = w.read(http.MethodPost, "/v1/matches/"+id+"/pause", strings.NewReader("{}"))
		assert.GreaterOrEqual(t, resp.StatusCode, 400, id)
	}
	assert.Empty(t, w.requests())
	w.read(http.MethodGet, "/v1/matches/"+strings.Repeat("m", 1000)+"%2f..%2f%3f", nil)
	for _, a := range w.requests() {
		assert.Empty(t, a.header.Get(queue.HeaderToken))
	}
}

// TestProblemsPass: what a service refuses is what the client gets.
func TestProblemsPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, code := range []problem.Code{
		"malformed", "unknown-player", "not-awaited", "already-submitted", "phase-closed", "illegal-move", "match-over",
		"match-paused", "conflict", "claimed", problem.InvalidSetup, problem.Unauthorized, problem.Forbidden, problem.NotFound,
		problem.TooLarge, problem.Unavailable,
	} {
		given := problem.New(code, "a sentence")
		given.Field = "players[1].id"
		w.answers(func(asked) queue.Reply { return given.Reply() })
		for _, call := range []string{"POST /v1/matches", "POST /v1/claims", "POST /v1/matches/m/submissions", "GET /v1/matches/m",
			"GET /v1/matches", "GET /v1/matches/m/events", "GET /v1/matches/m/stream", "GET /v1/matches/m?min_revision=1", "GET /"} {
			method, path, _ := strings.Cut(call, " ")
			got := w.refused(method, path, nil)
			assert.Equal(t, given, got, "%s: %s", call, code)
			resp := w.call(method, path, nil)
			assert.Equal(t, map[bool]string{true: "2"}[code == problem.Unavailable], resp.Header.Get("Retry-After"), "%s: %s", call, code)
			assert.Equal(t, map[bool]string{true: "Bearer"}[code == problem.Unauthorized], resp.Header.Get("WWW-Authenticate"))
		}
	}
	assert.Empty(t, w.logged.String(), "the service has logged it")
}

// TestWhatIsNotThere answers in the same form.
func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, path := range []string{"/nothing", "/v1", "/v1/matches/m/fork", "/v1/matches/m/views/1", "/..%2f", "/v2/matches"} {
		assert.Equal(t, problem.NotFound, w.refused(http.MethodGet, path, nil).Code, path)
	}
	for call, status := range map[string]int{
		"DELETE /v1/matches/m": 405, "PUT /v1/matches": 405, "GET /v1/claims": 405, "POST /v1/matches/m/stream": 405, "POST /healthz": 405,
	} {
		method, path, _ := strings.Cut(call, " ")
		assert.Equal(t, status, w.refused(method, path, nil).Status, call)
	}
}

// TestNobodyAnswers: without its services a gateway says so at once, and a fault is logged, not told.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	w := newWorld(t, func(o *gateway.Options) {
		alone, err := e.Connect("alone")
		require.NoError(t, err)
		t.Cleanup(alone.Close)
		o.Conn = alone
	})
	began := time.Now()
	resp := w.call(http.MethodGet, "/v1/matches/m", nil)
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.NotEmpty(t, resp.Header.Get("Retry-After"))
	assert.Less(t, time.Since(began), patience)
	assert.Equal(t, problem.Unavailable, w.refused(http.MethodPost, "/v1/claims", strings.NewReader("{}")).Code)
	assert.Empty(t, w.logged.String())
}

// TestAFaultIsNotTold to clients.
func TestAFaultIsNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: []byte("the seed is 17")} })
	p := w.refused(http.MethodGet, "/v1/matches/m?min_revision=1", nil)
	assert.Equal(t, problem.Unavailable, p.Code)
	assert.NotContains(t, p.Detail, "17")
	assert.Equal(t, 1, w.logged.Count("\n"), w.logged.String())
	assert.Contains(t, w.logged.String(), "route=/v1/matches/:match")
	assert.NotContains(t, w.logged.String(), "17")
}

// TestBodies are read up to their limit, whichever way they are sent; what is larger is refused before it is read whole.
func TestBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	const most = 256 << 10
	for name, c := range map[string]struct {
		announced string
		sent      int // before the connection falls silent
		fits      bool
	}{
		"as large as may be":     {fmt.Sprint("Content-Length: ", most), most, true},
		"larger by one":          {fmt.Sprint("Content-Length: ", most+1), 0, false},
		"endless":                {fmt.Sprint("Content-Length: ", int64(1)<<60), 0, false},
		"chunks":                 {"Transfer-Encoding: chunked", most, true},
		"chunks, larger by one":  {"Transfer-Encoding: chunked", most + 1, false},
		"chunks, larger by more": {"Transfer-Encoding: chunked", most + 5000, false},
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
		require.NoError(t, err, name)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		sent := strings.Repeat("x", c.sent)
		if strings.Contains(c.announced, "chunked") {
			sent = fmt.Sprintf("%x\r\n%s\r\n", c.sent, sent)
			if c.fits {
				sent += "0\r\n\r\n"
			}
		}
		_, err = io.WriteString(conn, "POST /v1/matches HTTP/1.1\r\nHost: x\r\n"+c.announced+"\r\n\r\n"+sent)
		require.NoError(t, err, name)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err, name)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err, name)
		require.NoError(t, resp.Body.Close(), name)
		require.NoError(t, conn.Close(), name)
		got := w.requests()
		if c.fits {
			assert.Equal(t, http.StatusCreated, resp.StatusCode, name)
			require.Len(t, got, 1, name)
			assert.Len(t, got[0].body, most, name)
			continue
		}
		assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode, name)
		assert.Equal(t, problem.TooLarge, problem.Read(resp.StatusCode, body).Code, name)
		assert.Empty(t, got, name)
	}
}

// TestReadiness tells what is missing, by name.
func TestReadiness(t *testing.T) {
	t.Parallel()
	var missing error
	w := newWorld(t, func(o *gateway.Options) {
		o.Ready = func(context.Context) (map[string]string, bool) {
			if missing != nil {
				return map[string]string{"log": "ok", "queue": missing.Error()}, false
			}
			return map[string]string{"log": "ok", "queue": "ok"}, true
		}
	})
	resp, body := w.read(http.MethodGet, "/readyz", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.JSONEq(t, `{"ok":true,"checks":{"log":"ok","queue":"ok"}}`, body)
	missing = errors.New("not connected")
	resp, body = w.read(http.MethodGet, "/readyz", nil)
	assert.Equal(t, http.StatusServiceUnavailable, resp.StatusCode)
	assert.JSONEq(t, `{"ok":false,"checks":{"log":"ok","queue":"not connected"}}`, body)
	resp, body = w.read(http.MethodGet, "/healthz", nil)
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.JSONEq(t, `{"ok":true,"checks":{}}`, body)
	assert.Empty(t, w.requests(), "a look at the process asks nobody")
}

// TestPages shows what others have written as text, and no claim.
func TestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	list := projector.List{Matches: []projector.Summary{{Match: "m", Title: "<script>alert(1)</script>", Game: "glass-full"}}}
	data, err := json.Marshal(list)
	require.NoError(t, err)
	w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: data} })
	for path, want := range map[string]string{
		"/": "&lt;script&gt;alert(1)", "/m/m": w.url + "/v1/matches/m", "/m/%3Cscript%3Ealert(1)": "alert(1)",
	} {
		resp, body := w.read(http.MethodGet, path, nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode, path)
		assert.Contains(t, resp.Header.Get("Content-Type"), "text/html", path)
		assert.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'", path)
		assert.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"), path)
		assert.Contains(t, body, want, path)
		assert.NotContains(t, body, "<script", path)
	}
	w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: []byte(`{"matches":[]}`)} })
	_, body := w.read(http.MethodGet, "/", nil)
	assert.Contains(t, body, "None yet")
	w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: []byte(`no list`)} })
	assert.Equal(t, problem.Unavailable, w.refused(http.MethodGet, "/", nil).Code)
}
