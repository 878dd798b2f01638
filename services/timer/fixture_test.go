package timer_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/timer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the tests begin.
var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// world is a log, a clock that the test moves, and the matches in the log.
type world struct {
	t     *testing.T
	log   eventlog.Log
	vault *event.Vault
	own   *journal.Journal // of whoever is no timer

	mu     sync.Mutex
	now    time.Time
	logged bytes.Buffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(t, err)
	w := &world{t: t, log: memlog.New(), vault: vault, now: noon}
	w.own = w.journal(w.log)
	return w
}

func (w *world) journal(log eventlog.Log) *journal.Journal {
	return journal.New(log, games.All(), w.vault, rand.Reader)
}

// timer returns a replica with a journal of its own.
func (w *world) timer(log eventlog.Log) *timer.Service {
	return timer.New(w.options(log, w.clock))
}

// options are those of a timer whose players can always reach umpire.
func (w *world) options(log eventlog.Log, clock func() time.Time) timer.Options {
	return timer.Options{
		Journal: w.journal(log), Log: log, Vault: w.vault, Clock: clock, Logger: w.slog(),
		Path: func(context.Context) error { return nil },
	}
}

func (w *world) slog() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	return w.now
}

// Write takes what the timers log.
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

// create makes a match of Glass Full, whose clocks repeat; options is JSON. It starts as they say.
func (w *world) create(id, options string) {
	w.t.Helper()
	v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"ada"},"options":` + options +
		`,"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`))
	require.NoError(w.t, err)
	setup, err := match.ParseSetup(games.All(), v)
	require.NoError(w.t, err)
	drafts, _, err := match.Create(id, setup, bytes.Repeat([]byte{2}, 32), false, w.clock())
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, nil, event.ID{}, drafts)
	require.NoError(w.t, err)
	w.resolve(id)
}

// running makes a match whose first phase is open, with the given time a move.
func (w *world) running(id string, move time.Duration) {
	w.t.Helper()
	w.create(id, fmt.Sprintf(`{"start":"now","clock":{"move":%q}}`, move))
}

// resolve does the resolver's work.
func (w *world) resolve(id string) {
	w.t.Helper()
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Resolve(w.clock()), nil })
}

// decide appends what is decided about a match, and again until nothing is.
func (w *world) decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	for {
		m, err := w.own.Refresh(w.t.Context(), id)
		require.NoError(w.t, err)
		drafts, err := decision(m)
		require.NoError(w.t, err)
		if len(drafts) == 0 {
			return
		}
		_, err = w.own.Append(w.t.Context(), id, m, event.ID{}, drafts)
		require.NoError(w.t, err)
	}
}

// once appends what is decided about a match.
func (w *world) once(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	done := false
	w.decide(id, func(m *match.Match) ([]match.Draft, error) {
		if done {
			return nil, nil
		}
		done = true
		return decision(m)
	})
}

// tell hands the log's commits to a timer.
func (w *world) tell(s *timer.Service, after uint64) (head uint64) {
	w.t.Helper()
	head, err := w.log.Head(w.t.Context())
	require.NoError(w.t, err)
	if head == after {
		return head
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	for c, err := range w.log.Follow(ctx, after) {
		require.NoError(w.t, err)
		require.NoError(w.t, s.Handle(w.t.Context(), &c))
		if c.Position == head {
			break
		}
	}
	return head
}

// types are the types of a match's events, by type how many.
func (w *world) types(id string) map[string]int {
	w.t.Helper()
	n := map[string]int{}
	for r, err := range w.own.Events(w.t.Context(), id, 0) {
		require.NoError(w.t, err)
		n[strings.TrimSuffix(r.Type, ".v1")]++
	}
	return n
}

// passed are the times of a match's deadline-passed events.
func (w *world) passed(id string) (at []time.Time) {
	w.t.Helper()
	for r, err := range w.own.Events(w.t.Context(), id, 0) {
		require.NoError(w.t, err)
		if r.Type == "deadline-passed.v1" {
			require.Equal(w.t, event.Timer, r.By)
			at = append(at, r.At)
		}
	}
	return at
}
