package rehearsal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games"
	"umpire/pkg/rehearsal"
)

// play plays a script and returns what came out, line by line.
func play(t *testing.T, script string, events string) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := rehearsal.Play(t.Context(), strings.NewReader(script), &out, rehearsal.Options{
		Games: games.All(), Entropy: rand.Reader, Events: events,
	})
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if out.Len() == 0 {
		lines = nil
	}
	return lines, err
}

// TestScenarios plays every script in testdata and compares with the output beside it, which a separate
// implementation of the rulebook gave: all that the rulebook fixes, deep and exact.
func TestScenarios(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".script")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(script)
			require.NoError(t, err)
			expected, err := os.ReadFile(strings.TrimSuffix(script, ".script") + ".expected")
			require.NoError(t, err)
			got, err := play(t, string(source), "")
			if strings.TrimSpace(string(expected)) == "exit 2" {
				var misunderstood *rehearsal.ScriptError
				require.ErrorAs(t, err, &misunderstood, "the script must not be understood")
				return
			}
			require.NoError(t, err)
			want := strings.Split(strings.TrimSpace(string(expected)), "\n")
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, compared(t, want[i]), compared(t, got[i]), "line %d of the output", i+1)
			}
		})
	}
}

// compared keeps of an answer what the rulebook fixes.
func compared(t *testing.T, line string) map[string]any {
	t.Helper()
	var a map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &a))
	delete(a, "revision")
	delete(a, "warnings")
	if e, ok := a["error"].(map[string]any); ok {
		delete(e, "detail")
	}
	v, ok := a["view"].(map[string]any)
	if !ok {
		return a
	}
	kept := map[string]any{}
	for _, name := range []string{"audience", "game", "status", "phase", "table", "result"} {
		kept[name] = v[name]
		assert.Contains(t, v, name)
	}
	var ids []any
	for _, p := range v["players"].([]any) {
		ids = append(ids, p.(map[string]any)["id"])
	}
	kept["players"] = ids
	if you, ok := v["table"].(map[string]any)["you"].(map[string]any); ok {
		delete(you, "hints")
	}
	a["view"] = kept
	return a
}
