package projector_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/problem"
	"umpire/services/projector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// world is a log with matches in it, a queue, and a projector.
type world struct {
	*projector.Service
	t         *testing.T
	log       eventlog.Log
	vault     *event.Vault
	authority *token.Authority
	own       *journal.Journal // of whoever is no projector
	nc        *nats.Conn
	js        jetstream.JetStream
	kv        jetstream.KeyValue
	publisher *projector.QueuePublisher

	mu     sync.Mutex
	logged strings.Builder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(t, err)
	w := &world{t: t, log: memlog.New(), vault: vault, authority: token.NewAuthority(vault)}
	w.own = w.journal()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	w.nc, err = e.Connect("test")
	require.NoError(t, err)
	t.Cleanup(w.nc.Close)
	w.js, err = jetstream.New(w.nc)
	require.NoError(t, err)
	require.NoError(t, queue.Prepare(t.Context(), w.js))
	w.kv, err = w.js.KeyValue(t.Context(), queue.ViewsBucket)
	require.NoError(t, err)
	w.publisher = projector.NewQueuePublisher(w.nc, w.js, w.slog())
	w.Service = w.projector()
	return w
}

func (w *world) journal() *journal.Journal {
	return journal.New(w.log, games.All(), w.vault, rand.Reader)
}

// projector returns one of the projector's processes, with a journal of its own.
func (w *world) projector() *projector.Service {
	return &projector.Service{Journal: w.journal(), Authority: w.authority, Clock: clock, Publisher: w.publisher}
}

func (w *world) slog() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// Write takes what is logged.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.Write(p)
}

func (w *world) lines() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.String()
}

// publish runs a publisher until the test ends.
func (w *world) publish(p *projector.QueuePublisher) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		assert.ErrorIs(w.t, <-ended, context.Canceled)
	})
}

// create makes a match of Glass Full; options is JSON.
func (w *world) create(id, options string) {
	w.t.Helper()
	v, err := event.Parse([]byte(`{"game":"glass-full","title":"Table ` + id + `","roles":{"dmo":"ada"},"options":` + options +
		`,"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`))
	require.NoError(w.t, err)
	setup, err := match.ParseSetup(games.All(), v)
	require.NoError(w.t, err)
	drafts, _, err := match.Create(id, setup, bytes.Repeat([]byte{2}, 32), false, noon)
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, nil, event.ID{}, drafts)
	require.NoError(w.t, err)
	w.resolve(id)
}

func (w *world) now(id string) *match.Match {
	w.t.Helper()
	m, err := w.own.Refresh(w.t.Context(), id)
	require.NoError(w.t, err)
	return m
}

// decide appends what is decided about a match and what the resolver says to that.
func (w *world) decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	m := w.now(id)
	drafts, err := decision(m)
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, m, event.ID{}, drafts)
	require.NoError(w.t, err)
	w.resolve(id)
}

func (w *world) resolve(id string) {
	w.t.Helper()
	for m := w.now(id); ; m = w.now(id) {
		drafts := m.Resolve(noon)
		if len(drafts) == 0 {
			return
		}
		_, err := w.own.Append(w.t.Context(), id, m, event.ID{}, drafts)
		require.NoError(w.t, err)
	}
}

func (w *world) submit(id, player, move string) {
	w.t.Helper()
	v, err := event.Parse([]byte(move))
	require.NoError(w.t, err)
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Submit(player, 0, false, v, noon) })
}

// claim gives a seat's bearer his token.
func (w *world) claim(id, seat string) string {
	w.t.Helper()
	m := w.now(id)
	place, ok := m.Seat(seat)
	require.True(w.t, ok)
	issue, _ := m.Issue(place)
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Claim(place, issue, nil, noon) })
	return w.sign(token.Token{Role: token.Seat, Match: id, Seat: seat, Issue: issue})
}

func (w *world) sign(tok token.Token) string {
	w.t.Helper()
	signed, err := w.authority.Sign(tok, noon)
	require.NoError(w.t, err)
	return signed
}

// commits are the log's, behind a position.
func (w *world) commits(after uint64) (list []eventlog.Commit) {
	w.t.Helper()
	head, err := w.log.Head(w.t.Context())
	require.NoError(w.t, err)
	if head == after {
		return nil
	}
	for c, err := range w.log.Follow(w.t.Context(), after) {
		require.NoError(w.t, err)
		list = append(list, c)
		if c.Position == head {
			break
		}
	}
	return list
}

// handle hands commits to a projector.
func (w *world) handle(s *projector.Service, commits []eventlog.Commit) {
	w.t.Helper()
	for i := range commits {
		require.NoError(w.t, s.Handle(w.t.Context(), &commits[i]))
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// code is the problem's code of an error, "" for none; a fault is "fault".
func code(t *testing.T, err error) problem.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	p, isFault := problem.Of(err)
	if isFault {
		return "fault"
	}
	return p.Code
}

// played makes a match in which Ada has picked Bob, Bob has added 3 cups and Ada 2; its seats are claimed.
func (w *world) played(id, options string) (tokens map[string]string) {
	w.t.Helper()
	w.create(id, options)
	tokens = map[string]string{"public": "", "operator": w.sign(token.Token{Role: token.Operator})}
	for _, seat := range []string{"ada", "bob", "host"} {
		tokens[seat] = w.claim(id, seat)
	}
	w.submit(id, "ada", `{"type":"pick-starter","player":"bob"}`)
	w.submit(id, "bob", `{"type":"add","cups":3}`)
	w.submit(id, "ada", `{"type":"add","cups":2}`)
	return tokens
}
