package sqlitelog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// closedLog makes a log of n commits in each of two streams and closes it, so that all of it is in one file.
func closedLog(t *testing.T, n int) string {
	t.Helper()
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	written(t, log, "match-1", n)
	written(t, log, "match-2", n)
	require.NoError(t, log.Close())
	return log.path
}

func TestSpoiltRowsAreErrors(t *testing.T) {
	for name, sql := range map[string]string{
		"no JSON":              `UPDATE commits SET events = substr(events, 2) WHERE position = 5`,
		"no list":              `UPDATE commits SET events = '{}' WHERE position = 5`,
		"an empty list":        `UPDATE commits SET events = '[]' WHERE position = 5`,
		"a field too few":      `UPDATE commits SET events = json_remove(events, '$[0].prev') WHERE position = 5`,
		"an event too many":    `UPDATE commits SET last = last + 1 WHERE position = 5`,
		"a row gone":           `DELETE FROM commits WHERE position = 5`,
		"a row moved":          `UPDATE commits SET position = 100 WHERE position = 5`,
		"another stream's row": `UPDATE commits SET stream = 'match-3' WHERE position = 5`,
		"a revision moved":     `UPDATE commits SET revision = 70, last = 70 WHERE position = 5`,
	} {
		t.Run(name, func(t *testing.T) {
			path := closedLog(t, 10)
			foreign(t, path, sql)
			log := opened(t, path, usual)
			commits, err := read(t, log, "match-1")
			if name != "a row moved" {
				require.ErrorIs(t, err, eventlog.ErrCorrupt)
				require.ErrorContains(t, err, path)
				require.Len(t, commits, 4)
			}
			commits, err = replay(t, log)
			if name != "another stream's row" && name != "a revision moved" { // a follower can't know better
				require.ErrorIs(t, err, eventlog.ErrCorrupt)
				require.Len(t, commits, 4)
			}
			whole, err := read(t, log, "match-2")
			require.NoError(t, err)
			require.Len(t, whole, 10)
		})
	}
}

func TestASpoiltLastRowIsFoundAtOpen(t *testing.T) {
	path := closedLog(t, 3)
	foreign(t, path, `UPDATE commits SET events = '[' WHERE position = 6`)
	_, err := Open(path)
	require.ErrorIs(t, err, eventlog.ErrCorrupt)
	require.ErrorContains(t, err, "position 6")
}

// TestSpoiltPages overwrites one page of the file after the other: whatever is hit, opening, reading, following and
// appending give what is true or an error.
func TestSpoiltPages(t *testing.T) {
	path := closedLog(t, 12)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	reference := opened(t, path, usual)
	want, err := replay(t, reference)
	require.NoError(t, err)
	require.NoError(t, reference.Close())
	const page = 4096
	for at := 0; at < len(good); at += page {
		spoilt := append([]byte{}, good...)
		for i := range page {
			spoilt[at+i] = 0xa5
		}
		path := filepath.Join(t.TempDir(), "umpire.db")
		require.NoError(t, os.WriteFile(path, spoilt, 0o600))
		log, err := Open(path)
		if err != nil {
			require.ErrorIs(t, err, eventlog.ErrCorrupt, "page %d", at/page)
			continue
		}
		failed := 0
		commits, err := replay(t, log)
		failed += requireTrueOrCorrupt(t, want, commits, err)
		for _, stream := range []string{"match-1", "match-2"} {
			commits, err := read(t, log, stream)
			failed += requireTrueOrCorrupt(t, of(want, stream), commits, err)
			_, err = log.Append(t.Context(), stream, 11, eventlogtest.NewChain(stream, "more").Next(1)...)
			failed += requireTrueOrCorrupt(t, nil, nil, err)
		}
		require.Positive(t, failed, "page %d was of no use", at/page)
		_ = log.Close()
	}
}

func of(all []eventlog.Commit, stream string) (own []eventlog.Commit) {
	for _, c := range all {
		if c.Stream == stream {
			own = append(own, c)
		}
	}
	return own
}

// requireTrueOrCorrupt checks that what was read is the beginning of what is true, all of it unless there was an error.
func requireTrueOrCorrupt(t *testing.T, want, got []eventlog.Commit, err error) (failed int) {
	t.Helper()
	require.LessOrEqual(t, len(got), len(want))
	for i := range got {
		require.Equal(t, want[i], got[i])
	}
	if err == nil {
		require.Len(t, got, len(want))
		return 0
	}
	require.ErrorIs(t, err, eventlog.ErrCorrupt)
	return 1
}

func TestATruncatedFileIsFound(t *testing.T) {
	path := closedLog(t, 12)
	reference := opened(t, path, usual)
	want, err := replay(t, reference)
	require.NoError(t, err)
	require.NoError(t, reference.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	for _, less := range []int64{1, 1000, 4095, 4096, info.Size() / 2, info.Size() - 4096, info.Size() - 2000, info.Size() - 16} {
		require.NoError(t, os.Truncate(path, info.Size()-less))
		log, err := Open(path)
		if err != nil {
			require.ErrorIs(t, err, eventlog.ErrCorrupt, "%d bytes less", less)
			continue
		}
		require.Less(t, less, int64(4096), "it was opened with a page missing")
		commits, err := replay(t, log)
		requireTrueOrCorrupt(t, want, commits, err)
		require.NoError(t, log.Close())
	}
}
