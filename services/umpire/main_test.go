package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/services/servicestest"
)

// asProgram makes this test binary the program itself, so that tests run real processes with the race detector on.
const asProgram = "UMPIRE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		main()
	}
	if os.Getenv(asDouble) != "" {
		double()
	}
	var err error
	if built, err = os.MkdirTemp("", "umpire-test-"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(status)
}

// program is a command of the real program in a process of its own.
func program(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// outcome is how a command ended.
type outcome struct {
	status   int
	out, err string
}

// runIn runs the program in this process.
func runIn(t *testing.T, in string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(t.Context(), args, stdio{strings.NewReader(in), &out, &errs})
	return outcome{status, out.String(), errs.String()}
}

// server is `umpire serve` in a process of its own.
type server struct {
	cmd  *exec.Cmd
	errs *servicestest.Lines
	done chan struct{} // closed when it has ended
}

// serveAt starts a server and waits until it is ready.
func serveAt(t *testing.T, data, address string, more ...string) *server {
	t.Helper()
	s := &server{errs: &servicestest.Lines{}, done: make(chan struct{})}
	s.cmd = program(context.WithoutCancel(t.Context()), t, append([]string{"serve", "--data", data, "--http", address}, more...)...)
	s.cmd.Stderr = s.errs
	require.NoError(t, s.cmd.Start())
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(s.kill)
	require.Eventually(t, func() bool {
		select {
		case <-s.done:
			require.Fail(t, "the server ended", "%s", s.errs.String())
		default:
		}
		c := net.Dialer{Timeout: time.Second}
		conn, err := c.DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, 30*time.Second, 10*time.Millisecond, "the server does not listen")
	return s
}

// kill ends the server as a power cut would.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop asks the server to end and returns its exit status.
func (s *server) stop(t *testing.T) int {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.done:
	case <-time.After(15 * time.Second):
		require.Fail(t, "the server does not stop", "%s", s.errs.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

// TestPlayFromAFile rehearses as a user does.
func TestPlayFromAFile(t *testing.T) {
	script := `{"setup":{"game":"glass-full","players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}],"roles":{"dmo":"ada"}}}
{"at":"1s","as":"ada","submit":{"type":"pick-starter","player":"bob"}}
{"at":"2s","as":"ada","submit":{"type":"challenge"}}
`
	path := filepath.Join(t.TempDir(), "match.script")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	o := runIn(t, "", "play", path)
	assert.Equal(t, exitWell, o.status, o.err)
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], `"ok":true`)
	assert.Contains(t, lines[2], `"code":"not-awaited"`)

	o = runIn(t, script, "play", "-", "--events=bob")
	assert.Equal(t, exitWell, o.status, o.err)
	assert.Contains(t, o.out, `"type":"glass-full.starter-picked.v1"`)
	assert.NotContains(t, o.out, `"data":{"player":"bob","type":"pick-starter"}`, "Ada's submission is hers")
	o = runIn(t, script, "play", "-", "--events")
	assert.Contains(t, o.out, `"data":{"player":"bob","type":"pick-starter"}`)
}

// TestExitStatuses: 2 is wrong use, 1 a fault, with one sentence on standard error.
func TestExitStatuses(t *testing.T) {
	data := t.TempDir()
	notAFolder := filepath.Join(data, "file")
	require.NoError(t, os.WriteFile(notAFolder, nil, 0o600))
	for name, c := range map[string]struct {
		args   []string
		in     string
		status int
		says   string
	}{
		"help":                {[]string{"--help"}, "", exitWell, ""},
		"version":             {[]string{"version"}, "", exitWell, ""},
		"no command":          {nil, "", exitUsage, "umpire --help"},
		"an unknown command":  {[]string{"referee"}, "", exitUsage, "referee"},
		"an unknown flag":     {[]string{"serve", "--port", "1"}, "", exitUsage, "--port"},
		"no script":           {[]string{"play", filepath.Join(data, "none")}, "", exitUsage, "no such file"},
		"an unread script":    {[]string{"play", "-"}, "{", exitUsage, "line 1"},
		"an empty script":     {[]string{"play", "-"}, "\n\n", exitUsage, "no set-up"},
		"no such audience":    {[]string{"play", "-", "--events=eve"}, `{"setup":{"game":"glass-full","players":[{"id":"a","name":"A"},{"id":"b","name":"B"}],"roles":{"dmo":"a"}}}`, exitUsage, "eve"},
		"a folder that is no": {[]string{"serve", "--data", notAFolder}, "", exitFault, "data folder"},
		"an unknown log":      {[]string{"serve", "--data", data, "--log", "csv:x"}, "", exitUsage, "csv:x"},
	} {
		t.Run(name, func(t *testing.T) {
			o := runIn(t, c.in, c.args...)
			assert.Equal(t, c.status, o.status, o.err)
			assert.Contains(t, o.err, c.says)
			if c.status != exitWell {
				assert.Equal(t, 1, strings.Count(o.err, "umpire: "), "one sentence: %s", o.err)
			}
		})
	}
}

// TestDataFoldersRefused: what is wrong with a data folder is said in one sentence, and nothing in it is touched.
func TestDataFoldersRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes")
	}
	data := t.TempDir()
	address := servicestest.Address(t)
	s := serveAt(t, data, address)
	second := runIn(t, "", "serve", "--data", data, "--http", servicestest.Address(t))
	assert.Equal(t, exitFault, second.status)
	assert.Contains(t, second.err, "another process", "a folder that is in use")
	createMatch(t, data, address)
	assert.Equal(t, exitWell, s.stop(t), s.errs.String())

	key := filepath.Join(data, "master.key")
	kept, err := os.ReadFile(key)
	require.NoError(t, err)
	refused := func(says string) {
		t.Helper()
		o := runIn(t, "", "serve", "--data", data, "--http", servicestest.Address(t))
		assert.Equal(t, exitFault, o.status)
		assert.Contains(t, o.err, says)
		assert.Equal(t, 1, strings.Count(o.err, "umpire: "), "one sentence: %s", o.err)
	}
	require.NoError(t, os.Remove(key))
	refused("master key")
	_, err = os.Stat(key)
	require.ErrorIs(t, err, os.ErrNotExist, "no new key over an old log")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("ab", 32)), 0o600))
	refused("not the key that this log was written with")
	require.NoError(t, os.WriteFile(key, []byte("secret"), 0o600))
	refused("no master key")
	require.NoError(t, os.WriteFile(key, kept, 0o600))

	db := filepath.Join(data, "umpire.db")
	for _, wal := range []string{db + "-wal", db + "-shm"} {
		if err := os.Remove(wal); err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
	}
	require.NoError(t, os.WriteFile(db, bytes.Repeat([]byte("not a database. "), 4096), 0o600))
	refused(db)
	content, err := os.ReadFile(db)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(content, []byte("not a database. ")), "the file is left as it was")
}
