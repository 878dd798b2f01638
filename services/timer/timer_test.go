package timer_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// TestTheEarliestFirst keeps many matches and gives each when it is due.
func TestTheEarliestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	_, ok := s.Next()
	require.False(t, ok)
	const many = 200
	spans := map[string]time.Duration{}
	for i := range many {
		id := fmt.Sprintf("m%d", i)
		spans[id] = time.Duration(i*7919%many+1) * time.Second // each its own, in no order
		w.running(id, spans[id])
	}
	w.tell(s, 0)
	w.tell(s, 0) // twice, as after a break
	require.Equal(t, many, s.Pending())
	for n := 1; n <= many/2; n++ {
		at, ok := s.Next()
		require.True(t, ok)
		require.Equal(t, noon.Add(time.Duration(n)*time.Second), at)
		require.Empty(t, s.Due(at.Add(-1)), "not a moment before")
		due := s.Due(at)
		require.Len(t, due, 1)
		require.Equal(t, at, noon.Add(spans[due[0]]))
	}
	rest := s.Due(noon.Add(many * time.Second))
	require.Len(t, rest, many/2)
	assert.True(t, slices.IsSortedFunc(rest, func(a, b string) int { return int(spans[a] - spans[b]) }))
	assert.Zero(t, s.Pending())
	assert.Empty(t, s.Due(noon.Add(time.Hour)))
}

// TestALateTimerMissesNothing: every deadline that passed has its event, each with its own instant.
func TestALateTimerMissesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	w.running("m", 30*time.Second)
	w.tell(s, 0)
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()))
	assert.Empty(t, w.passed("m"), "nothing is due")
	late := w.Pass(95 * time.Second)
	require.Equal(t, []string{"m"}, s.Due(late))
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()))
	assert.Equal(t, []time.Time{late, late, late}, w.passed("m"), "written when it was noticed")
	at, ok := s.Next()
	require.True(t, ok)
	assert.Equal(t, noon.Add(120*time.Second), at, "the clock runs from deadline to deadline, not from when they were noticed")
	w.Resolve("m")
	m, err := w.Own.Load(t.Context(), "m")
	require.NoError(t, err)
	assert.Contains(t, string(mustJSON(t, m.View(match.Public))), `"strikes":{"ada":3,"bob":0}`)
}

func TestADeadlineThatMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	w.running("m", 30*time.Second)
	w.running("other", time.Hour)
	head := w.tell(s, 0)
	next := func() time.Time {
		head = w.tell(s, head)
		at, ok := s.Next()
		require.True(t, ok)
		return at
	}
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) {
		return m.Extend(event.Host, "ada", 10*time.Second, "", w.Time())
	})
	assert.Equal(t, noon.Add(40*time.Second), next(), "extended")
	w.Pass(25 * time.Second)
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Pause(event.Host, "", w.Time()) })
	assert.Equal(t, noon.Add(time.Hour), next(), "a paused match has no time")
	assert.Equal(t, 1, s.Pending())
	w.Pass(10 * time.Minute)
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()), "and a timer that still comes finds nothing")
	assert.Empty(t, w.passed("m"))
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Resume(event.Host, "", w.Time()) })
	left := w.Time().Add(15 * time.Second)
	assert.Equal(t, left, next(), "what was left")
	extend := func(id string, span time.Duration) {
		w.Decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Extend(event.Host, "ada", span, "", w.Time()) })
	}
	extend("m", 2*time.Hour)
	assert.Equal(t, noon.Add(time.Hour), next(), "another's comes first now")
	extend("other", 5*time.Hour)
	assert.Equal(t, left.Add(2*time.Hour), next(), "and now it does again")
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", w.Time()) })
	assert.Equal(t, noon.Add(6*time.Hour), next())
	assert.Equal(t, 1, s.Pending(), "a match that is over has no time")
}

// TestACopyThatIsBehind fires from a state that others have moved on from.
func TestACopyThatIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	w.running("m", 30*time.Second)
	w.tell(s, 0)
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) {
		return m.Extend(event.Host, "ada", time.Minute, "", w.Time())
	})
	late := w.Pass(31 * time.Second)
	require.Equal(t, []string{"m"}, s.Due(late), "it was not told of the extension")
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()))
	assert.Empty(t, w.passed("m"), "the log knows better")
	at, _ := s.Next()
	assert.Equal(t, noon.Add(90*time.Second), at)
}

// TestReplicasRace: two timers fire the same deadlines, and each stands in the log once.
func TestReplicasRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many, replicas = 20, 3
	for i := range many {
		w.running(fmt.Sprintf("m%d", i), 30*time.Second)
	}
	w.create("timed", `{"start":"2030-01-31T12:00:10Z"}`)
	late := w.Pass(65 * time.Second)
	var all sync.WaitGroup
	for range replicas {
		s := w.timer(w.Log)
		w.tell(s, 0)
		for _, id := range s.Due(late) {
			all.Go(func() { assert.NoError(t, s.Fire(t.Context(), id, w.Time())) })
		}
	}
	all.Wait()
	for i := range many {
		id := fmt.Sprintf("m%d", i)
		assert.Len(t, w.passed(id), 2, "%s: one for each deadline", id)
		_, err := w.NewJournal(w.Log).Load(t.Context(), id)
		require.NoError(t, err, "the stream folds")
	}
	assert.Equal(t, map[string]int{"match-created": 1, "match-started": 1}, w.types("timed"))
}

// TestAStartAtATime: a match may begin by the clock.
func TestAStartAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	w.create("m", `{"start":"2030-01-31T20:00:00Z","clock":{"move":"1m"}}`)
	w.create("past", `{"start":"2030-01-31T11:00:00Z"}`)
	w.create("claimed", `{"start":"when-claimed"}`)
	head := w.tell(s, 0)
	assert.Equal(t, 2, s.Pending(), "the one to come, and a clock of the one that has begun")
	start := noon.Add(8 * time.Hour)
	w.Pass(start.Sub(noon) - time.Millisecond)
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()))
	assert.Equal(t, map[string]int{"match-created": 1}, w.types("m"))
	w.Pass(time.Millisecond)
	require.Contains(t, s.Due(w.Time()), "m")
	require.NoError(t, s.Fire(t.Context(), "m", w.Time()))
	assert.Equal(t, map[string]int{"match-created": 1, "match-started": 1}, w.types("m"))
	w.Resolve("m")
	w.tell(s, head)
	at, ok := s.Next()
	require.True(t, ok)
	assert.LessOrEqual(t, at, start.Add(time.Minute))
	assert.Contains(t, s.Due(start.Add(time.Minute)), "m")
}

// TestHandlePassesOver what is none of its business, and says what it can't read.
func TestHandlePassesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.timer(w.Log)
	require.NoError(t, s.Handle(t.Context(), &eventlog.Commit{Stream: "umpire-probes", Position: 1, Events: make([]event.Event, 1)}))
	_, err := w.Log.Append(t.Context(), "match-odd", eventlog.NoStream, event.Event{Type: "match-dreamt.v1", Public: []byte("{}")})
	require.NoError(t, err)
	err = s.Handle(t.Context(), &eventlog.Commit{Stream: "match-odd", Position: 2, Events: make([]event.Event, 1)})
	require.ErrorIs(t, err, match.ErrBroken)
	assert.Zero(t, s.Pending())
}
