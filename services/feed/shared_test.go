package feed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/servicestest"
)

// durable is the consumer that the replicas under test share.
const durable = "umpire-tester"

// replica is one of those who share, and what it has dealt with.
type replica struct {
	feed.Shared
	conn   *nats.Conn
	logged servicestest.Lines
	stop   func()

	mu      sync.Mutex
	handled []eventlog.Commit
	buried  []string
}

// replica runs one until stop is called or the test ends. handle is asked first, where there is one.
func (w *world) replica(handle feed.Handle, change func(*replica)) *replica {
	w.t.Helper()
	r := &replica{}
	r.conn, r.JS = w.connect()
	r.Name, r.History, r.Head, r.Workers = "tester", w.log.Follow, w.log.Head, 4
	r.Log = r.logged.Logger()
	r.Handle = func(ctx context.Context, c *eventlog.Commit) error {
		if handle != nil {
			if err := handle(ctx, c); err != nil {
				return err
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.handled = append(r.handled, *c)
		return nil
	}
	r.Bury = func(_ context.Context, service string, c *eventlog.Commit, why error) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c == nil {
			c = &eventlog.Commit{Stream: "none"}
		}
		r.buried = append(r.buried, fmt.Sprintf("%s %s/%d", service, c.Stream, c.First))
		if !feed.Hopeless(why) && c.Stream != "none" {
			return errors.New("what can be mended is not to be buried")
		}
		return nil
	}
	if change != nil {
		change(r)
	}
	r.stop = servicestest.Run(w.t, r.Run)
	return r
}

func (r *replica) commits() []eventlog.Commit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.handled)
}

func (r *replica) graves() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.buried)
}

// times tells how often they have dealt with each position.
func times(replicas ...*replica) map[uint64]int {
	count := map[uint64]int{}
	for _, r := range replicas {
		for _, c := range r.commits() {
			count[c.Position]++
		}
	}
	return count
}

// missing are the log's commits, of matches, that none of them has dealt with.
func (w *world) missing(replicas ...*replica) (list []string) {
	w.t.Helper()
	done := times(replicas...)
	for _, c := range w.commits(0) {
		if strings.HasPrefix(c.Stream, "match-") && done[c.Position] == 0 {
			list = append(list, fmt.Sprintf("%d %s/%d", c.Position, c.Stream, c.First))
		}
	}
	return list
}

// dealtWith waits until they have dealt with every commit.
func (w *world) dealtWith(replicas ...*replica) {
	w.t.Helper()
	assert.Eventually(w.t, func() bool { return len(w.missing(replicas...)) == 0 }, patience, tick)
	if left := w.missing(replicas...); len(left) > 0 {
		require.Fail(w.t, "some are missing", "%v\n%s", left, replicas[0].logged.String())
	}
}

// info is the shared consumer's, nil while there is none.
func (w *world) info() *jetstream.ConsumerInfo {
	w.t.Helper()
	consumer, err := w.js.Consumer(w.t.Context(), queue.FeedStream, durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	require.NoError(w.t, err)
	return consumer.CachedInfo()
}

// asking waits until n replicas ask for messages.
func (w *world) asking(n int) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		info := w.info()
		return info != nil && info.NumWaiting == n
	}, patience, tick)
}

// unacknowledged waits until all that FEED holds was delivered, and between some and most commits are in the replicas'
// hands.
func (w *world) unacknowledged(some, most int) {
	w.t.Helper()
	w.caughtUp()
	require.Eventually(w.t, func() bool {
		info := w.info()
		return info != nil && info.NumAckPending >= some && info.NumAckPending <= most && info.NumPending == 0
	}, patience, tick)
}

func TestReplicasShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	one, two := w.replica(nil, nil), w.replica(nil, nil)
	w.asking(2)
	w.append(700)
	w.dealtWith(one, two)
	w.unacknowledged(0, 0)
	assert.NotEmpty(t, one.commits())
	assert.NotEmpty(t, two.commits())
	assert.Len(t, times(one, two), 600, "matches' alone")
	late := w.replica(nil, nil)
	w.dealtWith(late)
}

// blocks is a Handle that stops at a commit until its context ends or free is closed.
func blocks(at uint64) (handle feed.Handle, there, free chan struct{}) {
	there, free = make(chan struct{}), make(chan struct{})
	var once sync.Once
	return func(ctx context.Context, c *eventlog.Commit) error {
		if c.Position != at {
			return nil
		}
		once.Do(func() { close(there) })
		select {
		case <-free:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, there, free
}

// TestAReplicaThatEnds in the middle of a commit leaves it to another at once, and one that dies when its time is over.
func TestAReplicaThatEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*replica){
		"stopped": func(r *replica) { r.stop() },
		"died":    func(r *replica) { r.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.relay()
			handle, there, _ := blocks(1)
			one := w.replica(handle, nil)
			w.asking(1)
			w.append(20)
			<-there
			two := w.replica(nil, func(r *replica) { r.Head = func(context.Context) (uint64, error) { return 0, nil } })
			w.unacknowledged(1, 20)
			began := time.Now()
			end(one)
			w.dealtWith(one, two)
			w.unacknowledged(0, 0)
			assert.Equal(t, 1, times(two)[1])
			assert.Zero(t, times(one)[1])
			if name == "stopped" {
				assert.Less(t, time.Since(began), 5*time.Second, "before it would have been taken for dead")
			}
		})
	}
}

// TestSettleDefersTheAcknowledgement, and who waits says so, lest another do the same work.
func TestSettleDefersTheAcknowledgement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	free := make(chan struct{})
	refused := errors.New("not yet")
	var once sync.Once
	r := w.replica(nil, func(r *replica) {
		r.Settle = func(ctx context.Context, _ *eventlog.Commit) (err error) {
			once.Do(func() { err = refused })
			if err != nil {
				return err
			}
			select {
			case <-free:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	w.asking(1)
	w.append(14)
	w.dealtWith(r)
	w.unacknowledged(12, 12)
	assert.Never(t, func() bool { return len(r.commits()) > 12 }, 7*time.Second, 50*time.Millisecond)
	at, err := r.Checkpoint(t.Context())
	require.NoError(t, err)
	assert.Zero(t, at)
	close(free)
	w.unacknowledged(0, 0)
	assert.Len(t, r.commits(), 12)
}

// TestWhatIsLostWhileItRuns: the consumer with what it knew, the stream, the broker, its disk.
func TestWhatIsLostWhileItRuns(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(w *world){
		"the consumer": func(w *world) {
			require.NoError(w.t, w.js.DeleteConsumer(w.t.Context(), queue.FeedStream, durable))
		},
		"the consumer and the window": func(w *world) {
			w.append(20)
			w.caughtUp()
			require.NoError(w.t, w.js.DeleteConsumer(w.t.Context(), queue.FeedStream, durable))
			w.purge(25)
		},
		"the messages": func(w *world) { w.purge(0) },
		"the stream":   func(w *world) { w.wipe() },
		"the broker":   func(w *world) { w.restart(true, func() { w.append(20) }) },
		"its disk":     func(w *world) { w.restart(false, func() { w.append(20) }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.relay()
			handle, there, free := blocks(16)
			one, two := w.replica(handle, nil), w.replica(handle, nil)
			w.asking(2)
			w.append(14)
			w.dealtWith(one, two)
			w.append(6)
			<-there
			lose(w)
			close(free)
			w.append(20)
			w.dealtWith(one, two)
			w.unacknowledged(0, 0)
		})
	}
}

// TestTheWindowMovesOverTheReplicas: FEED drops commits that were never delivered, and says nothing.
func TestTheWindowMovesOverTheReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	handle, there, free := blocks(1)
	r := w.replica(handle, func(r *replica) { r.Workers = 1 })
	w.asking(1)
	w.append(1400)
	<-there
	w.caughtUp()
	w.purge(1300)
	close(free)
	w.dealtWith(r)
	w.unacknowledged(0, 0)
}

// TestARoundThatEndsEarly leaves nothing out of the log that it had begun to read, though all was handed to workers.
func TestARoundThatEndsEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(40)
	handle, there, free := blocks(1)
	r := w.replica(handle, func(r *replica) { r.Workers = 1 })
	<-there
	w.asking(1)
	r.Restart()
	require.Eventually(t, func() bool { return strings.Contains(r.logged.String(), "it was stuck") }, patience, tick)
	close(free)
	w.dealtWith(r)
	assert.Equal(t, 1, times(r)[40], "it came from the log alone, which was read to its end once")
}

// TestPoison: what can't be dealt with is buried and acknowledged; it stops nobody.
func TestPoison(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	r := w.replica(func(_ context.Context, c *eventlog.Commit) error {
		switch c.Stream {
		case "match-1":
			panic("17 cups")
		case "match-2":
			return fmt.Errorf("folding: %w", match.ErrUnknownEvent)
		}
		return nil
	}, func(r *replica) {
		r.Workers = 1
		bury, once := r.Bury, sync.Once{}
		r.Bury = func(ctx context.Context, service string, c *eventlog.Commit, why error) (err error) {
			once.Do(func() { err = errors.New("the log is away") })
			if err != nil {
				return err
			}
			return bury(ctx, service, c, why)
		}
	})
	w.asking(1)
	w.append(14)
	require.Eventually(t, func() bool { return len(r.graves()) == 4 }, patience, tick)
	w.unacknowledged(0, 0)
	assert.Equal(t, []string{"tester match-1/0", "tester match-2/0", "tester match-1/1", "tester match-2/1"}, r.graves())
	assert.Len(t, r.commits(), 8)
	assert.Equal(t, 4, r.logged.Count("level=ERROR"), r.logged.String())
	assert.NotContains(t, r.logged.String(), "17 cups")
}

// TestGarbage in FEED is given up, and the log is read through for what it should have been: once for many.
func TestGarbage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stop := w.relay()
	r := w.replica(nil, nil)
	w.asking(1)
	w.append(14)
	w.dealtWith(r)
	stop()
	c := w.write("match-0")
	for range 50 {
		w.garbage(nats.Header{queue.HeaderPosition: {fmt.Sprint(c.Position)}})
	}
	w.dealtWith(r)
	require.Eventually(t, func() bool { return len(r.graves()) == 50 && w.info().NumAckPending == 0 }, patience, tick)
	assert.Equal(t, "tester none/0", r.graves()[0])
	assert.Less(t, times(r)[1], 25, "it was not read for each")
	w.append(14)
	w.relay()
	w.dealtWith(r)
	assert.Zero(t, r.logged.Count("anew"), "no consumer is made anew for it: %s", r.logged.String())
}

// TestAConsumerOfOtherSettings is told of, and neither used nor changed.
func TestAConsumerOfOtherSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append(7)
	w.relay()
	_, err := w.stream().CreateConsumer(t.Context(), jetstream.ConsumerConfig{
		Durable: durable, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxDeliver: -1,
		FilterSubject: queue.FeedSubject("match-*"),
	})
	require.NoError(t, err)
	r := w.replica(nil, nil)
	told := "the consumer umpire-tester has another ack wait than umpire gave it; delete it, and it is made anew"
	require.Eventually(t, func() bool { return strings.Contains(r.logged.String(), told) }, patience, tick)
	assert.Equal(t, time.Minute, w.info().Config.AckWait)
	assert.Empty(t, r.commits())
	require.NoError(t, w.js.DeleteConsumer(t.Context(), queue.FeedStream, durable))
	w.dealtWith(r)
	assert.Equal(t, 1, r.logged.Count(told), "once however often")
}

// TestReplicasEndWithTheirContext, whatever they wait for.
func TestReplicasEndWithTheirContext(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(w *world, r *replica){
		"idle":             func(*world, *replica) {},
		"handling":         func(w *world, _ *replica) { w.append(2); w.unacknowledged(1, 1) },
		"without a broker": func(w *world, _ *replica) { w.stop() },
		"without a stream": func(w *world, _ *replica) { w.wipe() },
		"without a line":   func(_ *world, r *replica) { r.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			stop := w.relay()
			handle, _, _ := blocks(2)
			r := w.replica(handle, nil)
			w.asking(1)
			prepare(w, r)
			stop()
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
