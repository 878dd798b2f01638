package paintclash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

func text(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// shown is the public table as JSON.
func shown(p *playing) string {
	raw, err := json.Marshal(p.m.View(match.Public).Table)
	require.NoError(p, err)
	return string(raw)
}

// "Publicly announced, after team selection: The two 4-player teams (but not the specific bids that caused them)".
// "Publicly announced, at the start of each round: The location of all players; the paint status of all cells".
func TestTheGridIsPosted(t *testing.T) {
	p := begun(t)
	const nothing = `{"round": 0, "teams": null, "positions": null, "paint": {"green": [], "pink": []}, "scores": [],
		"candidate": null, "opponent": null}`
	assert.JSONEq(t, nothing, shown(p))
	p.submit("p1", teamOf("green", 2))
	assert.JSONEq(t, nothing, shown(p))
	p.wait(moveTime)
	assert.JSONEq(t, strings.Replace(nothing, `"teams": null`, `"teams": `+text(t, p.table(match.Public).Teams), 1), shown(p))

	p = started(t, crowd)
	const first = `{"round": 1, "teams": {"green": ["p1", "p2", "p3", "p4"], "pink": ["p5", "p6", "p7", "p8"]},
		"positions": {"p1": "C4", "p2": "A9", "p3": "A9", "p4": "A9", "p5": "O14", "p6": "Q9", "p7": "Q9", "p8": "Q9"},
		"paint": {"green": [], "pink": []}, "scores": [], "candidate": null, "opponent": null}`
	assert.JSONEq(t, first, shown(p))
	for i, id := range everybody {
		p.submit(id, roundOf([]string{"walk D5 3", "walk A8 3", "walk A8 3", "walk A8 3", "walk N13 3", "walk P9 3", "walk P9 3", "walk P9 3"}[i]))
		if i < players-1 {
			assert.JSONEq(t, first, shown(p), "nothing is seen before the round ends")
		}
	}
	assert.JSONEq(t, `{"round": 2, "teams": {"green": ["p1", "p2", "p3", "p4"], "pink": ["p5", "p6", "p7", "p8"]},
		"positions": {"p1": "D5", "p2": "A8", "p3": "A8", "p4": "A8", "p5": "N13", "p6": "P9", "p7": "P9", "p8": "P9"},
		"paint": {"green": ["A7", "A8", "A9", "B8", "B9", "C4", "C5", "D4", "D5", "D6", "E5", "E6"],
			"pink": ["M12", "M13", "N12", "N13", "N14", "O8", "O9", "O13", "O14", "P8", "P9", "P10", "Q9", "Q10"]},
		"scores": [{"round": 1, "green": 12, "pink": 14}], "candidate": null, "opponent": null}`, shown(p))
	assert.JSONEq(t, `{"round": 1, "positions": {"p1": "D5", "p2": "A8", "p3": "A8", "p4": "A8", "p5": "N13", "p6": "P9",
			"p7": "P9", "p8": "P9"}, "score": {"green": 12, "pink": 14},
		"painted": {"green": ["A7", "A8", "A9", "B8", "B9", "C4", "C5", "D4", "D5", "D6", "E5", "E6"],
			"pink": ["M12", "M13", "N12", "N13", "N14", "O8", "O9", "O13", "O14", "P8", "P9", "P10", "Q9", "Q10"]}}`,
		p.only("round-resolved").public)
}

// "Publicly announced, at the end of the game: The final location of all players; the final status of all cells; which
// team is the winner".
func TestTheEndIsPublic(t *testing.T) {
	p := won(t)
	before := p.table(match.Public)
	p.wait(2 * moveTime)
	after := p.table(match.Public)
	assert.Equal(t, before.Positions, after.Positions)
	assert.Equal(t, before.Paint, after.Paint)
	assert.Equal(t, 6, after.Round)
	assert.Equal(t, "green", *p.result().Winner)
}

// "There is no private information in this game, aside from which guns you have used and still have remaining."
// **Ruling**: and so the mode of a move and the direction of a shot; and since nobody learns who paid, bids, payments and
// garnets.
func TestWhatIsPrivate(t *testing.T) {
	one := settled(t, [players]int{1, 5, 0, 2, 3, 4, 5, 5}, 6)
	two := settled(t, [players]int{0, 3, 0, 1, 1, 1, 0, 0}, 6, owning(2, 5, 2, 1, 1, 3, 0, 0))
	assert.Equal(t, shown(one), shown(two), "other bids, garnets and payments, the same teams")
	assert.Equal(t, one.only("teams-settled").public, two.only("teams-settled").public)
	mine := one.you("p3") // who bid nothing both times
	mine.Garnets = two.you("p3").Garnets
	assert.Equal(t, mine, two.you("p3"))

	one, two = started(t, crowd), started(t, crowd)
	one.round(map[string]string{"p1": "walk C5 3", "p5": "walk O13 1 NE"})
	two.round(map[string]string{"p1": "walk C5 3", "p5": "walk O13 1 NE"})
	one.round(map[string]string{"p1": "walk C6 1 W", "p5": "walk O14 3"})
	two.round(map[string]string{"p1": "squid C6 1 W", "p5": "walk O14 3"})
	assert.Equal(t, shown(one), shown(two), "another mode, the same move")
	assert.NotEqual(t, one.of("round-resolved")[1].faces[0], two.of("round-resolved")[1].faces[0])
	assert.Equal(t, text(t, one.table("p2")), text(t, two.table("p2")))
}

// "Clarification: You are told whether you spent any Garnets during the bidding round (though not anybody else)."
func TestToldWhetherOnePaid(t *testing.T) {
	p := begun(t)
	assert.Nil(t, p.you("p2").Paid, "not before the teams stand")
	p = settled(t, [players]int{1, 5, 0, 2, 3, 4, 5, 5}, 6)
	assert.EqualValues(t, 5, *p.you("p2").Paid)
	assert.EqualValues(t, 0, *p.you("p1").Paid)
	assert.EqualValues(t, 0, p.you("p2").Garnets)
	face := p.only("teams-settled").faces[1]
	assert.Equal(t, []string{"p2"}, face.To)
	assert.JSONEq(t, `{"color": "pink", "paid": 5, "garnets": 0}`, string(face.Data))
	for _, id := range everybody {
		if id != "p2" {
			assert.NotContains(t, text(t, p.table(id)), `"paid":5`)
		}
	}
}

// A player sees his own submission as he sent it while its phase is open; who has submitted is public.
func TestSubmittedIsShownAsSent(t *testing.T) {
	p := started(t, crowd)
	p.submit("p1", `{"shot": {"gun": 3, "direction": null}, "move": {"to": "C5", "mode": "walk"}, "type": "round"}`)
	assert.JSONEq(t, `{"type": "round", "move": {"mode": "walk", "to": "C5"}, "shot": {"gun": 3, "direction": null}}`, string(p.you("p1").Submitted))
	assert.Equal(t, "null", string(p.you("p2").Submitted))
	assert.Equal(t, []string{"p1"}, p.m.View(match.Public).Phase.Submitted)
	host := p.table(match.HostID).Host
	assert.JSONEq(t, string(p.you("p1").Submitted), string(host.Submissions["p1"]))
	assert.Equal(t, "null", string(host.Submissions["p2"]))
	p.wait(moveTime)
	assert.Equal(t, "null", string(p.you("p1").Submitted))
	assert.JSONEq(t, `{"mode": "walk", "gun": 3, "direction": null}`, string(p.only("round-resolved").faces[0].Data))
}

// The host sees all, or what his tasks need, and this game gives him none.
func TestHost(t *testing.T) {
	p := settled(t, [players]int{1, 5, 0, 2, 3, 4, 5, 5}, 6, option("hostSees", "needed"))
	assert.Equal(t, `{"garnets":null,"paid":null,"guns":null,"submissions":null}`, text(t, p.table(match.HostID).Host))
	p = settled(t, [players]int{1, 5, 0, 2, 3, 4, 5, 5}, 6)
	p.submit("p3", startAt("A1"))
	host := p.table(match.HostID).Host
	for i, id := range everybody {
		assert.Equal(t, paidBy(p)[i], *host.Paid[id])
		assert.Equal(t, garnetsOf(p)[i], host.Garnets[id])
		assert.Equal(t, []int{1, 2, 3, 4, 5, 6}, host.Guns[id])
	}
	assert.Nil(t, p.table(match.HostID).You)
	assert.JSONEq(t, startAt("A1"), string(host.Submissions["p3"]))
	for _, id := range everybody {
		assert.Nil(t, begun(t).table(match.HostID).Host.Paid[id])
	}
}

// The list of an event's faces, and for whom they are, is the same whatever they hide.
func TestFaces(t *testing.T) {
	p := won(t)
	p.wait(2 * moveTime)
	toEach := [][]string{}
	for _, id := range everybody {
		toEach = append(toEach, []string{id})
	}
	for kind, want := range map[string][][]string{
		"teams-settled": append(slices.Clone(toEach), []string{}), "starts-chosen": {}, "round-resolved": toEach,
		"winner-counted": {}, "candidate-named": {greens}, "opponent-chosen": {},
	} {
		require.NotEmpty(t, p.of(kind))
		for _, f := range p.of(kind) {
			to := [][]string{}
			for _, face := range f.faces {
				to = append(to, face.To)
			}
			assert.Equal(t, want, to, kind)
		}
	}
}

// Sealed faces are padded to 256 bytes, and ids may have 32 characters: sizes must not tell what is sealed.
func TestVotesAreSealedAtOneSize(t *testing.T) {
	sizes := map[int]bool{}
	for n := 0; n <= teamSize; n++ {
		p := won(t)
		for i := range n {
			p.submit(greens[i], nominating(pinks[(i+n)%teamSize]))
		}
		p.wait(moveTime)
		sizes[len(p.only("candidate-named").faces[0].Data)] = true
	}
	assert.Len(t, sizes, 1)
}

// What opens when the match has ended: the seed, shots and modes; never bids, payments, garnets or votes.
func TestWhatOpens(t *testing.T) {
	for open, opened := range map[string]bool{"at-end": true, "never": false} {
		p := won(t, option("open", open))
		p.submit("p1", nominating("p5"))
		p.wait(2 * moveTime)
		want := []match.Ref{{Revision: 0, Face: 0}}
		for _, f := range p.of("round-resolved") {
			for i := range players {
				if opened {
					want = append(want, match.Ref{Revision: f.revision, Face: i})
				}
			}
		}
		assert.Equal(t, want, p.only("match-ended").opens, open)
		for _, f := range p.facts[:len(p.facts)-1] {
			assert.Empty(t, f.opens, f.kind)
		}
	}
}

// The hints are exactly what is legal: every submission that they don't offer is refused.
func TestHintsAreWhatIsLegal(t *testing.T) {
	p := begun(t, owning(3, 0))
	assert.JSONEq(t, `{"colors":["green","pink"],"mostBid":3}`, text(t, p.you("p1").Hints))
	assert.JSONEq(t, `{"colors":["green","pink"],"mostBid":0}`, text(t, p.you("p2").Hints))
	assert.Nil(t, p.table(match.Public).You)

	p = teamed(t)
	for id, zone := range map[string]color{"p1": green, "p8": pink} {
		offered := p.you(id).Hints.Cells
		for c := range cell(cells) {
			name := board.names[c]
			assert.Equal(t, board.inZone(c, zone), slices.Contains(offered, name))
			assert.Equal(t, slices.Contains(offered, name), p.try(id, startAt(name)) == nil, name)
		}
		assert.Equal(t, offered, p.you(id).Hints.Cells, "he may choose another")
	}
}

// While a match is paused, and while a turn waits to be resolved, nothing can be submitted and nothing is offered.
func TestNoHintsWhileNothingCanBeSubmitted(t *testing.T) {
	p := teamed(t)
	p.submit("p1", startAt("A1"))
	pause, err := p.m.Pause(event.Host, "", p.now)
	require.NoError(t, err)
	p.append(pause)
	assert.Nil(t, p.you("p1").Hints)
	assert.Nil(t, p.you("p2").Hints)

	p = won(t)
	p.submit("p1", nominating("p6"))
	p.wait(moveTime)
	v, err := event.Parse([]byte(choosing("p5")))
	require.NoError(t, err)
	drafts, err := p.m.Submit("p6", 0, false, v, p.now)
	require.NoError(t, err)
	p.append(drafts)
	assert.Equal(t, chooseOpponent, p.phase(), "it is not resolved yet")
	assert.Nil(t, p.you("p6").Hints)
	assert.JSONEq(t, choosing("p5"), string(p.you("p6").Submitted))
}

func TestHintsOfARound(t *testing.T) {
	p := started(t, crowd)
	p.round(map[string]string{"p1": "walk C5 1 E", "p5": "walk O13 3"})
	for _, id := range []string{"p1", "p5"} {
		h := p.you(id).Hints
		aims := map[string]bool{}
		for _, gun := range h.Guns {
			for _, aim := range gun.Aims {
				words := fmt.Sprint(gun.Gun)
				if aim.Direction != nil {
					words += " " + *aim.Direction
				}
				aims[words] = true
			}
		}
		for _, to := range board.names {
			for mode, offered := range map[string][]string{walk: h.Walk, squid: h.Squid} {
				err := p.try(id, roundOf(fmt.Sprintf("%s %s 2 E", mode, to)))
				assert.Equal(t, slices.Contains(offered, to), err == nil, "%s %s %s", id, mode, to)
			}
		}
		for gun := 1; gun <= guns; gun++ {
			for _, direction := range append([]string{""}, directions...) {
				words := strings.TrimSpace(fmt.Sprint(gun, " ", direction))
				legal := p.try(id, roundOf("walk "+h.Walk[0]+" "+words)) == nil
				if gun == 3 || gun == 6 { // they look the same: offered once, without a direction
					words = fmt.Sprint(gun)
				}
				assert.Equal(t, aims[words], legal, words)
			}
		}
	}
	h := p.you("p1").Hints
	assert.Equal(t, []string{"C6", "C7", "C8", "C9"}, h.Squid)
	assert.Equal(t, []gunHint{{2, aims(standard, 2)}, {3, []aimHint{{nil, standard[2]}}}}, h.Guns[:2])
	assert.JSONEq(t, `{"direction":"SE","covers":[[0,0],[0,1],[1,1],[0,2],[-1,2]]}`, text(t, h.Guns[0].Aims[1]))
}

func TestHintsOfTheAftermath(t *testing.T) {
	p := won(t)
	assert.Equal(t, &hintsFor{Players: pinks}, p.you("p2").Hints)
	assert.Nil(t, p.you("p5").Hints)
	p.submit("p2", nominating("p6"))
	assert.Equal(t, &hintsFor{Players: pinks}, p.you("p2").Hints, "he may name another")
	p.wait(moveTime)
	assert.Equal(t, &hintsFor{Players: []string{"p5", "p7", "p8"}}, p.you("p6").Hints)
	assert.Nil(t, p.you("p2").Hints)
	p.wait(moveTime)
	assert.Nil(t, p.you("p6").Hints)
	assert.JSONEq(t, `null`, text(t, p.you("p6").Hints))
}
