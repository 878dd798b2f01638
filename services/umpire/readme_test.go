package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/services/servicestest"
)

// TestReadmeTour runs the README's tour as printed, but for the port and for the program's name, and looks at what came
// out. Without curl or sqlite3 on the machine those commands can't be tried.
func TestReadmeTour(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "sqlite3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the tour needs %s, which this machine does not have", tool)
		}
	}
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	dir, address := t.TempDir(), servicestest.Address(t)
	serveAt(t, filepath.Join(dir, "umpire-data"), address)
	self, err := os.Executable()
	require.NoError(t, err)

	script := "set -euo pipefail\n"
	for _, block := range strings.Split(string(readme), "```sh\n")[1:] {
		commands, _, ended := strings.Cut(block, "\n```")
		require.True(t, ended)
		script += commands + "\n"
	}
	script = strings.ReplaceAll(script, "127.0.0.1:8080", address)
	script = strings.ReplaceAll(script, "go run ./services/umpire", self)
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, says := range []string{
		`"hash":"`, `"code":"not-awaited"`, `"audience":"public"`, `"audience":"bob"`, `"hints"`, "event: view",
		`"type":"glass-full.starter-picked.v1"`, `"data":{"cups":3,"type":"add"}`, "8|submission-accepted.v1|player|",
		`"strikes":{"ada":0,"bob":2}`,
	} {
		assert.Contains(t, string(out), says)
	}
	_, public, _ := strings.Cut(string(out), "event: view")
	assert.Equal(t, 2, strings.Count(public, `"cups":3`), "the cups are shown to Bob alone: his submission and what was done")
}
