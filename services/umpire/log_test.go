package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/logurl"
	"umpire/services/servicestest"
)

// logCommit is a commit of two events; commits alternate between two streams.
type logCommit struct {
	stream   string
	expected int64
	events   []event.Event
}

func logCommits(n int) []logCommit {
	chains := []*eventlogtest.Chain{eventlogtest.NewChain("match-a", "cli"), eventlogtest.NewChain("match-b", "cli")}
	list := make([]logCommit, n)
	for i := range list {
		chain := chains[i%2]
		list[i] = logCommit{chain.Stream, int64(i/2*2) - 1, chain.Next(2)}
	}
	return list
}

// newLog makes a log of the commits in a file of its own and returns its URL.
func newLog(t *testing.T, list []logCommit) string {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "umpire.db")
	log, err := logurl.Open(t.Context(), url)
	require.NoError(t, err)
	for _, c := range list {
		_, err := log.Append(t.Context(), c.stream, c.expected, c.events...)
		require.NoError(t, err)
	}
	require.NoError(t, log.Close())
	return url
}

// requireSameLogs compares two logs by what they hold.
func requireSameLogs(t *testing.T, from, to string) {
	t.Helper()
	a, err := logurl.Open(t.Context(), from)
	require.NoError(t, err)
	defer a.Close()
	b, err := logurl.Open(t.Context(), to)
	require.NoError(t, err)
	defer b.Close()
	report, err := logcopy.Verify(t.Context(), a, b, logcopy.Options{})
	require.NoError(t, err)
	require.NotZero(t, report.Commits)
}

func TestLogCopy(t *testing.T) {
	list := logCommits(30)
	from, to := newLog(t, list), newLog(t, list[:10])
	o := runIn(t, "", "log", "copy", "--from", from, "--to", to)
	require.Equal(t, exitWell, o.status, o.err)
	assert.Equal(t, "30 commits (60 events in 2 streams) stand in both logs alike, and every hash is right; 20 were copied, 10 stood there before.\n", o.out)
	for _, line := range []string{"comparing: 10 of 10 (100%)\n", "copying: 20 of 20 (100%)\n", "verifying: 30 of 30 (100%)\n"} {
		assert.Contains(t, o.err, line)
	}
	requireSameLogs(t, from, to)

	o = runIn(t, "", "log", "copy", "--from", from, "--to", to, "--json")
	require.Equal(t, exitWell, o.status, o.err)
	assert.JSONEq(t, `{"commits":30,"events":60,"streams":2,"skipped":30,"added":0,"verified":true}`, o.out)
	o = runIn(t, "", "log", "copy", "--from", from, "--to", to, "--verify-only")
	require.Equal(t, exitWell, o.status, o.err)
	assert.Equal(t, "30 commits (60 events in 2 streams) stand in both logs alike, and every hash is right.\n", o.out)
	o = runIn(t, "", "log", "copy", "--help")
	assert.Equal(t, exitWell, o.status)
	assert.Contains(t, o.out, "Examples:")
}

func TestLogCopyThroughEventStoreDB(t *testing.T) {
	server, err := esdbtest.Start("127.0.0.1:0", esdbtest.MaxAppend(2<<20))
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	from, back := newLog(t, logCommits(30)), "sqlite:"+filepath.Join(t.TempDir(), "back.db")
	t.Setenv("UMPIRE_TO", server.URL())
	o := runIn(t, "", "log", "copy", "--from", from)
	require.Equal(t, exitWell, o.status, o.err)
	o = runIn(t, "", "log", "copy", "--from", server.URL(), "--to", back, "--json")
	require.Equal(t, exitWell, o.status, o.err)
	assert.JSONEq(t, `{"commits":30,"events":60,"streams":2,"skipped":0,"added":0,"verified":true}`, o.out)
	requireSameLogs(t, from, back)
}

// TestLogCopyFindsDifferences: exit status 3, a place, and nothing written.
func TestLogCopyFindsDifferences(t *testing.T) {
	list := logCommits(10)
	from := newLog(t, list)
	for name, c := range map[string]struct {
		to      []logCommit
		says    string
		commits uint64
	}{
		"another log":   {logCommits(4)[1:2], "match-b, revision 0: it stands in the target (position 1) where the source (position 1) has match-a, revision 0", 0},
		"a longer one":  {logCommits(12), "match-a, revision 10: the target holds it, and the source ends before it", 10},
		"another event": {append(logCommits(2), logCommit{"match-a", 1, eventlogtest.NewChain("match-a", "other").Next(2)}), "match-a, revision 2: the event is another in the target", 2},
	} {
		t.Run(name, func(t *testing.T) {
			to := newLog(t, c.to)
			before := runIn(t, "", "log", "copy", "--from", to, "--to", "memory:", "--json")
			o := runIn(t, "", "log", "copy", "--from", from, "--to", to, "--json")
			assert.Equal(t, exitDifference, o.status, o.err)
			assert.Contains(t, o.err, c.says)
			assert.Contains(t, o.err, "nothing was written to it")
			assert.Contains(t, o.err, "copy into an empty log")
			assert.Equal(t, 1, strings.Count(o.err, "umpire: "), "one sentence: %s", o.err)
			var report logcopy.Report
			require.NoError(t, json.Unmarshal([]byte(o.out), &report))
			assert.False(t, report.Verified)
			assert.Equal(t, c.commits, report.Commits)
			o = runIn(t, "", "log", "copy", "--from", from, "--to", to, "--verify-only")
			assert.Equal(t, exitDifference, o.status, o.err)
			assert.Contains(t, o.err, c.says)
			assert.Equal(t, before.out, runIn(t, "", "log", "copy", "--from", to, "--to", "memory:", "--json").out)
		})
	}
	list[7].events[0].By = event.Host // and its hash stays
	o := runIn(t, "", "log", "copy", "--from", newLog(t, list), "--to", "memory:")
	assert.Equal(t, exitDifference, o.status)
	assert.Contains(t, o.err, "match-b, revision 6: its hash or the one before is wrong")
}

// TestLogCopyRefusesWrongUse: nothing is made where there is nothing to copy.
func TestLogCopyRefusesWrongUse(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none.db")
	from := newLog(t, logCommits(2))
	link := filepath.Join(dir, "link.db")
	require.NoError(t, os.Symlink(strings.TrimPrefix(from, "sqlite:"), link))
	text := filepath.Join(t.TempDir(), "notes.txt")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("not a database. "), 256), 0o600))
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"no flags":           {nil, exitUsage, "--from"},
		"no target":          {[]string{"--from", from}, exitUsage, "--to"},
		"no source":          {[]string{"--from", "sqlite:" + none, "--to", "sqlite:" + none + "2"}, exitUsage, "no such file"},
		"nothing to verify":  {[]string{"--from", from, "--to", "sqlite:" + none, "--verify-only"}, exitUsage, "no such file"},
		"itself":             {[]string{"--from", from, "--to", from}, exitUsage, "the same log"},
		"itself by a link":   {[]string{"--from", from, "--to", "sqlite:" + link}, exitUsage, "the same log"},
		"a file alone":       {[]string{"--from", none, "--to", from}, exitUsage, "--from: a log must be sqlite:FILE"},
		"an unknown kind":    {[]string{"--from", from, "--to", "csv:" + none}, exitUsage, "--to: a log must be sqlite:FILE"},
		"no folder":          {[]string{"--from", from, "--to", "sqlite:" + filepath.Join(dir, "no", "umpire.db")}, exitFault, "does not exist"},
		"no log in the file": {[]string{"--from", "sqlite:" + text, "--to", "memory:"}, exitFault, "the source sqlite:" + text + " can't be opened"},
	} {
		t.Run(name, func(t *testing.T) {
			o := runIn(t, "", append([]string{"log", "copy"}, c.args...)...)
			assert.Equal(t, c.status, o.status, o.err)
			assert.Contains(t, o.err, c.says)
			assert.Equal(t, 1, strings.Count(o.err, "umpire: "), "one sentence: %s", o.err)
			assert.Empty(t, o.out)
		})
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "the link and nothing else")
}

// TestLogCopyTellsNoPassword: not of a server that refuses, nor of a URL that is wrong.
func TestLogCopyTellsNoPassword(t *testing.T) {
	from := newLog(t, logCommits(2))
	for _, url := range []string{
		"esdb://admin:s%33cret@127.0.0.1:1", "esdb://admin:s3cret@127.0.0.1:1?tls=false", "esdb+discover://admin:s3cret@localhost:1?tlsVerifyCert=false",
		"esdb://admin:s3cret@", "esdb://admin:s3c ret%zz@host", "esdb:admin:s3cret@host", "postgres://admin:s3cret@host", "admin:s3cret@host",
		"esdb://admin:s3cret@host:port", "esdb://admin:s3cret@127.0.0.1:1?nodePreference=follower",
	} {
		for _, args := range [][]string{{"--from", url, "--to", "memory:"}, {"--from", from, "--to", url}, {"--from", url, "--to", url, "--json"}} {
			o := runIn(t, "", append([]string{"log", "copy"}, args...)...)
			assert.NotEqual(t, exitWell, o.status, url)
			for _, secret := range []string{"s3c", "s%33c", "admin"} {
				assert.NotContains(t, o.out+o.err, secret, url)
			}
			assert.Equal(t, 1, strings.Count(o.err, "umpire: "), "one sentence: %s", o.err)
		}
	}
}

// atFirst calls a function when it is first written to.
type atFirst struct {
	text bytes.Buffer
	do   func()
}

// Write implements io.Writer.
func (a *atFirst) Write(b []byte) (int, error) {
	a.do()
	return a.text.Write(b)
}

// TestLogCopyInterrupted presses Ctrl-C at the moment when the comparison has ended.
func TestLogCopyInterrupted(t *testing.T) {
	list := logCommits(30)
	from, to := newLog(t, list), newLog(t, list[:10])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	errs := &atFirst{do: cancel}
	status := run(ctx, []string{"log", "copy", "--from", from, "--to", to}, stdio{strings.NewReader(""), &out, errs})
	assert.Equal(t, exitFault, status)
	assert.Empty(t, out.String())
	assert.Contains(t, errs.text.String(), "umpire: interrupted; ")
	assert.Contains(t, errs.text.String(), " commits stand in the target, and the same command goes on from there\n")
	o := runIn(t, "", "log", "copy", "--from", from, "--to", to)
	require.Equal(t, exitWell, o.status, o.err)
	requireSameLogs(t, from, to)
}

// TestLogCopyKilled kills copies in a process of their own, as a power cut would, and stops one as a user does.
func TestLogCopyKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes")
	}
	from := newLog(t, logCommits(1500))
	target := filepath.Join(t.TempDir(), "copy.db")
	for _, signal := range []os.Signal{syscall.SIGKILL, syscall.SIGINT} {
		cmd := program(context.WithoutCancel(t.Context()), t, "log", "copy", "--from", from, "--to", "sqlite:"+target)
		errs := &servicestest.Lines{}
		cmd.Stderr = errs
		began := time.Now()
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			wal, err := os.Stat(target + "-wal")
			return err == nil && wal.Size() > 256<<10 && wal.ModTime().After(began)
		}, 30*time.Second, time.Millisecond, "nothing is copied")
		require.NoError(t, cmd.Process.Signal(signal))
		require.Error(t, cmd.Wait())
		if signal == syscall.SIGINT {
			assert.Equal(t, exitFault, cmd.ProcessState.ExitCode())
			assert.Contains(t, errs.String(), "umpire: interrupted; ")
		}
	}
	o := runIn(t, "", "log", "copy", "--from", from, "--to", "sqlite:"+target, "--json")
	require.Equal(t, exitWell, o.status, o.err)
	var report logcopy.Report
	require.NoError(t, json.Unmarshal([]byte(o.out), &report))
	assert.Positive(t, report.Skipped)
	assert.Less(t, report.Skipped, uint64(1500))
	requireSameLogs(t, from, "sqlite:"+target)
}
