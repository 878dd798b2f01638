package serve

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watched is a watch over numbers that a test sets, with a clock that it moves.
type watched struct {
	t        *testing.T
	w        *watch
	now      time.Time
	at, head uint64
	fault    error // of the checkpoint
	away     error // of the log
	restarts int
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	s := &watched{t: t, now: time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)}
	s.w = &watch{
		name:    "tester",
		at:      func(context.Context) (uint64, error) { return s.at, s.fault },
		head:    func(context.Context) (uint64, error) { return s.head, s.away },
		restart: func() { s.restarts++ },
		why:     errors.New("not begun"),
	}
	return s
}

// look lets time pass as the program's watch does, and says what /readyz tells then.
func (s *watched) look() string {
	s.t.Helper()
	s.now = s.now.Add(watchEvery)
	s.w.look(s.t.Context(), s.now)
	if err := s.w.check(s.t.Context()); err != nil {
		return err.Error()
	}
	return ""
}

// looks looks for as long as a span and says what each look told that the one before did not.
func (s *watched) looks(span time.Duration) (told []string) {
	s.t.Helper()
	last := "?"
	for end := s.now.Add(span); s.now.Before(end); {
		if said := s.look(); said != last {
			told, last = append(told, said), said
		}
	}
	return told
}

func TestAWatchedServiceBegins(t *testing.T) {
	s := newWatched(t)
	require.EqualError(t, s.w.check(t.Context()), "not begun")
	s.head = 100
	assert.Equal(t, "reading the log: at 0 of 100", s.look())
	for s.at = 40; s.at < 100; s.at += 20 {
		s.head += 10 // what comes meanwhile is not waited for
		assert.Contains(t, s.look(), "of 100")
	}
	assert.Empty(t, s.look())
	s.at, s.head = 130, 130
	assert.Equal(t, []string{""}, s.looks(time.Minute))
	assert.Zero(t, s.restarts)
}

func TestAnEmptyLogIsReadAtOnce(t *testing.T) {
	s := newWatched(t)
	assert.Empty(t, s.look())
	s.head, s.at = 1, 0
	assert.Empty(t, s.look(), "a moment behind is no fault")
}

// TestAServiceThatKeepsUp is well however long the log rests, and however far behind it is while it moves.
func TestAServiceThatKeepsUp(t *testing.T) {
	s := newWatched(t)
	s.look()
	s.at, s.head = 5, 5
	assert.Equal(t, []string{""}, s.looks(time.Hour))
	for range 100 {
		s.head += 1000
		s.at++
		require.Empty(t, s.look())
	}
	assert.Zero(t, s.restarts)
}

// TestAServiceThatIsStuck begins again once in a while, and stays unready until it moves.
func TestAServiceThatIsStuck(t *testing.T) {
	s := newWatched(t)
	s.at, s.head = 5, 5
	s.look()
	s.head = 7
	assert.Equal(t, []string{""}, s.looks(stuckAfter-watchEvery), "not yet")
	assert.Zero(t, s.restarts)
	for _, said := range s.looks(time.Minute) {
		assert.Contains(t, said, "stuck at 5 of 7 for ")
	}
	assert.Equal(t, 4, s.restarts, "every 15 seconds and a look")
	s.at = 6
	assert.Empty(t, s.look(), "it moves")
	s.at = 7
	assert.Equal(t, []string{""}, s.looks(time.Minute))
	assert.Equal(t, 4, s.restarts)
}

// TestAServiceThatIsStuckAtItsBeginning says so too, and that it has not read the log when it moves again.
func TestAServiceThatIsStuckAtItsBeginning(t *testing.T) {
	s := newWatched(t)
	s.head = 100
	told := s.looks(stuckAfter + watchEvery)
	assert.Equal(t, "reading the log: at 0 of 100", told[0])
	assert.Contains(t, told[1], "stuck at 0 of 100 for 16s")
	assert.Equal(t, 1, s.restarts)
	s.at = 1
	assert.Equal(t, "reading the log: at 1 of 100", s.look())
}

// TestAFeedOfAnotherLog is told of, and no restart helps it.
func TestAFeedOfAnotherLog(t *testing.T) {
	s := newWatched(t)
	s.at, s.head = 12, 3
	const says = "FEED stands at 12 and the log ends at 3: NATS holds the feed of another log; wipe it"
	assert.Equal(t, []string{says}, s.looks(time.Minute))
	assert.Zero(t, s.restarts)
	s.at = 3
	assert.Empty(t, s.look())
}

// TestWhatCannotBeTold is no standstill: a broker or a log that was away is not the service's fault.
func TestWhatCannotBeTold(t *testing.T) {
	s := newWatched(t)
	s.at, s.head = 5, 5
	s.look()
	s.head = 9
	s.fault = errors.New("the consumer is not there")
	assert.Equal(t, []string{"the consumer is not there"}, s.looks(time.Hour))
	s.fault, s.away = nil, errors.New("the log is away")
	assert.Equal(t, []string{"the log is away"}, s.looks(time.Hour))
	s.away = nil
	assert.Empty(t, s.look(), "it may take its time from now on")
	assert.Equal(t, []string{""}, s.looks(stuckAfter-2*watchEvery))
	assert.Zero(t, s.restarts)
	s.looks(2 * watchEvery)
	assert.Equal(t, 1, s.restarts)
}

// TestACheckpointThatFallsBack, where the consumer was made anew, is movement.
func TestACheckpointThatFallsBack(t *testing.T) {
	s := newWatched(t)
	s.at, s.head = 50, 50
	s.look()
	for s.at = 0; s.at < 50; s.at++ {
		require.Empty(t, s.look())
	}
	assert.Zero(t, s.restarts)
}
