package eventlogtest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
)

// writers append commits to streams of their own until each has written so many. The streams stand in the order given.
type writers struct {
	streams []string
	each    int
	done    sync.WaitGroup
}

func newWriters(n, each int) *writers {
	w := &writers{streams: make([]string, n), each: each}
	for i := range w.streams {
		w.streams[i] = newName()
	}
	return w
}

func (w *writers) total() int { return w.each * len(w.streams) }

// write starts the writers; w.done waits for them.
func (w *writers) write(t *testing.T, ctx context.Context, log eventlog.Log) {
	t.Helper()
	for _, stream := range w.streams {
		w.done.Go(func() {
			chain, expected := NewChain(stream, "own"), eventlog.NoStream
			for n := range w.each {
				events := chain.Next(1 + n%3)
				if _, err := log.Append(ctx, stream, expected, events...); err != nil {
					t.Errorf("append %d to %s: %v", n, stream, err)
					return
				}
				expected += int64(len(events))
			}
		})
	}
}

// check compares what a follower saw of the writers' streams with what reading them says.
func (w *writers) check(t *testing.T, ctx context.Context, log eventlog.Log, seen []eventlog.Commit) {
	t.Helper()
	byStream := map[string][]eventlog.Commit{}
	for _, c := range seen {
		byStream[c.Stream] = append(byStream[c.Stream], c)
	}
	for _, stream := range w.streams {
		require.Len(t, byStream[stream], w.each)
		requireWhole(t, stream, byStream[stream])
		requireSame(t, read(ctx, t, log, stream, 0), byStream[stream])
	}
}

func followJoins(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	history := newWriters(4, 20)
	history.write(t, ctx, log)
	history.done.Wait()
	live := newWriters(8, 25)
	streams := append(append([]string{}, history.streams...), live.streams...)
	seen := make([][]eventlog.Commit, 4)
	var followers sync.WaitGroup
	for i := range seen { // they begin while the writers are at it
		followers.Go(func() { seen[i] = follow(ctx, t, log, start, history.total()+live.total(), streams...) })
		if i == 1 {
			live.write(t, ctx, log)
		}
	}
	live.done.Wait()
	followers.Wait()
	for i := range seen {
		history.check(t, ctx, log, seen[i])
		live.check(t, ctx, log, seen[i])
		requireSame(t, seen[0], seen[i])
	}
}

func followResumes(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	w := newWriters(3, 15)
	w.write(t, ctx, log)
	w.done.Wait()
	all := follow(ctx, t, log, start, w.total(), w.streams...)
	for i, c := range all {
		rest := follow(ctx, t, log, c.Position, min(3, len(all)-i-1), w.streams...)
		requireSame(t, all[i+1:i+1+len(rest)], rest)
	}
	// From the end, only what is new comes; a sequence used again begins again.
	more := newWriters(1, 5)
	var seen []eventlog.Commit
	var follower sync.WaitGroup
	end := head(ctx, t, log)
	follower.Go(func() { seen = follow(ctx, t, log, end, more.total(), append(more.streams, w.streams...)...) })
	more.write(t, ctx, log)
	follower.Wait()
	more.done.Wait()
	more.check(t, ctx, log, seen)
}

func followersAgree(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	w := newWriters(8, 20)
	var one, two []eventlog.Commit
	var followers sync.WaitGroup
	followers.Go(func() { one = follow(ctx, t, log, start, w.total(), w.streams...) })
	w.write(t, ctx, log)
	// This one goes by steps, resuming each time, as a service does that is restarted again and again.
	followers.Go(func() {
		for after := start; len(two) < w.total(); {
			step := follow(ctx, t, log, after, min(7, w.total()-len(two)), w.streams...)
			two = append(two, step...)
			after = step[len(step)-1].Position
		}
	})
	w.done.Wait()
	followers.Wait()
	requireSame(t, one, two)
	w.check(t, ctx, log, one)
}

func followerStalls(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	first := newWriters(1, 1)
	first.write(t, ctx, log)
	first.done.Wait()
	w := newWriters(8, 40)
	own := map[string]bool{}
	for _, s := range w.streams {
		own[s] = true
	}
	var seen []eventlog.Commit
	stalled := false
	for c, err := range log.Follow(ctx, start) {
		require.NoError(t, err)
		if !stalled { // all the rest is written before this follower asks for its second commit
			stalled = true
			w.write(t, ctx, log)
			w.done.Wait()
		}
		if own[c.Stream] {
			seen = append(seen, c)
		}
		if len(seen) == w.total() {
			break
		}
	}
	w.check(t, ctx, log, seen)
}

// requireEnds checks that a sequence yields commits, then the error, then nothing.
func requireEnds(t require.TestingT, seq iter.Seq2[eventlog.Commit, error], kind error) {
	var last error
	for _, err := range seq {
		require.NoError(t, last, "it goes on after an error")
		last = err
	}
	require.ErrorIs(t, last, kind)
}

// within runs do, which must return soon after trigger.
func within(t *testing.T, what string, trigger func(), do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	trigger()
	select {
	case <-done:
	case <-time.After(soon):
		require.FailNow(t, fmt.Sprintf("%s has not ended within %v", what, soon))
	}
}

func followEnds(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	before := goleak.IgnoreCurrent()
	all := written(t, log, 1, 1, 1)
	start := all[0].Position - 1

	waiting, cancel := context.WithCancel(ctx) // cancelled while it waits for more
	reached := make(chan struct{})
	within(t, "a waiting follower", func() { <-reached; cancel() }, func() {
		n := 0
		for _, err := range log.Follow(waiting, start) {
			if n++; n == len(all) {
				close(reached)
			}
			if n > len(all) && waiting.Err() != nil {
				require.ErrorIs(t, err, context.Canceled)
			}
		}
	})

	busy, cancel := context.WithCancel(ctx) // cancelled between two commits of history
	defer cancel()
	seen := 0
	var last error
	for _, err := range log.Follow(busy, start) {
		seen, last = seen+1, err
		cancel()
	}
	require.Equal(t, 2, seen, "one commit, then the error")
	require.ErrorIs(t, last, context.Canceled)

	late, cancel := context.WithTimeout(ctx, time.Millisecond) // ended by a deadline
	defer cancel()
	requireEnds(t, log.Follow(late, all[2].Position), context.DeadlineExceeded)

	for _, err := range log.Follow(ctx, start) { // broken off
		require.NoError(t, err)
		break
	}
	goleak.VerifyNone(t, before)
}
