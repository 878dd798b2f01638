package eventlogtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// expectations are all that a repeat may come with while the stream stands at head: its own, the head, and any other.
func expectations(head int64) []int64 {
	return []int64{eventlog.NoStream, 0, head - 1, head, head + 1, head + 100}
}

func requireRepeats(t *testing.T, log eventlog.Log, first eventlog.Commit, head int64) {
	t.Helper()
	for _, expected := range expectations(head) {
		if expected < eventlog.NoStream {
			continue
		}
		c, err := log.Append(patient(t), first.Stream, expected, first.Events...)
		require.NoError(t, err, "expecting %d", expected)
		requireSame(t, []eventlog.Commit{first}, []eventlog.Commit{c})
	}
}

func repeats(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	start := head(ctx, t, log)
	first := mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, chain.Next(2)...)
	requireRepeats(t, log, first, 1)
	second := mustAppend(ctx, t, log, chain.Stream, 1, chain.Next(1)...)
	requireRepeats(t, log, second, 2)
	want := []eventlog.Commit{first, second}
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))
	third := mustAppend(ctx, t, log, chain.Stream, 2, chain.Next(1)...)
	requireSame(t, append(want, third), follow(ctx, t, log, start, 3, chain.Stream))
}

func repeatsLater(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	var all []eventlog.Commit
	for n := range int64(30) {
		all = append(all, mustAppend(ctx, t, log, chain.Stream, n-1, chain.Next(1)...))
		away := newChain() // the log goes on elsewhere meanwhile
		mustAppend(ctx, t, log, away.Stream, eventlog.NoStream, away.Next(1)...)
	}
	for _, i := range []int{0, 1, 15, 28, 29} {
		requireRepeats(t, log, all[i], 29)
	}

	// A retry may come with another time, other salts and another place in the chain: the first commit stands.
	altered := slices.Clone(all[3].Events)
	altered[0].At = altered[0].At.AddDate(0, 0, 7)
	altered[0].Prev = all[29].Events[0].Hash
	altered[0].Hash = altered[0].ComputeHash()
	c, err := log.Append(ctx, chain.Stream, 29, altered...)
	require.NoError(t, err)
	requireSame(t, all[3:4], []eventlog.Commit{c})
	requireSame(t, all, read(ctx, t, log, chain.Stream, 0))

	// The same ids in another stream are another commit.
	elsewhere := newName()
	mustAppend(ctx, t, log, elsewhere, eventlog.NoStream, all[3].Events...)
	require.Len(t, read(ctx, t, log, elsewhere, 0), 1)
}

func repeatsAtOnce(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	var want []eventlog.Commit
	expected := eventlog.NoStream
	for range 4 {
		events := chain.Next(3)
		commits, errs := make([]eventlog.Commit, 16), make([]error, 16)
		together(16, func(i int) {
			commits[i], errs[i] = log.Append(ctx, chain.Stream, expected, events...)
		})
		for i := range errs {
			require.NoError(t, errs[i])
			requireSame(t, commits[:1], commits[i:i+1])
		}
		want = append(want, commits[0])
		expected += 3
	}
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))
	requireWhole(t, chain.Stream, want)
}

func repeatsWithOthers(t *testing.T, h Harness) {
	t.Helper()
	log, ctx, chain := h.Open(t), patient(t), newChain()
	three := chain.Next(3)
	first := mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, three...)
	second := mustAppend(ctx, t, log, chain.Stream, 2, chain.Next(1)...)
	other := NewChain(chain.Stream, "other").Next(3)
	for name, events := range map[string][]event.Event{
		"fewer":     three[:2],
		"more":      append(slices.Clone(three), other[0]),
		"others":    {three[0], other[1], other[2]},
		"disorder":  {three[0], three[2], three[1]},
		"the first": three[:1],
	} {
		for _, expected := range expectations(3) {
			_, err := log.Append(ctx, chain.Stream, expected, events...)
			require.ErrorIs(t, err, eventlog.ErrInvalid, "%s, expecting %d", name, expected)
		}
	}
	want := []eventlog.Commit{first, second}
	requireSame(t, want, read(ctx, t, log, chain.Stream, 0))

	// An event that stands inside a commit names none: behind the head it is an event like any other.
	third := mustAppend(ctx, t, log, chain.Stream, 3, three[1])
	requireSame(t, append(want, third), read(ctx, t, log, chain.Stream, 0))
}

func repeatsAfterReopening(t *testing.T, h Harness) {
	t.Helper()
	if h.Reopen == nil {
		t.Skip("this log keeps nothing")
	}
	log, ctx, chain := h.Open(t), patient(t), newChain()
	first := mustAppend(ctx, t, log, chain.Stream, eventlog.NoStream, chain.Next(2)...)
	log = h.Reopen(t, log)
	requireRepeats(t, log, first, 1)
	second := mustAppend(ctx, t, log, chain.Stream, 1, chain.Next(3)...)
	log = h.Reopen(t, log)
	requireRepeats(t, log, first, 4)
	requireRepeats(t, log, second, 4)
	_, err := log.Append(ctx, chain.Stream, 4, first.Events[0])
	require.ErrorIs(t, err, eventlog.ErrInvalid)
	requireSame(t, []eventlog.Commit{first, second}, read(ctx, t, log, chain.Stream, 0))
}
