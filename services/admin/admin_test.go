package admin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/services/admin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func well(context.Context) error { return nil }

func TestReport(t *testing.T) {
	t.Parallel()
	b := admin.NewBoard()
	checks, ok := b.Report(t.Context())
	assert.Empty(t, checks)
	assert.True(t, ok, "nothing is missing")
	b.Set("log", well)
	b.Waiting("queue", errors.New("nobody answers"))
	checks, ok = b.Report(t.Context())
	assert.Equal(t, map[string]string{"log": "ok", "queue": "nobody answers"}, checks)
	assert.False(t, ok)
	b.Set("queue", well)
	checks, ok = b.Report(t.Context())
	assert.Equal(t, "nobody answers", checks["queue"], "it waits until it says that it does no more")
	assert.False(t, ok)
	b.Well("queue")
	checks, ok = b.Report(t.Context())
	assert.Equal(t, map[string]string{"log": "ok", "queue": "ok"}, checks, "the check stays when the waiting is over")
	assert.True(t, ok)
	b.Waiting("keys", errors.New("no key"))
	b.Well("keys")
	b.Well("keys")
	checks, ok = b.Report(t.Context())
	assert.NotContains(t, checks, "keys")
	assert.True(t, ok)
}

// TestAReportIsOfItsContext: a check gets the asker's, and may set checks itself.
func TestAReportIsOfItsContext(t *testing.T) {
	t.Parallel()
	b := admin.NewBoard()
	b.Set("slow", func(ctx context.Context) error {
		b.Well("another")
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checks, ok := b.Report(ctx)
	assert.Equal(t, map[string]string{"slow": "context canceled"}, checks)
	assert.False(t, ok)
}

func TestManyAtTheBoard(t *testing.T) {
	t.Parallel()
	b := admin.NewBoard()
	var many sync.WaitGroup
	for n := range 8 {
		many.Go(func() {
			name := fmt.Sprint("check ", n%4)
			for range 100 {
				b.Waiting(name, errors.New("busy"))
				b.Report(t.Context())
				b.Set(name, well)
				b.Well(name)
			}
			b.Well(name)
		})
	}
	many.Wait()
	checks, ok := b.Report(t.Context())
	assert.Len(t, checks, 4)
	assert.True(t, ok)
}

// get asks, and returns the status, the kind of content and the body.
func get(t *testing.T, url string) (status int, kind, body string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	all, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header.Get("Content-Type"), string(all)
}

func TestProbes(t *testing.T) {
	t.Parallel()
	b := admin.NewBoard()
	mux := http.NewServeMux()
	b.Probes(mux)
	server := httptest.NewServer(mux)
	defer server.Close()
	b.Waiting("log", errors.New("the log is away"))
	status, kind, body := get(t, server.URL+"/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "application/json", kind)
	assert.JSONEq(t, `{"ok":false,"checks":{"log":"the log is away"}}`, body)
	status, _, body = get(t, server.URL+"/healthz")
	assert.Equal(t, http.StatusOK, status, "it lives, whatever it waits for")
	assert.JSONEq(t, `{"ok":true}`, body)
	b.Set("log", well)
	b.Well("log")
	status, _, body = get(t, server.URL+"/readyz")
	assert.Equal(t, http.StatusOK, status)
	assert.JSONEq(t, `{"ok":true,"checks":{"log":"ok"}}`, body)
}

func TestListen(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	b := admin.NewBoard()
	url, stop, err := admin.Listen(t.Context(), "127.0.0.1:0", b, log)
	require.NoError(t, err)
	for path, holds := range map[string]string{
		"/healthz": `"ok":true`, "/readyz": `"checks":{}`, "/metrics": "umpire_deadlines_pending 0", "/debug/pprof/": "goroutine",
		"/debug/pprof/goroutine?debug=1": "goroutine profile", "/debug/pprof/cmdline": "test", "/debug/pprof/symbol": "num_symbols",
	} {
		status, _, body := get(t, url+path)
		assert.Equal(t, http.StatusOK, status, path)
		assert.Contains(t, body, holds, path)
	}
	status, _, _ := get(t, url+"/")
	assert.Equal(t, http.StatusNotFound, status)
	_, _, err = admin.Listen(t.Context(), url[len("http://"):], b, log)
	require.ErrorContains(t, err, "umpire can't listen at "+url[len("http://"):])
	require.NoError(t, stop())
	again, stop, err := admin.Listen(t.Context(), url[len("http://"):], b, log)
	require.NoError(t, err, "it has let go of the address")
	assert.Equal(t, url, again)
	require.NoError(t, stop())
}

// TestMetricsHaveFewLabels: none tells of a match or a player.
func TestMetricsHaveFewLabels(t *testing.T) {
	t.Parallel()
	url, stop, err := admin.Listen(t.Context(), "127.0.0.1:0", admin.NewBoard(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, stop()) }()
	_, kind, body := get(t, url+"/metrics")
	assert.Contains(t, kind, "text/plain")
	assert.Contains(t, body, "go_goroutines")
	assert.Contains(t, body, "process_")
	for _, label := range []string{"match=", "player=", "seat=", "stream="} {
		assert.NotContains(t, body, label)
	}
}
