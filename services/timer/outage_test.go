package timer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/timer"
)

// given is how much outages have given to the clocks of a match.
func (w *world) given(id string) (total time.Duration) {
	w.t.Helper()
	m, err := w.own.Refresh(w.t.Context(), id)
	require.NoError(w.t, err)
	due, ok := m.Deadline()
	require.True(w.t, ok)
	return due.Sub(noon.Add(time.Minute))
}

// moves lets ada pick the starter in a match.
func (w *world) moves(id string) {
	w.t.Helper()
	v, err := event.Parse([]byte(`{"type":"pick-starter","player":"ada"}`))
	require.NoError(w.t, err)
	w.once(id, func(m *match.Match) ([]match.Draft, error) { return m.Submit("ada", 0, false, v, w.clock()) })
}

// ticks lets a timer look once a second for a while; whether it could is not asked.
func (w *world) ticks(s *timer.Service, d time.Duration) {
	for range d / time.Second {
		w.pass(time.Second)
		_ = s.Tick(w.t.Context())
	}
}

// A submission that is read before the own probe has come back tells when an outage was over, and not that there was none.
func TestASubmissionBehindAnOutageDoesNotHideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("one", time.Minute)
	w.running("two", time.Minute)
	o, away := w.options(w.log, w.clock), false
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
		s := w.timer(w.log)
		w.tell(s, 0)
		w.ticks(s, 5*time.Second)
		w.pass(30 * time.Second)
		if submitted {
			w.moves("two")
		}
		again := w.timer(w.log)
		require.NoError(t, again.Tick(t.Context()))
		w.tell(again, 0)
		w.ticks(again, 26*time.Second)
		assert.InDelta(t, 32, w.given("one").Seconds(), 3, "a submission came first: %t", submitted)
	}
}

// A timer that is alone takes a gap in its own life for an outage, once: the time that its account takes is no further one,
// though the clock goes on with every look at it.
func TestATimerAloneAccountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.running("m", time.Minute)
	restless := func() time.Time { return w.pass(time.Millisecond) }
	first := w.options(w.log, restless)
	first.Alone = true
	s := timer.New(first)
	w.tell(s, 0)
	require.NoError(t, s.Tick(t.Context()))
	w.pass(20 * time.Second)
	second := w.options(w.log, restless)
	second.Alone = true
	s = timer.New(second)
	w.tell(s, 0)
	require.NoError(t, s.Tick(t.Context()))
	outages := 0
	for commit, err := range w.log.Read(t.Context(), timer.ProbesStream, 0) {
		require.NoError(t, err)
		if commit.Events[0].Type == "outage-ended.v1" {
			outages++
		}
	}
	assert.Equal(t, 1, outages)
	assert.InDelta(t, 20, w.given("m").Seconds(), 1)
}
