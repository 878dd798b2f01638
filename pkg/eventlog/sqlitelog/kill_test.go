//go:build unix

package sqlitelog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// What tells the test binary, started again, that it is a child, and which.
const (
	childPlays = "UMPIRE_SQLITELOG_CHILD"
	childPath  = "UMPIRE_SQLITELOG_PATH"
)

var children = map[string]func(path string){
	"append": func(path string) { appendForEver(path, 1<<40) },
	"few":    func(path string) { appendForEver(path, 400) }, // not so many that the write-ahead log begins anew
	"open":   openOnce,
	"full":   fillTheDisk,
}

// TestMain lets the test binary be started again, as a process that can be killed.
func TestMain(m *testing.M) {
	if play, path := os.Getenv(childPlays), os.Getenv(childPath); play != "" {
		children[play](path)
		return
	}
	goleak.VerifyTestMain(m)
}

// child starts the test binary again. It is killed with the test, if not before.
func child(t *testing.T, plays, path string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // that is this test
	cmd.Env = append(os.Environ(), childPlays+"="+plays, childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, out
}

// die ends a child that fails.
func die(err error) {
	fmt.Fprintln(os.Stderr, "child:", err)
	os.Exit(1)
}

// appendForEver is the child that is killed: 16 writers on 8 streams, who write a line for each commit acknowledged.
func appendForEver(path string, most int64) {
	log, err := Open(path)
	if err != nil {
		die(err)
	}
	var left atomic.Int64
	left.Store(most)
	var done sync.WaitGroup
	for w := range 16 {
		done.Go(func() {
			stream, expected := fmt.Sprintf("match-%d", w/2), eventlog.NoStream
			chain := eventlogtest.NewChain(stream, fmt.Sprintf("%d-%d-%d", os.Getpid(), time.Now().UnixNano(), w))
			for n := w; left.Load() > 0; n++ {
				c, err := log.Append(context.Background(), stream, expected, chain.Next(1+n%3)...)
				var conflict *eventlog.Conflict
				switch {
				case errors.As(err, &conflict):
					expected = conflict.Actual
				case err != nil:
					die(err)
				default:
					expected = int64(c.Last())
					left.Add(-1)
					// One write a line, so that a line is whole or not there.
					_, _ = fmt.Fprintf(os.Stdout, "%s %d %d %s\n", stream, c.First, c.Position, c.Events[0].ID)
				}
			}
		})
	}
	done.Wait()
	select {} // the parent knows when
}

// killed runs the child until it has acknowledged so many commits, kills it, and returns the lines of all that it has.
func killed(t *testing.T, plays, path string, after int) []string {
	t.Helper()
	cmd, out := child(t, plays, path)
	var lines []string
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break // what stands before it without a line's end was not written whole
		}
		if lines = append(lines, line); len(lines) == after {
			require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
		}
	}
	require.Error(t, cmd.Wait())
	require.GreaterOrEqual(t, len(lines), after, "the child ended by itself")
	return lines
}

// rounds is how often something random is tried.
func rounds() int {
	if os.Getenv("UMPIRE_LONG") != "" {
		return 50
	}
	return 5
}

// TestKill kills the process in the midst of its work, again and again on one log: every commit that was acknowledged
// stands once, and where it was said to stand.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "umpire.db")
	acknowledged := map[string]bool{}
	for range rounds() {
		for _, line := range killed(t, "append", path, 1+rand.IntN(400)) { //nolint:gosec // any moment will do
			require.False(t, acknowledged[line], "acknowledged twice: %s", line)
			acknowledged[line] = true
		}
		log := opened(t, path, usual)
		all, err := replay(t, log)
		require.NoError(t, err)
		requireHistory(t, all)
		stands := map[string]bool{}
		for _, c := range all {
			stands[fmt.Sprintf("%s %d %d %s\n", c.Stream, c.First, c.Position, c.Events[0].ID)] = true
		}
		for line := range acknowledged {
			require.True(t, stands[line], "acknowledged and lost: %s", line)
		}
		for _, w := range []string{"match-0", "match-7"} {
			commits, err := read(t, log, w)
			require.NoError(t, err)
			require.Equal(t, of(all, w), commits)
		}
		require.NoError(t, log.Close())
	}
}

// TestTornWrite spoils the end of the write-ahead log after a kill, as a machine that loses its power may: what
// remains is a history from the beginning, without a gap, and it can be written on.
func TestTornWrite(t *testing.T) {
	for range max(rounds()/3, 2) {
		path := filepath.Join(t.TempDir(), "umpire.db")
		killed(t, "few", path, 50+rand.IntN(250)) //nolint:gosec // any moment will do
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		wal, err := os.ReadFile(path + "-wal")
		require.NoError(t, err)
		whole := reopened(t, file, wal)
		for _, spoil := range []func([]byte) []byte{
			func(b []byte) []byte { return b[:len(b)-1-rand.IntN(len(b)/2)] },
			func(b []byte) []byte { return b[:len(b)-1] },
			func(b []byte) []byte { return b[:rand.IntN(40)] }, // within the header: nothing remains of it
			func(b []byte) []byte { clear(b[len(b)-1-rand.IntN(len(b)/2):]); return b },
			func(b []byte) []byte { b[len(b)-1-rand.IntN(20_000)] ^= 0x10; return b },
			func(b []byte) []byte {
				from := len(b) - 1 - rand.IntN(len(b)/2)
				for i := from; i < min(len(b), from+6000); i++ {
					b[i] = byte(rand.Int())
				}
				return b
			},
			func(b []byte) []byte { return append(b, bytes.Repeat([]byte{0xff}, 5000)...) },
		} {
			kept := reopened(t, file, spoil(bytes.Clone(wal)))
			require.LessOrEqual(t, len(kept), len(whole))
			for i := range kept {
				require.Equal(t, whole[i], kept[i])
			}
		}
	}
}

// reopened returns the history in copies of the two files, after it has appended to it.
func reopened(t *testing.T, file, wal []byte) []eventlog.Commit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "umpire.db")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", wal, 0o600))
	log := opened(t, path, usual)
	all, err := replay(t, log)
	require.NoError(t, err)
	requireHistory(t, all)
	own := of(all, "match-0")
	expected := eventlog.NoStream
	if len(own) > 0 {
		expected = int64(own[len(own)-1].Last())
	}
	c, err := log.Append(t.Context(), "match-0", expected, eventlogtest.NewChain("match-0", "after").Next(2)...)
	require.NoError(t, err)
	require.Equal(t, uint64(len(all)+1), c.Position)
	require.NoError(t, log.Close())
	again, err := replay(t, opened(t, path, usual))
	require.NoError(t, err)
	require.Equal(t, append(all[:len(all):len(all)], c), again)
	return all
}

// openOnce is the child that comes second.
func openOnce(path string) {
	_, err := Open(path)
	fmt.Fprint(os.Stdout, err)
}

func TestASecondProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "umpire.db")
	log := opened(t, path, usual)
	ask := func() string {
		cmd, out := child(t, "open", path)
		says, err := io.ReadAll(out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		return string(says)
	}
	require.Equal(t, fmt.Sprintf("sqlitelog: %s is in use by another process (number %d)", path, os.Getpid()), ask())
	written(t, log, "match-1", 1) // the first goes on
	require.NoError(t, log.Close())
	require.Equal(t, "<nil>", ask())
}

// fillTheDisk is the child whose files may not grow beyond 400 kB, until they may.
func fillTheDisk(path string) {
	signal.Ignore(syscall.SIGXFSZ) // so that a write is refused, and the process lives
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		die(err)
	}
	log, err := Open(path)
	if err != nil {
		die(err)
	}
	small := limit
	small.Cur = 400_000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		die(err)
	}
	// It may come back sooner than that: moving the write-ahead log into the file makes room in the former.
	fill(context.Background(), dying{}, log, func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			die(err)
		}
	})
	if err := log.Close(); err != nil {
		die(err)
	}
	fmt.Fprint(os.Stdout, "recovered")
}

// dying is the testing.T of a child.
type dying struct{}

func (dying) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "child: "+format+"\n", args...)
}
func (dying) FailNow() { os.Exit(1) }

// TestRefusedWrites has the operating system refuse to write, in the midst of a page as it comes.
func TestRefusedWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "umpire.db")
	cmd, out := child(t, "full", path)
	says, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	require.Equal(t, "recovered", strings.TrimSpace(string(says)))
	all, err := replay(t, opened(t, path, usual))
	require.NoError(t, err)
	requireHistory(t, all)
}
