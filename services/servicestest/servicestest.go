// Package servicestest is what the tests of services share: a world with a log, a clock and the matches in it; a queue; the
// lines that are logged; and a service that runs as long as its test.
package servicestest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
)

// Noon is when a world begins.
var Noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// Seed is that of every match: bytes that are found wherever they leak to.
var Seed = bytes.Repeat([]byte{0xc0, 0xff, 0xee, 0x77}, 8)

// World is a log with matches in it, and a clock that stands still until the test moves it. Its methods are named unlike
// those of services, so that a test can embed both.
type World struct {
	Log    eventlog.Log
	Vault  *event.Vault
	Own    *journal.Journal // of whoever plays, resolves and looks on beside the service under test
	Logged Lines            // by the services under test

	tb     testing.TB
	games  match.Catalog
	passed atomic.Int64 // since noon
}

// New makes a world in which those games are played.
func New(tb testing.TB, games match.Catalog) *World {
	tb.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(tb, err)
	w := &World{Log: memlog.New(), Vault: vault, tb: tb, games: games}
	w.Own = w.NewJournal(w.Log)
	return w
}

// NewJournal returns a journal as each process has its own, on the world's log or one that stands before it.
func (w *World) NewJournal(log eventlog.Log) *journal.Journal {
	return journal.New(log, w.games, w.Vault, rand.Reader)
}

// Time is what the clock shows.
func (w *World) Time() time.Time { return Noon.Add(time.Duration(w.passed.Load())) }

// Pass moves the clock.
func (w *World) Pass(d time.Duration) time.Time {
	return Noon.Add(time.Duration(w.passed.Add(int64(d))))
}

// Duel is the set-up of a match of Glass Full between Ada, who begins, and Bob; options is JSON.
func Duel(id, options string) string {
	return `{"game":"glass-full","title":"Table ` + id + `","roles":{"dmo":"ada"},"options":` + options +
		`,"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`
}

// Make makes a match; what the resolver says to it is for Resolve.
func (w *World) Make(id, setup string) {
	w.tb.Helper()
	v, err := event.Parse([]byte(setup))
	require.NoError(w.tb, err)
	parsed, err := match.ParseSetup(w.games, v)
	require.NoError(w.tb, err)
	drafts, _, err := match.Create(id, parsed, Seed, false, w.Time())
	require.NoError(w.tb, err)
	_, err = w.Own.Append(w.tb.Context(), id, nil, event.ID{}, drafts)
	require.NoError(w.tb, err)
}

// Now is a match at the log's head.
func (w *World) Now(id string) *match.Match {
	w.tb.Helper()
	m, err := w.Own.Refresh(w.tb.Context(), id)
	require.NoError(w.tb, err)
	return m
}

// Decide appends what is decided about a match at the log's head.
func (w *World) Decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.tb.Helper()
	m := w.Now(id)
	drafts, err := decision(m)
	require.NoError(w.tb, err)
	_, err = w.Own.Append(w.tb.Context(), id, m, event.ID{}, drafts)
	require.NoError(w.tb, err)
}

// Move appends a player's submission, which is JSON.
func (w *World) Move(id, player, submission string) {
	w.tb.Helper()
	v, err := event.Parse([]byte(submission))
	require.NoError(w.tb, err)
	w.Decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Submit(player, 0, false, v, w.Time()) })
}

// Resolve does the resolver's work.
func (w *World) Resolve(id string) {
	w.tb.Helper()
	for m := w.Now(id); ; m = w.Now(id) {
		drafts := m.Resolve(w.Time())
		if len(drafts) == 0 {
			return
		}
		_, err := w.Own.Append(w.tb.Context(), id, m, event.ID{}, drafts)
		require.NoError(w.tb, err)
	}
}

// Types are the types of a match's events, without their versions.
func (w *World) Types(id string) (list []string) {
	w.tb.Helper()
	for r, err := range w.Own.Events(w.tb.Context(), id, 0) {
		require.NoError(w.tb, err)
		list = append(list, strings.TrimSuffix(r.Type, ".v1"))
	}
	return list
}

// Commits are those of the world's log behind a position.
func (w *World) Commits(after uint64) []eventlog.Commit {
	w.tb.Helper()
	return Commits(w.tb, w.Log, after)
}

// Commits are those of a log behind a position, up to its head.
func Commits(tb testing.TB, log eventlog.Log, after uint64) (list []eventlog.Commit) {
	tb.Helper()
	head, err := log.Head(tb.Context())
	require.NoError(tb, err)
	if head == after {
		return nil
	}
	for c, err := range log.Follow(tb.Context(), after) {
		require.NoError(tb, err)
		list = append(list, c)
		if c.Position == head {
			break
		}
	}
	return list
}

// Lines collects what is logged, by many at once.
type Lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all that was logged.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count says how often something was logged.
func (l *Lines) Count(what string) int { return strings.Count(l.String(), what) }

// Logger returns a logger that writes here.
func (l *Lines) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Ports that the system gives to nobody who asks for any, some for each process.
const (
	firstPort    = 10_000
	portsEach    = 500
	shareOfPorts = 44
)

var ports atomic.Int64

// Address is one on this machine that nobody listens at, nor will before the test does: two tests get no port twice.
func Address(tb testing.TB) string {
	tb.Helper()
	for range portsEach {
		port := firstPort + os.Getpid()%shareOfPorts*portsEach + int(ports.Add(1))%portsEach
		listen := net.ListenConfig{}
		l, err := listen.Listen(tb.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		require.NoError(tb, l.Close())
		return l.Addr().String()
	}
	require.Fail(tb, "all ports are taken")
	return ""
}

// Queue starts a server with all that services need on it, and connects to it. Both end with the test.
func Queue(tb testing.TB) (*nats.Conn, jetstream.JetStream) {
	tb.Helper()
	server, err := queue.StartEmbedded(tb.TempDir())
	require.NoError(tb, err)
	tb.Cleanup(server.Stop)
	nc, err := server.Connect("test")
	require.NoError(tb, err)
	tb.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(tb, err)
	require.NoError(tb, queue.Prepare(tb.Context(), js))
	return nc, js
}

// Run runs a service until stop is called or the test ends, and demands that it ends because it was told to.
func Run(tb testing.TB, run func(context.Context) error) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(tb, <-ended, context.Canceled)
	})
	tb.Cleanup(stop)
	return stop
}
