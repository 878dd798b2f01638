package gamestest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// Examples keeps what was once written readable. A folder holds streams as the log stores them, NAME.jsonl, and the
// views that they add up to, NAME.views: at least one example of every type and version of event that there has ever
// been. All must replay for ever.
//
// -update writes a stream only where there is none, for one that stands is history; the views it writes anew. Who
// changes an event's form gives it a new version, an upcaster, and an example by another name.
type Examples struct {
	Rules *match.Game
	Dir   string
	Types []string // that the examples must show, with their versions
	// Plays make the examples, by name.
	Plays map[string]func(x *Example)
}

// Run checks the examples.
func (e *Examples) Run(t *testing.T) {
	t.Helper()
	if Update() {
		for _, name := range sortedKeys(e.Plays) {
			e.write(t, name)
		}
	}
	files, err := filepath.Glob(filepath.Join(e.Dir, "*.jsonl"))
	require.NoError(t, err)
	shown := map[string]bool{}
	for _, file := range files {
		for _, kind := range e.read(t, file) {
			shown[kind] = true
		}
	}
	for _, kind := range e.Types {
		assert.True(t, shown[kind], "no example shows %s", kind)
	}
	for _, name := range sortedKeys(e.Plays) {
		assert.Contains(t, files, e.file(name), "an example is not on file: -update writes it")
	}
}

func (e *Examples) file(name string) string { return filepath.Join(e.Dir, name+".jsonl") }

// write plays an example unless it is on file.
func (e *Examples) write(t *testing.T, name string) {
	t.Helper()
	if _, err := os.Stat(e.file(name)); !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
		return
	}
	x := &Example{t: t, rules: e.Rules, at: epoch}
	e.Plays[name](x)
	var out bytes.Buffer
	for r, err := range x.journal.Events(t.Context(), matchID, 0) {
		require.NoError(t, err)
		out.Write(r.AppendStored(nil))
		out.WriteByte('\n')
	}
	require.NoError(t, os.MkdirAll(e.Dir, 0o755))
	require.NoError(t, os.WriteFile(e.file(name), out.Bytes(), 0o644))
}

// read replays an example and returns the types of event in it.
func (e *Examples) read(t *testing.T, file string) (types []string) {
	t.Helper()
	stored, err := os.ReadFile(file)
	require.NoError(t, err)
	vault, err := event.NewVault(make([]byte, event.MasterKeySize))
	require.NoError(t, err)
	keys := vault.Keys("match-" + matchID)
	var m *match.Match
	prev := ""
	for i, line := range strings.Split(strings.TrimSpace(string(stored)), "\n") {
		v, err := event.Parse([]byte(line))
		require.NoError(t, err, file)
		ev, err := event.Decode(v)
		require.NoError(t, err, file)
		assert.Equal(t, line, string(ev.AppendStored(nil)), "%s, line %d", file, i+1)
		assert.Equal(t, prev, ev.Prev)
		assert.Equal(t, ev.ComputeHash(), ev.Hash)
		prev = ev.Hash
		fact, err := keys.Reveal(uint64(i), &ev)
		require.NoError(t, err, file)
		if i == 0 {
			m, err = match.Replay(match.Catalog{e.Rules}, fact)
		} else {
			err = m.Apply(fact)
		}
		require.NoError(t, err, "%s, line %d", file, i+1)
		types = append(types, ev.Type)
	}
	e.views(t, strings.TrimSuffix(file, ".jsonl")+".views", m)
	return types
}

// views compares the views of the match at the end of an example with those on file.
func (e *Examples) views(t *testing.T, file string, m *match.Match) {
	t.Helper()
	audiences := append(m.Seats().IDs(m.Seats().All()), match.HostID, match.Public)
	var out bytes.Buffer
	for _, audience := range audiences {
		raw, err := view(m, audience)
		require.NoError(t, err)
		require.NoError(t, json.Indent(&out, raw, "", "\t"))
		out.WriteByte('\n')
	}
	if Update() {
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	}
	was, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, strings.Split(string(was), "\n"), strings.Split(out.String(), "\n"), file)
}

// Example is an example under way. Its methods fail the test where something is refused.
type Example struct {
	t     *testing.T
	rules *match.Game
	at    time.Time
	*session
}

// Create creates the match.
func (x *Example) Create(setup string) {
	x.t.Helper()
	v, err := event.Parse([]byte(setup))
	require.NoError(x.t, err)
	checked, err := match.ParseSetup(match.Catalog{x.rules}, v)
	require.NoError(x.t, err)
	seed := slices.Repeat([]byte{7}, 32)
	x.session, err = newSession(&Game{Rules: x.rules}, nil, seed, 1)
	require.NoError(x.t, err)
	drafts, _, err := match.Create(matchID, checked, seed, false, x.at)
	require.NoError(x.t, err)
	x.take(drafts)
}

// Do appends what is decided a second later, and what follows from it.
func (x *Example) Do(decide func(m *match.Match, at time.Time) ([]match.Draft, error)) {
	x.t.Helper()
	x.at = x.at.Add(time.Second)
	drafts, err := decide(x.now, x.at)
	require.NoError(x.t, err)
	require.NotEmpty(x.t, drafts)
	x.take(drafts)
}

// Submit appends a submission and what follows from it.
func (x *Example) Submit(who, submission string) {
	x.t.Helper()
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		v, err := event.Parse([]byte(submission))
		require.NoError(x.t, err)
		return m.Submit(who, 0, false, v, at)
	})
}

// Wait lets time pass and all deadlines in it.
func (x *Example) Wait(d time.Duration) {
	x.t.Helper()
	x.at = x.at.Add(d)
	for due, ok := x.now.Deadline(); ok && !due.After(x.at); due, ok = x.now.Deadline() {
		x.take(x.now.Expire(due))
	}
}

func (x *Example) take(drafts []match.Draft) {
	x.t.Helper()
	require.NoError(x.t, x.append(drafts))
	require.NoError(x.t, x.settle(drafts[0].At))
}
