package feed_test

import (
	"context"
	"errors"
	"flag"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/queue"
	"umpire/services/feed"
)

// own is a queue with a connection of its own; asked counts how often it went to the log.
func (w *world) own() (q *feed.Queue, asked *atomic.Int64) {
	w.t.Helper()
	_, js := w.connect()
	asked = &atomic.Int64{}
	return &feed.Queue{Name: "tester", JS: js, Log: func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
		asked.Add(1)
		return w.log.Follow(ctx, after)
	}}, asked
}

// TestWhatTheWindowDoesNotHold is read from the log, and nothing else is.
func TestWhatTheWindowDoesNotHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(120)
	w.relay()
	w.caughtUp()
	w.purge(80)
	readers := map[uint64]*reader{}
	for after, asks := range map[uint64]int64{0: 1, 40: 1, 78: 1, 79: 0, 80: 0, 100: 0, 119: 0, 120: 0} {
		q, asked := w.own()
		readers[after] = read(t, q.Follow, after, nil)
		readers[after].has(t, w.commits(after))
		assert.Equal(t, asks, asked.Load(), "after %d", after)
	}
	w.append(10)
	for after, r := range readers {
		r.has(t, w.commits(after))
		assert.Empty(t, r.broken())
	}
}

// TestAnEmptyFeed has nothing to yield until a relay fills it, and then all.
func TestAnEmptyFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(30)
	q, asked := w.own()
	all, some := read(t, q.Follow, 0, nil), read(t, q.Follow, 20, nil)
	w.relay()
	all.has(t, w.commits(0))
	some.has(t, w.commits(20))
	assert.Zero(t, asked.Load())
}

// TestAWipeWhileFollowing: the relay fills the stream again from the log's beginning, so positions repeat, and a sequence
// means another commit than before.
func TestAWipeWhileFollowing(t *testing.T) {
	t.Parallel()
	for name, wipe := range map[string]func(w *world){
		"deleted":             func(w *world) { w.wipe() },
		"purged":              func(w *world) { w.purge(0) },
		"deleted and growing": func(w *world) { w.wipe(); w.append(60) },
		"growing and deleted": func(w *world) { w.append(60); w.wipe() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append(50)
			w.copyAll()
			w.purge(0)
			w.relay()
			w.caughtUp() // the commit at position p has the sequence 50+p now
			q, _ := w.own()
			r := read(t, q.Follow, 0, nil)
			r.has(t, w.commits(0))
			wipe(w)
			w.append(3)
			r.has(t, w.commits(0))
			w.caughtUp()
			w.append(3)
			r.has(t, w.commits(0))
		})
	}
}

// TestANewStreamThatIsLongerAlready when the follower comes back: what stands at the old stream's next sequence is not
// what follows in the log.
func TestANewStreamThatIsLongerAlready(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(50)
	w.copyAll()
	w.purge(0)
	w.copyAll()
	q, _ := w.own()
	r := read(t, q.Follow, 0, nil)
	r.has(t, w.commits(0))
	w.append(200)
	w.restart(false, func() {})
	require.Eventually(t, func() bool { return queue.Prepare(t.Context(), w.js) == nil }, patience, tick)
	w.copyAll()
	r.has(t, w.commits(0))
}

// TestTheWindowMovesOverAFollower that is slow: the broker passes over what it has dropped and says nothing.
func TestTheWindowMovesOverAFollower(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(1500)
	w.relay()
	w.caughtUp()
	q, asked := w.own()
	there, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := read(t, q.Follow, 0, func(c *eventlog.Commit) {
		once.Do(func() { close(there); <-free })
	})
	<-there
	w.purge(1400)
	close(free)
	r.has(t, w.commits(0))
	assert.Positive(t, asked.Load())
}

// TestStrangersInTheFeed: messages that nobody can read, and gaps where some were deleted.
func TestStrangersInTheFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	q, _ := w.own()
	from := read(t, q.Follow, 0, nil)
	for range 3 { // the relay looks where the stream stands after each
		w.append(12)
		w.caughtUp()
		w.garbage(nil)
		w.garbage(nats.Header{queue.HeaderPosition: {"many"}})
	}
	w.append(4)
	w.caughtUp()
	for _, seq := range []uint64{1, 5, 6, 13, 20} {
		require.NoError(t, w.stream().DeleteMsg(t.Context(), seq))
	}
	from.has(t, w.commits(0))
	for _, after := range []uint64{1, 4, 11, 12, 13, 23, 24, 35, 36, 37} {
		r := read(t, q.Follow, after, nil)
		r.has(t, w.commits(after))
		r.stop()
		require.Empty(t, r.broken())
	}
}

// TestAMessageThatShouldBeACommit has a position and no body that can be read: the log says what it should have been.
func TestAMessageThatShouldBeACommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(20)
	w.copyAll()
	w.append(1)
	w.garbage(nats.Header{
		queue.HeaderPosition: {"21"}, queue.HeaderPrevious: {"20"}, queue.HeaderRevision: {"0"},
	})
	q, _ := w.own()
	first, later := read(t, q.Follow, 0, nil), read(t, q.Follow, 20, nil)
	first.has(t, w.commits(0))
	later.has(t, w.commits(20))
	w.append(5)
	w.relay()
	first.has(t, w.commits(0))
	later.has(t, w.commits(20))
}

// TestARelayOfOldThatNamesNoPrevious: what its messages leave open is read from the log.
func TestARelayOfOldThatNamesNoPrevious(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(20)
	for _, c := range w.commits(0) {
		if c.Position == 7 {
			continue
		}
		_, err := w.js.PublishMsg(t.Context(), &nats.Msg{
			Subject: queue.FeedSubject(c.Stream),
			Header: nats.Header{
				queue.HeaderPosition: {strconv.FormatUint(c.Position, 10)}, queue.HeaderRevision: {strconv.FormatUint(c.First, 10)},
			},
			Data: append(append([]byte("["), c.Events[0].AppendStored(nil)...), ']'),
		})
		require.NoError(t, err)
	}
	q, _ := w.own()
	r := read(t, q.Follow, 3, nil)
	r.has(t, w.commits(3))
}

// TestTheBrokerComesBack with its disk or without.
func TestTheBrokerComesBack(t *testing.T) {
	t.Parallel()
	for name, disk := range map[string]bool{"with its disk": true, "with a new disk": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append(50)
			w.relay()
			w.caughtUp()
			q, _ := w.own()
			r := read(t, q.Follow, 0, nil)
			r.has(t, w.commits(0))
			w.restart(disk, func() { w.append(20) })
			w.append(20)
			r.has(t, w.commits(0))
			late := read(t, q.Follow, 60, nil)
			late.has(t, w.commits(60))
		})
	}
}

// TestSilentDeath: the broker says that all is well, and gives nothing; or has no such consumer any more.
func TestSilentDeath(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(w *world, consumer string) error{
		"a consumer that gives nothing": func(w *world, consumer string) error {
			_, err := w.stream().PauseConsumer(w.t.Context(), consumer, time.Now().Add(time.Hour))
			return err
		},
		"a consumer that was deleted": func(w *world, consumer string) error {
			return w.stream().DeleteConsumer(w.t.Context(), consumer)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append(10)
			w.relay()
			q, _ := w.own()
			r := read(t, q.Follow, 0, nil)
			r.has(t, w.commits(0))
			for consumer := range w.stream().ConsumerNames(t.Context()).Name() {
				require.NoError(t, kill(w, consumer))
			}
			w.append(10)
			r.has(t, w.commits(0))
			assert.NotEmpty(t, r.broken())
		})
	}
}

// TestRestart takes up the feed anew, where it was.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(10)
	w.relay()
	q, asked := w.own()
	r := read(t, q.Follow, 0, nil)
	r.has(t, w.commits(0))
	q.Restart()
	require.Eventually(t, func() bool { return len(r.broken()) == 1 }, patience, tick)
	w.append(10)
	r.has(t, w.commits(0))
	assert.Len(t, r.broken(), 1)
	assert.Zero(t, asked.Load())
}

// TestAFollowerEndsWithItsContext, whatever it waits for.
func TestAFollowerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world, q *feed.Queue){
		"idle":              func(*world, *feed.Queue) {},
		"without a broker":  func(w *world, _ *feed.Queue) { w.stop() },
		"without a stream":  func(w *world, _ *feed.Queue) { w.wipe() },
		"in the log":        func(w *world, _ *feed.Queue) { w.garbage(nats.Header{queue.HeaderPosition: {"1000"}}) },
		"with a dead queue": func(_ *world, q *feed.Queue) { q.JS.Conn().Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append(5)
			w.copyAll()
			q, asked := w.own()
			r := read(t, q.Follow, 0, nil)
			r.has(t, w.commits(0))
			prepare(w, q)
			if name == "in the log" {
				require.Eventually(t, func() bool { return asked.Load() > 0 }, patience, tick)
			}
			ended := make(chan struct{})
			go func() { r.stop(); close(ended) }()
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				assert.Fail(t, "it goes on")
			}
		})
	}
}

// TestALogThatBreaks while it tells what the window does not hold: its error is told, and nothing is left out.
func TestALogThatBreaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(40)
	w.copyAll()
	w.purge(31)
	broken := errors.New("the log broke")
	_, js := w.connect()
	q := &feed.Queue{Name: "tester", JS: js, Log: func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
		return few(w.log.Follow(ctx, after), 7, broken)
	}}
	r := read(t, q.Follow, 0, nil)
	r.has(t, w.commits(0))
	require.Len(t, r.broken(), 4)
	require.ErrorIs(t, r.broken()[0], broken)
}

// TestWhateverHappens to FEED and to who follows it, both who follow see the log's commits, each once and in order.
func TestWhateverHappens(t *testing.T) {
	t.Parallel()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		require.NoError(t, checks.Value.Set("4")) // each run draws others; -rapid.checks asks for more
	}
	w := newWorld(t)
	_, js := w.connect()
	rapid.Check(t, func(r *rapid.T) {
		w.wipe()
		require.NoError(r, queue.Prepare(t.Context(), w.js))
		fresh := &world{broker: w.broker, log: memlog.New(), conn: w.conn, js: w.js, heads: map[string]int64{}}
		q := &feed.Queue{Name: "tester", JS: js, Log: fresh.log.Follow}
		steady, moving := read(t, q.Follow, 0, nil), read(t, q.Follow, 0, nil)
		defer steady.stop()
		defer func() { moving.stop() }()
		var restless []eventlog.Commit
		at := func() uint64 {
			moving.stop()
			restless = append(restless, moving.commits()...)
			if len(restless) == 0 {
				return 0
			}
			return restless[len(restless)-1].Position
		}
		r.Repeat(map[string]func(*rapid.T){
			"append": func(r *rapid.T) { fresh.append(rapid.IntRange(1, 40).Draw(r, "commits")) },
			"copy":   func(*rapid.T) { fresh.copyAll() },
			"wipe": func(r *rapid.T) {
				fresh.wipe()
				require.NoError(r, queue.Prepare(t.Context(), fresh.js))
			},
			"purge": func(r *rapid.T) {
				last := fresh.stream().CachedInfo().State.LastSeq
				fresh.purge(rapid.Uint64Range(0, last+1).Draw(r, "before"))
			},
			"garbage": func(*rapid.T) { fresh.garbage(nil) },
			"resume":  func(*rapid.T) { moving = read(t, q.Follow, at(), nil) },
		})
		fresh.append(1)
		fresh.copyAll()
		steady.has(r, fresh.commits(0))
		require.Eventually(r, func() bool {
			seen := moving.commits()
			return len(seen) > 0 && seen[len(seen)-1].Position == fresh.head()
		}, patience, tick, "%v", moving.broken())
		at()
		require.Equal(r, told(fresh.commits(0)), told(restless))
	})
}
