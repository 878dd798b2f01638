package eventlogtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
)

// written appends commits of the sizes told to one stream of its own.
func written(t *testing.T, log eventlog.Log, sizes ...int) []eventlog.Commit {
	t.Helper()
	ctx, chain, expected := patient(t), newChain(), eventlog.NoStream
	var commits []eventlog.Commit
	for _, n := range sizes {
		commits = append(commits, mustAppend(ctx, t, log, chain.Stream, expected, chain.Next(n)...))
		expected += int64(n)
	}
	return commits
}

func readFromTheMiddle(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	var sizes []int
	for i := range 30 {
		sizes = append(sizes, 1+i*5%7)
	}
	sizes[10], sizes[20] = eventlog.MaxEvents, eventlog.MaxEvents
	all := written(t, log, sizes...)
	stream, last := all[0].Stream, all[len(all)-1].Last()
	for i, c := range all {
		for _, from := range []uint64{c.First, (c.First + c.Last()) / 2, c.Last()} {
			for got, err := range log.Read(ctx, stream, from) {
				require.NoError(t, err)
				requireSame(t, all[i:i+1], []eventlog.Commit{got})
				break
			}
		}
		if i%7 == 0 {
			requireSame(t, all[i:], read(ctx, t, log, stream, c.Last()))
		}
	}
	for _, from := range []uint64{last + 1, last + 1000, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
		require.Empty(t, read(ctx, t, log, stream, from), "from %d", from)
	}
	requireSame(t, all, read(ctx, t, log, stream, 0))
	seen := 0
	for _, err := range log.Read(ctx, stream, 0) { // who breaks is left alone
		require.NoError(t, err)
		if seen++; seen == 3 {
			break
		}
	}
	again := log.Read(ctx, stream, all[28].First) // and a sequence may be used twice
	for range 2 {
		var got []eventlog.Commit
		for c, err := range again {
			require.NoError(t, err)
			got = append(got, c)
		}
		requireSame(t, all[28:], got)
	}
}

func unknownStreams(t *testing.T, h Harness) {
	t.Helper()
	log, ctx := h.Open(t), patient(t)
	written(t, log, 1, 2)
	for _, from := range []uint64{0, 1, 7, math.MaxUint64} {
		require.Empty(t, read(ctx, t, log, newName(), from))
	}
}

func alikeStreams(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, base := h.Open(t), patient(t), newName()
	start := head(ctx, t, log)
	names := []string{base + "-a", base + "-a0", base + "-ab", base + "-a-b", base + "-0a", base, base + "0"}
	byStream := map[string][]eventlog.Commit{}
	for round := range int64(3) {
		for _, name := range names {
			chain := NewChain(name, string(rune('a'+round)))
			c := mustAppend(ctx, t, log, name, round-1, chain.Next(1)...)
			byStream[name] = append(byStream[name], c)
		}
	}
	for _, name := range names {
		requireSame(t, byStream[name], read(ctx, t, log, name, 0))
	}
	for _, c := range follow(ctx, t, log, start, 3*len(names), names...) {
		requireSame(t, byStream[c.Stream][:1], []eventlog.Commit{c})
		byStream[c.Stream] = byStream[c.Stream][1:]
	}
}

func everyByte(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	start := head(ctx, t, log)
	events := chain.Next(40) // all texts, with and without faces, boxes and openings
	want := []eventlog.Commit{mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, events...)}
	for n := range int64(20) {
		want = append(want, mustAppend(ctx, t, log, chain.Stream, 39+n, chain.Next(1)...))
	}
	check := func() {
		t.Helper()
		got := read(ctx, t, log, chain.Stream, 0)
		requireSame(t, want, got)
		requireSame(t, want, follow(ctx, t, log, start, len(want), chain.Stream))
		prev := ""
		for _, c := range got {
			for i := range c.Events {
				require.Equal(t, prev, c.Events[i].Prev)
				require.Equal(t, c.Events[i].ComputeHash(), c.Events[i].Hash)
				prev = c.Events[i].Hash
			}
		}
	}
	check()
	// In whichever shape events were handed in, all get them in the shape in which they are read from the disk; and the
	// caller's slice stays the caller's.
	packed, err := eventlog.Pack(chain.Stream, eventlog.NoStream, events)
	require.NoError(t, err)
	clear(events)
	require.Equal(t, packed.Events, want[0].Events)
	check()
	if h.Reopen != nil {
		log = h.Reopen(t, log)
		check()
		for i, c := range read(ctx, t, log, chain.Stream, 0) {
			require.Equal(t, want[i].Events, c.Events)
		}
	}
}

func reopening(t *testing.T, h Harness) {
	t.Helper()
	if h.Reopen == nil {
		t.Skip("this log keeps nothing")
	}
	log, ctx := h.Open(t), patient(t)
	start := head(ctx, t, log)
	one, two := written(t, log, 1, 3, 2), written(t, log, 2, 2)
	end := head(ctx, t, log)
	for range 2 {
		log = h.Reopen(t, log)
		require.Equal(t, end, head(ctx, t, log))
		requireSame(t, one, read(ctx, t, log, one[0].Stream, 0))
		requireSame(t, two, read(ctx, t, log, two[0].Stream, 0))
		requireSame(t, append(one[:3:3], two...), follow(ctx, t, log, start, 5, one[0].Stream, two[0].Stream))
		requireSame(t, two, follow(ctx, t, log, one[2].Position, 2, two[0].Stream))
	}
	_, err := log.Append(ctx, one[0].Stream, 0, NewChain(one[0].Stream, "late").Next(1)...)
	requireConflict(t, err, one[0].Stream, 0, 5)
	c := mustAppend(ctx, t, log, one[0].Stream, 5, NewChain(one[0].Stream, "next").Next(1)...)
	require.Greater(t, c.Position, end)
	three := written(t, log, 1)
	requireSame(t, append([]eventlog.Commit{c}, three...), follow(ctx, t, log, end, 2, c.Stream, three[0].Stream))
}
