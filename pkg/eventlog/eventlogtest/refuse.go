package eventlogtest

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

func refusals(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	start := head(ctx, t, log)
	refused := func(kind error, stream string, expected int64, events ...event.Event) {
		t.Helper()
		_, err := log.Append(ctx, stream, expected, events...)
		require.ErrorIs(t, err, kind)
	}
	broken := NewChain(chain.Stream, "broken").Next(2)
	broken[1].Public = []byte(`{"cut":`)
	many := NewChain(chain.Stream, "many").Next(eventlog.MaxEvents + 1)
	large := NewChain(chain.Stream, "large")
	oversize := large.Sized(eventlog.MaxEventBytes + 1)
	heavy := []event.Event{large.Sized(eventlog.MaxEventBytes), large.Sized(eventlog.MaxEventBytes), large.Sized(400)}
	try := func(expected int64) {
		t.Helper()
		refused(eventlog.ErrInvalid, chain.Stream, expected)
		refused(eventlog.ErrInvalid, chain.Stream, -2, broken[0])
		refused(eventlog.ErrInvalid, chain.Stream, expected, broken...)
		refused(eventlog.ErrTooLarge, chain.Stream, expected, many...)
		refused(eventlog.ErrTooLarge, chain.Stream, expected, oversize)
		refused(eventlog.ErrTooLarge, chain.Stream, expected, heavy...)
	}
	try(eventlog.NoStream)
	require.Empty(t, read(ctx, t, log, chain.Stream, 0))
	want := []eventlog.Commit{mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, chain.Next(2)...)}
	try(1)
	want = append(want, mustAppend(ctx, t, log, chain.Stream, 1, chain.Next(2)...))
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))
	requireSame(t, want, follow(ctx, t, log, start, 2, chain.Stream))
}

// hostile are names that some store takes for something else: a system stream, a category, a path, a pattern, SQL.
var hostile = []string{
	"", "-", "match", "match-", "-1", "match--1", "match-1-", "Match-1", "match-A", "MATCH-1", "match-é", "match-１", "match_1",
	"match-a_b", "match-a b", " match-1", "match-1 ", "match-1\n", "\nmatch-1", "match-1\x00", "match-\x00", "match-1\x00-2", "match-\xff",
	"$all", "$ce-match", "$$match-1", "$et-suite.move-0.v1", "$streams", "match-$1", "match-1/../2", "../match-1", "match-*", "match-%",
	"match-_", "match-?", "match.1", "match-1.>", "match-1;2", "match-'; DROP TABLE commits; --", `match-"1"`, "match-1-2-3-4-5", "1-match",
	"match-" + strings.Repeat("x", 59), "match-\u200b1", "ｍatch-1", "match:1", "match@1", "match+1", "match-1#", `match-\1`, "match-{1}",
}

func hostileNames(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	good := NewChain(newName(), "own")
	want := []eventlog.Commit{mustAppend(ctx, t, log, good.Stream, eventlog.NoStream, good.Next(1)...)}
	for _, name := range hostile {
		_, err := log.Append(ctx, name, eventlog.NoStream, NewChain(name, "hostile").Next(1)...)
		require.ErrorIs(t, err, eventlog.ErrInvalid, "%q", name)
		_, err = log.Append(ctx, name, 0, NewChain(name, "hostile").Next(1)...)
		require.ErrorIs(t, err, eventlog.ErrInvalid, "%q", name)
		for c, err := range log.Read(ctx, name, 0) {
			require.Failf(t, "a name that no stream bears was read", "%q: %v, %v", name, c, err)
		}
	}
	// A name as long as may be, and the good stream, which must be all that a follower sees of all this.
	long := newName()
	long += "-" + strings.Repeat("z", 64-len(long)-1)
	want = append(want,
		mustAppend(ctx, t, log, long, eventlog.NoStream, NewChain(long, "own").Next(1)...),
		mustAppend(ctx, t, log, good.Stream, 0, good.Next(1)...))
	requireSame(t, want, follow(ctx, t, log, start, 3, append([]string{good.Stream, long}, hostile...)...))
}

func endedContexts(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, chain.Next(1)...)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err := log.Append(ended, chain.Stream, 0, chain.Next(1)...)
	require.ErrorIs(t, err, context.Canceled)
	_, err = log.Head(ended)
	require.ErrorIs(t, err, context.Canceled)
	requireEnds(t, log.Read(ended, chain.Stream, 0), context.Canceled)
	requireEnds(t, log.Read(ended, newName(), 0), context.Canceled)
	requireEnds(t, log.Follow(ended, 0), context.Canceled)
	require.Len(t, read(ctx, t, log, chain.Stream, 0), 1, "an ended context wrote")

	// A read whose context ends on the way is whole or an error, never short.
	all := written(t, log, make1s(40)...)
	halfway, cancel := context.WithCancel(ctx)
	defer cancel()
	seen, failed := 0, false
	for _, err := range log.Read(halfway, all[0].Stream, 0) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			failed = true
			continue
		}
		if seen++; seen == 3 {
			cancel()
		}
	}
	require.True(t, failed || seen == len(all), "%d of %d commits and no error", seen, len(all))
}

func make1s(n int) []int {
	ones := make([]int, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}
