package sqlitelog

import (
	"bytes"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// foreign makes a database with some other program's SQL.
func foreign(t *testing.T, path, sql string) {
	t.Helper()
	c, err := connect(path, "rwc")
	require.NoError(t, err)
	require.NoError(t, c.exec(sql))
	require.NoError(t, c.close())
}

func TestOpenRefusesWhatIsNoLog(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		says string
		is   error
	}{
		"another program's": {
			func(t *testing.T, path string) {
				t.Helper()
				foreign(t, path, "PRAGMA application_id = 77; CREATE TABLE commits (a)")
			},
			"is the database of another program", nil,
		},
		"one without a mark": {
			func(t *testing.T, path string) {
				t.Helper()
				foreign(t, path, "CREATE TABLE commits (a); INSERT INTO commits VALUES (1)")
			},
			"is the database of another program", nil,
		},
		"a newer one": {
			func(t *testing.T, path string) {
				t.Helper()
				foreign(t, path, "PRAGMA application_id = 0x756d7072; PRAGMA user_version = 2; CREATE TABLE commits (a)")
			},
			"was written by a newer umpire (version 2 of the file, this one knows 1)", nil,
		},
		"one without its table": {
			func(t *testing.T, path string) {
				t.Helper()
				foreign(t, path, "PRAGMA application_id = 0x756d7072; PRAGMA user_version = 1; CREATE TABLE other (a)")
			},
			"no such table", eventlog.ErrCorrupt,
		},
		"no database": {
			func(t *testing.T, path string) {
				t.Helper()
				require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("a letter to a friend\n"), 500), 0o600))
			},
			"file is not a database", eventlog.ErrCorrupt,
		},
		"a folder": {
			func(t *testing.T, path string) {
				t.Helper()
				require.NoError(t, os.Mkdir(path, 0o700))
			},
			"is a folder, not a log", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "umpire.db")
			c.make(t, path)
			before, readErr := os.ReadFile(path)
			_, err := Open(path)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, path)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
			after, _ := os.ReadFile(path)
			if readErr == nil && c.is == nil {
				require.Equal(t, before, after, "what is not ours was written to")
			}
			_, again := Open(path) // the hold was given back
			require.Equal(t, err.Error(), again.Error())
		})
	}
}

func TestOpenNeedsAFolderToWriteIn(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "not", "there")
	_, err := Open(filepath.Join(missing, "umpire.db"))
	require.EqualError(t, err, "sqlitelog: the folder "+missing+" does not exist")

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Open(filepath.Join(file, "umpire.db"))
	require.Error(t, err)

	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o500))                       //nolint:gosec // a folder needs its x
	t.Cleanup(func() { require.NoError(t, os.Chmod(folder, 0o700)) }) //nolint:gosec // likewise
	if f, err := os.Create(filepath.Join(folder, "probe")); err == nil {
		require.NoError(t, f.Close())
		t.Skip("this user may write anywhere, so there is no folder to be refused in")
	}
	_, err = Open(filepath.Join(folder, "umpire.db"))
	require.ErrorContains(t, err, "its folder can't be written")
}

func TestOpenTwiceIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "umpire.db")
	log := opened(t, path, usual)
	_, err := Open(path)
	require.ErrorContains(t, err, path+" is in use by another process (number ")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(path, link))
	_, err = Open(link)
	require.ErrorContains(t, err, path+" is in use")
	written(t, log, "match-1", 1)
	require.NoError(t, log.Close())
	opened(t, link, usual)
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b.db", "ümpire?mode=memory", "100%41.db", "#1", "a&_pragma=x", ";'\"", ":memory:"} {
		path := filepath.Join(t.TempDir(), name)
		log := opened(t, path, usual)
		written(t, log, "match-1", 2)
		require.NoError(t, log.Close())
		require.FileExists(t, path)
		all, err := replay(t, opened(t, path, usual))
		require.NoError(t, err)
		require.Len(t, all, 2)
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	written(t, log, "match-1", 3)
	_, err := replay(t, log)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.NoFileExists(t, log.path+"-wal")
	require.NoFileExists(t, log.path+"-shm")
}

// TestViewForPeople is what somebody sees who opens the file with the sqlite3 shell while the log is in use.
func TestViewForPeople(t *testing.T) {
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	written(t, log, "match-1", 1)
	chain := eventlogtest.NewChain("match-2", "own")
	c, err := log.Append(t.Context(), "match-2", eventlog.NoStream, chain.Next(3)...)
	require.NoError(t, err)
	view, err := shell(t, log.path).prepare(
		`SELECT position, stream, revision, type, at, by, public, event FROM events WHERE stream = 'match-2' ORDER BY revision`)
	require.NoError(t, err)
	n := 0
	require.NoError(t, view.query(func(v []driver.Value) bool {
		e := c.Events[n]
		stored := string(e.AppendStored(nil))
		require.Equal(t, []driver.Value{
			int64(2), "match-2", int64(n), e.Type, e.At.Format("2006-01-02T15:04:05.999999999Z07:00"), "player", string(e.Public), stored,
		}, v)
		n++
		return true
	}))
	require.Equal(t, 3, n)
}
