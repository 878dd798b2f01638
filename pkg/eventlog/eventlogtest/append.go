package eventlogtest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

func appendIsWhole(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	start := head(ctx, t, log)
	var want []eventlog.Commit
	expected := eventlog.NoStream
	for _, n := range []int{1, 3, 1, 7, 2, eventlog.MaxEvents} {
		c := mustAppend(ctx, t, log, chain.Stream, expected, chain.Next(n)...)
		require.GreaterOrEqual(t, head(ctx, t, log), c.Position)
		want = append(want, c)
		expected += int64(n)
	}
	requireWhole(t, chain.Stream, want)
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))
	requireSame(t, want, follow(ctx, t, log, start, len(want), chain.Stream))
}

func largestCommits(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	half := []event.Event{chain.Sized(eventlog.MaxEventBytes), chain.Sized(eventlog.MaxEventBytes)}
	c1 := mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, half...)
	c2 := mustAppend(ctx, t, log, chain.Stream, 1, chain.Sized(eventlog.MaxEventBytes))
	requireSame(t, []eventlog.Commit{c1, c2}, read(ctx, t, log, chain.Stream, 0))
}

func wrongExpectations(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	start := head(ctx, t, log)
	other := NewChain(chain.Stream, "other")
	for _, expected := range []int64{0, 1, 41, 1<<62 - 1} {
		_, err := log.Append(ctx, chain.Stream, expected, other.Next(1)...)
		requireConflict(t, err, chain.Stream, expected, eventlog.NoStream)
	}
	require.Empty(t, read(ctx, t, log, chain.Stream, 0), "a refused append made the stream")

	c1 := mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, chain.Next(3)...)
	for _, expected := range []int64{eventlog.NoStream, 0, 1, 3, 4, 1000} {
		_, err := log.Append(ctx, chain.Stream, expected, other.Next(2)...)
		requireConflict(t, err, chain.Stream, expected, 2)
	}
	c2 := mustAppend(ctx, t, log, chain.Stream, 2, chain.Next(1)...)
	_, err := log.Append(ctx, chain.Stream, 2, other.Next(1)...)
	requireConflict(t, err, chain.Stream, 2, 3)

	want := []eventlog.Commit{c1, c2}
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))

	// What was refused has left no trace: the same append is written where it is expected rightly.
	refused := other.Next(2)
	for _, expected := range []int64{eventlog.NoStream, 2, 4} {
		_, err := log.Append(ctx, chain.Stream, expected, refused...)
		requireConflict(t, err, chain.Stream, expected, 3)
	}
	want = append(want, mustAppend(ctx, t, log, chain.Stream, 3, refused...))
	requireSame(t, want, follow(ctx, t, log, start, 3, chain.Stream))
}

const crowd = 32

// together runs n goroutines that set out at once, and waits for them.
func together(n int, do func(i int)) {
	var done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		done.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	done.Wait()
}

func oneWinner(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, stream := h.Open(t), patient(t), newName()
	expected := eventlog.NoStream
	chains := make([]*Chain, crowd)
	for i := range chains {
		chains[i] = NewChain(stream, strings.Repeat("w", i+1))
	}
	var want []eventlog.Commit
	for range 5 {
		commits, errs := make([]eventlog.Commit, crowd), make([]error, crowd)
		together(crowd, func(i int) {
			commits[i], errs[i] = log.Append(ctx, stream, expected, chains[i].Next(2)...)
		})
		winners := 0
		for i := range errs {
			if errs[i] == nil {
				winners++
				want = append(want, commits[i])
				continue
			}
			requireConflict(t, errs[i], stream, expected, expected+2)
		}
		require.Equal(t, 1, winners)
		expected += 2
	}
	requireSame(t, want, read(ctx, t, log, stream, 0))
}

// noLoss lets writers go on after each conflict, as services do.
func noLoss(t *testing.T, h Harness) {
	t.Helper()
	const each = 4
	log, ctx, stream := h.Open(t), patient(t), newName()
	start := head(ctx, t, log)
	won := make([][]eventlog.Commit, crowd)
	together(crowd, func(i int) {
		chain, expected := NewChain(stream, strings.Repeat("w", i+1)), eventlog.NoStream
		for len(won[i]) < each {
			events := chain.Next(1 + i%3)
			c, err := log.Append(ctx, stream, expected, events...)
			var conflict *eventlog.Conflict
			switch {
			case err == nil:
				won[i] = append(won[i], c)
				expected = int64(c.Last()) //nolint:gosec // small
			case errors.As(err, &conflict) && conflict.Actual > expected:
				expected = conflict.Actual
			default:
				t.Errorf("writer %d: %v", i, err)
				return
			}
		}
	})
	all := read(ctx, t, log, stream, 0)
	require.Len(t, all, crowd*each)
	requireWhole(t, stream, all)
	requireSame(t, all, follow(ctx, t, log, start, len(all), stream))
	byFirst := map[uint64]eventlog.Commit{}
	for _, c := range all {
		byFirst[c.First] = c
	}
	for i := range won {
		for _, c := range won[i] {
			requireSame(t, []eventlog.Commit{c}, []eventlog.Commit{byFirst[c.First]})
		}
	}
}

func positionsRise(t *testing.T, h Harness) {
	t.Helper()
	const each = 10
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	streams := make([]string, 8)
	for i := range streams {
		streams[i] = newName()
	}
	together(len(streams), func(i int) {
		chain, before := NewChain(streams[i], "own"), uint64(0)
		for n := range int64(each) {
			c, err := log.Append(ctx, chain.Stream, n-1, chain.Next(1)...)
			if err != nil || c.Position <= before {
				t.Errorf("append %d: position %d after %d: %v", n, c.Position, before, err)
				return
			}
			before = c.Position
		}
	})
	all := follow(ctx, t, log, start, each*len(streams), streams...) // checks that positions rise
	byStream := map[string][]eventlog.Commit{}
	for _, c := range all {
		byStream[c.Stream] = append(byStream[c.Stream], c)
	}
	for _, stream := range streams {
		requireSame(t, byStream[stream], read(ctx, t, log, stream, 0))
		requireWhole(t, stream, byStream[stream])
	}
}
