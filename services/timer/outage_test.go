package timer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/services/timer"
)

// given is how much outages have given to the clocks of a match.
func (w *world) given(id string) (total time.Duration) {
	w.t.Helper()
	due, ok := w.Now(id).Deadline()
	require.True(w.t, ok)
	return due.Sub(noon.Add(time.Minute))
}

// outages is how many stand in the log.
func (w *world) outages() (n int) {
	w.t.Helper()
	for commit, err := range w.Log.Read(w.t.Context(), timer.ProbesStream, 0) {
		require.NoError(w.t, err)
		if commit.Events[0].Type == "outage-ended.v1" {
			n++
		}
	}
	return n
}

// moves lets ada pick the starter in a match.
func (w *world) moves(id string) {
	w.t.Helper()
	w.Move(id, "ada", `{"type":"pick-starter","player":"ada"}`)
}

// ticks lets a timer look once a second for a while; whether it could is not asked.
func (w *world) ticks(s *timer.Service, d time.Duration) {
	for range d / time.Second {
		w.Pass(time.Second)
		_ = s.Tick(w.t.Context())
	}
}

// A submission that is read before the own probe has come back tells when an outage was over, and not that there was none.
func TestASubmissionBehindAnOutageDoesNotHideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("one", time.Minute)
	w.running("two", time.Minute)
	o, away := w.options(w.Log, w.Time), false
	o.Path = func(context.Context) error {
		if away {
			return eventlog.ErrUnavailable
		}
		return nil
	}
	s := timer.New(o)
	head := w.tell(s, 0)
	w.ticks(s, 5*time.Second)
	away = true
	w.ticks(s, 20*time.Second)
	away = false
	w.moves("two")
	w.tell(s, head)
	w.ticks(s, time.Second)
	assert.InDelta(t, 21, w.given("one").Seconds(), 1)
}

// A timer that begins behind an outage knows no deadline yet; the log tells it what was promised.
func TestAnOutageThatNoTimerSaw(t *testing.T) {
	t.Parallel()
	for _, submitted := range []bool{false, true} {
		w := newWorld(t)
		w.running("one", time.Minute)
		w.running("two", time.Minute)
		s := w.timer(w.Log)
		w.tell(s, 0)
		w.ticks(s, 5*time.Second)
		w.Pass(30 * time.Second)
		if submitted {
			w.moves("two")
		}
		again := w.timer(w.Log)
		require.NoError(t, again.Tick(t.Context()))
		w.tell(again, 0)
		w.ticks(again, 26*time.Second)
		assert.InDelta(t, 32, w.given("one").Seconds(), 3, "a submission came first: %t", submitted)
	}
}

// alone is a life of a timer that is alone, begun as umpire begins it. Its clock goes on with every look at it.
func (w *world) alone(log eventlog.Log) *timer.Service {
	o := w.options(log, func() time.Time { return w.Pass(time.Millisecond) })
	o.Alone = true
	s := timer.New(o)
	w.tell(s, 0)
	return s
}

// A timer that is alone takes the time between its lives for an outage, once: the time that its account takes is no further
// one. How long the first life lasted is known even if it ended as it began.
func TestATimerAloneAccountsOnce(t *testing.T) {
	t.Parallel()
	for _, looked := range []bool{false, true} {
		w := newWorld(t)
		w.running("m", time.Minute)
		s := w.alone(w.Log)
		require.NoError(t, s.Resume(t.Context()))
		assert.Zero(t, w.outages())
		if looked {
			require.NoError(t, s.Tick(t.Context()))
		}
		w.Pass(20 * time.Second)
		s = w.alone(w.Log)
		require.NoError(t, s.Resume(t.Context()))
		assert.Equal(t, 1, w.outages())
		assert.InDelta(t, 20, w.given("m").Seconds(), 1, "before the first look")
		require.NoError(t, s.Tick(t.Context()))
		assert.Equal(t, 1, w.outages())
		assert.InDelta(t, 20, w.given("m").Seconds(), 1)
	}
}

// A log that refuses the account for a while makes one outage of it and what has passed meanwhile.
func TestAnAccountThatIsWrittenLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("m", time.Minute)
	require.NoError(t, w.alone(w.Log).Resume(t.Context()))
	w.Pass(20 * time.Second)
	full := &fullLog{Log: w.Log, full: true}
	s := w.alone(full)
	for range 3 {
		require.ErrorIs(t, s.Resume(t.Context()), eventlog.ErrUnavailable)
		w.Pass(2 * time.Second)
	}
	full.full = false
	require.NoError(t, s.Resume(t.Context()))
	assert.Equal(t, 1, w.outages())
	assert.InDelta(t, 26, w.given("m").Seconds(), 1)
}

// fullLog is a log that takes nothing while it is full.
type fullLog struct {
	eventlog.Log
	full bool
}

// Append implements eventlog.Log.
func (l *fullLog) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if l.full {
		return eventlog.Commit{}, eventlog.ErrUnavailable
	}
	return l.Log.Append(ctx, stream, expected, events...)
}

// Timers that saw the same outage tell of it once, though time goes on between the one's look and the other's.
func TestAnOutageThatManyTimersSaw(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("m", time.Minute)
	away := false
	var replicas []*timer.Service
	for range 3 {
		o := w.options(w.Log, func() time.Time { return w.Pass(time.Millisecond) })
		o.Path = func(context.Context) error {
			if away {
				return eventlog.ErrUnavailable
			}
			return nil
		}
		s := timer.New(o)
		w.tell(s, 0)
		replicas = append(replicas, s)
	}
	tick := func(n int) {
		for range n {
			w.Pass(time.Second)
			for _, s := range replicas {
				_ = s.Tick(t.Context())
			}
		}
	}
	tick(5)
	away = true
	tick(20)
	away = false
	tick(5)
	assert.Equal(t, 1, w.outages())
	assert.InDelta(t, 21, w.given("m").Seconds(), 1)
}

// A promise that was broken tells of an outage, though a submission stands in the log that is younger than it.
func TestAPromiseThatWasBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gone time.Duration // after the promise
		want float64
	}{{-20 * time.Second, 0}, {2 * time.Second, 0}, {5 * time.Second, 35}} {
		w := newWorld(t)
		w.running("one", time.Hour)
		w.running("two", time.Hour)
		s := w.timer(w.Log)
		w.tell(s, 0)
		require.NoError(t, s.Tick(t.Context())) // which promises the next probe within a minute
		w.Pass(30 * time.Second)
		w.moves("two")
		w.Pass(30*time.Second + c.gone)
		again := w.timer(w.Log)
		w.tell(again, 0)
		require.NoError(t, again.Tick(t.Context()))
		assert.InDelta(t, c.want, w.given("one").Seconds()-time.Hour.Seconds()+time.Minute.Seconds(), 1, "after %s", c.gone)
	}
}

// A clock that runs out much sooner than any before has the next probe promised sooner at once; those that stand far off do
// not fill the log.
func TestANearerDeadlineShortensThePromise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("far", time.Hour)
	s := w.timer(w.Log)
	head := w.tell(s, 0)
	require.NoError(t, s.Tick(t.Context()))
	assert.Equal(t, []string{"1m0s"}, w.promises())
	w.running("near", 30*time.Second)
	w.Pass(10 * time.Millisecond)
	w.tell(s, head)
	require.NoError(t, s.Tick(t.Context()))
	assert.Equal(t, []string{"1m0s", "2.999s"}, w.promises(), "players had shown a moment ago that they reach umpire")
	w = newWorld(t)
	w.running("far", time.Hour)
	s = w.timer(w.Log)
	w.tell(s, 0)
	w.ticks(s, 59*time.Minute)
	assert.Less(t, len(w.promises()), 80)
}

// promises are those of the probes in the log.
func (w *world) promises() (list []string) {
	w.t.Helper()
	for commit, err := range w.Log.Read(w.t.Context(), timer.ProbesStream, 0) {
		require.NoError(w.t, err)
		var p struct{ Within string }
		require.NoError(w.t, json.Unmarshal(commit.Events[0].Public, &p))
		list = append(list, p.Within)
	}
	return list
}

// Submissions prove what a probe would, but the log gets the probes that were promised all the same.
func TestAPromiseIsKeptWhilePlayersAreBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("m", time.Hour)
	s := w.timer(w.Log)
	head := w.tell(s, 0)
	for i := range 240 {
		w.Pass(500 * time.Millisecond)
		id := fmt.Sprintf("m%d", i)
		w.running(id, time.Hour)
		w.moves(id)
		head = w.tell(s, head)
		require.NoError(t, s.Tick(t.Context()))
	}
	last, probes := noon, 0
	for commit, err := range w.Log.Read(t.Context(), timer.ProbesStream, 0) {
		require.NoError(t, err)
		assert.LessOrEqual(t, commit.Events[0].At.Sub(last), time.Minute+time.Second)
		last = commit.Events[0].At
		probes++
	}
	assert.GreaterOrEqual(t, probes, 2)
	assert.Zero(t, w.outages())
}
