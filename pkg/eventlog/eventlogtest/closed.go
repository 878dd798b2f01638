package eventlogtest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
)

func closedLogs(t *testing.T, h Harness) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	log, ctx := h.Open(t), patient(t)
	all := written(t, log, 1, 1, 1)
	reached := make(chan struct{})
	within(t, "a follower of a closed log", func() { <-reached; require.NoError(t, log.Close()) }, func() {
		last, seen := error(nil), 0
		for c, err := range log.Follow(ctx, all[0].Position) {
			last = err
			if seen++; c.Position == all[2].Position {
				close(reached)
			}
		}
		if !errors.Is(last, eventlog.ErrClosed) {
			t.Errorf("the follower ended with %v", last)
		}
	})
	chain := newChain()
	_, err := log.Append(ctx, chain.Stream, eventlog.NoStream, chain.Next(1)...)
	require.ErrorIs(t, err, eventlog.ErrClosed)
	_, err = log.Head(ctx)
	require.ErrorIs(t, err, eventlog.ErrClosed)
	requireEnds(t, log.Read(ctx, all[0].Stream, 0), eventlog.ErrClosed)
	requireEnds(t, log.Read(ctx, newName(), 0), eventlog.ErrClosed)
	requireEnds(t, log.Follow(ctx, 0), eventlog.ErrClosed)
	require.NoError(t, log.Close(), "closing twice is harmless")
	goleak.VerifyNone(t, before)
}

// closingUnderLoad closes the log under writers, readers and followers: each ends with ErrClosed, and whatever was
// acknowledged stands.
func closingUnderLoad(t *testing.T, h Harness) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	log, ctx := h.Open(t), patient(t)
	w := newWriters(16, 1<<20)
	acknowledged := make([]int, len(w.streams))
	many := make(chan struct{}, 1<<20)
	for i, stream := range w.streams {
		w.done.Go(func() {
			chain := NewChain(stream, "own")
			for err := error(nil); err == nil; {
				if _, err = log.Append(ctx, stream, int64(acknowledged[i])-1, chain.Next(1)...); err == nil {
					acknowledged[i]++
					many <- struct{}{}
				} else if !errors.Is(err, eventlog.ErrClosed) {
					t.Errorf("append: %v", err)
				}
			}
		})
		w.done.Go(func() { untilClosed(t, ctx, log, stream) })
	}
	w.done.Go(func() {
		for _, err := range log.Follow(ctx, 0) {
			if err != nil && !errors.Is(err, eventlog.ErrClosed) {
				t.Errorf("follow: %v", err)
			}
		}
	})
	for range 100 {
		<-many
	}
	require.NoError(t, log.Close())
	w.done.Wait()
	goleak.VerifyNone(t, before)
	if h.Reopen == nil {
		return
	}
	log = h.Reopen(t, log)
	for i, stream := range w.streams {
		commits := read(ctx, t, log, stream, 0)
		requireWhole(t, stream, commits)
		require.GreaterOrEqual(t, len(commits), acknowledged[i])
		require.LessOrEqual(t, len(commits), acknowledged[i]+1, "more than what was acknowledged and what was under way")
	}
}

// untilClosed reads a stream again and again, and never gets a part of it without an error.
func untilClosed(t *testing.T, ctx context.Context, log eventlog.Log, stream string) {
	t.Helper()
	for had := 0; ; {
		seen := 0
		for _, err := range log.Read(ctx, stream, 0) {
			if errors.Is(err, eventlog.ErrClosed) {
				return
			}
			if err != nil {
				t.Errorf("read: %v", err)
				return
			}
			seen++
		}
		if seen < had {
			t.Errorf("read %d commits where %d were read before", seen, had)
			return
		}
		had = seen
	}
}
