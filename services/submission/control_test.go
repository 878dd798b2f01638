package submission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
	"umpire/services/submission"
)

// control controls a match and returns the code of the refusal.
func (w *world) control(tab *table, bearer, action string, fields map[string]any) problem.Code {
	w.t.Helper()
	_, err := w.Control(w.t.Context(), bearer, tab.id, action, base, body(fields))
	return code(w.t, err)
}

func TestWhoMayControl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab, other := w.table("glass-full"), w.table("glass-full")
	fields := map[string]map[string]any{
		"pause": {"why": ""}, "resume": {"why": ""}, "void": {"why": ""},
		"reissue": {"why": "", "player": "ada"}, "extend": {"why": "", "player": "ada", "by": "1m"},
	}
	for action, given := range fields {
		for name, c := range map[string]struct {
			bearer string
			code   problem.Code
		}{
			"nobody":           {"", problem.Unauthorized},
			"a stranger":       {"e30.e30.e30", problem.Unauthorized},
			"a player":         {tab.ada, problem.Forbidden},
			"another's host":   {other.host, problem.Forbidden},
			"a host not given": {w.sign(token.Token{Role: token.Seat, Match: tab.id, Seat: "host", Issue: 1}), problem.Unauthorized},
		} {
			assert.Equal(t, c.code, w.control(tab, c.bearer, action, given), "%s: %s", action, name)
		}
	}
	before := len(w.Types(tab.id))
	_, err := w.Control(t.Context(), w.operator, "nosuchmatchatall0000", "pause", base, body(fields["pause"]))
	assert.Equal(t, problem.NotFound, code(t, err))
	_, err = w.Control(t.Context(), w.operator, tab.id, "fork", base, body(fields["pause"]))
	assert.Equal(t, problem.NotFound, code(t, err))
	require.Len(t, w.Types(tab.id), before, "nothing was written")

	for i, bearer := range []string{tab.host, w.operator} {
		assert.Empty(t, w.control(tab, bearer, "pause", fields["pause"]))
		for r, err := range w.Own.Events(t.Context(), tab.id, uint64(w.Now(tab.id).Revision())) {
			require.NoError(t, err)
			assert.Equal(t, []event.Role{event.Host, event.Operator}[i], r.By, "everybody sees in which role")
		}
		assert.Empty(t, w.control(tab, bearer, "resume", fields["resume"]))
	}
}

func TestControlsAreReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	before := len(w.Types(tab.id))
	for name, c := range map[string]struct{ action, body string }{
		"nothing":           {"pause", ``},
		"no object":         {"pause", `[]`},
		"no reason":         {"pause", `{}`},
		"a number":          {"pause", `{"why":1}`},
		"a field too many":  {"pause", `{"why":"","player":"ada"}`},
		"a name twice":      {"pause", `{"why":"","why":""}`},
		"in capitals":       {"pause", `{"Why":""}`},
		"an unseen reason":  {"pause", `{"why":"\u0007"}`},
		"a long reason":     {"pause", `{"why":"` + strings.Repeat("x", 501) + `"}`},
		"a lone surrogate":  {"pause", `{"why":"\ud800"}`},
		"no player":         {"extend", `{"why":"","by":"1m"}`},
		"no span":           {"extend", `{"why":"","player":"ada"}`},
		"a span in words":   {"extend", `{"why":"","player":"ada","by":"a minute"}`},
		"a span without":    {"extend", `{"why":"","player":"ada","by":"10"}`},
		"a span of nothing": {"extend", `{"why":"","player":"ada","by":"0s"}`},
		"a span backwards":  {"extend", `{"why":"","player":"ada","by":"-1m"}`},
		"an endless span":   {"extend", `{"why":"","player":"ada","by":"9000h"}`},
		"no seat":           {"reissue", `{"why":""}`},
	} {
		_, err := w.Control(t.Context(), w.operator, tab.id, c.action, base, []byte(c.body))
		assert.Equal(t, problem.Code(match.MalformedMove), code(t, err), name)
	}
	assert.Len(t, w.Types(tab.id), before, "nothing was written")
	assert.Empty(t, w.control(tab, tab.host, "pause", map[string]any{"why": strings.Repeat("é", 500)}))
}

// TestControlsInTurn goes through what is refused when; the codes are the rulebook's.
func TestControlsInTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	why := map[string]any{"why": "lunch"}
	extend := func(player string) map[string]any {
		return map[string]any{"why": "", "player": player, "by": "90s"}
	}
	deadline := func() time.Time {
		at, ok := w.Now(tab.id).Deadline()
		require.True(t, ok)
		return at
	}
	began := deadline()
	for _, step := range []struct {
		action string
		fields map[string]any
		code   match.Code
	}{
		{"resume", why, match.ConflictState},
		{"extend", extend("ada"), ""},
		{"extend", extend("bob"), match.NotAwaited},
		{"extend", extend("eve"), match.UnknownPlayer},
		{"extend", extend("host"), match.UnknownPlayer},
		{"pause", why, ""},
		{"pause", why, match.MatchPaused},
		{"extend", extend("ada"), ""},
		{"reissue", map[string]any{"why": "", "player": "eve"}, match.UnknownPlayer},
		{"resume", why, ""},
	} {
		assert.Equal(t, problem.Code(step.code), w.control(tab, tab.host, step.action, step.fields), "%+v", step)
	}
	assert.Equal(t, began.Add(3*time.Minute), deadline())
	require.Empty(t, w.control(tab, tab.host, "void", why))
	for action, fields := range map[string]map[string]any{
		"pause": why, "resume": why, "void": why, "extend": extend("ada"), "reissue": {"why": "", "player": "ada"},
	} {
		assert.Equal(t, problem.Code(match.MatchOver), w.control(tab, tab.host, action, fields), action)
	}
	assert.Equal(t, problem.Code(match.UnknownPlayer), w.control(tab, tab.host, "extend", extend("eve")))
}

// TestReissue gives a seat a new link: the old token is void at once, in every process.
func TestReissue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	elsewhere := w.service(w.Log)
	_, err := elsewhere.Submit(t.Context(), tab.bob, tab.id, "", move(0, addOne))
	require.Equal(t, problem.Code(match.NotAwaited), code(t, err))
	answer, err := w.Control(t.Context(), tab.host, tab.id, "reissue", base, body(map[string]any{"why": "lost", "player": "ada"}))
	require.NoError(t, err)
	assert.Equal(t, w.authority.Claim(tab.id, "ada", 1), answer.Claim)
	assert.Equal(t, base+"/m/"+tab.id+"#c="+answer.Claim, answer.Link)
	assert.Equal(t, w.Now(tab.id).Revision(), answer.Revision)

	_, err = w.Submit(t.Context(), tab.ada, tab.id, "", move(0, pickBob))
	assert.Equal(t, problem.Unauthorized, code(t, err))
	_, err = w.Claim(t.Context(), body(map[string]any{"claim": w.authority.Claim(tab.id, "ada", 0)}))
	assert.Equal(t, problem.Code(match.Claimed), code(t, err), "the old link")
	seated, err := elsewhere.Claim(t.Context(), body(map[string]any{"claim": answer.Claim}))
	require.NoError(t, err)
	_, err = elsewhere.Submit(t.Context(), tab.ada, tab.id, "", move(0, pickBob))
	assert.Equal(t, problem.Unauthorized, code(t, err))
	_, err = w.Submit(t.Context(), seated.Token, tab.id, "", move(0, pickBob))
	require.NoError(t, err)

	answer, err = w.Control(t.Context(), tab.host, tab.id, "reissue", base, body(map[string]any{"why": "", "player": "host"}))
	require.NoError(t, err, "a host may replace his own link")
	assert.Equal(t, problem.Unauthorized, w.control(tab, tab.host, "pause", map[string]any{"why": ""}))
	seated, err = w.Claim(t.Context(), body(map[string]any{"claim": answer.Claim}))
	require.NoError(t, err)
	assert.Equal(t, "host", seated.Player)
	assert.Empty(t, w.control(tab, seated.Token, "pause", map[string]any{"why": ""}))
}

// TestControlsAtOnce: of many who pause, one does; all controls at once leave a stream that folds.
func TestControlsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	services := []*submission.Service{w.service(w.Log), w.service(w.Log)}
	codes := make([]problem.Code, 16)
	meet(len(codes), func(i int) {
		_, err := services[i%2].Control(t.Context(), tab.host, tab.id, "pause", base, body(map[string]any{"why": ""}))
		codes[i] = code(t, err)
	})
	paused := 0
	for _, c := range codes {
		if c == "" {
			paused++
			continue
		}
		assert.Equal(t, problem.Code(match.MatchPaused), c)
	}
	assert.Equal(t, 1, paused)
	meet(24, func(i int) {
		action := []string{"pause", "resume", "extend"}[i%3]
		fields := map[string]any{"why": ""}
		if action == "extend" {
			fields = map[string]any{"why": "", "player": "ada", "by": "1s"}
		}
		_, err := services[i/3%2].Control(t.Context(), w.operator, tab.id, action, base, body(fields))
		assert.NotEqual(t, problem.Code("fault"), code(t, err))
	})
	_, err := w.service(w.Log).Journal.Load(t.Context(), tab.id)
	require.NoError(t, err)
	extended := 0
	for _, kind := range w.Types(tab.id) {
		if kind == "clock-extended" {
			extended++
		}
	}
	assert.Equal(t, 8, extended, "none was lost")
}
