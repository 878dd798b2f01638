package rehearsal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games"
	"umpire/pkg/rehearsal"
)

const short = good + `
{"at":"1s","as":"herbert","submit":{"type":"pick-starter","player":"sensei"}}
{"at":"2s","as":"sensei","submit":{"type":"add","cups":3}}
{"at":"3s","as":"sensei","submit":{"type":"add","cups":3}}`

// --events prints the log's events instead of the answers: all with every face open, or those that an audience may see.
func TestEvents(t *testing.T) {
	for audience, want := range map[string][]string{
		rehearsal.EventsAll: {`{"seed":`, `{"player":"sensei","type":"pick-starter"}`, `{"cups":3,"type":"add"}`, `{"level":3}`},
		"host":              {`{"player":"sensei","type":"pick-starter"}`, `{"cups":3,"type":"add"}`},
		"sensei":            {`{"cups":3,"type":"add"}`},
		"herbert":           {`{"player":"sensei","type":"pick-starter"}`},
		"public":            nil,
	} {
		out, err := play(t, short, audience)
		require.NoError(t, err)
		var types []string
		open := map[string]bool{}
		for n, line := range out {
			var e struct {
				Revision int
				Type, At string
				Faces    []struct{ Data json.RawMessage }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			assert.Equal(t, n, e.Revision)
			types = append(types, e.Type)
			for _, f := range e.Faces {
				if f.Data != nil {
					open[string(f.Data)] = true
				}
			}
		}
		assert.Equal(t, []string{
			"match-created.v1", "match-started.v1", "phase-opened.v1",
			"submission-accepted.v1", "glass-full.starter-picked.v1", "phase-opened.v1",
			"submission-accepted.v1", "glass-full.turn-taken.v1", "phase-opened.v1",
		}, types, "a refused submission is no event")
		for data := range open {
			found := false
			for _, w := range want {
				found = found || strings.HasPrefix(data, w)
			}
			assert.True(t, found, "%s sees %s", audience, data)
		}
		for _, w := range want {
			found := false
			for data := range open {
				found = found || strings.HasPrefix(data, w)
			}
			assert.True(t, found, "%s does not see %s", audience, w)
		}
	}
}

func TestEventsOfNobody(t *testing.T) {
	for _, audience := range []string{"nobody", "All", " "} {
		out, err := play(t, short, audience)
		require.ErrorIs(t, err, rehearsal.ErrAudience)
		assert.Empty(t, out)
	}
}

// Where the script is not understood, the events up to there are printed, and the fault is told.
func TestEventsOfABrokenScript(t *testing.T) {
	out, err := play(t, short+"\n{", "public")
	var misunderstood *rehearsal.ScriptError
	require.ErrorAs(t, err, &misunderstood)
	assert.Equal(t, 5, misunderstood.Line)
	assert.Len(t, out, 9)
	out, err = play(t, "{", "public")
	require.ErrorAs(t, err, &misunderstood)
	assert.Empty(t, out)
}

// The trace tells people what became public, and nothing else but what the views that were asked for show.
func TestTrace(t *testing.T) {
	var out bytes.Buffer
	err := rehearsal.Play(t.Context(), strings.NewReader(short+`
{"at":"4s","do":"pause"}
{"at":"5s","do":"pause"}
{"at":"6s","do":"resume"}
{"at":"7s","view":"public"}
{"at":"500s"}`), &out, rehearsal.Options{Games: games.All(), Entropy: rand.Reader, Trace: true})
	require.NoError(t, err)
	told := out.String()
	for _, line := range []string{
		"      0s  match-created: glass-full", "the match begins", "herbert has submitted, in private",
		"sensei has submitted, in private", "refused to sensei: ", "(not-awaited)", "refused to the host: ", "(match-paused)",
		"what public sees: {", "too late: herbert", "the match has ended: {",
	} {
		if line == "      0s  match-created: glass-full" {
			line = "glass-full@1: Glass Full"
		}
		assert.Contains(t, told, line)
	}
	assert.NotContains(t, told, `"cups"`)
	assert.NotContains(t, told, `"level"`)
	for _, line := range strings.Split(strings.TrimSpace(told), "\n") {
		assert.NotContains(t, line, `"line":`)
	}
}

type full struct{ room int }

var errFull = errors.New("no room left")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// An output that fails and an entropy that runs dry are errors, and no fault of the script.
func TestFailures(t *testing.T) {
	var misunderstood *rehearsal.ScriptError
	for _, o := range []rehearsal.Options{{}, {Events: "public"}, {Trace: true}} {
		o.Games, o.Entropy = games.All(), rand.Reader
		for _, room := range []int{0, 50} {
			err := rehearsal.Play(t.Context(), strings.NewReader(short), &full{room}, o)
			require.ErrorIs(t, err, errFull)
		}
	}
	enough := false
	for n := int64(0); !enough; n += 5 {
		err := rehearsal.Play(t.Context(), strings.NewReader(short+"\n"+`{"at":"10m"}`), io.Discard, rehearsal.Options{
			Games: games.All(), Entropy: io.LimitReader(rand.Reader, n),
		})
		require.NotErrorAs(t, err, &misunderstood)
		enough = err == nil
		require.True(t, enough || n < 1000)
	}
	unseeded, _, _ := strings.Cut(good, `,"seed"`)
	unseeded += "}}"
	err := rehearsal.Play(t.Context(), strings.NewReader(unseeded), io.Discard, rehearsal.Options{
		Games: games.All(), Entropy: io.LimitReader(rand.Reader, 40),
	})
	require.ErrorContains(t, err, "no entropy")
	err = rehearsal.Play(t.Context(), io.MultiReader(strings.NewReader(good+"\n"), failing{}), io.Discard, rehearsal.Options{
		Games: games.All(), Entropy: rand.Reader,
	})
	require.ErrorIs(t, err, errFull)
	assert.NotErrorAs(t, err, &misunderstood, "a script that can't be read is not one that is not understood")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errFull }
