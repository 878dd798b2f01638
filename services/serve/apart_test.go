package serve_test

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/queue"
	"umpire/services/client"
	"umpire/services/serve"
	"umpire/services/servicestest"
)

// startNATS starts a server that listens.
func startNATS(t *testing.T, address string) {
	t.Helper()
	listens, err := net.ResolveTCPAddr("tcp", address)
	require.NoError(t, err)
	s, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: listens.Port, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		MaxPayload: 1<<20 + 64<<10,
	})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(10*time.Second))
}

// asked returns what /readyz says.
func asked(t *testing.T, url string) (status int, says string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/readyz", nil)
	require.NoError(t, err)
	resp, err := httpClient(t).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// TestServicesApart starts each service by itself, in any order, before what they need: each tells what it waits for, and
// all work as soon as it is there. One more of each joins them then, and a match is played through all of them.
func TestServicesApart(t *testing.T) {
	t.Parallel()
	natsAddress, esdbAddress, gatewayAddress := servicestest.Address(t), servicestest.Address(t), servicestest.Address(t)
	data := t.TempDir()
	o := serve.Options{
		Data: data, LogURL: "esdb://" + esdbAddress + "?tls=false", NATS: queue.Outside{URL: "nats://" + natsAddress},
		Admin: "127.0.0.1:0", Gateway: "http://" + gatewayAddress, Log: slog.New(slog.NewTextHandler(testWriter{t}, nil)),
	}
	names := []string{serve.Submission, serve.Timer, serve.Resolver, serve.Projector, serve.Relay, serve.Gateway}
	running := map[string][]*serve.Program{}
	begin := func(name, http string) {
		own := o
		own.HTTP = http
		p, err := serve.StartService(t.Context(), name, own)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, p.Stop(), name) })
		running[name] = append(running[name], p)
	}
	for _, i := range rand.Perm(len(names)) {
		begin(names[i], gatewayAddress)
	}
	for name, what := range map[string]string{
		serve.Submission: `"log":`, serve.Timer: `"log":`, serve.Resolver: `"log":`, serve.Projector: `"log":`,
		serve.Relay: `"log":`, serve.Gateway: `"queue":`,
	} {
		status, says := asked(t, running[name][0].AdminURL())
		assert.Equal(t, http.StatusServiceUnavailable, status, name)
		assert.Contains(t, says, what, name)
	}
	status, says := asked(t, running[serve.Gateway][0].URL())
	assert.Equal(t, http.StatusServiceUnavailable, status, "players' own address says so too: %s", says)

	double, err := esdbtest.Start(esdbAddress)
	require.NoError(t, err)
	t.Cleanup(double.Stop)
	awaitSays(t, running[serve.Resolver][0].AdminURL(), `"keys":"the master key can't be read`)
	_, operator, err := serve.Init(data, time.Now())
	require.NoError(t, err)
	startNATS(t, natsAddress)
	for _, name := range names {
		begin(name, "127.0.0.1:0")
	}
	for _, name := range names {
		for _, p := range running[name] {
			awaitSays(t, p.AdminURL(), `"ok":true`)
		}
	}
	token, err := os.ReadFile(operator)
	require.NoError(t, err)
	c := &client.Client{Base: "http://" + gatewayAddress, Token: strings.TrimSpace(string(token)), HTTP: httpClient(t)}
	playGlassFull(t, c)

	double.Halt()
	awaitSays(t, running[serve.Resolver][0].AdminURL(), `"log":"eventlog: the log can't be reached`)
	require.NoError(t, double.Resume())
	awaitSays(t, running[serve.Resolver][0].AdminURL(), `"ok":true`)
}

// TestACallThatStopCutsShort: what no service answers is told to come again, and the gateway ends in time.
func TestACallThatStopCutsShort(t *testing.T) {
	t.Parallel()
	address := servicestest.Address(t)
	startNATS(t, address)
	nc, err := nats.Connect("nats://" + address)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	asked := make(chan struct{}, 8)
	_, err = nc.Subscribe(queue.Matches, func(*nats.Msg) { asked <- struct{}{} })
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	p, err := serve.StartService(t.Context(), serve.Gateway, serve.Options{
		HTTP: "127.0.0.1:0", Admin: "127.0.0.1:0", NATS: queue.Outside{URL: "nats://" + address},
		Log: slog.New(slog.NewTextHandler(testWriter{t}, nil)),
	})
	require.NoError(t, err)
	awaitSays(t, p.AdminURL(), `"ok":true`)
	stopped := make(chan error, 1)
	go func() { <-asked; stopped <- p.Stop() }()
	assert.Equal(t, http.StatusServiceUnavailable, get(t, p.URL(), "/v1/matches").status)
	assert.NoError(t, <-stopped)
}

// awaitSays waits until /readyz says something.
func awaitSays(t *testing.T, url, what string) {
	t.Helper()
	last := ""
	require.Eventually(t, func() bool {
		_, last = asked(t, url)
		return strings.Contains(last, what)
	}, 20*time.Second, 20*time.Millisecond, "%s never says %s", url, what)
	_ = last
}

// playGlassFull plays a match that a clock ends a turn of, in which both look on by streams.
func playGlassFull(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	created, err := c.Create(ctx, glassFull(map[string]any{"clock": map[string]any{"move": "1s"}}))
	require.NoError(t, err)
	ada, bob := sit(t, c, created, "ada"), sit(t, c, created, "bob")
	ada.until("she is awaited", func(v view) bool { return v.Phase != nil && v.Phase.No == 1 && len(v.Phase.Awaiting) == 1 })
	_, err = ada.client.Submit(ctx, created.Match, 1, "k", map[string]any{"type": "pick-starter", "player": "bob"})
	require.NoError(t, err)
	bob.until("his clock runs out", func(v view) bool { return v.Table.Strikes["bob"] > 0 })
}
