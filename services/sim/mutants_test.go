package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// edit replaces a text of a production file by another.
type edit struct{ file, old, new string }

// mutants are known bugs, each of which the simulation must find. usual is false for those that only a long test builds.
var mutants = []struct {
	name  string
	usual bool
	edits []edit
}{
	{"the expected revision is ignored", true, []edit{
		{"pkg/journal/append.go", "\t\"context\"\n", "\t\"context\"\n\t\"errors\"\n"},
		{"pkg/journal/append.go", "	commit, err := j.log.Append(ctx, Stream(id), expected, events...)\n",
			"	commit, err := j.log.Append(ctx, Stream(id), expected, events...)\n	var at *eventlog.Conflict\n" +
				"	for errors.As(err, &at) {\n		commit, err = j.log.Append(ctx, Stream(id), at.Actual, events...)\n	}\n"},
	}},
	{"an older view over a newer one", true, []edit{
		{"pkg/queue/views.go", "stands > revision || stands == revision", "stands == revision"},
	}},
	{"a timer that is restarted forgets its clocks", true, []edit{
		{"services/timer/timer.go", "	m, err := s.o.Journal.Observe(ctx, commit)\n",
			"	if s.o.Clock().Sub(commit.Events[0].At) > 10*time.Second {\n		return nil\n	}\n	m, err := s.o.Journal.Observe(ctx, commit)\n"},
	}},
	{"a timer forgets a clock that it could not fire", false, []edit{
		{"services/timer/run.go", "errors.Join(err, s.putBack(ctx, due[i:]))", "errors.Join(err, s.putBack(ctx, due[:0]), due2(i))"},
		{"services/timer/run.go", "// putBack notes", "func due2(int) error { return nil }\n\n// putBack notes"},
	}},
	{"an outage is not given", true, []edit{
		{"services/timer/timer.go", "drafts := m.Give(o, s.o.Clock()); drafts != nil", "drafts := m.Give(o, s.o.Clock()); len(drafts) > 99"},
	}},
	{"a deadline fires while players can't reach umpire", false, []edit{
		{"services/timer/probes.go", "	err := s.o.Path(ctx)\n", "	err := s.o.Path(ctx)\n	err = nil\n"},
	}},
	{shortened, true, []edit{
		{"services/timer/account.go", "	gone := s.o.Alone && since > patience // nobody else was there\n", "	gone := s.o.Alone && since > 0\n"},
	}},
	{"a timer that is alone forgets that it was gone", false, []edit{
		{"services/timer/account.go", "	} else if now.After(p.good) {\n", "	} else if now.Before(p.good) {\n"},
		{"services/timer/account.go", "	gone := s.o.Alone && since > patience // nobody else was there\n", "	gone := false\n"},
	}},
	{rare, false, []edit{
		{"services/timer/probes.go", "	if failed || !p.good.IsZero() &&", "	if failed && p.good.IsZero() &&"},
	}},
	{"a commit is acknowledged before its view is put", true, []edit{
		{"services/projector/publish.go", "	if w == nil {\n		p.mu.Unlock()\n		return ctx.Err()\n", "	if true {\n		p.mu.Unlock()\n		return ctx.Err()\n"},
	}},
	{"a bucket that was lost is not filled again", false, []edit{
		{"services/projector/rebuild.go", "	head, err := log.Head(ctx)\n	if err != nil {", "	head, err := log.Head(ctx)\n	if err != nil || head > 0 {"},
	}},
	{"early close is ignored", true, []edit{
		{"pkg/match/match.go", "	if !atDeadline || p.turn() || p.kind == Repeat {", "	if p.turn() || p.kind == Repeat {"},
	}},
	{"a phase held open closes early", false, []edit{
		{"pkg/match/match.go", "	if !atDeadline || p.turn() || p.kind == Repeat {", "	if atDeadline || !atDeadline {"},
	}},
	{"the idempotency key is dropped", true, []edit{
		{"services/submission/submit.go", "	nonce := o.key\n	if nonce == \"\" {", "	nonce := \"\"\n	if nonce == \"\" {"},
	}},
	{"a bank runs in a pause", true, []edit{
		{"pkg/match/evolve.go", "			m.phase.clocks[i].shift(f.At.Sub(m.pausedAt))\n",
			"			if m.phase.kind != Reserve {\n				m.phase.clocks[i].shift(f.At.Sub(m.pausedAt))\n			}\n"},
	}},
	{"a face is put into public", true, []edit{
		{"pkg/games/glassfull/messages.go", "		Marks   []string       `json:\"marks\"`\n", "		Marks   []string       `json:\"marks\"`\n		Level   int `json:\"level\"`\n"},
		{"pkg/games/glassfull/decide.go", "Marks: marks(level),", "Marks: marks(level), Level: level,"},
	}},
	{"the public feed shows faces", false, []edit{
		{"pkg/view/feed.go", "		if a.ID == match.Public && !a.Auditor {\n			continue\n		}\n", ""},
		{"pkg/view/feed.go", "a.ID != match.Public && f.For(a.ID)", "len(f.To) > 0"},
	}},
}

// shortened is the mutant whose seed is minimised too: its runs end early.
const shortened = "a timer that is alone takes its own account for an outage"

// Within how many seeds a mutant must be found, and the rare one, of which one in some thousand runs tells.
const (
	foundIn = "1000"
	rareIn  = "4000"
	rare    = "a proof denies the outage before it"
)

// TestMutants builds the simulation with known bugs in the services and wants each to be found.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the services again for each mutant")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	for _, m := range mutants {
		if !m.usual && os.Getenv("UMPIRE_LONG") == "" {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			program, most := build(t, root, m.edits), foundIn
			if m.name == rare {
				most = rareIn
			}
			out, err := exec.CommandContext(t.Context(), program, "-first", "-n", most, "-seed", "1").CombinedOutput()
			seed := regexp.MustCompile(`(?m)^seed \d+: .*`).FindString(string(out))
			require.Error(t, err, "not found in %s seeds", most)
			require.NotEmpty(t, seed, "it failed without a seed: %v\n%s", err, out)
			t.Logf("%s of %s seeds; %s", regexp.MustCompile(`(?m)^\d+ runs`).FindString(string(out)), most, seed)
			if m.name == shortened {
				minimises(t, program, seed)
			}
		})
	}
}

// minimises wants a failing seed shortened to a few steps in which it fails in the same way.
func minimises(t *testing.T, program, seed string) {
	t.Helper()
	var no int
	var check string
	_, err := fmt.Sscanf(seed, "seed %d: %s", &no, &check)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), program, "-minimise", strconv.Itoa(no)).Output()
	require.Error(t, err, "the shortened run does not fail")
	left := regexp.MustCompile(fmt.Sprintf(`(?m)^seed %d fails in (\d+) steps:\n%s`, no, check)).FindSubmatch(out)
	require.NotEmpty(t, left, "%s", out)
	steps, err := strconv.Atoi(string(left[1]))
	require.NoError(t, err)
	require.LessOrEqual(t, steps, 50, "of 1,200")
}

// TestMutantsFit: those too that only long tests build replace something that is there. What they replace moves on.
func TestMutantsFit(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) { require.NotEmpty(t, edited(t, root, m.edits)) })
	}
}

// edited returns the files that edits change, as they are then, by their paths.
func edited(t *testing.T, root string, edits []edit) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(root, filepath.FromSlash(e.file))
		text, known := texts[path]
		if !known {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			text = string(raw)
		}
		require.Equal(t, 1, strings.Count(text, e.old), "%s does not hold once what the mutant replaces: %s", e.file, e.old)
		texts[path] = strings.Replace(text, e.old, e.new, 1)
	}
	return texts
}

// build builds the runner with some files of the tree replaced, which stays as it is.
func build(t *testing.T, root string, edits []edit) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range edited(t, root, edits) {
		replace[path] = filepath.Join(dir, filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path))
		require.NoError(t, os.WriteFile(replace[path], []byte(text), 0o600))
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, raw, 0o600))
	program := filepath.Join(dir, "simulate")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "./services/sim/simulate")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}
