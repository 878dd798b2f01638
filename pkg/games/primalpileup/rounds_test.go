package primalpileup

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "When a round ends, all card values are revealed.", of both players and all their plays, and no others.
func TestAllCardValuesAreRevealedWhenARoundEnds(t *testing.T) {
	p := started(t, sensei)
	p.turns("F1 W2", "G3", "G4", "", "F10")
	require.Len(t, p.of("round-ended"), 1)
	p.turns("W9", "", "")
	taken, ended := p.of("turn-taken"), p.of("round-ended")
	assert.Equal(t, []match.Ref{{Revision: taken[0].revision}, {Revision: taken[1].revision}, {Revision: taken[2].revision},
		{Revision: taken[4].revision}}, ended[0].opens)
	assert.Equal(t, []match.Ref{{Revision: taken[5].revision}}, ended[1].opens)
	assert.JSONEq(t, `{"round": 1, "winner": "sensei", "totals": {"sensei": 15, "herbert": 0},
		"zones": {"sensei": [["F1", "W2"], ["G4"], ["F10"]], "herbert": [["G3"]]},
		"removed": {"sensei": ["W2"], "herbert": ["G3"]},
		"hands": {"sensei": ["F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "W1", "W3", "W4", "W5", "W6", "W7", "W8",
			"W9", "W10", "G1", "G2", "G3", "G5", "G6", "G7", "G8", "G9", "G10"],
			"herbert": ["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "W1", "W2", "W3", "W4", "W5", "W6",
			"W7", "W8", "W9", "W10", "G1", "G2", "G4", "G5", "G6", "G7", "G8", "G9", "G10"]}}`, ended[0].public)
	assert.Empty(t, ended[0].faces)
	assert.Equal(t, roundView{
		No: 1, Winner: sensei, Totals: map[string]int{sensei: 15, herbert: 0},
		Zones:   map[string][]cards{sensei: {set(t, "F1 W2"), set(t, "G4"), set(t, "F10")}, herbert: {set(t, "G3")}},
		Removed: map[string]cards{sensei: set(t, "W2"), herbert: set(t, "G3")},
	}, p.table(match.Public).Rounds[0])
}

// "In each round, the person who won the previous round goes first"
func TestTheWinnerGoesFirst(t *testing.T) {
	p := started(t, sensei)
	p.turns("", "F1")
	assert.Equal(t, herbert, *p.table(match.Public).Starter)
	assert.Equal(t, []string{herbert}, p.m.View(match.Public).Phase.Awaiting)
	p.turns("", "F1")
	assert.Equal(t, sensei, *p.table(match.Public).Starter)
	assert.Equal(t, []string{sensei}, p.m.View(match.Public).Phase.Awaiting)
	assert.Len(t, p.of("starter-picked"), 1)
}

// "If there is a tie, the player who went first wins the round.", also where nobody has put a card down.
func TestATieIsWonByWhoWentFirst(t *testing.T) {
	for _, first := range []string{sensei, herbert} {
		p := started(t, first)
		p.turns("F5", "F5", "", "")
		p.turns("", "")
		for _, round := range p.table(match.Public).Rounds {
			assert.Equal(t, first, round.Winner)
		}
		assert.Equal(t, map[string]int{sensei: 0, herbert: 0}, p.table(match.Public).Rounds[1].Totals)
	}
}

// "Cards are not replenished between rounds.", and a removed card does not come back either.
func TestCardsAreNotReplenished(t *testing.T) {
	p := started(t, sensei)
	p.turns("F1 F2", "W10", "", "G1")
	p.turns("G10", "W3", "", "")
	assert.Equal(t, allCards&^set(t, "F1 F2 W3"), p.table(sensei).You.Hand)
	assert.Equal(t, allCards&^set(t, "W10 G1 G10"), p.table(herbert).You.Hand)
	for _, card := range []string{"F1", "F2", "W3"} {
		p.pass(herbert)
		assert.Equal(t, match.IllegalMove, p.refused(sensei, playOf(card)))
		p.pass(sensei)
	}
}

// "Zones are cleared between rounds. I will also post player inventories at the start of each round."
func TestZonesAreClearedAndInventoriesPosted(t *testing.T) {
	p := started(t, sensei)
	p.turns("F1 F2", "", "")
	for _, audience := range []string{match.Public, sensei, herbert, match.HostID} {
		shown := p.table(audience)
		assert.Equal(t, 2, shown.Round)
		assert.Equal(t, map[string][][]string{sensei: {}, herbert: {}}, shown.Zones)
		assert.Equal(t, map[string]cards{sensei: allCards &^ set(t, "F1 F2"), herbert: allCards}, shown.Inventories)
		assert.Nil(t, shown.Leader)
		assert.False(t, shown.LastTurn)
	}
	assert.Equal(t, []cards{}, p.table(sensei).You.Zone)
	p.turns("F3")
	assert.Equal(t, allCards&^set(t, "F1 F2"), p.table(match.Public).Inventories[sensei])
}

// "Whoever wins 5 rounds wins the DM.", at once; the last round stays on the table.
func TestFiveRoundsWinTheDM(t *testing.T) {
	p := started(t, herbert)
	p.turns("", "", "", "F1") // herbert, then sensei
	for range 3 {
		p.turns("", "") // sensei
	}
	assert.Equal(t, map[string]int{sensei: 4, herbert: 1}, p.table(match.Public).Wins)
	assert.Equal(t, match.Running, p.m.Status())
	p.turns("F2 G2", "", "W3")
	assert.Equal(t, match.Ended, p.m.Status())
	view := p.m.View(match.Public)
	assert.JSONEq(t, `{"winner": "sensei", "loser": "herbert", "by": "rounds", "score": {"sensei": 5, "herbert": 1}}`,
		string(view.Result))
	assert.Nil(t, view.Phase)
	shown := p.table(sensei)
	assert.Equal(t, 6, shown.Round)
	assert.Nil(t, shown.Turn)
	assert.Equal(t, sensei, *shown.Starter)
	assert.Equal(t, sensei, *shown.Leader)
	assert.True(t, shown.LastTurn)
	assert.Equal(t, map[string][][]string{sensei: {{"F", "G"}, {"W"}}, herbert: {}}, shown.Zones)
	assert.Equal(t, &you{Hand: allCards &^ set(t, "F1 F2 W3 G2"), Zone: []cards{set(t, "F2 G2"), set(t, "W3")}}, shown.You)
	assert.Equal(t, allCards&^set(t, "F1"), shown.Inventories[sensei])
	assert.Len(t, shown.Rounds, 6)
	assert.Equal(t, match.MatchOver, p.refused(herbert, passes))
}

// The one who ends the match with the last turn may be the other one, and may have gone second.
func TestFiveRoundsOfWhoWentSecond(t *testing.T) {
	p := started(t, sensei)
	for _, last := range []string{"F1", "", "", ""} {
		p.turns("", last) // herbert
	}
	p.turns("", "F2") // sensei
	p.turns("", "F2") // herbert
	shown := p.table(match.Public)
	assert.JSONEq(t, `{"winner": "herbert", "loser": "sensei", "by": "rounds", "score": {"sensei": 1, "herbert": 5}}`,
		string(p.m.View(match.Public).Result))
	assert.Equal(t, herbert, *shown.Leader)
	assert.Equal(t, sensei, *shown.Starter)
}

// fourAll plays eight rounds that go to sensei, herbert three times, sensei twice, herbert and sensei: each wins two
// with a card, F1 and F2, so that both hold the same.
func fourAll(t *testing.T) *playing {
	t.Helper()
	p := started(t, sensei)
	p.turns("", "", "", "F1", "", "", "", "", "", "F1", "", "", "", "F2", "", "F2")
	require.Len(t, p.table(match.Public).Rounds, len(p.of("round-ended")))
	return p
}

// "There is a final (9th) round, but it isn't played out. Both players will dump all their remaining cards into their
// zone and a winner will be automatically determined."
func TestTheFinalRoundIsNotPlayedOut(t *testing.T) {
	p := started(t, sensei)
	p.turns("", "", "", "F1", "", "", "", "", "", "F1", "", "", "", "F2")
	assert.Equal(t, map[string]int{sensei: 3, herbert: 4}, p.table(match.Public).Wins)
	// Herbert goes first in round 8 and loses it with W10, to nearly all that sensei has.
	p.turns("W10", strings.Join(everyCard[2:26], " "), "", "")
	view, shown := p.m.View(match.Public), p.table(match.Public)
	require.Len(t, shown.Rounds, 9)
	assert.Equal(t, sensei, shown.Rounds[7].Winner)
	assert.Equal(t, roundView{
		No: 9, Winner: herbert, Totals: map[string]int{sensei: 0, herbert: 52 + 52},
		Zones: map[string][]cards{
			sensei:  {set(t, "F2 G7 G8 G9 G10")},
			herbert: {allCards &^ set(t, "F1 F2 W10")},
		},
		Removed: map[string]cards{
			sensei:  set(t, "F2 G7 G8 G9 G10"),
			herbert: set(t, "W1 W2 W3 W4 W5 W6 W7 W8 W9 G1 G2"),
		},
	}, shown.Rounds[8])
	assert.Equal(t, match.Ended, view.Status)
	assert.Nil(t, view.Phase)
}

// Round 9 opens no phase, and stands in the table like the others.
func TestRound9OnTheTable(t *testing.T) {
	p := fourAll(t)
	assert.Equal(t, match.Ended, p.m.Status())
	phases := 0
	for _, f := range p.facts {
		if f.kind == "phase-opened" {
			phases++
		}
	}
	assert.Equal(t, 1+16, phases, "one for the pick, two for each of eight rounds")
	shown := p.table(sensei)
	assert.Equal(t, 9, shown.Round)
	assert.Equal(t, sensei, *shown.Starter, "the winner of round 8")
	assert.Nil(t, shown.Turn)
	assert.False(t, shown.LastTurn)
	assert.Equal(t, &you{Zone: []cards{allCards &^ set(t, "F1 F2")}}, shown.You)
	held := allCards &^ set(t, "F1 F2")
	assert.Equal(t, map[string]cards{sensei: held, herbert: held}, shown.Inventories)
	assert.Equal(t, map[string][][]string{sensei: {faceDown[2:]}, herbert: {faceDown[2:]}}, shown.Zones)
	host := p.table(match.HostID).Host
	assert.Equal(t, map[string]cards{sensei: 0, herbert: 0}, host.Hands)
	assert.Equal(t, map[string][]cards{sensei: {held}, herbert: {held}}, host.Zones)
	ended := p.of("round-ended")
	assert.Empty(t, ended[8].opens, "nobody has played anything")
	assert.Contains(t, ended[8].public, `"hands":{"herbert":[],"sensei":[]}`)
}

// A tie in round 9 is won by who would have gone first, the winner of round 8.
func TestATieInRound9(t *testing.T) {
	p := fourAll(t)
	final := p.table(match.Public).Rounds[8]
	assert.Equal(t, map[string]int{sensei: 0, herbert: 0}, final.Totals, "the same cards remove each other")
	assert.Equal(t, sensei, final.Winner)
	assert.Equal(t, sensei, *p.table(match.Public).Leader)
	assert.JSONEq(t, `{"winner": "sensei", "loser": "herbert", "by": "rounds", "score": {"sensei": 5, "herbert": 4}}`,
		string(p.m.View(match.Public).Result))
}

// An empty hand is no play in round 9; two of them are a tie.
func TestRound9WithEmptyHands(t *testing.T) {
	for _, test := range []struct {
		answer string // sensei's, when herbert puts down all that he has in round 8
		zone   []cards
		winner string
	}{
		{"", []cards{allCards}, sensei},
		{strings.Join(everyCard, " "), []cards{}, herbert},
	} {
		p := started(t, sensei)
		p.turns("", "", "", "", "", "", "", "") // four rounds to sensei
		p.turns("", "F1", "", "", "", "")       // three to herbert
		p.turns(strings.Join(everyCard[1:], " "), test.answer, "")
		if test.answer != "" {
			p.turns("")
		}
		shown := p.table(match.Public)
		require.Len(t, shown.Rounds, 9)
		assert.Equal(t, herbert, shown.Rounds[7].Winner)
		assert.Equal(t, map[string][]cards{sensei: test.zone, herbert: {}}, shown.Rounds[8].Zones)
		assert.Equal(t, test.winner, shown.Rounds[8].Winner)
		assert.Equal(t, [][]string{}, shown.Zones[herbert])
		assert.Equal(t, &you{Zone: []cards{}}, p.table(herbert).You)
		assert.Equal(t, herbert, *shown.Starter)
	}
}

// "This game is played across 9 rounds.": from 4 : 4 on there is no round but the final one.
func TestNineRounds(t *testing.T) {
	p := fourAll(t)
	ended := p.of("round-ended")
	require.Len(t, ended, 9)
	assert.Equal(t, "match-ended", p.facts[len(p.facts)-1].kind)
	assert.Equal(t, ended[7].revision+1, ended[8].revision, "in the same breath as round 8")
	assert.Equal(t, []match.Ref{{Revision: 0, Face: 0}}, p.facts[len(p.facts)-1].opens, "nothing but the seed opens at the end")
}

// Between the facts of one resolution the table is round 9's, and it is nobody's turn.
func TestTheTableBeforeRound9IsCounted(t *testing.T) {
	p := fourAll(t)
	m, err := match.Replay(match.Catalog{Game()}, p.log[0])
	require.NoError(t, err)
	for _, f := range p.log[1 : p.of("round-ended")[7].revision+1] {
		require.NoError(t, m.Apply(f))
	}
	shown := m.View(sensei).Table.(*table)
	assert.Equal(t, 9, shown.Round)
	assert.Equal(t, sensei, *shown.Starter)
	assert.Nil(t, shown.Turn)
	assert.Nil(t, shown.Leader)
	assert.Equal(t, &you{Hand: allCards &^ set(t, "F1 F2"), Zone: []cards{}}, shown.You)
}

// What a copy of a match goes through leaves the match, and any other copy, as it is.
func TestCopiesShareNothing(t *testing.T) {
	p := started(t, sensei)
	for _, next := range strings.Fields("F1 F2 F3 F4 F5 F6 F7 F8 F9 W1 W2") {
		p.turns(next)
		before := p.m.View(match.HostID)
		a, b := p.fork(), p.fork()
		a.turns("G1", "G2", "")
		played := a.m.View(match.HostID)
		b.turns("", "G3") // ends the round; in a it goes on
		b.turns("G4", "")
		assert.Equal(t, before, p.m.View(match.HostID))
		assert.Equal(t, played, a.m.View(match.HostID))
		a.turns("G5")
		ended := a.of("round-ended")[0]
		for i, f := range slices.DeleteFunc(a.of("turn-taken"), func(f fact) bool { return len(f.faces) == 0 }) {
			assert.Equal(t, match.Ref{Revision: f.revision}, ended.opens[i])
		}
	}
	p.turns("", "")
	for range 3 {
		before := p.m.View(match.HostID)
		a, b := p.fork(), p.fork()
		a.turns("", "")
		played := a.m.View(match.HostID)
		b.turns("", "G9")
		assert.Equal(t, before, p.m.View(match.HostID))
		assert.Equal(t, played, a.m.View(match.HostID))
		p.turns("", "")
	}
}

// TestTheWorkedExample plays two rounds to the very inventories of the sheet's example, and then the example.
func TestTheWorkedExample(t *testing.T) {
	p := started(t, herbert)
	p.turns("F3 F4 F5 W6 W7 W8 W9 W10 G1 G3 G4 G5 G6 G8 G9", "", "")
	p.turns("", "F3 F6 F7 F8 F9 W1 W2 W3 W4 W5 W9 W10 G2 G5 G8")
	// "Sensei, who won the last round, moves first."
	shown := p.table(match.Public)
	assert.Equal(t, sensei, *shown.Starter)
	assert.Equal(t, strings.Fields("F1 F2 F4 F5 F10 W6 W7 W8 G1 G3 G4 G6 G7 G9 G10"), list(t, shown.Inventories[sensei]))
	assert.Equal(t, strings.Fields("F1 F2 F6 F7 F8 F9 F10 W1 W2 W3 W4 W5 G2 G7 G10"), list(t, shown.Inventories[herbert]))

	for _, turn := range []struct {
		sentence, cards, leader string
		zones                   map[string][][]string
	}{
		{"Sensei plays a W6 and a G7. So, Sensei is leading (13-0).", "W6 G7", sensei,
			map[string][][]string{sensei: {{"W", "G"}}, herbert: {}}},
		{"Herbert is leading 6-7, since Sensei's G7 and Herbert's F1 are cancelled.", "F1 F7", herbert,
			map[string][][]string{sensei: {{"W", "G"}}, herbert: {{"F", "F"}}}},
		{"Sensei decides to pass his turn.", "", herbert,
			map[string][][]string{sensei: {{"W", "G"}}, herbert: {{"F", "F"}}}},
	} {
		p.turns(turn.cards)
		shown = p.table(match.Public)
		assert.Equal(t, turn.leader, *shown.Leader, turn.sentence)
		assert.Equal(t, turn.zones, shown.Zones, turn.sentence)
	}
	assert.Equal(t, [2]int{6, 7}, judge([2][]cards{{set(t, "W6 G7")}, {set(t, "F1 F7")}}, 0).totals)
	assert.True(t, shown.LastTurn, "No matter what Herbert does, the round will end following his turn.")
	p.turns("G7")
	shown = p.table(match.Public)
	assert.Equal(t, roundView{
		No: 3, Winner: herbert, Totals: map[string]int{sensei: 0, herbert: 14},
		Zones:   map[string][]cards{sensei: {set(t, "W6 G7")}, herbert: {set(t, "F1 F7"), set(t, "G7")}},
		Removed: map[string]cards{sensei: set(t, "W6 G7"), herbert: set(t, "F1")},
	}, shown.Rounds[2], "The round ends 0-14 in Herbert's favor, so he wins the round.")
	assert.Equal(t, herbert, *shown.Starter)
}
