package paintclash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

func TestSetupGarnets(t *testing.T) {
	raw := func(s string) any { return json.RawMessage(s) }
	one := func(value any) func(map[string]any) {
		return func(s map[string]any) { s["garnets"].(map[string]any)["p3"] = value }
	}
	all := func(value any) func(map[string]any) { return func(s map[string]any) { s["garnets"] = value } }
	for name, c := range map[string]struct {
		change func(map[string]any)
		field  string // of the error, "" for none
	}{
		"five each":        {nil, ""},
		"none":             {one(0), ""},
		"none, negatively": {one(raw("-0")), ""},
		"the most":         {one(int64(mostGarnets)), ""},
		"more":             {one(int64(mostGarnets + 1)), "garnets.p3"},
		"ever so many":     {one(raw("1000000000000000000000000000000")), "garnets.p3"},
		"less than none":   {one(-1), "garnets.p3"},
		"no whole number":  {one(raw("2.0")), "garnets.p3"},
		"an exponent":      {one(raw("2e0")), "garnets.p3"},
		"a string":         {one("2"), "garnets.p3"},
		"null":             {one(nil), "garnets.p3"},
		"a player missing": {func(s map[string]any) { delete(s["garnets"].(map[string]any), "p3") }, "garnets.p3"},
		"a stranger":       {func(s map[string]any) { s["garnets"].(map[string]any)["p9"] = 1 }, "garnets.p9"},
		"a list":           {all([]int{5, 5, 5, 5, 5, 5, 5, 5}), "garnets"},
		"no garnets":       {func(s map[string]any) { delete(s, "garnets") }, "garnets"},
		"garnets null":     {all(nil), "garnets"},
		"seven players":    {func(s map[string]any) { s["players"] = s["players"].([]any)[:7] }, "players"},
		"a role":           {func(s map[string]any) { s["roles"] = map[string]any{"dmo": "p1"} }, "roles.dmo"},
		"a foreign option": {option("statements", 1), "options.statements"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t, setup(c.change))
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			var bad *match.SetupError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.field, bad.Field)
		})
	}
}

// What each player owns is sealed for him at creation, one face a player.
func TestGarnetsAreSealed(t *testing.T) {
	created := begun(t, owning(0, 1, 2, 3, 4, 5, 6, 7)).only("match-created")
	require.Len(t, created.faces, 1+players)
	for i, face := range created.faces[1:] {
		assert.Equal(t, []string{everybody[i]}, face.To)
		assert.JSONEq(t, fmt.Sprintf(`{"garnets": %d}`, i), string(face.Data))
	}
	assert.NotContains(t, created.public, "garnets")
}

// "Each round (and pregame phase) takes 24 hours." **Ruling**: nominate and choose-opponent do so too; the phases of all
// are held open to their deadline unless the match says otherwise, a turn is not.
func TestEveryPhaseTakes24Hours(t *testing.T) {
	p := begun(t, func(s map[string]any) { s["options"] = map[string]any{} })
	for _, name := range []string{team, start, round, round, round, round, round, round} {
		require.Equal(t, name, p.phase())
		for _, id := range everybody {
			p.submit(id, legal(p, id))
		}
		p.wait(24*time.Hour - 1)
		require.Equal(t, name, p.phase(), "all are in, and it is held open")
		p.submit("p1", legal(p, "p1"))
		p.wait(1)
	}
	require.Equal(t, nominate, p.phase())
	for _, id := range p.m.View(match.Public).Phase.Awaiting {
		p.submit(id, legal(p, id))
	}
	p.wait(24*time.Hour - 1)
	require.Equal(t, nominate, p.phase())
	p.wait(1)
	require.Equal(t, chooseOpponent, p.phase())
	assert.Equal(t, p.now.Add(24*time.Hour), p.m.View(match.Public).Phase.Clocks[*p.table(match.Public).Candidate].Deadline.Time)
	p.submit(*p.table(match.Public).Candidate, legal(p, *p.table(match.Public).Candidate))
	assert.Empty(t, p.phase(), "a turn's first submission stands")
	assert.True(t, p.m.Over())
}

// legal is the first legal submission that a player's hints offer; of the cells, one that keeps players apart.
func legal(p *playing, id string) string {
	h := p.you(id).Hints
	i := slices.Index(everybody, id)
	switch p.phase() {
	case team:
		return teamOf(h.Colors[i/teamSize], 0)
	case start:
		return startAt(h.Cells[i])
	case round:
		gun := h.Guns[0]
		words := fmt.Sprintf("walk %s %d", h.Walk[i], gun.Gun)
		if aim := gun.Aims[0]; aim.Direction != nil {
			words += " " + *aim.Direction
		}
		return roundOf(words)
	case nominate:
		return nominating(h.Players[0])
	default:
		return choosing(h.Players[0])
	}
}

// "Green team must choose one in rows A, B, or C, while Pink team must choose one in rows O, P, or Q."
func TestStartZones(t *testing.T) {
	p := teamed(t)
	for at, code := range map[string]match.Code{
		"A10": match.MalformedMove, "J1": match.MalformedMove, "Q8": match.MalformedMove, "R1": match.MalformedMove,
		"D1": match.IllegalMove, "O7": match.IllegalMove, "Q17": match.IllegalMove, "N17": match.IllegalMove,
	} {
		assert.Equal(t, code, p.refused("p1", startAt(at)), at)
	}
	for _, at := range []string{"A1", "C11", "N17", "D1"} {
		assert.Equal(t, match.IllegalMove, p.refused("p5", startAt(at)), at)
	}
	for _, at := range []string{"A1", "A9", "B10", "C1", "C11"} {
		p.submit("p1", startAt(at))
	}
	for _, at := range []string{"O7", "O17", "P8", "Q9", "Q17"} {
		p.submit("p5", startAt(at))
	}
}

// "It is allowed for two players to start on the same cell." "After this initial selection, the entire board is wiped
// clean ..., and Round 1 begins."
func TestTwoMayStartOnOneCell(t *testing.T) {
	p := started(t, "B5 B5 B5 A1 P9 P9 Q9 Q9")
	public := p.table(match.Public)
	assert.Equal(t, "B5", public.Positions["p1"])
	assert.Equal(t, "B5", public.Positions["p3"])
	assert.Equal(t, "P9", public.Positions["p6"])
	assert.Equal(t, paint{Green: []string{}, Pink: []string{}}, public.Paint)
	assert.Equal(t, 1, public.Round)
}

// "failure to submit in starting location selection randomizes your starting location".
func TestMissedStart(t *testing.T) {
	p := teamed(t)
	p.submit("p2", startAt("C1"))
	p.wait(moveTime)
	for i, id := range everybody {
		want := board.zone(pink)
		if i < teamSize {
			want = board.zone(green)
		}
		at := board.names[want[draws("start/"+id, 30)]]
		if id == "p2" {
			at = "C1"
		}
		assert.Equal(t, at, p.table(match.Public).Positions[id], id)
	}
}

// "You submit for these two phases simultaneously": one submission with the move and the shot. "In the Moving phase,
// players move to a different cell." "In this, you may move up to two cells away in any direction."
func TestWalk(t *testing.T) {
	p := started(t, crowd)
	for _, to := range []string{"C4", "C7", "C1", "F4", "E3", "A1", "A5", "I9"} {
		assert.Equal(t, match.IllegalMove, p.refused("p1", roundOf("walk "+to+" 1 E")), to)
	}
	for _, to := range []string{"C5", "C6", "C3", "C2", "D4", "D5", "E4", "E5", "E6", "B3", "B4", "A2", "A3", "A4", "B5", "B2", "D3", "D6"} {
		p.submit("p1", roundOf("walk "+to+" 1 E"))
	}
}

// Who stays where he is, by either mode, is told that he must move.
func TestMoveToADifferentCell(t *testing.T) {
	p := started(t, crowd)
	p.round(map[string]string{"p1": "walk C5 3"})
	for _, mode := range []string{walk, squid} {
		assert.ErrorContains(t, p.try("p1", roundOf(mode+" C5 1 E")), "a different cell")
	}
}

// "However, when moving as a squid, all cells you traverse, including the ones you start and end on, must already be
// painted with your team's color."
func TestSquid(t *testing.T) {
	p := started(t, "C4 C4 A9 A9 O14 O14 Q9 Q9")
	assert.Equal(t, match.IllegalMove, p.refused("p1", roundOf("squid C5 1 E")), "nothing is painted yet")
	p.round(map[string]string{
		"p1": "walk C5 1 E", // C5 to C10
		"p2": "walk C3 3",   // C3 and around
		"p5": "walk O12 1 W", "p6": "walk P14 4 SE",
	})
	for to, ok := range map[string]bool{
		"C6": true, "C9": true, "C10": false, "C5": false, "C4": true, "C3": true, "B3": true, "B2": true, "C2": true,
		"D3": true, "D4": true, "D5": false, "B5": false, "O10": false, "C11": false,
	} {
		if submission := roundOf("squid " + to + " 2 E"); ok {
			p.submit("p1", submission)
		} else {
			assert.Equal(t, match.IllegalMove, p.refused("p1", submission), to)
		}
	}
	assert.Equal(t, match.IllegalMove, p.refused("p5", roundOf("squid O13 2 E")), "O13 is not painted")
	p.submit("p5", roundOf("squid O8 2 E"))
	assert.Equal(t, match.IllegalMove, p.refused("p5", roundOf("squid O7 2 E")), "five steps")
	p.submit("p6", roundOf("walk O12 2 E"))
	p.submit("p1", roundOf("squid C9 2 E"))
	p.close()
	assert.Equal(t, "C9", p.table(match.Public).Positions["p1"])
	assert.Equal(t, match.IllegalMove, p.refused("p3", roundOf("squid B9 2 E")), "where a squid begins must be painted too")
}

// "It is allowed for multiple players to end on the same cell."
func TestSeveralMayEndOnOneCell(t *testing.T) {
	p := started(t, "C4 C4 C4 C4 O14 O14 O14 O14")
	for i, id := range everybody {
		p.submit(id, roundOf([]string{"walk C5 3", "walk O13 3"}[i/teamSize]))
	}
	public := p.table(match.Public)
	for i, id := range everybody {
		assert.Equal(t, []string{"C5", "O13"}[i/teamSize], public.Positions[id])
	}
	assert.Equal(t, []roundScore{{1, score{7, 7}}}, public.Scores)
}

// "There are six different guns, and each gun can only be used once for each player."
func TestEachGunOnce(t *testing.T) {
	p := started(t, crowd)
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6}, p.you("p1").Guns)
	p.round(map[string]string{"p1": "walk C5 4 E", "p5": "walk O13 3"})
	assert.Equal(t, []int{1, 2, 3, 5, 6}, p.you("p1").Guns)
	assert.Equal(t, []int{1, 2, 4, 5, 6}, p.you("p5").Guns)
	assert.Equal(t, match.IllegalMove, p.refused("p1", roundOf("walk C6 4 W")))
	p.submit("p5", roundOf("walk O12 4 W"))
	p.round(map[string]string{"p1": "walk C6 3"})
	assert.Equal(t, []int{1, 2, 5, 6}, p.you("p1").Guns)
	assert.Equal(t, match.IllegalMove, p.refused("p1", roundOf("walk C7 3")))
	assert.Equal(t, match.IllegalMove, p.refused("p1", roundOf("walk C7 4 E")))
}

// "in gameplay rounds, failure to submit means you do not move and use a gun at random."
func TestMissedRound(t *testing.T) {
	p := started(t, crowd)
	left := map[string][]int{}
	for n := 1; n <= lastRound; n++ {
		p.submit("p1", roundOf(fmt.Sprintf("walk %s %d E", []string{"C4", "C5"}[n%2], n)))
		p.wait(moveTime)
		resolved := p.of("round-resolved")[n-1]
		for i, id := range everybody[1:] {
			if n == 1 {
				left[id] = []int{1, 2, 3, 4, 5, 6}
			}
			pick := draws(fmt.Sprintf("gun/%d/%s", n, id), uint64(len(left[id])))
			gun := left[id][pick]
			left[id] = slices.Delete(left[id], int(pick), int(pick)+1)
			direction := []string{"E", "SE", "SW", "W", "NW", "NE"}[draws(fmt.Sprintf("direction/%d/%s", n, id), 6)]
			assert.JSONEq(t, fmt.Sprintf(`{"mode": null, "gun": %d, "direction": %q}`, gun, direction), string(resolved.faces[i+1].Data))
			assert.Equal(t, strings.Fields(crowd)[i+1], p.table(match.Public).Positions[id], "he does not move")
			assert.Equal(t, left[id], p.you(id).Guns)
			if n == 1 && slices.Contains(covered(gun, direction, strings.Fields(crowd)[i+1]), "A8") {
				assert.Contains(t, p.table(match.Public).Paint.Green, "A8")
			}
		}
	}
	require.NotEqual(t, round, p.phase())
}

// What is drawn for who misses is fired: his paint is where the drawn shot says.
func TestTheDrawnShotPaints(t *testing.T) {
	p := started(t, "C6 C6 C6 C6 O12 O12 O12 O12")
	p.submit("p1", roundOf("walk C7 3"))
	p.wait(moveTime)
	want := map[string]bool{}
	for _, name := range covered(3, "E", "C7") {
		want[name] = true
	}
	for _, id := range greens[1:] {
		direction := []string{"E", "SE", "SW", "W", "NW", "NE"}[draws("direction/1/"+id, 6)]
		for _, name := range covered(int(draws("gun/1/"+id, 6))+1, direction, "C6") {
			want[name] = true
		}
	}
	for _, name := range p.table(match.Public).Paint.Green {
		assert.True(t, want[name], name)
	}
	assert.Len(t, p.table(match.Public).Paint.Green, len(want))
}

// "The Main Match ends after six rounds."
func TestSixRounds(t *testing.T) {
	p := started(t, crowd)
	for n := 1; n <= lastRound; n++ {
		public := p.table(match.Public)
		require.Equal(t, round, p.phase())
		require.Equal(t, n, public.Round)
		require.Len(t, public.Scores, n-1)
		p.wait(moveTime)
	}
	assert.NotEqual(t, round, p.phase())
	assert.Equal(t, 6, p.table(match.Public).Round)
	assert.Len(t, p.table(match.Public).Scores, 6)
	for _, id := range everybody {
		assert.Empty(t, p.you(id).Guns)
	}
}

// A type that belongs to another phase is illegal-move, whatever else it says; what is malformed is so in every phase.
func TestEachPhaseTakesItsOwnType(t *testing.T) {
	types := map[string]string{
		team: teamOf("green", 0), start: startAt("A1"), round: roundOf("walk C5 3"),
		nominate: nominating("p5"), chooseOpponent: choosing("p6"),
	}
	p := begun(t)
	for p.phase() != "" {
		for _, id := range p.m.View(match.Public).Phase.Awaiting {
			for name, submission := range types {
				if name != p.phase() {
					require.Equal(t, match.IllegalMove, p.refused(id, submission), "%s in %s", name, p.phase())
				}
			}
			require.Equal(t, match.MalformedMove, p.refused(id, `{"type": "pass"}`))
		}
		p.wait(moveTime)
	}
	assert.Equal(t, match.MatchOver, p.refused("p1", types[team]))
}

// A copy of a match goes on by itself: what evolves it leaves the original and other copies as they are.
func TestCopiesGoOnByThemselves(t *testing.T) {
	p := started(t, crowd)
	for n := 1; p.phase() == round; n++ {
		q := *p
		q.folded = p.folded.Clone()
		before := text(t, p.table(match.HostID))
		q.round(map[string]string{"p1": fmt.Sprintf("walk D%d %d NW", 5+n%2, n)})
		after := text(t, q.table(match.HostID))
		require.Equal(t, before, text(t, p.table(match.HostID)))
		p.round(map[string]string{"p1": fmt.Sprintf("walk C%d %d SE", 5+n%2, n)})
		require.Equal(t, after, text(t, q.table(match.HostID)))
	}
}

func TestUnknownFactIsBroken(t *testing.T) {
	assert.PanicsWithValue(t, "paintclash: unknown fact glass-filled", func() {
		evolve(fixed(standard), &match.Fact[move]{Kind: "glass-filled"})
	})
	assert.Panics(t, func() { fixed(standard).seat("p9") })
}
