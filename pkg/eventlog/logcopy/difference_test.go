package logcopy_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/memlog"
)

// spoilt is a log that shows some of its commits otherwise than they are, as one whose disk fails would.
type spoilt struct {
	eventlog.Log
	spoil func(*eventlog.Commit)
}

// Follow implements eventlog.Log.
func (s *spoilt) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		for c, err := range s.Log.Follow(ctx, after) {
			c.Events = slices.Clone(c.Events)
			s.spoil(&c)
			if !yield(c, err) {
				return
			}
		}
	}
}

// at spoils the commit at a position.
func at(position uint64, spoil func(*eventlog.Commit)) func(*eventlog.Commit) {
	return func(c *eventlog.Commit) {
		if c.Position == position {
			spoil(c)
		}
	}
}

// requireDifference expects an error that names a place, and says so.
func requireDifference(t *testing.T, err error, stream string, revision uint64, says string) {
	t.Helper()
	var difference *logcopy.Difference
	require.ErrorAs(t, err, &difference)
	assert.Equal(t, stream, difference.Stream)
	assert.Equal(t, revision, difference.Revision, difference)
	assert.Contains(t, err.Error(), says)
}

// TestATargetThatDiffersIsRefused tries each way to differ, in the first commit, one in the middle and the last.
func TestATargetThatDiffersIsRefused(t *testing.T) {
	const n = 21
	list := commits(n)
	from := filled(t, list)
	var standing []eventlog.Commit
	for c, err := range from.Follow(t.Context(), 0) {
		require.NoError(t, err)
		if standing = append(standing, c); len(standing) == n {
			break
		}
	}
	for _, place := range []uint64{1, n/2 + 1, n} {
		c := standing[place-1]
		last := len(c.Events) - 1
		for name, way := range map[string]struct {
			spoil    func(*eventlog.Commit)
			revision uint64
			says     string
		}{
			"an event": {func(c *eventlog.Commit) { c.Events[last].By = event.Host }, c.Last(), "another in the target"},
			"a time":   {func(c *eventlog.Commit) { c.Events[last].At = c.Events[last].At.Add(1) }, c.Last(), "another in the target"},
			"an id":    {func(c *eventlog.Commit) { c.Events[0].ID[0] ^= 1 }, c.First, "another in the target"},
			"a longer commit": {func(c *eventlog.Commit) { c.Events = append(c.Events, c.Events[0]) }, c.First,
				fmt.Sprintf("has %d events in the target and %d in the source", last+2, last+1)},
			"its revision": {func(c *eventlog.Commit) { c.First++ }, c.First + 1, "where the source"},
			"its stream":   {func(c *eventlog.Commit) { c.Stream = "match-z" }, c.First, "has " + c.Stream},
		} {
			t.Run(fmt.Sprint(name, " at ", place), func(t *testing.T) {
				stream := c.Stream
				if name == "its stream" {
					stream = "match-z"
				}
				to := &spoilt{filled(t, list[:place]), at(place, way.spoil)}
				before := content(t, to)
				report, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
				requireDifference(t, err, stream, way.revision, way.says)
				require.ErrorIs(t, err, logcopy.ErrTarget)
				assert.False(t, report.Verified)
				assert.Equal(t, place-1, report.Commits)
				assert.Equal(t, before, content(t, to), "nothing was written")

				_, err = logcopy.Verify(t.Context(), from, &spoilt{from, at(place, way.spoil)}, logcopy.Options{})
				requireDifference(t, err, stream, way.revision, way.says)
			})
		}
	}
}

func TestATargetThatHoldsMoreIsRefused(t *testing.T) {
	list := commits(12)
	from, to := filled(t, list[:9]), filled(t, list)
	_, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
	requireDifference(t, err, list[9].stream, 12, "the source ends before it")
	_, err = logcopy.Verify(t.Context(), from, to, logcopy.Options{})
	requireDifference(t, err, list[9].stream, 12, "the source ends before it")
	_, err = logcopy.Verify(t.Context(), to, from, logcopy.Options{})
	requireDifference(t, err, list[9].stream, 12, "the target ends before it")
	_, err = logcopy.Copy(t.Context(), memlog.New(), to, logcopy.Options{})
	requireDifference(t, err, list[0].stream, 0, "the source ends before it")
	require.ErrorIs(t, err, logcopy.ErrTarget)
	assert.Len(t, content(t, to), 12)
}

// TestTheOrderAcrossStreamsCounts: each stream is the same, but not which was first.
func TestTheOrderAcrossStreamsCounts(t *testing.T) {
	list := commits(12)
	other := slices.Clone(list)
	slices.SortStableFunc(other, func(a, b commit) int {
		if a.stream < b.stream {
			return -1
		}
		return map[bool]int{true: 1, false: 0}[a.stream > b.stream]
	})
	from, to := filled(t, list), filled(t, other)
	_, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
	requireDifference(t, err, "match-a", 1, "(position 2) where the source (position 2) has match-b, revision 0")
	assert.Len(t, content(t, to), 12)
}

// TestCommitsAreNotJoined: the same events in the same order, but in other commits.
func TestCommitsAreNotJoined(t *testing.T) {
	chain := eventlogtest.NewChain("match-a", "joined")
	events := chain.Next(4)
	from := filled(t, []commit{{"match-a", events[:2]}, {"match-a", events[2:]}})
	for _, other := range [][]commit{{{"match-a", events}}, {{"match-a", events[:1]}}, {{"match-a", events[:3]}, {"match-a", events[3:]}}} {
		to := filled(t, other)
		_, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
		requireDifference(t, err, "match-a", 0, fmt.Sprintf("has %d events in the target and 2 in the source", len(other[0].events)))
	}
}

// TestABrokenChainIsFound: what is wrong in the source is copied as it is, and told.
func TestABrokenChainIsFound(t *testing.T) {
	for name, spoil := range map[string]func(*event.Event){
		"an altered event":   func(e *event.Event) { e.By = event.Host },
		"an altered hash":    func(e *event.Event) { e.Hash = "00" + e.Hash[2:] },
		"another event":      func(e *event.Event) { e.By = event.Host; e.Hash = e.ComputeHash() },
		"cut from the chain": func(e *event.Event) { e.Prev = ""; e.Hash = e.ComputeHash() },
	} {
		t.Run(name, func(t *testing.T) {
			list := commits(30)
			spoil(&list[20].events[0])
			from, to := filled(t, list), memlog.New()
			report, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
			var found *logcopy.Difference
			require.ErrorAs(t, err, &found)
			assert.Equal(t, list[20].stream, found.Stream)
			assert.Contains(t, err.Error(), "damaged or was tampered with")
			assert.False(t, report.Verified)
			assert.Equal(t, uint64(30), report.Commits)
			assert.Equal(t, content(t, from), content(t, to))
		})
	}
	list := commits(30)
	for i := 20; i < 30; i++ {
		list[i].events[0].Hash = "00"
	}
	_, err := logcopy.Copy(t.Context(), filled(t, list), memlog.New(), logcopy.Options{})
	assert.ErrorContains(t, err, "(3 streams are)")
}

// TestASourceWithAGapIsNotCopied: no log could hold it.
func TestASourceWithAGapIsNotCopied(t *testing.T) {
	list := commits(10)
	from := &spoilt{filled(t, list), at(8, func(c *eventlog.Commit) { c.First += 2 })}
	to := memlog.New()
	report, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{})
	var found *logcopy.Difference
	require.ErrorAs(t, err, &found)
	assert.Contains(t, err.Error(), "is due there")
	assert.Equal(t, uint64(7), report.Commits)
	_, err = logcopy.Verify(t.Context(), from, from, logcopy.Options{})
	assert.ErrorContains(t, err, "is due there")
}

// meddled is a target to which somebody else writes in the middle of the copy.
type meddled struct {
	eventlog.Log
	meddle func()
}

// Append implements eventlog.Log.
func (m *meddled) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	c, err := m.Log.Append(ctx, stream, expected, events...)
	if m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return c, err
}

func TestOtherWritersAreFound(t *testing.T) {
	list := commits(10)
	from, to := filled(t, list), memlog.New()
	other := eventlogtest.NewChain("match-z", "other")
	_, err := logcopy.Copy(t.Context(), from, &meddled{to, func() { fill(t, to, []commit{{"match-z", other.Next(1)}}) }}, logcopy.Options{})
	requireDifference(t, err, "match-z", 0, "the logs are not the same")
	require.NotErrorIs(t, err, logcopy.ErrTarget, "something was written")

	to = memlog.New()
	_, err = logcopy.Copy(t.Context(), from, &meddled{to, func() { fill(t, to, list[1:3]) }}, logcopy.Options{})
	require.NoError(t, err, "two copies of one source at once do each other no harm")

	to = memlog.New()
	again := eventlogtest.NewChain(list[1].stream, "other")
	_, err = logcopy.Copy(t.Context(), from, &meddled{to, func() { fill(t, to, []commit{{list[1].stream, again.Next(1)}}) }}, logcopy.Options{})
	var conflict *eventlog.Conflict
	require.ErrorAs(t, err, &conflict)
}

// short is a log that breaks a duty: it ends a history too early and calls that the end.
type short struct{ eventlog.Log }

// Follow implements eventlog.Log.
func (s short) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		for c, err := range s.Log.Follow(ctx, after) {
			if c.Position > 4 || !yield(c, err) {
				return
			}
		}
	}
}

func TestAShortHistoryIsNoEnd(t *testing.T) {
	log := filled(t, commits(10))
	_, err := logcopy.Copy(t.Context(), short{log}, memlog.New(), logcopy.Options{})
	require.ErrorContains(t, err, "the source: ")
	require.ErrorContains(t, err, "ended before its head")
	_, err = logcopy.Copy(t.Context(), log, short{log}, logcopy.Options{})
	require.ErrorContains(t, err, "the target: ")
}

func TestAClosedLogIsAnError(t *testing.T) {
	log, closed := filled(t, commits(3)), memlog.New()
	require.NoError(t, closed.Close())
	for _, pair := range [][2]eventlog.Log{{log, closed}, {closed, log}} {
		_, err := logcopy.Copy(t.Context(), pair[0], pair[1], logcopy.Options{})
		require.ErrorIs(t, err, eventlog.ErrClosed)
		_, err = logcopy.Verify(t.Context(), pair[0], pair[1], logcopy.Options{})
		require.ErrorIs(t, err, eventlog.ErrClosed)
	}
}
