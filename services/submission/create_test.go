package submission_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
	"umpire/services/submission"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created, err := w.Create(t.Context(), w.operator, []byte(setup("glass-full", "")), base)
	require.NoError(t, err)
	assert.Regexp(t, `^[a-z0-9]{16,26}$`, created.Match)
	assert.Equal(t, w.Now(created.Match).Revision(), created.Revision)
	assert.Equal(t, []string{}, created.Warnings, "a list, not null")
	require.Len(t, created.Players, 2)
	links := map[string]submission.Link{"host": created.Host}
	for id, link := range created.Players {
		links[id] = link
	}
	for id, link := range links {
		seat, err := w.authority.ReadClaim(link.Claim)
		require.NoError(t, err)
		assert.Equal(t, token.Token{Role: token.Seat, Match: created.Match, Seat: id}, seat)
		assert.Equal(t, base+"/m/"+created.Match+"#c="+link.Claim, link.Link, "the claim stands in the fragment")
	}
	other, err := w.Create(t.Context(), w.operator, []byte(setup("glass-full", "")), base)
	require.NoError(t, err)
	assert.NotEqual(t, created.Match, other.Match)
}

func TestWhoMayCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("poll")
	head, err := w.Log.Head(t.Context())
	require.NoError(t, err)
	for name, c := range map[string]struct {
		bearer, body string
		code         problem.Code
		field        string
	}{
		"nobody":           {"", setup("poll", ""), "unauthorized", ""},
		"a stranger":       {"e30.e30.e30", setup("poll", ""), "unauthorized", ""},
		"a player":         {tab.ada, setup("poll", ""), "forbidden", ""},
		"a host":           {tab.host, setup("poll", ""), "forbidden", ""},
		"nobody, nonsense": {"", "{", "unauthorized", ""},
		"no JSON":          {w.operator, "{", "malformed", ""},
		"no UTF-8":         {w.operator, "\"\xff\"", "malformed", ""},
		"a name twice":     {w.operator, `{"game":"poll","game":"poll"}`, "malformed", ""},
		"no object":        {w.operator, `7`, "invalid-setup", "setup"},
		"no game":          {w.operator, setup("chess", ""), "invalid-setup", "game"},
		"an option":        {w.operator, setup("poll", `"options":{"hostSees":"some"},`), "invalid-setup", "options.hostSees"},
		"not kept live":    {w.operator, setup("poll", `"options":{"spectatorDelay":"1h"},`), "invalid-setup", "options.spectatorDelay"},
	} {
		_, err := w.Create(t.Context(), c.bearer, []byte(c.body), base)
		assert.Equal(t, c.code, code(t, err), name)
		p, _ := problem.Of(err)
		assert.Equal(t, c.field, p.Field, name)
	}
	after, err := w.Log.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head, after, "nothing was written")
}

// TestSeedsNeverComeBack: not in answers, refusals, views or in what the log holds in clear, until the match has ended.
func TestSeedsNeverComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	seed := strings.Repeat("c0ffee77", 8)
	given := []byte(setup("glass-full", `"seed":"`+seed+`","options":{"start":"when-claimed"},`))
	_, err := w.Create(t.Context(), w.operator, given, base)
	assert.Equal(t, problem.InvalidSetup, code(t, err), "nobody holds the dice")
	assert.NotContains(t, err.Error(), "c0ffee")
	for _, bad := range []string{seed[:8], seed + "00", strings.ToUpper(seed[:60]) + "beer"} {
		_, err := w.Create(t.Context(), w.operator, []byte(setup("glass-full", `"seed":"`+bad+`",`)), base)
		assert.Equal(t, problem.InvalidSetup, code(t, err))
		assert.NotContains(t, strings.ToLower(err.Error()), "c0ffee")
	}

	w.InsecureSeed = true
	created, err := w.Create(t.Context(), w.operator, given, base)
	require.NoError(t, err)
	tell := []any{created}
	for _, link := range created.Players {
		seated, err := w.Claim(t.Context(), body(map[string]any{"claim": link.Claim}))
		require.NoError(t, err)
		tell = append(tell, seated)
	}
	w.Resolve(created.Match)
	for _, audience := range []string{match.Public, match.HostID, "ada", "bob"} {
		tell = append(tell, w.Now(created.Match).View(audience))
	}
	raw, err := hex.DecodeString(seed)
	require.NoError(t, err)
	for r, err := range w.Own.Events(t.Context(), created.Match, 0) {
		require.NoError(t, err)
		tell = append(tell, r)
		for _, f := range r.Faces {
			assert.False(t, bytes.Contains(f.Box, raw), "sealed")
		}
		if r.Revision == 0 {
			assert.Contains(t, string(r.Public), `"insecureSeed":true`)
		}
	}
	for _, told := range tell {
		data, err := json.Marshal(told)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "c0ffee")
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created, err := w.Create(t.Context(), w.operator, []byte(setup("glass-full", "")), base)
	require.NoError(t, err)
	ada := created.Players["ada"].Claim
	bob := created.Players["bob"].Claim
	for name, c := range map[string]struct {
		body []byte
		code problem.Code
	}{
		"nothing":          {nil, "malformed"},
		"no object":        {[]byte(`"x"`), "malformed"},
		"no claim":         {body(map[string]any{}), "malformed"},
		"a number":         {body(map[string]any{"claim": 7}), "malformed"},
		"more":             {body(map[string]any{"claim": ada, "player": "ada"}), "malformed"},
		"a name twice":     {[]byte(`{"claim":"x","claim":"` + ada + `"}`), "malformed"},
		"bad random":       {body(map[string]any{"claim": ada, "random": "zz"}), "malformed"},
		"short random":     {body(map[string]any{"claim": ada, "random": "00"}), "malformed"},
		"long random":      {body(map[string]any{"claim": ada, "random": strings.Repeat("00", 17)}), "malformed"},
		"forged":           {body(map[string]any{"claim": strings.Replace(ada, "ada", "bob", 1)}), "unauthorized"},
		"a seat not there": {body(map[string]any{"claim": w.authority.Claim(created.Match, "eve", 0)}), "unauthorized"},
		"a later link":     {body(map[string]any{"claim": w.authority.Claim(created.Match, "ada", 1)}), "claimed"},
		"no such match":    {body(map[string]any{"claim": w.authority.Claim("aaaaaaaaaaaaaaaaaaaa", "ada", 0)}), "not-found"},
	} {
		_, err := w.Claim(t.Context(), c.body)
		assert.Equal(t, c.code, code(t, err), name)
		if err != nil {
			assert.NotContains(t, err.Error(), ada, name)
		}
	}
	assert.Equal(t, []string{"match-created"}, w.Types(created.Match), "nothing was written")

	random := strings.Repeat("5a", 16)
	seated, err := w.Claim(t.Context(), body(map[string]any{"claim": ada, "random": random}))
	require.NoError(t, err)
	assert.Equal(t, created.Match, seated.Match)
	assert.Equal(t, "ada", seated.Player)
	assert.EqualValues(t, 1, seated.Revision)
	who, err := w.authority.Verify(seated.Token, noon)
	require.NoError(t, err)
	assert.Equal(t, token.Token{Role: token.Seat, Match: created.Match, Seat: "ada"}, who)
	_, err = w.Claim(t.Context(), body(map[string]any{"claim": ada}))
	assert.Equal(t, problem.Code(match.Claimed), code(t, err), "a second time")

	_, err = w.Claim(t.Context(), body(map[string]any{"claim": bob}))
	require.NoError(t, err)
	assert.Equal(t, []string{"match-created", "seat-claimed", "seat-claimed", "match-started"}, w.Types(created.Match))
	for r, err := range w.Own.Events(t.Context(), created.Match, 1) {
		require.NoError(t, err)
		if r.Revision == 1 {
			assert.Contains(t, string(r.Public), random, "his own share in the draws, in public")
		}
		if r.Revision == 2 {
			assert.Regexp(t, `"random":"[0-9a-f]{32}"`, string(r.Public), "the server's own where a player gives none")
		}
	}
}

// TestOneClaimOneSeat: of those who hold a link one gets the seat, in whichever process they ask.
func TestOneClaimOneSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created, err := w.Create(t.Context(), w.operator, []byte(setup("poll", "")), base)
	require.NoError(t, err)
	services := []*submission.Service{w.service(w.Log), w.service(w.Log)}
	codes := make([]problem.Code, 16)
	meet(len(codes), func(i int) {
		_, err := services[i%2].Claim(t.Context(), body(map[string]any{"claim": created.Players["ada"].Claim}))
		codes[i] = code(t, err)
	})
	got := 0
	for _, c := range codes {
		if c == "" {
			got++
			continue
		}
		assert.Equal(t, problem.Code(match.Claimed), c)
	}
	assert.Equal(t, 1, got)
}

// TestFaultsOfTheLog: what was asked for stands exactly once and is answered, whether the log took it when it said that
// it was down or not; when it stays down, the answer says so.
func TestFaultsOfTheLog(t *testing.T) {
	t.Parallel()
	for name, takes := range map[string]bool{"not written": false, "written, and not said so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				log := &faulty{Log: w.Log, takes: takes}
				w.Service = w.service(log)
				for _, down := range []int64{1, 2} {
					everything(t, w, func() { log.down.Store(down) })
				}
				log.down.Store(1000)
				_, err := w.Create(t.Context(), w.operator, []byte(setup("poll", "")), base)
				require.ErrorIs(t, err, eventlog.ErrUnavailable)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				defer cancel()
				_, err = w.Create(ctx, w.operator, []byte(setup("poll", "")), base)
				require.Error(t, err, "who has gone is not waited for")
			})
		})
	}
}

// everything asks for each thing once, the log being down before each, and demands that it stands once.
func everything(t *testing.T, w *world, fail func()) {
	t.Helper()
	fail()
	created, err := w.Create(t.Context(), w.operator, []byte(setup("glass-full", "")), base)
	require.NoError(t, err)
	tokens := map[string]string{}
	for id, link := range created.Players {
		fail()
		seated, err := w.Claim(t.Context(), body(map[string]any{"claim": link.Claim}))
		require.NoError(t, err, "the token is given out")
		tokens[id] = seated.Token
	}
	w.Resolve(created.Match)
	fail()
	first, err := w.Submit(t.Context(), tokens["ada"], created.Match, "", move(0, pickBob))
	require.NoError(t, err, "with no key to know it by")
	w.Resolve(created.Match)
	fail()
	second, err := w.Submit(t.Context(), tokens["bob"], created.Match, "k", move(3, addOne))
	assert.Equal(t, problem.Code(match.PhaseClosed), code(t, err))
	assert.Nil(t, second)
	second, err = w.Submit(t.Context(), tokens["bob"], created.Match, "k", move(2, addOne))
	require.NoError(t, err)
	assert.Equal(t, []submission.Receipt{*first, *second}, w.submissions(created.Match))
	w.Resolve(created.Match)
	for _, action := range []string{"pause", "resume"} {
		fail()
		_, err := w.Control(t.Context(), w.operator, created.Match, action, base, body(map[string]any{"why": ""}))
		require.NoError(t, err, action)
	}
	fail()
	_, err = w.Control(t.Context(), w.operator, created.Match, "extend", base, body(map[string]any{"why": "", "player": "ada", "by": "1m"}))
	require.NoError(t, err)
	fail()
	again, err := w.Control(t.Context(), w.operator, created.Match, "reissue", base, body(map[string]any{"why": "", "player": "ada"}))
	require.NoError(t, err)
	assert.Equal(t, w.authority.Claim(created.Match, "ada", 1), again.Claim)
	fail()
	_, err = w.Control(t.Context(), w.operator, created.Match, "void", base, body(map[string]any{"why": ""}))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"match-created", "seat-claimed", "seat-claimed", "match-started", "phase-opened", "submission-accepted",
		"glass-full.starter-picked", "phase-opened", "submission-accepted", "glass-full.turn-taken", "phase-opened",
		"match-paused", "match-resumed", "clock-extended", "seat-reissued", "match-voided",
	}, w.Types(created.Match))
}
