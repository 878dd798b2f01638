package timer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/servicestest"
	"umpire/services/timer"
)

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// inVirtualTime runs a test whose clock is the bubble's: waiting costs nothing, and time is exact.
func inVirtualTime(t *testing.T, test func(w *world, began time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		began := time.Now().UTC()
		w.Pass(began.Sub(noon))
		test(w, began)
	})
}

// run runs a timer on the bubble's clock until the test ends.
func (w *world) run(log eventlog.Log) *timer.Service {
	w.t.Helper()
	s := timer.New(w.options(log, time.Now))
	servicestest.Run(w.t, s.Run)
	return s
}

// after lets the bubble's time pass and all that it brings be done.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRunFiresOnTime(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(w *world, began time.Time) {
		t := w.t
		s := w.run(w.Log)
		after(10 * time.Minute) // it sleeps with nothing to wait for
		w.Pass(10 * time.Minute)
		began = began.Add(10 * time.Minute)
		w.running("slow", time.Hour)
		w.running("m", 30*time.Second)
		w.tell(s, 0)
		after(29 * time.Second)
		assert.Empty(t, w.passed("m"))
		w.running("fast", 500*time.Millisecond) // one that comes first wakes it; it opens at the test's own clock
		w.tell(s, 0)
		after(2 * time.Second)
		assert.Equal(t, []time.Time{began.Add(30 * time.Second)}, w.passed("m"), "to the moment")
		assert.Len(t, w.passed("fast"), 62, "what was due when it was told of, and since")
		w.Decide("fast", func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", time.Now()) })
		after(58 * time.Second)
		assert.Equal(t, []time.Time{began.Add(30 * time.Second), began.Add(time.Minute)}, w.passed("m")[:2])
		assert.Empty(t, w.passed("slow"))
		after(time.Hour)
		assert.NotEmpty(t, w.passed("slow"))
		assert.Empty(t, w.Logged.String())
	})
}

// faulty is a log that is down for some appends, or says so though it took them.
type faulty struct {
	eventlog.Log
	down  atomic.Int64
	takes bool
}

func (f *faulty) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if stream == timer.ProbesStream || f.down.Add(-1) < 0 {
		return f.Log.Append(ctx, stream, expected, events...)
	}
	if f.takes {
		if _, err := f.Log.Append(ctx, stream, expected, events...); err != nil {
			return eventlog.Commit{}, err
		}
	}
	return eventlog.Commit{}, fmt.Errorf("the disk is full: %w", eventlog.ErrUnavailable)
}

// TestRunInsists: a deadline is not lost to a fault of the log, whether the append stands or not.
func TestRunInsists(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]bool{"not written": false, "written, and not said so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inVirtualTime(t, func(w *world, began time.Time) {
				t := w.t
				w.running("m", 30*time.Second)
				w.running("other", 45*time.Second)
				log := &faulty{Log: w.Log, takes: takes}
				s := w.run(log)
				w.tell(s, 0)
				log.down.Store(5)
				after(31 * time.Second)
				assert.Len(t, w.passed("m"), 1)
				assert.Equal(t, 1, w.Logged.Count("\n"), "one line however often: %s", w.Logged.String())
				assert.Contains(t, w.Logged.String(), "match=m")
				after(15 * time.Second)
				assert.Equal(t, []time.Time{began.Add(45 * time.Second)}, w.passed("other"))
			})
		})
	}
}

// TestABrokenMatchStopsNoOther: one that can't be folded any more is left aside, with a line in the log.
func TestABrokenMatchStopsNoOther(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(w *world, _ time.Time) {
		t := w.t
		w.running("broken", 10*time.Second)
		w.running("m", 30*time.Second)
		s := w.run(w.Log)
		w.tell(s, 0)
		m, err := w.Own.Load(t.Context(), "broken")
		require.NoError(t, err)
		_, err = w.Log.Append(t.Context(), "match-broken", m.Revision(),
			event.Event{ID: event.ID{1}, Type: "match-dreamt.v2", Public: []byte("{}")})
		require.NoError(t, err)
		after(31 * time.Second)
		assert.Len(t, w.passed("m"), 1)
		assert.Equal(t, 1, w.Logged.Count("level=ERROR"), w.Logged.String())
		assert.Contains(t, w.Logged.String(), "match=broken")
		assert.Equal(t, 1, s.Pending())
	})
}

// TestManyDeadlinesAtOnce: more than are fired side by side.
func TestManyDeadlinesAtOnce(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(w *world, began time.Time) {
		t := w.t
		const many = 200
		for i := range many {
			w.running(fmt.Sprintf("m%d", i), 30*time.Second)
		}
		s := w.run(w.Log)
		w.tell(s, 0)
		after(30 * time.Second)
		for i := range many {
			assert.Equal(t, []time.Time{began.Add(30 * time.Second)}, w.passed(fmt.Sprintf("m%d", i)))
		}
		assert.Equal(t, many, s.Pending(), "and the next deadline of each")
	})
}

// TestATimedStartIsRun: the first phase's clock begins to run when the match does.
func TestATimedStartIsRun(t *testing.T) {
	t.Parallel()
	inVirtualTime(t, func(w *world, began time.Time) {
		t := w.t
		w.create("m", fmt.Sprintf(`{"start":%q}`, began.Add(90*time.Minute).Format(time.RFC3339)))
		s := w.run(w.Log)
		w.tell(s, 0)
		after(90 * time.Minute)
		m := w.Now("m")
		assert.Equal(t, match.Running, m.Status())
		assert.Equal(t, began.Add(90*time.Minute), m.At())
	})
}
