package nothingbutthetruth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// create creates a match of statements and options as JSON.
func create(list any, options string) ([]match.Draft, []string, error) {
	setup, err := setUpOf(list, options)
	if err != nil {
		return nil, nil, err
	}
	return match.Create("m", setup, make([]byte, 32), true, time.Time{})
}

// refused is the field that a set-up is refused for, and the detail; "" where it is accepted.
func refused(t *testing.T, err error) (field, detail string) {
	t.Helper()
	if err == nil {
		return "", ""
	}
	var bad *match.SetupError
	require.ErrorAs(t, err, &bad)
	return bad.Field, bad.Detail
}

func TestHostPrepares52Statements(t *testing.T) {
	t.Parallel()
	full := prepared("TTFF")
	with := func(change func(list []any)) []any {
		list := make([]any, len(full))
		for i, s := range full {
			list[i] = map[string]any{"text": s.Text, "truth": s.Truth}
		}
		change(list)
		return list
	}
	item := func(i int, change func(m map[string]any)) []any {
		return with(func(list []any) { change(list[i].(map[string]any)) })
	}
	text := func(s string) []any { return item(7, func(m map[string]any) { m["text"] = s }) }
	for _, c := range []struct {
		name  string
		list  any
		field string
	}{
		{"52", full, ""},
		{"none", []any{}, "statements"},
		{"51", full[:51], "statements"},
		{"53", append(prepared("TTFF"), full[0]), "statements"},
		{"null", nil, "statements"},
		{"an object", map[string]any{}, "statements"},
		{"a text for a statement", with(func(list []any) { list[51] = "13D" }), "statements[51]"},
		{"null for a statement", with(func(list []any) { list[0] = nil }), "statements[0]"},
		{"no truth", item(3, func(m map[string]any) { delete(m, "truth") }), "statements[3]"},
		{"no text", item(3, func(m map[string]any) { delete(m, "text") }), "statements[3]"},
		{"a field more", item(3, func(m map[string]any) { m["source"] = "" }), "statements[3]"},
		{"another case", item(3, func(m map[string]any) { delete(m, "truth"); m["Truth"] = true }), "statements[3]"},
		{"a truth as text", item(3, func(m map[string]any) { m["truth"] = "true" }), "statements[3].truth"},
		{"a truth as number", item(3, func(m map[string]any) { m["truth"] = 1 }), "statements[3].truth"},
		{"a null truth", item(3, func(m map[string]any) { m["truth"] = nil }), "statements[3].truth"},
		{"a text as number", item(3, func(m map[string]any) { m["text"] = 1 }), "statements[3].text"},
		{"an empty text", text(""), "statements[7].text"},
		{"a text of blanks", text(" \u00a0\u3000\t\u200b"), "statements[7].text"},
		{"one character", text("!"), ""},
		{"500 characters of four bytes", text(strings.Repeat("\U0001f37a", 500)), ""},
		{"501 characters", text(strings.Repeat("x", 501)), "statements[7].text"},
		{"the same text twice", text("1A"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			drafts, warnings, err := create(c.list, `{}`)
			field, _ := refused(t, err)
			assert.Equal(t, c.field, field)
			assert.Equal(t, c.field == "", len(drafts) > 0)
			assert.Empty(t, warnings)
		})
	}
	v, err := event.Parse([]byte(`{"game": "nothing-but-the-truth", "players": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}`))
	require.NoError(t, err)
	setup, err := match.ParseSetup(match.Catalog{Game()}, v)
	require.NoError(t, err)
	_, _, err = match.Create("m", setup, make([]byte, 32), true, time.Time{})
	field, _ := refused(t, err)
	assert.Equal(t, "statements", field, "absent")
}

func TestNoGroupOf4IsAllTrueOrAllFalse(t *testing.T) {
	t.Parallel()
	for cycle := 1; cycle <= 13; cycle++ {
		for _, all := range []bool{true, false} {
			list := prepared("TFFF")
			if !all {
				list = prepared("FTTT")
			}
			for i := range 4 {
				list[(cycle-1)*4+i].Truth = all
			}
			_, _, err := create(list, `{}`)
			field, detail := refused(t, err)
			assert.Equal(t, "statements", field)
			assert.Contains(t, detail, fmt.Sprintf("cycle %d is all %t", cycle, all))
		}
	}
	for _, pattern := range []string{"TFFF", "FTFF", "FFTF", "FFFT", "FTTT", "TFTT", "TTFT", "TTTF"} {
		_, _, err := create(prepared(pattern), `{}`)
		assert.NoError(t, err, pattern)
	}
}

func TestRoughly5050IsAWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trueOnes int
		warns    bool
	}{{13, true}, {20, true}, {21, false}, {26, false}, {31, false}, {32, true}, {39, true}} {
		list := prepared("TFFF")
		have := 13
		for i := range list {
			if i%4 != 0 && i%4 != 3 && have < c.trueOnes {
				list[i].Truth = true
				have++
			}
		}
		require.Equal(t, c.trueOnes, have)
		drafts, warnings, err := create(list, `{}`)
		require.NoError(t, err)
		assert.NotEmpty(t, drafts)
		assert.Equal(t, c.warns, len(warnings) == 1, "%d true: %q", c.trueOnes, warnings)
	}
}

func TestWhatMatchCreatedHolds(t *testing.T) {
	t.Parallel()
	p := started(t)
	created := p.facts[0]
	assert.Contains(t, created.public, `"setup":{}`, "no text is public before its order phase opens, the first cycle's neither")
	require.Len(t, created.faces, 1+13, "the seed's, and one a cycle")
	for cycle := 1; cycle <= 13; cycle++ {
		face := created.faces[cycle]
		assert.Equal(t, []string{theHost}, face.To)
		assert.JSONEq(t, fmt.Sprintf(`{"cycle":%d,"texts":["%[1]dA","%[1]dB","%[1]dC","%[1]dD"],"truths":[1,1,0,0]}`, cycle),
			string(face.Data), "its size does not depend on the truths")
	}
}

func TestStoneColors(t *testing.T) {
	t.Parallel()
	v := started(t).m.View(match.Public)
	assert.Equal(t, []string{"black"}, v.Players[0].Roles, "the first in seating order plays black")
	assert.Equal(t, []string{"white"}, v.Players[1].Roles, "the second white")
}

func FuzzSetup(f *testing.F) {
	seed := func(list any) {
		raw, err := json.Marshal(list)
		require.NoError(f, err)
		f.Add(raw)
	}
	seed(prepared("TTFF"))
	seed(prepared("TTTT"))
	seed(prepared("TTFF")[:51])
	f.Add([]byte(`null`))
	f.Add([]byte(`[{"text": "\ud800", "truth": true}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := event.ParseLoose(append(append([]byte(`{"game": "nothing-but-the-truth", "players": [{"id": "a",
			"name": "A"}, {"id": "b", "name": "B"}], "statements": `), raw...), '}'))
		if err != nil {
			return
		}
		setup, err := match.ParseSetup(match.Catalog{Game()}, v)
		if err == nil {
			_, _, err = match.Create("m", setup, make([]byte, 32), false, time.Time{})
		}
		if bad := new(match.SetupError); err != nil && !errors.As(err, &bad) {
			t.Fatalf("not a *match.SetupError: %v", err)
		}
	})
}
