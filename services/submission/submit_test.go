package submission_test

import (
	"fmt"
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

const conflict = problem.Code(match.ConflictState)

// submit submits and demands a receipt.
func (w *world) submit(tab *table, seat, key string, body []byte) *submission.Receipt {
	w.t.Helper()
	r, err := w.Submit(w.t.Context(), seat, tab.id, key, body)
	require.NoError(w.t, err)
	return r
}

// refused submits and returns the code of the refusal.
func (w *world) refused(tab *table, seat, key string, body []byte) problem.Code {
	w.t.Helper()
	r, err := w.Submit(w.t.Context(), seat, tab.id, key, body)
	require.Error(w.t, err)
	require.Nil(w.t, r)
	return code(w.t, err)
}

func TestTheReceiptIsTheEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	r := w.submit(tab, tab.ada, "", move(0, pickBob))
	assert.Equal(t, []submission.Receipt{*r}, w.submissions(tab.id))
	for ev, err := range w.Own.Events(t.Context(), tab.id, r.Revision) {
		require.NoError(t, err)
		assert.Equal(t, event.Player, ev.By)
		assert.JSONEq(t, `{"phase":1,"player":"ada"}`, string(ev.Public), "what was submitted is no public fact")
	}
}

// TestOneKeyOneSubmission sends a submission again, as a client does that got no answer: whatever has happened since.
func TestOneKeyOneSubmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	first := w.submit(tab, tab.ada, "k", move(1, pickBob))
	spelled := `{ "player" : "b\u006fb", "type":"pick-starter" }`
	again := func(when string) {
		t.Helper()
		for name, b := range map[string][]byte{
			"named": move(1, pickBob), "spelled otherwise": move(1, spelled),
		} {
			assert.Equal(t, first, w.submit(tab, tab.ada, "k", b), "%s, %s", name, when)
			assert.Equal(t, first, w.must(w.service(w.Log).Submit(t.Context(), tab.ada, tab.id, "k", b)), "%s, %s, elsewhere", name, when)
		}
		for _, other := range []string{pickAda, addOne, `{"type":"nonsense"}`, `{"type":"sponge","type":"sponge"}`, `[]`} {
			assert.Equal(t, conflict, w.refused(tab, tab.ada, "k", move(1, other)), "%s, %s", other, when)
		}
	}
	again("at once")
	assert.Equal(t, first, w.submit(tab, tab.ada, "k", move(0, pickBob)), "not named")
	assert.Equal(t, conflict, w.refused(tab, tab.ada, "k", move(0, pickAda)))
	w.Resolve(tab.id)
	again("when the phase is over")
	assert.Equal(t, first, w.submit(tab, tab.ada, "k", move(0, pickBob)), "not named: the seat's latest")
	assert.Equal(t, problem.Code(match.NotAwaited), w.refused(tab, tab.ada, "k", move(0, pickAda)), "not named, other content: another turn's")

	_, err := w.Control(t.Context(), tab.host, tab.id, "pause", base, body(map[string]any{"why": ""}))
	require.NoError(t, err)
	again("when paused")
	_, err = w.Control(t.Context(), tab.host, tab.id, "resume", base, body(map[string]any{"why": ""}))
	require.NoError(t, err)

	bob := w.submit(tab, tab.bob, "k", move(0, addOne))
	assert.NotEqual(t, first, bob, "a key is one seat's")
	w.Resolve(tab.id)
	third := w.submit(tab, tab.ada, "k", move(3, addTwo))
	assert.NotEqual(t, first, third, "and one phase's")
	w.Resolve(tab.id)
	again("long after")
	assert.Equal(t, third, w.submit(tab, tab.ada, "k", move(3, addTwo)))
	_, err = w.Control(t.Context(), tab.host, tab.id, "void", base, body(map[string]any{"why": ""}))
	require.NoError(t, err)
	again("when the match is over")
	assert.Equal(t, third, w.submit(tab, tab.ada, "k", move(0, addTwo)), "not named, after the end")
	assert.Equal(t, problem.Code(match.MatchOver), w.refused(tab, tab.ada, "k", move(0, addOne)))
	assert.Equal(t, problem.Code(match.MatchOver), w.refused(tab, tab.ada, "other", move(1, pickBob)))
	assert.Equal(t, []submission.Receipt{*first, *bob, *third}, w.submissions(tab.id))
}

func (w *world) must(r *submission.Receipt, err error) *submission.Receipt {
	w.t.Helper()
	require.NoError(w.t, err)
	return r
}

// TestAKeyWithoutAPhase: where none is named, the key is the open phase's, but for the latest submission sent again.
func TestAKeyWithoutAPhase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	w.submit(tab, tab.ada, "k", move(0, pickBob))
	w.Resolve(tab.id)
	bob := w.submit(tab, tab.bob, "k", move(0, addOne))
	w.Resolve(tab.id)
	ada := w.submit(tab, tab.ada, "k", move(0, addOne))
	w.Resolve(tab.id)
	assert.Equal(t, bob, w.submit(tab, tab.bob, "k", move(0, addOne)), "its turn again, and the same as before: sent again")
	next := w.submit(tab, tab.bob, "k", move(0, addTwo))
	assert.NotEqual(t, bob, next, "something else: the turn's submission")
	assert.Equal(t, next, w.submit(tab, tab.bob, "k", move(0, addTwo)))
	assert.Equal(t, conflict, w.refused(tab, tab.bob, "k", move(0, addOne)))
	assert.Equal(t, bob, w.submit(tab, tab.bob, "k", move(2, addOne)), "named, it is known for ever")
	w.Resolve(tab.id)
	assert.Equal(t, ada, w.submit(tab, tab.ada, "k", move(0, addOne)))
	assert.Len(t, w.submissions(tab.id), 4)
}

// TestReplacing: in a phase of several a submission may be replaced until it resolves, and each key keeps its answer.
func TestReplacing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("poll")
	one := w.submit(tab, tab.ada, "one", move(1, say("a")))
	two := w.submit(tab, tab.ada, "two", move(1, say("b")))
	assert.Equal(t, []string{"submission-accepted", "submission-replaced"}, w.Types(tab.id)[6:])
	assert.Equal(t, one, w.submit(tab, tab.ada, "one", move(1, say("a"))), "sent again, it does not undo the second")
	assert.Equal(t, one, w.submit(tab, tab.ada, "one", move(0, say("a"))))
	assert.Equal(t, two, w.submit(tab, tab.ada, "two", move(0, say("b"))))
	assert.Equal(t, conflict, w.refused(tab, tab.ada, "one", move(1, say("b"))))
	assert.Equal(t, conflict, w.refused(tab, tab.ada, "one", move(0, say("c"))))
	assert.Equal(t, conflict, w.refused(tab, tab.ada, "one", move(1, say("never"))))
	back := w.submit(tab, tab.ada, "three", move(1, say("a")))
	assert.NotEqual(t, one, back, "another key, another submission")
	keyless := w.submit(tab, tab.ada, "", move(1, say("a")))
	assert.NotEqual(t, back, keyless, "without a key each is its own")
	assert.Equal(t, []submission.Receipt{*one, *two, *back, *keyless}, w.submissions(tab.id))
	assert.Equal(t, problem.Code(match.IllegalMove), w.refused(tab, tab.ada, "four", move(1, say("never"))))
	w.submit(tab, tab.ada, "four", move(1, say("d"))) // a refused one used no key up
	w.submit(tab, tab.bob, "", move(1, say("x")))
	w.expire(tab.id, time.Hour)
	assert.Equal(t, one, w.submit(tab, tab.ada, "one", move(1, say("a"))))
	assert.Equal(t, problem.Code(match.PhaseClosed), w.refused(tab, tab.ada, "five", move(1, say("a"))))
}

// TestSameKeyAtOnce sends one submission from many connections at the same moment, to two processes.
func TestSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	for _, game := range []string{"glass-full", "poll"} {
		w := newWorld(t)
		tab := w.table(game)
		content := map[string]string{"glass-full": pickBob, "poll": say("a")}[game]
		services := []*submission.Service{w.Service, w.service(w.Log)}
		receipts := make([]*submission.Receipt, 16)
		meet(len(receipts), func(i int) {
			var err error
			receipts[i], err = services[i%2].Submit(t.Context(), tab.ada, tab.id, "k", move(i%3/2, content))
			assert.NoError(t, err)
		})
		stands := w.submissions(tab.id)
		require.Len(t, stands, 1, game)
		for _, r := range receipts {
			assert.Equal(t, &stands[0], r, game)
		}
	}
}

// TestOneKeyTwoContents: one of them stands, and who sent the other is told.
func TestOneKeyTwoContents(t *testing.T) {
	t.Parallel()
	for _, game := range []string{"glass-full", "poll"} {
		w := newWorld(t)
		tab := w.table(game)
		contents := map[string][]string{"glass-full": {pickBob, pickAda}, "poll": {say("a"), say("b")}}[game]
		services := []*submission.Service{w.Service, w.service(w.Log)}
		codes := make([]problem.Code, 16)
		meet(len(codes), func(i int) {
			_, err := services[i/2%2].Submit(t.Context(), tab.ada, tab.id, "k", move(1, contents[i%2]))
			codes[i] = code(t, err)
		})
		require.Len(t, w.submissions(tab.id), 1, game)
		for i, c := range codes {
			assert.Contains(t, []problem.Code{"", conflict}, c)
			assert.Equal(t, codes[i%2], c, "%s: whoever sent the same is answered the same", game)
		}
		assert.NotEqual(t, codes[0], codes[1], game)
	}
}

// TestNoKeyAtOnce: in a turn the first stands; all others are told.
func TestNoKeyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	codes := make([]problem.Code, 16)
	meet(len(codes), func(i int) {
		_, err := w.Submit(t.Context(), tab.ada, tab.id, "", move(0, pickBob))
		codes[i] = code(t, err)
	})
	accepted := 0
	for _, c := range codes {
		if c == "" {
			accepted++
			continue
		}
		assert.Equal(t, problem.Code(match.AlreadySubmitted), c)
	}
	assert.Equal(t, 1, accepted)
}

// TestEverybodyAtOnce: seats of one phase don't push each other out, whichever process takes them.
func TestEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("poll")
	services := []*submission.Service{w.Service, w.service(w.Log)}
	meet(16, func(i int) {
		seat := []string{tab.ada, tab.bob}[i%2]
		_, err := services[i/2%2].Submit(t.Context(), seat, tab.id, fmt.Sprint("k", i), move(1, say(fmt.Sprint(i))))
		assert.NoError(t, err)
	})
	assert.Len(t, w.submissions(tab.id), 16)
}

// TestACopyThatIsBehind: a player who saw the newest view answers it before this process has heard of it.
func TestACopyThatIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	log := &faulty{Log: w.Log}
	behind := w.service(log)
	_, err := behind.Submit(t.Context(), tab.bob, tab.id, "", move(0, addOne))
	assert.Equal(t, problem.Code(match.NotAwaited), code(t, err), "it has read the match now")
	w.submit(tab, tab.ada, "", move(1, pickBob))
	w.Resolve(tab.id)
	r, err := behind.Submit(t.Context(), tab.bob, tab.id, "", move(2, addOne))
	require.NoError(t, err, "its own copy still awaits ada in phase 1")
	assert.Equal(t, *r, w.submissions(tab.id)[1])
	w.Resolve(tab.id)

	// A refusal is given only after the log's head was read.
	for _, refuse := range []func() error{
		func() error {
			_, err := behind.Submit(t.Context(), tab.bob, tab.id, "", move(0, addOne))
			return err
		},
		func() error {
			_, err := behind.Control(t.Context(), tab.host, tab.id, "resume", base, body(map[string]any{"why": ""}))
			return err
		},
		func() error {
			_, err := behind.Claim(t.Context(), body(map[string]any{"claim": w.authority.Claim(tab.id, "ada", 0)}))
			return err
		},
		func() error {
			_, err := behind.Control(t.Context(), tab.ada, tab.id, "pause", base, body(map[string]any{"why": ""}))
			return err
		},
	} {
		require.Error(t, refuse())
		before := log.reads.Load()
		require.Error(t, refuse())
		assert.Greater(t, log.reads.Load(), before)
	}

	answer, err := w.Control(t.Context(), tab.host, tab.id, "reissue", base, body(map[string]any{"why": "", "player": "ada"}))
	require.NoError(t, err)
	seated, err := behind.Claim(t.Context(), body(map[string]any{"claim": answer.Claim}))
	require.NoError(t, err, "its copy knows of no second link")
	_, err = w.service(w.Log).Submit(t.Context(), seated.Token, tab.id, "", move(0, addOne))
	require.NoError(t, err)
}

// TestWhoMaySubmit goes through the tokens that there are.
func TestWhoMaySubmit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab, other := w.table("glass-full"), w.table("glass-full")
	_, err := w.Control(t.Context(), tab.host, tab.id, "reissue", base, body(map[string]any{"why": "", "player": "bob"}))
	require.NoError(t, err)
	seat := func(id string, issue int) string {
		return w.sign(token.Token{Role: token.Seat, Match: tab.id, Seat: id, Issue: issue})
	}
	for name, c := range map[string]struct {
		bearer string
		code   problem.Code
	}{
		"nobody":                     {"", "unauthorized"},
		"a stranger":                 {"e30.e30.e30", "unauthorized"},
		"an altered token":           {tab.ada[:len(tab.ada)-4] + "AAAA", "unauthorized"},
		"an operator":                {w.operator, "forbidden"},
		"a player elsewhere":         {other.ada, "forbidden"},
		"a seat that is not there":   {seat("eve", 0), "unauthorized"},
		"a seat that sees all":       {seat("public", 0), "unauthorized"},
		"of a link that was lost":    {tab.bob, "unauthorized"},
		"of a link not claimed yet":  {seat("bob", 1), "unauthorized"},
		"of a link not given out":    {seat("ada", 1), "unauthorized"},
		"the host, who has no phase": {tab.host, "not-awaited"},
	} {
		assert.Equal(t, c.code, w.refused(tab, c.bearer, "", move(0, pickBob)), name)
	}
	_, err = w.Submit(t.Context(), seat("ada", 0), "nosuchmatchatall0000", "", move(0, pickBob))
	assert.Equal(t, problem.Forbidden, code(t, err))
	gone := w.sign(token.Token{Role: token.Seat, Match: "nosuchmatchatall0000", Seat: "ada"})
	_, err = w.Submit(t.Context(), gone, "nosuchmatchatall0000", "", move(0, pickBob))
	assert.Equal(t, problem.NotFound, code(t, err))
	w.Pass(3 * 365 * 24 * time.Hour)
	assert.Equal(t, problem.Unauthorized, w.refused(tab, tab.ada, "", move(0, pickBob)), "expired")
	assert.Empty(t, w.submissions(tab.id))
}

// TestRefusalsTellNothing: what was submitted stands in no refusal, which proxies and browsers may log.
func TestRefusalsTellNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	const secret = "s3cr3t"
	for name, c := range map[string]struct {
		body string
		code problem.Code
	}{
		"cut":               {`{"submission":{"type":"` + secret, "malformed"},
		"no JSON":           {secret, "malformed"},
		"something behind":  {`{"submission":{}} ` + secret, "malformed"},
		"not UTF-8":         {`{"submission":"` + secret + "\xff\"}", "malformed"},
		"no object":         {`"` + secret + `"`, "malformed"},
		"a list":            {`{"submission":["` + secret + `"]}`, "malformed"},
		"a string":          {`{"submission":"` + secret + `"}`, "malformed"},
		"a field too many":  {`{"submission":{},"` + secret + `":1}`, "malformed"},
		"a type":            {`{"submission":{},"type":"` + secret + `"}`, "malformed"},
		"a phase":           {`{"submission":{},"phase":"` + secret + `"}`, "malformed"},
		"an unknown type":   {`{"submission":{"type":"` + secret + `"}}`, "malformed"},
		"an unknown player": {`{"submission":{"type":"pick-starter","player":"` + secret + `"}}`, "malformed"},
		"an unknown field":  {`{"submission":{"type":"sponge","` + secret + `":"` + secret + `"}}`, "malformed"},
		"a name twice":      {`{"submission":{"` + secret + `":1,"` + secret + `":2}}`, "malformed"},
		"a lone surrogate":  {`{"submission":{"type":"` + secret + `\ud800"}}`, "malformed"},
		"another phase's":   {`{"submission":{"type":"add","cups":3}}`, "illegal-move"},
	} {
		for _, key := range []string{"", secret} {
			r, err := w.Submit(t.Context(), tab.ada, tab.id, key, []byte(c.body))
			require.Nil(t, r, name)
			assert.Equal(t, c.code, code(t, err), name)
			p, _ := problem.Of(err)
			assert.NotContains(t, string(p.Reply().Body), secret, name)
			assert.NotContains(t, err.Error(), secret, name)
		}
	}
	long := strings.Repeat(secret, 40)
	_, err := w.Submit(t.Context(), tab.ada, tab.id, long, move(0, pickBob))
	assert.Equal(t, problem.Code(match.MalformedMove), code(t, err), "a key has at most 200 bytes")
	assert.NotContains(t, err.Error(), secret)
	w.submit(tab, tab.ada, long[:200], move(0, pickBob))
	_, err = w.Submit(t.Context(), tab.ada, tab.id, long[:200], move(0, pickAda))
	assert.Equal(t, conflict, code(t, err))
	assert.NotContains(t, err.Error(), secret)
}

// TestPhases names phases that are not open, and none where none is.
func TestPhases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tab := w.table("glass-full")
	for _, phase := range []string{"0", "-1", "2", "9223372036854775807", "99999999999999999999999", "-99999999999999999999999"} {
		assert.Equal(t, problem.Code(match.PhaseClosed), w.refused(tab, tab.ada, "k", []byte(`{"phase":`+phase+`,"submission":`+pickBob+`}`)), phase)
	}
	for _, phase := range []string{"1.0", "1e0", "null", "true", "[1]"} {
		assert.Equal(t, problem.Code(match.MalformedMove), w.refused(tab, tab.ada, "k", []byte(`{"phase":`+phase+`,"submission":`+pickBob+`}`)), phase)
	}
	assert.Empty(t, w.submissions(tab.id))
}
