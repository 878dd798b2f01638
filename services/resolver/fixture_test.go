package resolver_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
	"umpire/services/resolver"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = servicestest.Noon

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
	*servicestest.World
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{servicestest.New(t, catalog()), t}
}

// resolver returns a replica with a journal of its own.
func (w *world) resolver(log eventlog.Log) *resolver.Service {
	return &resolver.Service{Journal: w.NewJournal(log), Clock: w.Time, Log: w.Logged.Logger()}
}

var duel = servicestest.Duel("m", `{"start":"now"}`)

const alone = `{"game":"trap","options":{"start":"now"},"players":[{"id":"ada","name":"Ada"}]}`

func (w *world) submit(id, player string, move any) {
	w.t.Helper()
	data, err := json.Marshal(move)
	require.NoError(w.t, err)
	w.Move(id, player, string(data))
}

// tell hands each of the log's commits behind a position to the resolvers, to all of them at once, and what they append
// too, until nothing new comes. It returns the log's head.
func (w *world) tell(after uint64, replicas ...*resolver.Service) uint64 {
	w.t.Helper()
	for commits := w.Commits(after); len(commits) > 0; commits = w.Commits(after) {
		for _, c := range commits {
			var all sync.WaitGroup
			for _, s := range replicas {
				all.Go(func() {
					if err := s.Handle(w.t.Context(), &c); err != nil {
						w.t.Error(err)
					}
				})
			}
			all.Wait()
			after = c.Position
		}
	}
	return after
}
