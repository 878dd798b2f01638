package logcopy_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// commit is what a log is made of in these tests.
type commit struct {
	stream string
	events []event.Event
}

// commits makes n commits of 1 to 3 events in three streams that take turns irregularly.
func commits(n int) []commit {
	chains := []*eventlogtest.Chain{
		eventlogtest.NewChain("match-a", "copy"), eventlogtest.NewChain("match-b", "copy"), eventlogtest.NewChain("umpire-probes", "copy"),
	}
	var out []commit
	for i := range n {
		chain := chains[i*i%7%3]
		out = append(out, commit{chain.Stream, chain.Next(1 + i%3)})
	}
	return out
}

// fill appends commits behind what the log holds.
func fill(t require.TestingT, log eventlog.Log, list []commit) {
	ctx := context.Background()
	heads := map[string]int64{}
	for _, c := range list {
		expected, known := heads[c.stream]
		if !known {
			expected = eventlog.NoStream
			for standing, err := range log.Read(ctx, c.stream, 0) {
				require.NoError(t, err)
				expected = int64(standing.Last()) //nolint:gosec // small
			}
		}
		_, err := log.Append(ctx, c.stream, expected, c.events...)
		require.NoError(t, err)
		heads[c.stream] = expected + int64(len(c.events))
	}
}

// filled returns a log in memory that holds the commits.
func filled(t require.TestingT, list []commit) *memlog.Log {
	log := memlog.New()
	fill(t, log, list)
	return log
}

// content is all that a log holds, as text that does not depend on positions.
func content(t require.TestingT, log eventlog.Log) []string {
	ctx := context.Background()
	head, err := log.Head(ctx)
	require.NoError(t, err)
	out := []string{}
	if head == 0 {
		return out
	}
	for c, err := range log.Follow(ctx, 0) {
		require.NoError(t, err)
		text := fmt.Sprintf("%s %d", c.Stream, c.First)
		for i := range c.Events {
			text += "\n" + string(c.Events[i].AppendStored(nil))
		}
		out = append(out, text)
		if c.Position >= head {
			break
		}
	}
	return out
}

func count(list []commit) (events uint64) {
	for _, c := range list {
		events += uint64(len(c.events))
	}
	return events
}

// copied copies and expects all to be well.
func copied(t require.TestingT, from, to eventlog.Log) logcopy.Report {
	report, err := logcopy.Copy(context.Background(), from, to, logcopy.Options{})
	require.NoError(t, err)
	require.True(t, report.Verified)
	require.Equal(t, content(t, from), content(t, to))
	return report
}

func openSQLite(t *testing.T) eventlog.Log {
	t.Helper()
	log, err := sqlitelog.Open(filepath.Join(t.TempDir(), "umpire.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log
}

func TestCopyIsTheSame(t *testing.T) {
	list := commits(100)
	from, to := filled(t, list), memlog.New()
	want := logcopy.Report{Commits: 100, Events: count(list), Streams: 3, Verified: true}
	assert.Equal(t, want, copied(t, from, to))
	want.Skipped = 100
	assert.Equal(t, want, copied(t, from, to), "a second time there is nothing to do")

	file, back := openSQLite(t), memlog.New()
	copied(t, from, file)
	copied(t, file, back)
	require.Equal(t, content(t, from), content(t, back), "there and back")
	report, err := logcopy.Verify(t.Context(), from, file, logcopy.Options{})
	require.NoError(t, err)
	assert.Equal(t, want, report)
}

func TestEmptyLogs(t *testing.T) {
	assert.Equal(t, logcopy.Report{Verified: true}, copied(t, memlog.New(), memlog.New()))
	assert.Equal(t, logcopy.Report{Verified: true}, copied(t, openSQLite(t), openSQLite(t)))
}

// TestRandomLogs copies logs of any shape, part of which may stand in the target.
func TestRandomLogs(t *testing.T) {
	file := openSQLite(t)
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		var list []commit
		var chains []*eventlogtest.Chain
		for i := range rapid.IntRange(1, 5).Draw(r, "streams") {
			chains = append(chains, eventlogtest.NewChain(fmt.Sprintf("match-%d-%d", run, i), "random"))
		}
		for range rapid.IntRange(0, 40).Draw(r, "commits") {
			chain := rapid.SampledFrom(chains).Draw(r, "stream")
			list = append(list, commit{chain.Stream, chain.Next(rapid.IntRange(1, 8).Draw(r, "events"))})
		}
		standing := rapid.IntRange(0, len(list)).Draw(r, "standing")
		from, to := filled(r, list), filled(r, list[:standing])
		report := copied(r, from, to)
		require.Equal(r, uint64(standing), report.Skipped) //nolint:gosec // never negative
		require.Equal(r, uint64(len(list)), report.Commits)
		require.Equal(r, count(list), report.Events)
		if run%25 == 0 { // SQLite's file grows from run to run, so the copy into it is one of all runs so far
			fill(r, file, list)
			copied(r, file, memlog.New())
		}
	})
}

var errCut = errors.New("the line was cut")

// cut is a log that takes so many appends and then fails, with or without having written the last one.
type cut struct {
	eventlog.Log
	left    int
	written bool
	err     error
}

// Append implements eventlog.Log.
func (c *cut) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if c.left > 0 {
		c.left--
		return c.Log.Append(ctx, stream, expected, events...)
	}
	if c.written {
		if _, err := c.Log.Append(ctx, stream, expected, events...); err != nil {
			return eventlog.Commit{}, err
		}
	}
	return eventlog.Commit{}, c.err
}

// TestInterruptedAnywhere breaks a copy off at every commit, and the rest of it at every later one.
func TestInterruptedAnywhere(t *testing.T) {
	list := commits(20)
	from := filled(t, list)
	for first := range list {
		for _, written := range []bool{false, true} {
			to := memlog.New()
			report, err := logcopy.Copy(t.Context(), from, &cut{to, first, written, errCut}, logcopy.Options{})
			require.ErrorIs(t, err, errCut)
			require.Equal(t, uint64(first), report.Commits) //nolint:gosec // never negative
			require.False(t, report.Verified)
			stands := len(content(t, to))
			require.Equal(t, content(t, from)[:stands], content(t, to), "no more than a beginning")

			_, err = logcopy.Copy(t.Context(), from, &cut{to, (len(list) - stands) / 2, !written, errCut}, logcopy.Options{})
			if stands < len(list) {
				require.ErrorIs(t, err, errCut)
			}
			stands = len(content(t, to))
			report = copied(t, from, to)
			require.Equal(t, uint64(stands), report.Skipped) //nolint:gosec // never negative
		}
	}
}

// hiccup is a log that can't be reached every now and then, and may have written all the same.
type hiccup struct {
	eventlog.Log
	calls int
}

// Append implements eventlog.Log.
func (h *hiccup) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	h.calls++
	switch h.calls {
	case 3:
		return eventlog.Commit{}, eventlog.ErrUnavailable
	case 6:
		if _, err := h.Log.Append(ctx, stream, expected, events...); err != nil {
			return eventlog.Commit{}, err
		}
		return eventlog.Commit{}, fmt.Errorf("no answer: %w", eventlog.ErrUnavailable)
	}
	return h.Log.Append(ctx, stream, expected, events...)
}

func TestHiccupsArePassedOver(t *testing.T) {
	from, to := filled(t, commits(8)), &hiccup{Log: memlog.New()}
	copied(t, from, to)
	assert.Equal(t, 10, to.calls)
}

func TestAnUnreachableTargetIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which time passes by itself
		began := time.Now()
		_, err := logcopy.Copy(t.Context(), filled(t, commits(3)), &cut{memlog.New(), 1, false, eventlog.ErrUnavailable}, logcopy.Options{})
		require.ErrorIs(t, err, eventlog.ErrUnavailable)
		require.ErrorContains(t, err, "took 1 commits and not the next, of match-b at revision 0")
		assert.Equal(t, 3100*time.Millisecond, time.Since(began))
	})
}

func TestCancelled(t *testing.T) {
	from, to := filled(t, commits(50)), memlog.New()
	ctx, cancel := context.WithCancel(t.Context())
	report, err := logcopy.Copy(ctx, from, to, logcopy.Options{Progress: func(phase logcopy.Phase, done, _ uint64) {
		if phase == logcopy.Copying && done == 20 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, uint64(20), report.Commits)
	for _, at := range []logcopy.Phase{logcopy.Comparing, logcopy.Verifying} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := logcopy.Copy(ctx, from, to, logcopy.Options{Progress: func(phase logcopy.Phase, _, _ uint64) {
			if phase == at {
				cancel()
			}
		}})
		require.ErrorIs(t, err, context.Canceled, at)
		cancel()
	}
	copied(t, from, to)
}

func TestProgress(t *testing.T) {
	from, to := filled(t, commits(30)), filled(t, commits(10))
	var seen []string
	_, err := logcopy.Copy(t.Context(), from, to, logcopy.Options{Progress: func(phase logcopy.Phase, done, total uint64) {
		if done == 1 || done == total {
			seen = append(seen, fmt.Sprint(phase, " ", done, " of ", total))
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"comparing 1 of 10", "comparing 10 of 10", "copying 1 of 20", "copying 20 of 20", "verifying 1 of 30", "verifying 30 of 30"}, seen)
}

// growing is a source that another writes to while it is copied.
type growing struct {
	eventlog.Log
	more func()
}

// Follow implements eventlog.Log.
func (g *growing) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	if g.more != nil {
		g.more()
		g.more = nil
	}
	return g.Log.Follow(ctx, after)
}

func TestASourceThatGrowsIsCopiedToWhereItWas(t *testing.T) {
	list := commits(30)
	from, to := filled(t, list[:20]), memlog.New()
	report, err := logcopy.Copy(t.Context(), &growing{from, func() { fill(t, from, list[20:]) }}, to, logcopy.Options{})
	require.NoError(t, err)
	assert.True(t, report.Verified)
	assert.Equal(t, uint64(20), report.Commits)
	assert.Equal(t, uint64(10), report.Added)
	require.Equal(t, content(t, from)[:20], content(t, to))
	report = copied(t, from, to)
	assert.Equal(t, uint64(20), report.Skipped)
}
