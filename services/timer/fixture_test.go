package timer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/games"
	"umpire/services/servicestest"
	"umpire/services/timer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the tests begin.
var noon = servicestest.Noon

// world is a log, a clock that the test moves, and the matches in the log.
type world struct {
	*servicestest.World
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{servicestest.New(t, games.All()), t}
}

// timer returns a replica with a journal of its own.
func (w *world) timer(log eventlog.Log) *timer.Service {
	return timer.New(w.options(log, w.Time))
}

// options are those of a timer whose players can always reach umpire.
func (w *world) options(log eventlog.Log, clock func() time.Time) timer.Options {
	return timer.Options{
		Journal: w.NewJournal(log), Log: log, Vault: w.Vault, Clock: clock, Logger: w.Logged.Logger(),
		Path: func(context.Context) error { return nil },
	}
}

// create makes a match of Glass Full, whose clocks repeat; options is JSON. It starts as they say.
func (w *world) create(id, options string) {
	w.t.Helper()
	w.Make(id, servicestest.Duel(id, options))
	w.Resolve(id)
}

// running makes a match whose first phase is open, with the given time a move.
func (w *world) running(id string, move time.Duration) {
	w.t.Helper()
	w.create(id, fmt.Sprintf(`{"start":"now","clock":{"move":%q}}`, move))
}

// tell hands the log's commits to a timer.
func (w *world) tell(s *timer.Service, after uint64) (head uint64) {
	w.t.Helper()
	for _, c := range w.Commits(after) {
		require.NoError(w.t, s.Handle(w.t.Context(), &c))
		after = c.Position
	}
	return after
}

// types are the types of a match's events, by type how many.
func (w *world) types(id string) map[string]int {
	w.t.Helper()
	n := map[string]int{}
	for _, kind := range w.Types(id) {
		n[kind]++
	}
	return n
}

// passed are the times of a match's deadline-passed events.
func (w *world) passed(id string) (at []time.Time) {
	w.t.Helper()
	for r, err := range w.Own.Events(w.t.Context(), id, 0) {
		require.NoError(w.t, err)
		if r.Type == "deadline-passed.v1" {
			require.Equal(w.t, event.Timer, r.By)
			at = append(at, r.At)
		}
	}
	return at
}
