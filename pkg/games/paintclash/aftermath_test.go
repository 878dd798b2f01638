package paintclash

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "At this time, the number of cells painted each color is counted. The winning team is the team that colored more
// cells."
func TestMoreCellsWin(t *testing.T) {
	p := won(t)
	public := p.table(match.Public)
	assert.Equal(t, roundScore{6, score{32, 31}}, public.Scores[5])
	assert.Equal(t, greens, p.m.View(match.Public).Phase.Awaiting, "the winners")
	assert.JSONEq(t, `{"winner": "green", "decidedBy": "cells", "score": {"green": 32, "pink": 31}, "awards": {
		"p1": {"tokensOfLife": 1, "garnets": 3}, "p2": {"tokensOfLife": 1, "garnets": 3},
		"p3": {"tokensOfLife": 1, "garnets": 3}, "p4": {"tokensOfLife": 1, "garnets": 3}}}`, p.only("winner-counted").public)

	p = raced(t, map[string]string{"rest": level, "lazy": "p1"})
	assert.Equal(t, roundScore{6, score{31, 32}}, p.table(match.Public).Scores[5])
	assert.Equal(t, pinks, p.m.View(match.Public).Phase.Awaiting)
}

// "In the case of a tie in total number of cells, the winning team is the one that was ahead at the end of Round 5. If
// this was still tied, we consider Round 4, then 3, etc."
func TestTiesGoToWhoWasAheadLast(t *testing.T) {
	// Guns 4 and 6 paint two. Who fires one of them a round earlier than the others is ahead after that round alone.
	for by, orders := range map[string][2]string{
		"round-1": {"412356", "142356"}, "round-2": {"142356", "124356"}, "round-3": {"124356", "123456"},
		"round-4": {"123456", "123546"}, "round-5": {"123465", "123456"},
	} {
		for _, ahead := range []string{"p2", "p7"} {
			p := raced(t, map[string]string{"rest": orders[1], ahead: orders[0]})
			winners, color := greens, "green"
			if ahead == "p7" {
				winners, color = pinks, "pink"
			}
			require.Equal(t, nominate, p.phase(), by)
			assert.Equal(t, winners, p.m.View(match.Public).Phase.Awaiting, by)
			assert.JSONEq(t, fmt.Sprintf(`{"winner": %q, "decidedBy": %q, "score": {"green": 32, "pink": 32}, "awards": {
				%q: {"tokensOfLife": 1, "garnets": 3}, %q: {"tokensOfLife": 1, "garnets": 3},
				%q: {"tokensOfLife": 1, "garnets": 3}, %q: {"tokensOfLife": 1, "garnets": 3}}}`,
				color, by, winners[0], winners[1], winners[2], winners[3]), p.only("winner-counted").public)
		}
	}
}

// "In the event that the game was always tied, then no player wins a Token of Life and the Elimination Candidate is
// picked at random." **Ruling**: nor 3 garnets; and he chooses an opponent from his own team all the same.
func TestAlwaysTied(t *testing.T) {
	p := raced(t, map[string]string{"rest": level})
	candidate := everybody[draws("candidate", 8)]
	require.Equal(t, "p7", candidate)
	require.Equal(t, chooseOpponent, p.phase(), "nobody nominates")
	assert.Equal(t, []string{candidate}, p.m.View(match.Public).Phase.Awaiting)
	assert.JSONEq(t, `{"winner": null, "decidedBy": "none", "score": {"green": 32, "pink": 32}, "awards": {}}`,
		p.only("winner-counted").public)
	named := p.only("candidate-named")
	assert.JSONEq(t, `{"player": "p7", "how": "draw"}`, named.public)
	assert.Empty(t, named.faces, "there are no votes to seal, as everybody knows")
	for _, id := range everybody {
		assert.Nil(t, p.you(id).Votes)
		assert.EqualValues(t, 5, p.you(id).Garnets)
	}
	assert.Equal(t, match.IllegalMove, p.refused("p7", choosing("p1")))
	p.submit("p7", choosing("p5"))
	assert.Equal(t, result{
		Score: score{32, 32}, DecidedBy: "none", Candidate: "p7", Opponent: "p5", Awards: map[string]award{},
	}, p.result())
	assert.Contains(t, string(p.m.View(match.Public).Result), `"winner":null`)
	assert.Contains(t, string(p.m.View(match.Public).Result), `"awards":{}`)
}

// "Each player on the winning team receives a Token of Life and 3 Garnets." **Ruling**: owned from the end of round 6.
func TestWinnersReceive(t *testing.T) {
	p := won(t, owning(0, 1, 2, 3, 4, 5, 6, mostGarnets))
	for i, id := range everybody {
		want := []int64{3, 4, 5, 6, 4, 5, 6, mostGarnets}[i]
		assert.Equal(t, want, p.you(id).Garnets, id)
		assert.Equal(t, want, p.table(match.HostID).Host.Garnets[id], id)
	}
	p.wait(2 * moveTime)
	prizes := map[string]award{}
	for _, id := range greens {
		prizes[id] = award{TokensOfLife: 1, Garnets: 3}
	}
	assert.Equal(t, prizes, p.result().Awards, "winners only")
}

// "Together, they select a single player from the losing team as the Elimination Candidate". **Ruling**: they vote and
// see each other's votes at once, nobody else does; most votes.
func TestVotes(t *testing.T) {
	assert.Nil(t, begun(t).you("p1").Votes)
	assert.Nil(t, started(t, crowd).you("p1").Votes, "not before nominate")
	p := won(t)
	votes := func(id string) map[string]string {
		list := map[string]string{}
		for winner, loser := range p.you(id).Votes {
			list[winner] = ""
			if loser != nil {
				list[winner] = *loser
			}
		}
		return list
	}
	none := map[string]string{"p1": "", "p2": "", "p3": "", "p4": ""}
	assert.Equal(t, none, votes("p2"))
	p.submit("p1", nominating("p7"))
	p.submit("p3", nominating("p5"))
	some := map[string]string{"p1": "p7", "p2": "", "p3": "p5", "p4": ""}
	for _, id := range greens {
		assert.Equal(t, some, votes(id), "at once")
	}
	p.submit("p1", nominating("p5"))
	for i, loser := range []string{"p5", "p8"} {
		p.submit([]string{"p2", "p4"}[i], nominating(loser))
	}
	require.Equal(t, chooseOpponent, p.phase())
	named := p.only("candidate-named")
	assert.JSONEq(t, `{"player": "p5", "how": "vote"}`, named.public)
	require.Len(t, named.faces, 1)
	assert.Equal(t, greens, named.faces[0].To)
	assert.JSONEq(t, `{"votes": {"p1": 5, "p2": 5, "p3": 5, "p4": 8}}`, string(named.faces[0].Data))
	all := map[string]string{"p1": "p5", "p2": "p5", "p3": "p5", "p4": "p8"}
	assert.Equal(t, all, votes("p4"))
	for _, id := range pinks {
		assert.Nil(t, p.you(id).Votes, "nobody else")
	}
	p.wait(moveTime)
	require.True(t, p.m.Over())
	assert.Equal(t, all, votes("p1"), "they stay")
	assert.Equal(t, "p5", *p.table(match.Public).Candidate)
}

// **Ruling**: equal votes: draw("candidate-tie", n) among the tied in seating order; no vote at all: among the four
// losers.
func TestEqualVotesAreDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		votes map[string]string
		tied  []string
	}{
		"two and two":     {map[string]string{"p1": "p8", "p2": "p6", "p3": "p6", "p4": "p8"}, []string{"p6", "p8"}},
		"one each":        {map[string]string{"p1": "p8", "p3": "p5", "p4": "p7"}, []string{"p5", "p7", "p8"}},
		"all differ":      {map[string]string{"p1": "p8", "p2": "p6", "p3": "p5", "p4": "p7"}, pinks},
		"no vote at all":  {nil, pinks},
		"one vote counts": {map[string]string{"p4": "p7"}, []string{"p7"}},
		"two to one":      {map[string]string{"p2": "p8", "p3": "p5", "p4": "p8"}, []string{"p8"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, seed := range []string{s0, s1} {
				p := won(t, seeded(seed))
				for _, id := range greens {
					if c.votes[id] != "" {
						p.submit(id, nominating(c.votes[id]))
					}
				}
				if len(c.votes) < teamSize {
					p.wait(moveTime)
				}
				want, how := c.tied[0], "vote"
				if len(c.tied) > 1 {
					want, how = c.tied[drawsOf(seed)("candidate-tie", uint64(len(c.tied)))], "draw"
				}
				assert.JSONEq(t, fmt.Sprintf(`{"player": %q, "how": %q}`, want, how), p.only("candidate-named").public)
				assert.Equal(t, []string{want}, p.m.View(match.Public).Phase.Awaiting)
			}
		})
	}
}

func TestNominateALoser(t *testing.T) {
	p := won(t)
	for _, id := range greens {
		assert.Equal(t, match.IllegalMove, p.refused("p2", nominating(id)), id)
	}
	assert.Equal(t, match.MalformedMove, p.refused("p2", nominating("p9")))
	assert.Equal(t, match.NotAwaited, p.refused("p5", nominating("p6")))
	for _, id := range pinks {
		p.submit("p2", nominating(id))
	}
}

// The candidate "must then choose someone from their team as their Death Match Opponent."
func TestOpponent(t *testing.T) {
	p := won(t)
	p.submit("p1", nominating("p7"))
	p.wait(moveTime)
	require.Equal(t, chooseOpponent, p.phase())
	for _, id := range append([]string{"p7"}, greens...) {
		assert.Equal(t, match.IllegalMove, p.refused("p7", choosing(id)), id)
	}
	assert.Equal(t, match.NotAwaited, p.refused("p5", choosing("p6")))
	assert.Nil(t, p.table(match.Public).Opponent)
	p.submit("p7", choosing("p5"))
	assert.JSONEq(t, `{"player": "p5", "drawn": false}`, p.only("opponent-chosen").public)
	assert.Equal(t, result{
		Winner: colorOf(green), Score: score{32, 31}, DecidedBy: "cells", Candidate: "p7", Opponent: "p5",
		Awards: map[string]award{"p1": prize, "p2": prize, "p3": prize, "p4": prize},
	}, p.result())
	assert.Equal(t, "p5", *p.table(match.Public).Opponent)
}

// **Ruling**: an opponent who is not chosen in 24 hours is drawn, draw("opponent", 3) in seating order.
func TestMissedOpponent(t *testing.T) {
	p := won(t)
	p.submit("p1", nominating("p6"))
	p.wait(2 * moveTime)
	drawn := []string{"p5", "p7", "p8"}[draws("opponent", 3)]
	assert.JSONEq(t, fmt.Sprintf(`{"player": %q, "drawn": true}`, drawn), p.only("opponent-chosen").public)
	assert.Equal(t, drawn, p.result().Opponent)
}
