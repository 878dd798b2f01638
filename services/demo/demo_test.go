package demo_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	chance "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/client"
	"umpire/services/demo"
	"umpire/services/problem"
	"umpire/services/serve"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for a fact; tick is how often it looks.
const (
	patience = 60 * time.Second
	tick     = 50 * time.Millisecond
)

// TestSetups: every game has one, and whatever is picked it is one that a server takes.
func TestSetups(t *testing.T) {
	t.Parallel()
	for _, g := range games.All() {
		for seed := range uint64(50) {
			data, err := json.Marshal(demo.Setup(g.Name, chance.New(chance.NewPCG(seed, 1)).IntN))
			require.NoError(t, err)
			v, err := event.Parse(data)
			require.NoError(t, err)
			setup, err := match.ParseSetup(games.All(), v)
			require.NoError(t, err, g.Name)
			require.NoError(t, setup.CheckLive(), g.Name)
			_, warnings, err := match.Create("m", setup, make([]byte, 32), false, time.Now())
			require.NoError(t, err, g.Name)
			assert.Empty(t, warnings, g.Name)
		}
	}
	assert.Panics(t, func() { demo.Setup("chess", func(int) int { return 0 }) })
}

// start starts umpire and returns an operator's client.
func start(t *testing.T) *client.Client {
	t.Helper()
	p, err := serve.Start(t.Context(), serve.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", LogURL: "memory:", Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Stop()) })
	token, err := os.ReadFile(p.OperatorTokenPath())
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &client.Client{Base: p.URL(), Token: strings.TrimSpace(string(token)), HTTP: &http.Client{Transport: transport}}
}

// run plays a demo until the test ends or stop is called.
func run(t *testing.T, d *demo.Demo) (logged *servicestest.Lines, stop func()) {
	t.Helper()
	logged = &servicestest.Lines{}
	d.Log = slog.New(slog.NewTextHandler(logged, nil))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(t, <-ended, context.Canceled)
	})
	t.Cleanup(stop)
	return logged, stop
}

// TestBotsPlayEveryGame to its end, through the API that people use.
func TestBotsPlayEveryGame(t *testing.T) {
	t.Parallel()
	operator := start(t)
	var logs []*servicestest.Lines
	for _, g := range games.All() {
		logged, _ := run(t, &demo.Demo{
			Client: operator, Games: match.Catalog{g}, Setup: demo.Setup, Tables: 1, Pace: time.Millisecond,
		})
		logs = append(logs, logged)
	}
	for _, g := range games.All() {
		require.Eventually(t, func() bool {
			list, err := operator.List(t.Context(), "?status=ended&game="+g.Name)
			return err == nil && len(list.Matches) > 0
		}, patience, tick, "%s: no match has ended", g.Name)
	}
	for _, logged := range logs {
		assert.Empty(t, logged.String())
	}
}

// TestASeatIsLeftToTheVisitor: the match waits for whoever opens the link.
func TestASeatIsLeftToTheVisitor(t *testing.T) {
	t.Parallel()
	operator := start(t)
	links := make(chan string, 1)
	_, stop := run(t, &demo.Demo{
		Client: operator, Games: games.All()[:1], Setup: demo.Setup, Tables: 0, Pace: time.Millisecond,
		Seat: func(game, link string) {
			assert.Equal(t, "glass-full", game)
			links <- link
		},
	})
	address, claim, ok := strings.Cut(<-links, "#c=")
	require.True(t, ok)
	assert.Contains(t, address, operator.Base+"/m/")
	seated, err := operator.As("").Claim(t.Context(), claim)
	require.NoError(t, err, "nobody else has it")
	visitor := operator.As(seated.Token)
	require.Eventually(t, func() bool {
		raw, err := visitor.View(t.Context(), seated.Match, "")
		if err != nil {
			return false
		}
		v, err := games.All().ReadView(raw)
		return err == nil && v.Status == match.Running && v.Phase != nil
	}, patience, tick)
	list, err := operator.List(t.Context(), "")
	require.NoError(t, err)
	assert.Len(t, list.Matches, 1)
	stop()
}

// awaiting is a view of Glass Full that awaits Ada.
func awaiting(t *testing.T) []byte {
	t.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(t, err)
	j := journal.New(memlog.New(), games.All(), vault, rand.Reader)
	v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"ada"},"options":{"start":"now"},` +
		`"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`))
	require.NoError(t, err)
	setup, err := match.ParseSetup(games.All(), v)
	require.NoError(t, err)
	drafts, _, err := match.Create("m", setup, make([]byte, 32), false, time.Now())
	require.NoError(t, err)
	m, err := j.Append(t.Context(), "m", nil, event.ID{}, drafts)
	require.NoError(t, err)
	m, err = j.Append(t.Context(), "m", m, event.ID{}, m.Resolve(time.Now()))
	require.NoError(t, err)
	data, err := json.Marshal(m.View("ada"))
	require.NoError(t, err)
	return data
}

// TestABotTriesAgain: after a fault it moves when that has passed, though the match shows nothing new meanwhile.
func TestABotTriesAgain(t *testing.T) {
	t.Parallel()
	view := awaiting(t)
	var mu sync.Mutex
	var keys []string
	moved := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/v1/matches":
			fmt.Fprint(w, `{"match":"m","players":{"ada":{"claim":"ada"},"bob":{"claim":"bob"}},"host":{"claim":"host"}}`)
		case path == "/v1/claims":
			var asked struct{ Claim string }
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
			fmt.Fprintf(w, `{"match":"m","player":%q,"token":%q}`, asked.Claim, asked.Claim)
		case strings.HasSuffix(path, "/stream"):
			fmt.Fprintf(w, "data: %s\n\n", view)
			assert.NoError(t, http.NewResponseController(w).Flush())
			<-r.Context().Done()
		case strings.HasSuffix(path, "/submissions"):
			mu.Lock()
			defer mu.Unlock()
			if keys = append(keys, r.Header.Get("Idempotency-Key")); len(keys) == 1 {
				w.WriteHeader(503)
				_, _ = w.Write(problem.New(problem.Unavailable, "come again").Reply().Body)
				return
			}
			fmt.Fprint(w, `{"revision":3,"hash":"h"}`)
			if len(keys) == 2 {
				close(moved)
			}
		}
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	setup := func(game string, _ func(int) int) map[string]any {
		return map[string]any{"game": game, "players": []map[string]string{{"id": "ada"}, {"id": "bob"}}}
	}
	logged, stop := run(t, &demo.Demo{
		Client: &client.Client{Base: server.URL, HTTP: server.Client()}, Games: games.All(), Setup: setup, Tables: 1, Pace: time.Millisecond,
	})
	select {
	case <-moved:
	case <-time.After(patience / 4):
		assert.Fail(t, "it never tried again")
	}
	stop()
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, len(keys), 2)
	assert.Equal(t, keys[0], keys[1], "as the same command, lest it stand twice")
	assert.Contains(t, logged.String(), "can't move")
}

// TestADemoWithoutAServer says what is wrong and ends when it is told to.
func TestADemoWithoutAServer(t *testing.T) {
	t.Parallel()
	logged, stop := run(t, &demo.Demo{
		Client: &client.Client{Base: "http://127.0.0.1:1"}, Games: games.All(), Setup: demo.Setup, Tables: 2, Pace: time.Millisecond,
	})
	require.Eventually(t, func() bool { return strings.Count(logged.String(), "broke off") == 2+len(games.All()) }, patience, tick)
	stop()
}
