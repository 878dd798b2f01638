package paintclash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// dumbSplit settles the teams place by place: the best rival left takes the next one; among equals for whom there is not
// room, a draw says who.
func dumbSplit(wishes [players]wish, draw match.Draw) (sides [players]color, pays [players]int64, drawn []int) {
	greens := 0
	for seat, w := range wishes {
		sides[seat] = w.color
		if w.color == green {
			greens++
		}
	}
	if greens == 4 {
		return sides, pays, nil
	}
	crowded := green
	if greens < 4 {
		crowded = pink
	}
	left := map[int]bool{}
	for seat, w := range wishes {
		if w.color == crowded {
			left[seat] = true
		}
		sides[seat] = crowded.other()
	}
	for place := range 4 {
		var equals []int
		for seat := range players {
			if !left[seat] {
				continue
			}
			better := len(equals) == 0
			if !better {
				best := wishes[equals[0]]
				better = wishes[seat].bid > best.bid || wishes[seat].bid == best.bid && wishes[seat].owned > best.owned
			}
			if better {
				equals = nil
			}
			if better || wishes[seat].bid == wishes[equals[0]].bid && wishes[seat].owned == wishes[equals[0]].owned {
				equals = append(equals, seat)
			}
		}
		seat := equals[0]
		if place+len(equals) > 4 {
			seat = equals[draw(fmt.Sprintf("team-tie/%d", len(drawn)+1), uint64(len(equals)))]
			drawn = append(drawn, seat)
		}
		sides[seat], pays[seat] = crowded, wishes[seat].bid
		delete(left, seat)
	}
	return sides, pays, drawn
}

func TestSplitAgainstItsTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	ties, free := 0, 0
	for range 20_000 {
		wishes := [players]wish{}
		rich, crowd := 1+random.Int64N(4), 1+random.IntN(4)
		for seat := range wishes {
			owned := random.Int64N(rich)
			wishes[seat] = wish{color: green, bid: random.Int64N(owned + 1), owned: owned}
			if random.IntN(4) < crowd {
				wishes[seat].color = pink
			}
		}
		seed := random.Uint64()
		draw := func(label string, n uint64) uint64 { return (seed ^ uint64(len(label)+int(label[len(label)-1]))) % n }
		sides, pays, drawn := split(wishes, draw)
		wantSides, wantPays, wantDrawn := dumbSplit(wishes, draw)
		require.Equal(t, wantSides, sides, "%v", wishes)
		require.Equal(t, wantPays, pays, "%v", wishes)
		require.Equal(t, wantDrawn, drawn, "%v", wishes)
		require.Len(t, slices.DeleteFunc(slices.Clone(sides[:]), func(c color) bool { return c != green }), 4)
		ties += min(len(drawn), 1)
		if pays == [players]int64{} {
			free++
		}
	}
	require.Greater(t, ties, 1000)
	require.Greater(t, free, 1000)
}

// settled plays the team phase with these bids, pink for the first of them and green for the others.
func settled(t *testing.T, bids [players]int, pinks int, change ...func(map[string]any)) *playing {
	t.Helper()
	p := begun(t, change...)
	for i, id := range everybody {
		color := "green"
		if i < pinks {
			color = "pink"
		}
		p.submit(id, teamOf(color, bids[i]))
	}
	require.Equal(t, start, p.phase())
	return p
}

func paidBy(p *playing) []int64 {
	var list []int64
	for _, id := range everybody {
		list = append(list, *p.you(id).Paid)
	}
	return list
}

func garnetsOf(p *playing) []int64 {
	var list []int64
	for _, id := range everybody {
		list = append(list, p.you(id).Garnets)
	}
	return list
}

// "This is a 4 versus 4 team game, featuring the teams Green and Pink."
// "If 4 people bid for each team, then the teams are automatically selected." **Ruling**: then nobody pays.
func TestFourAndFourNobodyPays(t *testing.T) {
	p := settled(t, [players]int{5, 4, 3, 2, 1, 5, 5, 0}, 4)
	assert.Equal(t, &teams{Green: pinks, Pink: greens}, p.table(match.Public).Teams)
	assert.Equal(t, make([]int64, players), paidBy(p))
	assert.Equal(t, slices.Repeat([]int64{5}, players), garnetsOf(p))
}

// "Otherwise, the four players who bid the most Garnets on the team that had more than 4 players choose it get on that
// team, spending that many Garnets. The other four players spend no Garnets and get on the other team."
func TestTheFourHighestBidsStayAndPay(t *testing.T) {
	p := settled(t, [players]int{1, 5, 0, 2, 3, 4, 5, 5}, 6)
	assert.Equal(t, &teams{Pink: []string{"p2", "p4", "p5", "p6"}, Green: []string{"p1", "p3", "p7", "p8"}}, p.table(match.Public).Teams)
	assert.Equal(t, []int64{0, 5, 0, 2, 3, 4, 0, 0}, paidBy(p))
	assert.Equal(t, []int64{5, 0, 5, 3, 2, 1, 5, 5}, garnetsOf(p))

	p = settled(t, [players]int{5, 5, 1, 2, 3, 0, 4, 5}, 3)
	assert.Equal(t, []string{"p4", "p5", "p7", "p8"}, p.table(match.Public).Teams.Green, "the other team may be the crowded one")
	assert.Equal(t, []int64{0, 0, 0, 2, 3, 0, 4, 5}, paidBy(p))

	p = settled(t, [players]int{0, 0, 0, 1, 1, 1, 1, 0}, 8)
	assert.Equal(t, []string{"p4", "p5", "p6", "p7"}, p.table(match.Public).Teams.Pink, "all eight may want one team")
}

// "If there is a tie in Garnets bid, the player who wins the tie is the one who had more Garnets at the start of the
// Main Match."
func TestEqualBidsGoToWhoHadMore(t *testing.T) {
	p := settled(t, [players]int{2, 2, 2, 2, 2, 1, 0, 0}, 6, owning(2, 3, 4, 5, 6, 9))
	assert.Equal(t, []string{"p2", "p3", "p4", "p5"}, p.table(match.Public).Teams.Pink)
	assert.Empty(t, drawnTies(p))
}

// **Ruling**: still equal bids are drawn one place at a time, draw("team-tie/K", left) among those still tied in seating
// order, only for a tie that does not fit whole into the places left.
func TestTiesThatDoNotFitAreDrawn(t *testing.T) {
	p := settled(t, [players]int{2, 2, 4, 2, 2, 2, 3, 0}, 7)
	tied := []string{"p1", "p2", "p4", "p5", "p6"}
	var want []string
	for k := 1; k <= 2; k++ { // p3 and p7 have places: two are left
		i := draws(fmt.Sprintf("team-tie/%d", k), uint64(len(tied)))
		want = append(want, tied[i])
		tied = slices.Delete(tied, int(i), int(i)+1)
	}
	assert.Equal(t, want, drawnTies(p))
	in := append([]string{"p3", "p7"}, want...)
	slices.Sort(in)
	assert.Equal(t, in, p.table(match.Public).Teams.Pink)

	p = settled(t, [players]int{2, 2, 4, 3, 1, 1, 1, 0}, 7)
	assert.Empty(t, drawnTies(p), "the ties at 2 fit, and those at 1 have no place")
	assert.Equal(t, []string{"p1", "p2", "p3", "p4"}, p.table(match.Public).Teams.Pink)
}

// drawnTies are the players whom teams-settled says to have been drawn, to nobody.
func drawnTies(p *playing) []string {
	settled := p.only("teams-settled")
	require.Len(p, settled.faces, players+1, "the same faces whoever pays")
	last := settled.faces[players]
	require.Empty(p, last.To)
	var ties tiesDrawn
	require.NoError(p, json.Unmarshal(last.Data, &ties))
	return ties.Players
}

// "Failure to submit in team selection randomizes your team selection with 0 Garnets spent". **Ruling**: a missing
// player's drawn color with its bid of 0 competes like any other.
func TestMissedTeam(t *testing.T) {
	p := begun(t)
	for _, id := range everybody[:5] {
		p.submit(id, teamOf("pink", 1))
	}
	p.wait(moveTime)
	require.Equal(t, start, p.phase())
	settled := p.only("teams-settled")
	for i, id := range everybody {
		color := "pink"
		if i >= 5 {
			color = []string{"green", "pink"}[draws("team/"+id, 2)]
		}
		require.Equal(t, []string{id}, settled.faces[i].To)
		var did paid
		require.NoError(t, json.Unmarshal(settled.faces[i].Data, &did))
		assert.Equal(t, color, did.Color, id)
	}
	assert.Len(t, drawnTies(p), 4)
	assert.Subset(t, p.table(match.Public).Teams.Green, everybody[5:], "a bid of 0 stays behind a bid of 1")

	p = begun(t, seeded(s1))
	p.wait(moveTime)
	require.Equal(t, start, p.phase())
	assert.Equal(t, make([]int64, players), paidBy(p))
	for i, id := range everybody {
		color := []string{"green", "pink"}[drawsOf(s1)("team/"+id, 2)]
		assert.JSONEq(t, fmt.Sprintf(`{"color": %q, "paid": 0, "garnets": 5}`, color), string(p.only("teams-settled").faces[i].Data))
	}
}

// "Each player selects a color, and bids some number of Garnets": as many as he has, at most.
func TestTeamBid(t *testing.T) {
	p := begun(t, owning(0, 3))
	for submission, code := range map[string]match.Code{
		`{"type": "team", "color": "green", "bid": 4}`:                               match.IllegalMove,
		`{"type": "team", "color": "green", "bid": 1000000000000000000000000000000}`: match.IllegalMove,
		`{"type": "team", "color": "green", "bid": 9007199254740993}`:                match.IllegalMove,
		`{"type": "team", "color": "green", "bid": -1}`:                              match.MalformedMove,
		`{"type": "team", "color": "green", "bid": 2.0}`:                             match.MalformedMove,
		`{"type": "team", "color": "green", "bid": 2e0}`:                             match.MalformedMove,
		`{"type": "team", "color": "green", "bid": "2"}`:                             match.MalformedMove,
		`{"type": "team", "color": "green", "bid": null}`:                            match.MalformedMove,
		`{"type": "team", "color": "green"}`:                                         match.MalformedMove,
		`{"type": "team", "color": "Green", "bid": 2}`:                               match.MalformedMove,
		`{"type": "team", "color": "", "bid": 2}`:                                    match.MalformedMove,
		`{"type": "team", "color": null, "bid": 2}`:                                  match.MalformedMove,
		`{"type": "team", "bid": 2}`:                                                 match.MalformedMove,
		`{"type": "team", "color": "green", "bid": 2, "why": ""}`:                    match.MalformedMove,
		`{"type": "team", "color": "green", "bid": 2, "bid": 2}`:                     match.MalformedMove,
	} {
		assert.Equal(t, code, p.refused("p2", submission), submission)
	}
	assert.Equal(t, match.IllegalMove, p.refused("p1", teamOf("green", 1)))
	p.submit("p1", teamOf("green", 0))
	p.submit("p2", teamOf("green", 3))
	p.submit("p2", teamOf("pink", 2))
	assert.JSONEq(t, teamOf("pink", 2), string(p.you("p2").Submitted), "he may change his mind until the phase is over")
}
