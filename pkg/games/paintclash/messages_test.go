package paintclash

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// fixed is a state as the set-up fixes it, which is all that decode may look at.
func fixed(a armory) *state {
	s := &state{armory: a}
	for _, id := range everybody {
		s.seats = append(s.seats, match.Player{ID: id, Name: id, Roles: []string{}})
	}
	return s
}

func decoded(t *testing.T, a armory, submission string) (move, error) {
	t.Helper()
	v, err := event.ParseLoose([]byte(submission))
	require.NoError(t, err)
	return decode(fixed(a), v)
}

func TestDecode(t *testing.T) {
	at := board.find
	for submission, want := range map[string]move{
		`{"type": "team", "color": "green", "bid": 0}`:                          {kind: team, color: green},
		`{"bid": 7, "color": "pink", "type": "team"}`:                           {kind: team, color: pink, bid: 7},
		`{"type": "team", "color": "pink", "bid": -0}`:                          {kind: team, color: pink},
		`{"type": "team", "color": "pink", "bid": 9223372036854775808}`:         {kind: team, color: pink, bid: 1<<63 - 1},
		`{"type": "start", "cell": "A1"}`:                                       {kind: start, cell: at("A1")},
		`{"type": "start", "cell": "Q17"}`:                                      {kind: start, cell: at("Q17")},
		roundOf("walk C5 1 E"):                                                  {kind: round, mode: walk, cell: at("C5"), gun: 1, direction: 0},
		roundOf("squid I17 5 NE"):                                               {kind: round, mode: squid, cell: at("I17"), gun: 5, direction: 5},
		roundOf("walk C5 3"):                                                    {kind: round, mode: walk, cell: at("C5"), gun: 3, direction: undirected},
		roundOf("walk C5 6 SW"):                                                 {kind: round, mode: walk, cell: at("C5"), gun: 6, direction: 2},
		strings.Replace(roundOf("walk C5 3"), "3}", `3, "direction": null}`, 1): {kind: round, mode: walk, cell: at("C5"), gun: 3, direction: undirected},
		nominating("p8"):                                                        {kind: nominate, player: 7},
		choosing("p1"):                                                          {kind: chooseOpponent, player: 0},
	} {
		got, err := decoded(t, standard, submission)
		if assert.NoError(t, err, submission) {
			assert.Equal(t, want, got, submission)
		}
	}
}

// malformed is what could never be right, in this match or any other of its set-up.
var malformed = []string{
	`{}`, `{"type": null}`, `{"type": "Team", "color": "green", "bid": 0}`, `{"type": "paint"}`, `{"type": ["team"]}`,
	`{"Type": "start", "cell": "A1"}`, `{"type": "start"}`, `{"type": "start", "cell": 1}`, `{"type": "start", "cell": null}`,
	`{"type": "start", "cell": "A10"}`, `{"type": "start", "cell": "J1"}`, `{"type": "start", "cell": "Q8"}`,
	`{"type": "start", "cell": "a1"}`, `{"type": "start", "cell": ["A1"]}`, `{"type": "start", "cell": "A1", "color": "green"}`,
	`{"type": "round"}`, `{"type": "round", "move": {"mode": "walk", "to": "C5"}}`, `{"type": "round", "shot": {"gun": 3}}`,
	`{"type": "round", "move": null, "shot": {"gun": 3}}`, `{"type": "round", "move": {}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": null}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {}}`,
	`{"type": "round", "move": ["walk", "C5"], "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": 3}`,
	`{"type": "round", "move": {"mode": "run", "to": "C5"}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk"}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"to": "C5"}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "R5"}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5", "by": 1}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5", "type": "x"}, "shot": {"gun": 3}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 3, "type": "x"}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 3, "at": "C5"}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 3}, "no": 1}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"direction": "E"}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": null, "direction": "E"}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": "1", "direction": "E"}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 1.0, "direction": "E"}}`,
	roundOf("walk C5 0 E"), roundOf("walk C5 7 E"), roundOf("walk C5 -1 E"), roundOf("walk C5 1000000000000000000000 E"),
	roundOf("walk C5 1"), roundOf("walk C5 2"), roundOf("walk C5 4"), roundOf("walk C5 5"),
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 1, "direction": null}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 1, "direction": 0}}`,
	`{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 3, "direction": 0}}`,
	roundOf("walk C5 1 N"), roundOf("walk C5 3 N"), roundOf("walk C5 3 e"), roundOf("walk C5 6 S"),
	nominating("p9"), nominating("host"), nominating("public"), nominating(""), nominating("P5"),
	`{"type": "nominate"}`, `{"type": "nominate", "player": null}`, `{"type": "nominate", "player": 5}`,
	`{"type": "nominate", "player": "p5", "why": "x"}`, choosing("x"), `{"type": "choose-opponent"}`,
}

func TestMalformed(t *testing.T) {
	for _, submission := range malformed {
		_, err := decoded(t, standard, submission)
		var refusal *match.Refusal
		if assert.ErrorAs(t, err, &refusal, submission) {
			assert.Equal(t, match.MalformedMove, refusal.Code, submission)
		}
	}
}

// Which guns look the same in every direction is decided from the armory.
func TestADirectionMayBeLeftOutByTheArmory(t *testing.T) {
	turned := armory{standard[2], standard[2], standard[0], standard[5], standard[1], standard[3]}
	for gun, free := range []bool{true, true, false, true, false, false} {
		gun := string(rune('1' + gun))
		for _, words := range []string{"walk C5 " + gun, "walk C5 " + gun + " E"} {
			_, err := decoded(t, turned, roundOf(words))
			assert.Equal(t, free || strings.HasSuffix(words, "E"), err == nil, words)
		}
		_, err := decoded(t, turned, strings.Replace(roundOf("walk C5 "+gun), gun+"}", gun+`, "direction": null}`, 1))
		assert.Equal(t, free, err == nil, gun)
	}
}

// FuzzDecode: reading a submission never panics, what is wrong with it is a refusal as malformed, and its canonical form
// is read as the same.
func FuzzDecode(f *testing.F) {
	for _, submission := range malformed {
		f.Add(submission)
	}
	for _, submission := range []string{
		teamOf("green", 3), startAt("A9"), roundOf("squid C5 3"), roundOf("walk C5 4 NW"), nominating("p5"), choosing("p2"),
		`{"type":"team","color":"pink","bid":-0}`, `{"type":"team","color":"pink","bid":1e3}`, `[]`, `"team"`, `null`,
		`{"type":"round","move":{"mode":"walk","to":"C5"},"shot":{"gun":6,"direction":null}}`,
	} {
		f.Add(submission)
	}
	s := fixed(standard)
	f.Fuzz(func(t *testing.T, submission string) {
		v, err := event.Parse([]byte(submission))
		if err != nil {
			t.Skip("no JSON, which the machine refuses")
		}
		m, err := decode(s, v)
		if err != nil {
			var refusal *match.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, match.MalformedMove, refusal.Code)
			return
		}
		canonical, err := v.AppendCanonical(nil)
		if err != nil {
			require.Greater(t, m.bid, int64(1<<53-1), "only a bid may be that large, and nobody has so much")
			return
		}
		again, err := event.Parse(canonical)
		require.NoError(t, err)
		same, err := decode(s, again)
		require.NoError(t, err)
		require.Equal(t, m, same)
	})
}

// FuzzSetup: a set-up never panics, what is wrong with it is a *match.SetupError, and a match that is created can begin.
func FuzzSetup(f *testing.F) {
	for _, change := range []func(map[string]any){
		nil, owning(0, 1<<53-4), option("armory", lanes), option("armory", lanes[:5]), option("close", "at-deadline"),
		option("armory", shapes(1, disc(4, 61))), option("armory", shapes(4, [][2]int{{0, 0}})),
		option("armory", shapes(2, []any{[]any{0, 17}})), option("clock", map[string]any{"move": "-1s"}),
		func(s map[string]any) { delete(s, "garnets") },
		func(s map[string]any) { s["garnets"] = map[string]any{"p9": 1} },
		func(s map[string]any) { s["garnets"].(map[string]any)["p1"] = -1 },
	} {
		raw, err := json.Marshal(setup(change))
		require.NoError(f, err)
		f.Add(string(raw))
	}
	games := match.Catalog{Game()}
	seed, err := hex.DecodeString(s0)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := event.ParseLoose([]byte(text))
		if err != nil {
			t.Skip("no JSON")
		}
		var bad *match.SetupError
		parsed, err := match.ParseSetup(games, v)
		if err != nil {
			require.ErrorAs(t, err, &bad)
			return
		}
		parsed.Options.Start = match.StartNow
		drafts, _, err := match.Create("m", parsed, seed, true, epoch)
		if err != nil {
			require.ErrorAs(t, err, &bad)
			return
		}
		p := &playing{TB: t, now: epoch}
		p.m, err = match.Replay(games, factOf(&drafts[0], 0))
		require.NoError(t, err)
		require.NoError(t, p.m.ApplyDraft(factOf(&drafts[1], 1), &drafts[1]))
		opened := p.m.Resolve(epoch)
		require.Len(t, opened, 1)
		require.NoError(t, p.m.Apply(factOf(&opened[0], 2)))
		require.Equal(t, team, p.phase())
	})
}
