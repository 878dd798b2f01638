package sqlitelog

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

var usual = options{ringCommits: ringCommits, pageCommits: pageCommits, cachedStreams: cachedStreams}

// harness opens logs in folders of their own.
func harness(o options) eventlogtest.Harness {
	return eventlogtest.Harness{
		Open: func(t *testing.T) eventlog.Log {
			t.Helper()
			return opened(t, filepath.Join(t.TempDir(), "umpire.db"), o)
		},
		Reopen: func(t *testing.T, log eventlog.Log) eventlog.Log {
			t.Helper()
			require.NoError(t, log.Close())
			return opened(t, log.(*Log).path, o)
		},
	}
}

func opened(t *testing.T, path string, o options) *Log {
	t.Helper()
	log, err := open(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log
}

func TestContract(t *testing.T) { eventlogtest.Run(t, harness(usual)) }

// TestContractWithoutRoom runs the suite on a log that can remember next to nothing, so that followers fall behind all
// the time, pages end in the middle of everything, and heads are looked up.
func TestContractWithoutRoom(t *testing.T) {
	eventlogtest.Run(t, harness(options{ringCommits: 3, pageCommits: 2, cachedStreams: 2}))
}

// written appends n commits of one event each to a stream of a fresh log, and returns them.
func written(t *testing.T, log *Log, stream string, n int) []eventlog.Commit {
	t.Helper()
	chain := eventlogtest.NewChain(stream, "own")
	var all []eventlog.Commit
	for i := range int64(n) {
		c, err := log.Append(t.Context(), stream, i-1, chain.Next(1)...)
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}

// read returns the commits of a stream and the error that ended them.
func read(t *testing.T, log *Log, stream string) (commits []eventlog.Commit, err error) {
	t.Helper()
	for c, e := range log.Read(t.Context(), stream, 0) {
		if err = e; err == nil {
			commits = append(commits, c)
		}
	}
	return commits, err
}

// replay returns all commits up to the log's head and the error that ended them.
func replay(t *testing.T, log *Log) (commits []eventlog.Commit, err error) {
	t.Helper()
	head, err := log.Head(t.Context())
	require.NoError(t, err)
	if head == 0 {
		return nil, nil
	}
	for c, e := range log.Follow(t.Context(), 0) {
		if e != nil {
			return commits, e
		}
		commits = append(commits, c)
		if c.Position == head {
			break
		}
	}
	return commits, nil
}

// requireHistory checks that the commits are a log from its beginning: no position is missing, no stream has a gap.
func requireHistory(t *testing.T, commits []eventlog.Commit) {
	t.Helper()
	next := map[string]uint64{}
	for i, c := range commits {
		require.Equal(t, uint64(i+1), c.Position)
		require.Equal(t, next[c.Stream], c.First, "in %s", c.Stream)
		next[c.Stream] = c.Last() + 1
	}
}
