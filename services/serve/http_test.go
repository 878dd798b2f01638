package serve_test

import (
	"net/http"
	"testing"
	"time"
)

// httpClient is one test's own, so that no connection outlives the test.
func httpClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// How long a test waits for a fact, and how often it looks.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)
