package feed_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/match"
	"umpire/services/feed"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) {
	// These tests wait for brokers and clocks far more than they work.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// fill appends commits of one event to streams in turn and returns how many.
func fill(t *testing.T, log eventlog.Log, streams, each int) int {
	t.Helper()
	for n := range streams * each {
		name := fmt.Sprintf("match-%d", n%streams)
		_, err := log.Append(t.Context(), name, int64(n/streams)-1, event.Event{
			ID: event.ID{byte(n >> 8), byte(n)}, Type: "test.v1", By: event.Umpire, Public: []byte("{}"),
		})
		require.NoError(t, err)
	}
	return streams * each
}

// loop is a loop under test and what it has handled.
type loop struct {
	feed.Loop
	logged servicestest.Lines

	mu      sync.Mutex
	handled []eventlog.Commit
	done    chan struct{}
}

// begin runs a loop until the test ends or stop is called, which returns Run's error. handle is asked first.
func begin(t *testing.T, follow feed.Feed, workers int, handle feed.Handle) (l *loop, stop func() error) {
	t.Helper()
	l = &loop{done: make(chan struct{}, 1<<16)}
	l.Loop = feed.Loop{Name: "tester", Feed: follow, Workers: workers, Log: l.logged.Logger()}
	l.Handle = func(ctx context.Context, c *eventlog.Commit) error {
		if handle != nil {
			if err := handle(ctx, c); err != nil {
				return err
			}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.handled = append(l.handled, *c)
		l.done <- struct{}{}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	return l, stop
}

// wait returns what has been handled once that are n commits.
func (l *loop) wait(n int) []eventlog.Commit {
	for range n {
		<-l.done
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.handled
}

// inOrder demands that each stream's revisions were handled one after the other from 0, and returns how many each had.
func inOrder(t *testing.T, handled []eventlog.Commit) map[string]uint64 {
	t.Helper()
	next := map[string]uint64{}
	for _, c := range handled {
		require.Equal(t, next[c.Stream], c.First, c.Stream)
		next[c.Stream]++
	}
	return next
}

func TestEachMatchInOrder(t *testing.T) {
	t.Parallel()
	log := memlog.New()
	history := fill(t, log, 50, 4)
	l, stop := begin(t, log.Follow, 8, nil)
	for stream, n := range inOrder(t, l.wait(history)) {
		assert.EqualValues(t, 4, n, stream)
	}
	require.EqualValues(t, history, l.Position())
	_, err := log.Append(t.Context(), "match-live", eventlog.NoStream, event.Event{Type: "test.v1", Public: []byte("{}")})
	require.NoError(t, err)
	assert.Equal(t, "match-live", l.wait(1)[history].Stream, "then what comes")
	require.ErrorIs(t, stop(), context.Canceled)
	assert.Empty(t, l.logged.String())
}

// TestManyMatchesAtOnce: a match that is being dealt with does not keep those of other workers waiting.
func TestManyMatchesAtOnce(t *testing.T) {
	t.Parallel()
	log := memlog.New()
	n := fill(t, log, 64, 1)
	both := make(chan struct{})
	var meet sync.Once
	var inside sync.Map
	l, _ := begin(t, log.Follow, 8, func(ctx context.Context, c *eventlog.Commit) error {
		inside.Store(c.Stream, true)
		defer inside.Delete(c.Stream)
		count := 0
		inside.Range(func(any, any) bool { count++; return true })
		if count > 1 {
			meet.Do(func() { close(both) })
		}
		select {
		case <-both:
		case <-ctx.Done():
		}
		return nil
	})
	inOrder(t, l.wait(n))
}

func TestAFaultIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memlog.New()
		n := fill(t, log, 4, 3)
		down := 40
		began := time.Now()
		l, _ := begin(t, log.Follow, 1, func(_ context.Context, c *eventlog.Commit) error {
			if c.Position == 5 && down > 0 {
				down--
				return fmt.Errorf("the disk says: %w", eventlog.ErrUnavailable)
			}
			return nil
		})
		inOrder(t, l.wait(n))
		assert.Zero(t, down)
		assert.Equal(t, 1, l.logged.Count("\n"), "one line however often: %s", l.logged.String())
		assert.Contains(t, l.logged.String(), "stream=match-0")
		assert.Contains(t, l.logged.String(), "service=tester")
		assert.Contains(t, l.logged.String(), "the disk says")
		waited := time.Since(began)
		assert.Greater(t, waited, 30*feed.LastGap, "it lets the fault pass in peace")
		assert.Less(t, waited, 40*feed.LastGap)
	})
}

// hopeless are the errors that no later try can mend; each concerns one match.
var hopeless = map[string]error{
	"broken":             match.ErrBroken,
	"of a newer version": match.ErrUnknownEvent,
	"corrupt":            eventlog.ErrCorrupt,
	"too large":          eventlog.ErrTooLarge,
	"not to be appended": eventlog.ErrInvalid,
}

func TestAMatchThatIsBrokenStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, fault := range hopeless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := memlog.New()
				n := fill(t, log, 3, 100)
				l, _ := begin(t, log.Follow, 1, func(_ context.Context, c *eventlog.Commit) error {
					if c.Stream == "match-1" && c.First >= 98 {
						return fmt.Errorf("folding: %w", fault)
					}
					return nil
				})
				handled := inOrder(t, l.wait(n-2))
				assert.EqualValues(t, 100, handled["match-0"])
				assert.EqualValues(t, 98, handled["match-1"])
				assert.EqualValues(t, 100, handled["match-2"])
				assert.Equal(t, 2, l.logged.Count("level=ERROR"), l.logged.String())
				assert.Equal(t, 2, l.logged.Count("stream=match-1"), l.logged.String())
			})
		})
	}
}

// TestABugStopsNoOther: rules that panic while a match is dealt with are a bug of that match alone, and what they held
// stays out of the log.
func TestABugStopsNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memlog.New()
		n := fill(t, log, 3, 2)
		l, _ := begin(t, log.Follow, 1, func(_ context.Context, c *eventlog.Commit) error {
			if c.Stream == "match-1" {
				panic("the secret of match-1 is 17 cups")
			}
			return nil
		})
		handled := inOrder(t, l.wait(n-2))
		assert.Len(t, handled, 2)
		assert.Equal(t, 2, l.logged.Count("level=ERROR"))
		assert.NotContains(t, l.logged.String(), "17 cups")
		assert.Contains(t, l.logged.String(), "TestABugStopsNoOther", "where to look")
	})
}

// TestABreakLeavesNoGap follows a feed that breaks after every few commits, and one that just ends.
func TestABreakLeavesNoGap(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]error{"broken": errors.New("the line is cut"), "ended": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := memlog.New()
				n := fill(t, log, 5, 6)
				var froms []uint64
				follow := func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
					froms = append(froms, after)
					return few(log.Follow(ctx, after), 4, cut)
				}
				l, stop := begin(t, follow, 3, nil)
				handled := l.wait(n)
				require.Error(t, stop())
				inOrder(t, handled)
				assert.Len(t, handled, n, "and nothing twice")
				assert.Equal(t, []uint64{0, 4, 8, 12, 16, 20, 24, 28}, froms)
				if cut != nil {
					assert.Contains(t, l.logged.String(), "the line is cut")
				}
			})
		})
	}
}

// few yields some commits and then the error, where there is one.
func few(all iter.Seq2[eventlog.Commit, error], some int, cut error) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		for c, err := range all {
			if err != nil || some == 0 {
				break
			}
			some--
			if !yield(c, nil) {
				return
			}
		}
		if cut != nil {
			yield(eventlog.Commit{}, cut)
		}
	}
}

// TestItEndsWithItsContext wherever it is: idle, handling, between two tries, with a backlog, at a feed that is down.
func TestItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	reached := func(after int, then error) (feed.Handle, chan struct{}) {
		there := make(chan struct{})
		seen := 0
		return func(ctx context.Context, _ *eventlog.Commit) error {
			if seen++; seen == after {
				close(there)
			}
			if then == nil {
				<-ctx.Done()
				return ctx.Err()
			}
			return then
		}, there
	}
	log := memlog.New()
	fill(t, log, 1, 500)
	at := func(handle feed.Handle, there chan struct{}) (feed.Feed, feed.Handle, chan struct{}) {
		return log.Follow, handle, there
	}
	for name, prepare := range map[string]func() (feed.Feed, feed.Handle, chan struct{}){
		"idle": func() (feed.Feed, feed.Handle, chan struct{}) {
			there := make(chan struct{})
			close(there)
			return memlog.New().Follow, nil, there
		},
		"handling with a backlog": func() (feed.Feed, feed.Handle, chan struct{}) { return at(reached(1, nil)) },
		"between two tries": func() (feed.Feed, feed.Handle, chan struct{}) {
			return at(reached(4, eventlog.ErrUnavailable))
		},
		"at a feed that is down": func() (feed.Feed, feed.Handle, chan struct{}) {
			there, asked := make(chan struct{}), 0
			return func(context.Context, uint64) iter.Seq2[eventlog.Commit, error] {
				if asked++; asked == 3 {
					close(there)
				}
				return few(func(func(eventlog.Commit, error) bool) {}, 0, eventlog.ErrUnavailable)
			}, nil, there
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follow, handle, there := prepare()
			l, stop := begin(t, follow, 1, handle)
			<-there
			require.ErrorIs(t, stop(), context.Canceled)
			assert.NotContains(t, l.logged.String(), "canceled", "the end is no fault")
		})
	}
}

// TestReach waits for what is under way too.
func TestReach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := memlog.New()
		n := uint64(fill(t, log, 3, 5))
		free := make(chan struct{})
		l, _ := begin(t, log.Follow, 2, func(_ context.Context, c *eventlog.Commit) error {
			if c.Position == 7 {
				<-free
			}
			return nil
		})
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, l.Reach(short, n), context.DeadlineExceeded)
		assert.Equal(t, n, l.Position(), "it was handed on, and one is not dealt with yet")
		close(free)
		require.NoError(t, l.Reach(t.Context(), n))
		inOrder(t, l.wait(int(n)))
		short, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, l.Reach(short, n+1), context.DeadlineExceeded)
	})
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		assert.True(t, feed.Pause(t.Context(), time.Hour))
		assert.Equal(t, time.Hour, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.False(t, feed.Pause(ctx, time.Hour))
		assert.Equal(t, time.Hour+time.Minute, time.Since(began))
	})
}

// TestCodes: what has a code is what no try can mend, and nothing else is.
func TestCodes(t *testing.T) {
	t.Parallel()
	for want, err := range map[feed.Code]error{
		feed.Broken: match.ErrBroken, feed.UnknownEvent: match.ErrUnknownEvent, feed.Corrupt: eventlog.ErrCorrupt,
		feed.TooLarge: eventlog.ErrTooLarge, feed.Invalid: eventlog.ErrInvalid,
	} {
		err = fmt.Errorf("folding: %w", err)
		code, ok := feed.CodeOf(err)
		assert.True(t, ok, want)
		assert.Equal(t, want, code)
		assert.True(t, feed.Hopeless(err), want)
	}
	for _, err := range []error{eventlog.ErrUnavailable, context.Canceled, io.ErrUnexpectedEOF, nil} {
		code, ok := feed.CodeOf(err)
		assert.False(t, ok || feed.Hopeless(err), "%v", err)
		assert.Empty(t, code)
	}
}
