package resolver_test

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

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/resolver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// trap is a game for one whose rules fail where a test wants them to. It has no clock.
type trap struct{ steps int }

// said is a submission of the trap's.
type said struct{ kind, secret string }

// shown is the trap's table.
type shown struct {
	Steps int `json:"steps"`
}

func trapGame(name string, await func(*trap) match.Await) *match.Game {
	return match.Rules[trap, said, shown]{
		Name: name, Title: "A trap", Version: 1, Players: 1, Move: time.Hour,
		Prepare: func(*match.Setup) (match.Prepared, error) { return match.Prepared{}, nil },
		Begin:   func(match.Start) trap { return trap{} },
		Clone:   func(s *trap) *trap { c := *s; return &c },
		Await:   await,
		Decode: func(_ *trap, v event.Value) (said, error) {
			form := match.OpenForm(v)
			form.Fields([]string{"secret"})
			return said{form.Choice("type", "step", "boom"), form.Text("secret")}, form.Err()
		},
		Check: func(*match.View, *shown, said) error { return nil },
		Resolve: func(t *match.Turn[trap, said]) {
			if m := t.Moves[0].Move; m.kind == "boom" {
				panic("it can't be that " + m.secret)
			}
			t.Emit("stepped", struct{}{})
		},
		Evolve: func(s *trap, _ *match.Fact[said]) { s.steps++ },
		Opens:  func(string, int) bool { return false },
		Result: func(*trap) any { return struct{}{} },
		View:   func(w *match.Watch[trap, said]) *shown { return &shown{w.State.steps} },
		Hints:  func(*match.View, *shown) {},
		Bot:    func(*match.View, *shown, func(int) int) any { return nil },
	}.Game()
}

func turnOf(*trap) match.Await {
	return match.Await{Phase: "turn", Seats: []int{0}, Clock: match.None}
}

func catalog() match.Catalog {
	return match.Catalog{
		glassfull.Game(), trapGame("trap", turnOf),
		trapGame("pit", func(*trap) match.Await { panic("nobody comes out") }),
	}
}

// world is a log with the matches in it.
type world struct {
	t     *testing.T
	log   eventlog.Log
	vault *event.Vault
	own   *journal.Journal // of whoever is no resolver

	mu     sync.Mutex
	logged strings.Builder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(t, err)
	w := &world{t: t, log: memlog.New(), vault: vault}
	w.own = w.journal(w.log)
	return w
}

func (w *world) journal(log eventlog.Log) *journal.Journal {
	return journal.New(log, catalog(), w.vault, rand.Reader)
}

// resolver returns a replica with a journal of its own.
func (w *world) resolver(log eventlog.Log) *resolver.Service {
	return &resolver.Service{Journal: w.journal(log), Clock: clock, Log: slog.New(slog.NewTextHandler(w, nil))}
}

// Write takes what the resolvers log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.Write(p)
}

const (
	duel = `{"game":"glass-full","roles":{"dmo":"ada"},"options":{"start":"now"},` +
		`"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`
	alone = `{"game":"trap","options":{"start":"now"},"players":[{"id":"ada","name":"Ada"}]}`
)

func (w *world) create(id, setup string) {
	w.t.Helper()
	v, err := event.Parse([]byte(setup))
	require.NoError(w.t, err)
	s, err := match.ParseSetup(catalog(), v)
	require.NoError(w.t, err)
	drafts, _, err := match.Create(id, s, bytes.Repeat([]byte{2}, 32), false, noon)
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, nil, event.ID{}, drafts)
	require.NoError(w.t, err)
}

// decide appends what is decided about a match at the log's head.
func (w *world) decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	m := w.now(id)
	drafts, err := decision(m)
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, m, event.ID{}, drafts)
	require.NoError(w.t, err)
}

func (w *world) submit(id, player string, move any) {
	w.t.Helper()
	data, err := json.Marshal(move)
	require.NoError(w.t, err)
	v, err := event.Parse(data)
	require.NoError(w.t, err)
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Submit(player, 0, false, v, noon) })
}

func (w *world) now(id string) *match.Match {
	w.t.Helper()
	m, err := w.own.Refresh(w.t.Context(), id)
	require.NoError(w.t, err)
	return m
}

// tell hands each of the log's commits behind a position to the resolvers, to all of them at once, and what they append
// too, until nothing new comes. It returns the log's head.
func (w *world) tell(after uint64, replicas ...*resolver.Service) uint64 {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	for {
		head, err := w.log.Head(ctx)
		require.NoError(w.t, err)
		if head == after {
			return head
		}
		for c, err := range w.log.Follow(ctx, after) {
			require.NoError(w.t, err)
			var all sync.WaitGroup
			for _, s := range replicas {
				all.Go(func() {
					if err := s.Handle(ctx, &c); err != nil {
						w.t.Error(err)
					}
				})
			}
			all.Wait()
			if after = c.Position; after == head {
				break
			}
		}
	}
}

// types are the types of a match's events.
func (w *world) types(id string) (list []string) {
	w.t.Helper()
	for r, err := range w.own.Events(w.t.Context(), id, 0) {
		require.NoError(w.t, err)
		list = append(list, strings.TrimSuffix(r.Type, ".v1"))
	}
	return list
}
