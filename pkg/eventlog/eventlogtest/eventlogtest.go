// Package eventlogtest is the contract of a log as a test: it attacks every duty that package eventlog names, and the
// subtests bear the duties' numbers. Every log runs it, and so does whatever wraps one.
//
// A log may hold other streams besides the suite's, as a shared server's does: the suite looks only at its own.
package eventlogtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// Harness says how to get at the log under test.
type Harness struct {
	// Open returns a log, and sees to it that it is closed when the test ends.
	Open func(t *testing.T) eventlog.Log
	// Reopen closes a log that Open or Reopen gave, and opens what it kept. Nil for a log that keeps nothing.
	Reopen func(t *testing.T, log eventlog.Log) eventlog.Log
}

// patience is how long any one thing may take before the suite gives up on it. Nothing waits that long.
const patience = 30 * time.Second

// soon is what the port grants a follower to end in.
const soon = time.Second

// Run tries all duties on logs of the harness.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range []struct {
		duty string
		try  func(*testing.T, Harness)
	}{
		{"1 an append is all or nothing", appendIsWhole},
		{"1 commits are as large as they may be", largestCommits},
		{"2 a wrong expectation writes nothing", wrongExpectations},
		{"2 of 32 writers at one revision one wins", oneWinner},
		{"3 32 writers lose nothing", noLoss},
		{"3 positions rise over all streams", positionsRise},
		{"4 a repeat is never doubled", repeats},
		{"4 a repeat later is the first commit", repeatsLater},
		{"4 16 repeats at once are one", repeatsAtOnce},
		{"4 other ids after a known first one are refused", repeatsWithOthers},
		{"5 read begins with the commit that holds the revision", readFromTheMiddle},
		{"5 an unknown stream is empty", unknownStreams},
		{"5 streams whose names are alike are apart", alikeStreams},
		{"6 follow joins history to live", followJoins},
		{"6 follow resumes anywhere", followResumes},
		{"6 two followers see one order", followersAgree},
		{"6 a stalled follower stops nobody and misses nothing", followerStalls},
		{"6 cancel and break end at once", followEnds},
		{"7 an ended context is an error", endedContexts},
		{"7 a closed log is an error", closedLogs},
		{"7 closing while all are at it", closingUnderLoad},
		{"8 what can't be appended is refused", refusals},
		{"8 hostile stream names", hostileNames},
		{"9 every byte comes back", everyByte},
		{"9 reopening keeps all", reopening},
		{"9 a repeat after reopening", repeatsAfterReopening},
	} {
		t.Run("duty "+c.duty, func(t *testing.T) { c.try(t, h) })
	}
	t.Run("all duties against a model", func(t *testing.T) { model(t, h) })
}

var (
	run     = func() string { var b [6]byte; _, _ = rand.Read(b[:]); return hex.EncodeToString(b[:]) }()
	counted atomic.Int64
)

// newName returns a stream name that no other test uses, in this process or another.
func newName() string { return fmt.Sprintf("match-%s-%d", run, counted.Add(1)) }

// newChain starts a chain of events on a stream of its own.
func newChain() *Chain { return NewChain(newName(), "own") }

// patient returns a context that ends with the test, or when something hangs.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// mustAppend appends and checks what comes back against what went in.
func mustAppend(ctx context.Context, t require.TestingT, log eventlog.Log, stream string, expected int64, events ...event.Event,
) eventlog.Commit {
	c, err := log.Append(ctx, stream, expected, events...)
	require.NoError(t, err)
	require.Equal(t, stream, c.Stream)
	require.Equal(t, uint64(expected+1), c.First) //nolint:gosec // expected is at least -1
	require.NotZero(t, c.Position)
	requireEvents(t, events, c.Events)
	return c
}

// requireEvents compares events by what is stored of them.
func requireEvents(t require.TestingT, want, got []event.Event) {
	require.Len(t, got, len(want))
	var a, b []byte
	for i := range want {
		a, b = want[i].AppendStored(a[:0]), got[i].AppendStored(b[:0])
		if !bytes.Equal(a, b) {
			require.Equal(t, string(a), string(b)) // which is slow, but tells the difference
		}
	}
}

// requireSame compares commits, whole.
func requireSame(t require.TestingT, want, got []eventlog.Commit) {
	require.Len(t, got, len(want))
	for i := range want {
		a, b := &want[i], &got[i]
		if a.Stream != b.Stream || a.First != b.First || a.Position != b.Position {
			require.Failf(t, "another commit", "%s %d at %d, not %s %d at %d", b.Stream, b.First, b.Position, a.Stream, a.First, a.Position)
		}
		requireEvents(t, a.Events, b.Events)
	}
}

// read returns what Read yields, which must not be an error.
func read(ctx context.Context, t require.TestingT, log eventlog.Log, stream string, from uint64) []eventlog.Commit {
	var commits []eventlog.Commit
	for c, err := range log.Read(ctx, stream, from) {
		require.NoError(t, err)
		commits = append(commits, c)
	}
	return commits
}

// requireWhole checks that the commits are a stream from its beginning, without a gap and in order.
func requireWhole(t require.TestingT, stream string, commits []eventlog.Commit) {
	next, position := uint64(0), uint64(0)
	for _, c := range commits {
		require.Equal(t, stream, c.Stream)
		require.Equal(t, next, c.First)
		require.Greater(t, c.Position, position)
		next, position = c.Last()+1, c.Position
	}
}

// follow returns the next n commits after a position that belong to one of the streams.
func follow(ctx context.Context, t require.TestingT, log eventlog.Log, after uint64, n int, streams ...string) []eventlog.Commit {
	own := map[string]bool{}
	for _, s := range streams {
		own[s] = true
	}
	commits := make([]eventlog.Commit, 0, n)
	if n == 0 {
		return commits
	}
	last := after
	for c, err := range log.Follow(ctx, after) {
		require.NoError(t, err)
		if c.Position <= last {
			require.Failf(t, "positions don't rise", "%d after %d", c.Position, last)
		}
		last = c.Position
		if own[c.Stream] {
			commits = append(commits, c)
		}
		if len(commits) == n {
			break
		}
	}
	require.Len(t, commits, n)
	return commits
}

// head returns the log's head.
func head(ctx context.Context, t require.TestingT, log eventlog.Log) uint64 {
	position, err := log.Head(ctx)
	require.NoError(t, err)
	return position
}

// requireConflict checks that the error is the conflict told.
func requireConflict(t require.TestingT, err error, stream string, expected, actual int64) {
	var conflict *eventlog.Conflict
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, eventlog.Conflict{Stream: stream, Expected: expected, Actual: actual}, *conflict)
}
