package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/rehearsal"
)

const good = `{"setup":{"game":"glass-full","players":[{"id":"sensei","name":"Sensei"},{"id":"herbert","name":"Herbert"}],"roles":{"dmo":"herbert"},"seed":"000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F"}}`

// TestScriptsThatAreNotUnderstood has one script for each way: exit status 2, with the line and what is wrong with it.
func TestScriptsThatAreNotUnderstood(t *testing.T) {
	step := func(text string) string { return good + "\n" + text }
	for _, c := range []struct {
		name, script string
		line         int
		says         string
	}{
		{"nothing", "", 1, "no set-up"},
		{"blank lines alone", "\n \n\t\r\n", 1, "no set-up"},
		{"a step first", `{"at":"1s"}`, 1, "the first line must be"},
		{"a step first, behind blanks", "\n\n" + `{"at":"1s"}`, 3, "the first line must be"},
		{"a set-up and more", `{"setup":{},"at":"1s"}`, 1, "the first line must be"},
		{"a list first", `[]`, 1, "the first line must be"},
		{"a set-up that is no object", `{"setup":1}`, 1, "the set-up is refused: setup"},
		{"a set-up twice in the line", `{"setup":{},"setup":{}}`, 1, "the first line must be"},
		{"not JSON", step(`{"at":`), 2, "not one JSON value"},
		{"two values", step(`{"at":"1s"}{"at":"1s"}`), 2, "not one JSON value"},
		{"not UTF-8", step("{\"at\":\"1s\",\"as\":\"\xff\"}"), 2, "not one JSON value: not valid UTF-8"},
		{"a bare word", step(`resume`), 2, "not one JSON value"},
		{"a list", step(`[]`), 2, "must be a JSON object"},
		{"a second set-up", step(good), 2, `"setup" is not a field`},
		{"no time", step(`{"view":"public"}`), 2, `"at" must be a string`},
		{"a time that is a number", step(`{"at":1}`), 2, `"at" must be a string`},
		{"a time that can't be read", step(`{"at":"1 s"}`), 2, `"at" must be a duration`},
		{"a time without a unit", step(`{"at":"5"}`), 2, `"at" must be a duration`},
		{"a time before the creation", step(`{"at":"-1s"}`), 2, "goes back"},
		{"a time that goes back", step("{\"at\":\"5s\"}\n\n{\"at\":\"4999ms\"}"), 4, "goes back"},
		{"an unknown field", step(`{"at":"1s","why":"x"}`), 2, `"why" is not a field`},
		{"a field in capitals", step(`{"At":"1s"}`), 2, `"At" is not a field`},
		{"submit and view", step(`{"at":"1s","as":"sensei","submit":{},"view":"public"}`), 2, "both"},
		{"submit and do", step(`{"at":"1s","as":"sensei","submit":{},"do":"pause"}`), 2, "both"},
		{"view and do", step(`{"at":"1s","view":"public","do":"pause"}`), 2, "both"},
		{"submit without as", step(`{"at":"1s","submit":{}}`), 2, `needs "as"`},
		{"as without submit", step(`{"at":"1s","as":"sensei"}`), 2, `"as" is not a field`},
		{"as of nobody", step(`{"at":"1s","as":null,"submit":{}}`), 2, `"as" must be a string`},
		{"phase without submit", step(`{"at":"1s","phase":1}`), 2, `"phase" is not a field`},
		{"phase beside view", step(`{"at":"1s","view":"public","phase":1}`), 2, `"phase" is not a field`},
		{"half a phase", step(`{"at":"1s","as":"sensei","submit":{},"phase":1.5}`), 2, `"phase" must be a whole number`},
		{"a phase with a point", step(`{"at":"1s","as":"sensei","submit":{},"phase":1.0}`), 2, `"phase" must be a whole number`},
		{"a phase that is a string", step(`{"at":"1s","as":"sensei","submit":{},"phase":"1"}`), 2, `"phase" must be a whole number`},
		{"a phase of null", step(`{"at":"1s","as":"sensei","submit":{},"phase":null}`), 2, `"phase" must be a whole number`},
		{"a view of a number", step(`{"at":"1s","view":1}`), 2, `"view" must be a string`},
		{"an unknown do", step(`{"at":"1s","do":"void"}`), 2, `"do" must be pause, resume or extend`},
		{"a do of null", step(`{"at":"1s","do":null}`), 2, `"do" must be a string`},
		{"a pause of a player", step(`{"at":"1s","do":"pause","player":"sensei"}`), 2, `no "player"`},
		{"a resume by a time", step(`{"at":"1s","do":"resume","by":"1s"}`), 2, `no "player" and no "by"`},
		{"an extension of nobody", step(`{"at":"1s","do":"extend","by":"1s"}`), 2, `"player" must be a string`},
		{"an extension by nothing said", step(`{"at":"1s","do":"extend","player":"sensei"}`), 2, `"by" must be a string`},
		{"an extension that can't be read", step(`{"at":"1s","do":"extend","player":"sensei","by":"long"}`), 2, `"by" must be a duration`},
		{"player without do", step(`{"at":"1s","player":"sensei"}`), 2, `"player" is not a field`},
		{"a duplicate field", step(`{"at":"1s","at":"1s"}`), 2, "stands twice"},
		{"a duplicate as", step(`{"at":"1s","as":"a","as":"b","submit":{}}`), 2, "stands twice"},
		{"a duplicate submit", step(`{"at":"1s","as":"a","submit":{},"submit":{}}`), 2, "stands twice"},
		{"a lone surrogate outside submit", step(`{"at":"1s","as":"\ud800","submit":{}}`), 2, "lone surrogate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := play(t, c.script, "")
			var misunderstood *rehearsal.ScriptError
			require.ErrorAs(t, err, &misunderstood, "%v", err)
			assert.Equal(t, c.line, misunderstood.Line)
			assert.Contains(t, misunderstood.Detail, c.says)
			assert.Equal(t, fmt.Sprintf("line %d: %s", c.line, misunderstood.Detail), err.Error())
			for n, line := range out {
				assert.Contains(t, line, `"line":`, "what was answered before stands, line %d", n)
			}
		})
	}
}

// A set-up that is refused, for whatever reason, is such a case too.
func TestSetupsThatAreRefused(t *testing.T) {
	for old, instead := range map[string]string{
		`"game":"glass-full"`:    `"game":"chess"`,
		`{"dmo":"herbert"}`:      `{"dmo":"nobody"}`,
		`"roles":`:               `"garnets":{},"roles":`,
		`"id":"sensei"`:          `"id":"host"`,
		`"name":"Sensei"`:        `"name":" "`,
		`1E1F"`:                  `1E"`,
		`"seed":`:                `"options":{"clock":{"move":"0s"}},"seed":`,
		`"players":`:             `"options":{"clock":{"move":"soon"}},"players":`,
		`{"setup":{`:             `{"setup":{"options":{"armory":[]},`,
		`{"setup":{"game"`:       `{"setup":{"title":"","game"`,
		`,{"id":"herbert"`:       `,{"id":"x","name":"X"},{"id":"herbert"`,
		`"roles":{"dmo":"herb`:   `"roles":{"dmo":"sensei"},"roles":{"dmo":"herb`,
		`[{"id":"sensei","name"`: `[{"id":"sensei","Name"`,
	} {
		script := strings.Replace(good, old, instead, 1)
		require.NotEqual(t, good, script)
		out, err := play(t, script, "")
		var misunderstood *rehearsal.ScriptError
		require.ErrorAs(t, err, &misunderstood, "%s: %v", instead, err)
		assert.Equal(t, 1, misunderstood.Line)
		assert.Contains(t, misunderstood.Detail, "the set-up is refused: ")
		assert.Empty(t, out)
	}
	// What a game itself refuses is no different.
	var eight []string
	for i := range 8 {
		eight = append(eight, fmt.Sprintf(`{"id":"p-%d","name":"P"}`, i))
	}
	_, err := play(t, `{"setup":{"game":"paint-clash","players":[`+strings.Join(eight, ",")+`],"garnets":{"p-0":1}}}`, "")
	var refused *rehearsal.ScriptError
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, refused.Detail, "the set-up is refused: garnets")
	// The options of the live system are accepted, and have no effect.
	script := strings.Replace(good, `"seed":`, `"options":{"start":"2040-01-01T00:00:00Z","listed":false,"hostSees":"needed",
		"open":"never","absent":"x","spectatorDelay":1,"appeal":null,"clock":{"reserve":"1h"}},"seed":`, 1)
	out, err := play(t, strings.ReplaceAll(script, "\n", " ")+"\n"+`{"at":"0s","view":"host"}`, "")
	require.NoError(t, err)
	assert.Contains(t, out[1], `"status":"running"`)
	assert.Contains(t, out[1], `"level":0`, "the host sees all")
}

type answered struct {
	Line     int
	OK       bool
	Revision *int64
	Error    *struct{ Code, Detail string }
	View     map[string]any
}

func answers(t *testing.T, script string) []answered {
	t.Helper()
	out, err := play(t, script, "")
	require.NoError(t, err)
	list := make([]answered, len(out))
	for i, line := range out {
		require.NoError(t, json.Unmarshal([]byte(line), &list[i]))
	}
	return list
}

// What is refused does not end the script: each line has its answer, a code or what was asked for.
func TestRefusalsGoOn(t *testing.T) {
	lines := []struct{ step, code string }{
		{`{"at":"1s","as":"nobody","submit":{}}`, "unknown-player"},
		{`{"at":"1s","as":"public","submit":{}}`, "unknown-player"},
		{`{"at":"1s","view":"nobody"}`, "unknown-player"},
		{`{"at":"1s","as":"sensei","submit":{}}`, "not-awaited"},
		{`{"at":"1s","as":"host","submit":{}}`, "not-awaited"},
		{`{"at":"1s","as":"herbert","submit":{},"phase":2}`, "phase-closed"},
		{`{"at":"1s","as":"herbert","submit":{},"phase":-5}`, "phase-closed"},
		{`{"at":"1s","as":"herbert","submit":{},"phase":100000000000000000000000000}`, "phase-closed"},
		{`{"at":"1s","as":"herbert","submit":[]}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":null}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":"add"}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":{"type":"pick-starter","player":"sensei","phase":1}}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":{"type":"pick-starter","player":"sensei","player":"sensei"}}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":{"type":"pick-starter","player":"\udc00"}}`, "malformed"},
		{`{"at":"1s","as":"herbert","submit":{"type":"sponge"}}`, "illegal-move"},
		{`{"at":"1s","do":"resume"}`, "conflict"},
		{`{"at":"1s","do":"extend","player":"nobody","by":"1s"}`, "unknown-player"},
		{`{"at":"1s","do":"extend","player":"host","by":"1s"}`, "unknown-player"},
		{`{"at":"1s","do":"extend","player":"sensei","by":"1s"}`, "not-awaited"},
		{`{"at":"1s","do":"extend","player":"herbert","by":"0s"}`, "malformed"},
		{`{"at":"1s","do":"extend","player":"herbert","by":"-1s"}`, "malformed"},
		{`{"at":"1s","do":"extend","player":"herbert","by":"8761h"}`, "malformed"},
		{`{"at":"1s","do":"extend","player":"herbert","by":"1s"}`, ""},
		{`{"at":"2s","do":"pause"}`, ""},
		{`{"at":"2s","do":"pause"}`, "match-paused"},
		{`{"at":"2s","as":"herbert","submit":{}}`, "match-paused"},
		{`{"at":"9s","do":"resume"}`, ""},
		{`{"at":"9s"}`, ""},
		{`{"at":"9s","as":"herbert","submit":{"type":"pick-starter","player":"sensei"},"phase":1}`, ""},
		{`{"at":"10m"}`, ""},
		{`{"at":"10m","as":"sensei","submit":{}}`, "match-over"},
		{`{"at":"10m","do":"pause"}`, "match-over"},
		{`{"at":"10m","do":"resume"}`, "match-over"},
		{`{"at":"10m","do":"extend","player":"sensei","by":"1s"}`, "match-over"},
		{`{"at":"10m","as":"nobody","submit":{}}`, "unknown-player"},
	}
	script := good
	for _, l := range lines {
		script += "\n" + l.step
	}
	got := answers(t, script)
	require.Len(t, got, len(lines)+1)
	assert.True(t, got[0].OK)
	for i, l := range lines {
		a := got[i+1]
		assert.Equal(t, i+2, a.Line)
		if l.code == "" {
			assert.True(t, a.OK, l.step)
			assert.NotNil(t, a.Revision)
			continue
		}
		require.NotNil(t, a.Error, l.step)
		assert.Equal(t, l.code, a.Error.Code, l.step)
		assert.NotEmpty(t, a.Error.Detail)
		assert.False(t, a.OK)
		assert.Nil(t, a.Revision, "a refused step has changed nothing")
	}
}

// At the very instant of a deadline the deadline falls before a pause, an extension or a submission.
func TestAtTheInstantOfADeadline(t *testing.T) {
	for _, step := range []string{
		`{"at":"30s","do":"pause"}`, `{"at":"30s","do":"extend","player":"herbert","by":"10s"}`,
		`{"at":"30s","as":"herbert","submit":{"type":"pick-starter","player":"sensei"}}`, `{"at":"30s"}`,
	} {
		got := answers(t, good+"\n"+step+"\n"+`{"at":"30s","view":"public"}`)
		table, ok := got[2].View["table"].(map[string]any)
		require.True(t, ok)
		assert.Equal(t, map[string]any{"herbert": 1.0, "sensei": 0.0}, table["strikes"], step)
	}
	// Equal times fall together, and a long silence brings every deadline in its order.
	got := answers(t, good+"\n"+`{"at":"95s","view":"public"}`)
	phase, ok := got[1].View["phase"].(map[string]any)
	require.True(t, ok)
	assert.Equal(t, "2000-01-01T00:02:00Z", phase["clocks"].(map[string]any)["herbert"].(map[string]any)["deadline"])
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 100<<10) // longer than any buffer
	got := answers(t, good+"\n"+`{"at":"1s","as":"herbert","submit":{"type":"`+long+`"}}`+"\n\n"+`{"at":"1s"}`)
	require.Len(t, got, 3)
	assert.Equal(t, "malformed", got[1].Error.Code)
	assert.NotContains(t, got[1].Error.Detail, "xxx")
	assert.Equal(t, 4, got[2].Line, "blank lines count")

	_, err := play(t, good+"\n"+`{"at":"1s","as":"`+strings.Repeat("x", 5<<20)+`","submit":{}}`, "")
	var misunderstood *rehearsal.ScriptError
	require.ErrorAs(t, err, &misunderstood)
	assert.Equal(t, 2, misunderstood.Line)
	assert.Contains(t, misunderstood.Detail, "longer than")
}

// The script's seed gives the draws and the commitment; without one, two rehearsals differ.
func TestTheSeedOfAScript(t *testing.T) {
	commitment := func(script string) any {
		return answers(t, script+"\n"+`{"at":"0s","view":"public"}`)[1].View["seedCommitment"]
	}
	assert.Equal(t, "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd", commitment(good))
	unseeded, _, _ := strings.Cut(good, `,"seed"`)
	unseeded += "}}"
	one, two := commitment(unseeded), commitment(unseeded)
	assert.NotEqual(t, one, two)
	assert.Equal(t, "rehearsal", answers(t, good+"\n"+`{"at":"0s","view":"public"}`)[1].View["match"])
}
