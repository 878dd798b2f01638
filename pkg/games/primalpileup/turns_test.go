package primalpileup

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// "Each player has 30 cards, one for each combination of type (fire/water/grass) and number (1-10)."
func TestEachPlayerHas30Cards(t *testing.T) {
	p := start(t, `{"hostSees": "all"}`)
	for _, who := range []string{sensei, herbert} {
		assert.Equal(t, everyCard, list(t, p.table(match.Public).Inventories[who]))
		assert.Equal(t, everyCard, list(t, p.table(who).You.Hand))
		assert.Equal(t, everyCard, list(t, p.table(match.HostID).Host.Hands[who]))
	}
	public := p.table(match.Public)
	assert.Equal(t, 1, public.Round)
	assert.Nil(t, public.Starter)
	assert.Nil(t, public.Turn)
	assert.Nil(t, public.Leader)
	assert.Equal(t, map[string]int{sensei: 0, herbert: 0}, public.Wins)
	assert.Equal(t, map[string]int{sensei: 300, herbert: 300}, public.Reserve)
	assert.Equal(t, map[string][][]string{sensei: {}, herbert: {}}, public.Zones)
	assert.Equal(t, []roundView{}, public.Rounds)
}

// TestSetup: the roles must name the DMO, and nothing else is asked for.
func TestSetup(t *testing.T) {
	const players = `"game": "primal-pileup", "players": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]`
	for _, test := range []struct{ setup, field string }{
		{`{` + players + `, "roles": {"dmo": "a"}}`, ""},
		{`{` + players + `, "roles": {"dmo": "b"}, "options": {"clock": {"move": "1s", "reserve": "0s"}}}`, ""},
		{`{` + players + `}`, "roles.dmo"},
		{`{` + players + `, "roles": {}}`, "roles.dmo"},
		{`{` + players + `, "roles": {"dmo": "c"}}`, "roles.dmo"},
		{`{` + players + `, "roles": {"dmo": null}}`, "roles.dmo"},
		{`{` + players + `, "roles": {"dmo": "a", "host": "b"}}`, "roles.host"},
		{`{` + players + `, "roles": {"dmo": "a"}, "garnets": {"a": 1, "b": 1}}`, "garnets"},
		{`{` + players + `, "roles": {"dmo": "a"}, "options": {"armory": []}}`, "options.armory"},
		{`{` + players + `, "roles": {"dmo": "a"}, "options": {"clock": {"move": "0s"}}}`, "options.clock.move"},
		{`{` + players + `, "roles": {"dmo": "a"}, "options": {"clock": {"reserve": "-1s"}}}`, "options.clock.reserve"},
		{`{"game": "primal-pileup", "players": [{"id": "a", "name": "A"}], "roles": {"dmo": "a"}}`, "players"},
	} {
		v, err := event.Parse([]byte(test.setup))
		require.NoError(t, err)
		setup, err := match.ParseSetup(match.Catalog{Game()}, v)
		if test.field == "" {
			require.NoError(t, err, test.setup)
			_, warnings, err := match.Create("m", setup, make([]byte, 32), true, setup.Options.StartAt)
			require.NoError(t, err)
			assert.Empty(t, warnings)
			continue
		}
		var bad *match.SetupError
		require.ErrorAs(t, err, &bad, test.setup)
		assert.Equal(t, test.field, bad.Field, test.setup)
	}
}

// "The DMO decides who goes first in Round 1."
func TestTheDMODecidesWhoGoesFirst(t *testing.T) {
	for _, first := range []string{sensei, herbert} {
		p := start(t, `{}`)
		assert.Equal(t, []string{herbert}, p.m.View(match.Public).Phase.Awaiting)
		assert.Equal(t, match.NotAwaited, p.refused(sensei, `{"type": "pick-starter", "player": "sensei"}`))
		assert.Equal(t, []string{sensei, herbert}, p.table(herbert).You.Hints.Pick)
		assert.Nil(t, p.table(sensei).You.Hints)
		p.pick(first)
		assert.Equal(t, first, *p.table(match.Public).Starter)
		assert.Equal(t, first, *p.table(match.Public).Turn)
		assert.JSONEq(t, `{"player": "`+first+`", "drawn": false}`, p.of("starter-picked")[0].public)
	}
}

// "then players will alternate turns until the round ends"; "Then, the next player will make a move for the round."
func TestTurnsAlternate(t *testing.T) {
	p := started(t, herbert)
	for _, who := range []string{herbert, sensei, herbert, sensei, herbert, sensei} {
		view := p.m.View(match.Public)
		assert.Equal(t, "turn", view.Phase.Name)
		assert.Equal(t, []string{who}, view.Phase.Awaiting)
		assert.Equal(t, who, *p.table(match.Public).Turn)
		p.turns(strings.Fields("F1 F2 F3 F4 F5 F6")[view.Phase.No-2])
	}
	assert.Equal(t, 1, p.table(match.Public).Round)
}

// "play any number of cards from their inventory into their zone"
func TestPlay(t *testing.T) {
	for _, names := range []string{"G10", "G10 F3 W7 F2", strings.Join(everyCard, " ")} {
		p := started(t, sensei)
		p.play(sensei, names)
		you := p.table(sensei).You
		assert.Equal(t, allCards&^set(t, names), you.Hand)
		require.Len(t, you.Zone, 1)
		assert.Equal(t, set(t, names), you.Zone[0])
		host := p.table(match.HostID).Host
		assert.Equal(t, you.Hand, host.Hands[sensei])
		assert.Equal(t, map[string][]cards{sensei: you.Zone, herbert: {}}, host.Zones)
		assert.Equal(t, everyCard, list(t, p.table(match.Public).Inventories[sensei]), "as at the start of the round")
	}
}

// "The cards' element(s) will be revealed to the other player, but not the number."
func TestElementsAreRevealedButNotNumbers(t *testing.T) {
	p := started(t, sensei)
	p.turns("G10 F3 W7 F2", "W1", "G1")
	for _, audience := range []string{match.Public, sensei, herbert, match.HostID} {
		assert.Equal(t, map[string][][]string{sensei: {{"F", "F", "W", "G"}, {"G"}}, herbert: {{"W"}}}, p.table(audience).Zones)
	}
	taken := p.of("turn-taken")
	assert.JSONEq(t, `{"player": "sensei", "passed": false, "elements": ["F", "F", "W", "G"], "leader": "sensei",
		"reserve": {"sensei": 300, "herbert": 300}}`, taken[0].public)
	require.Len(t, taken[0].faces, 1)
	assert.Equal(t, []string{sensei}, taken[0].faces[0].To)
	assert.JSONEq(t, `{"cards": ["F2", "F3", "W7", "G10"]}`, string(taken[0].faces[0].Data))
	assert.Equal(t, []string{herbert}, taken[1].faces[0].To)
}

// What differs in numbers alone, and leaves the same player ahead, looks the same to everybody else.
func TestNumbersStayHiddenInTheRound(t *testing.T) {
	played := func(mine, his string) *playing {
		p := start(t, `{}`)
		p.pick(sensei)
		p.turns(mine, his, "")
		return p
	}
	a, b := played("F9 W2 G1", "F1"), played("W10 G9 F10", "F2")
	for _, audience := range []string{match.Public, match.HostID} {
		assert.Equal(t, a.m.View(audience), b.m.View(audience))
	}
	for i := range a.facts {
		assert.Equal(t, a.facts[i].kind, b.facts[i].kind)
		assert.Equal(t, a.facts[i].public, b.facts[i].public)
		assert.Len(t, b.facts[i].faces, len(a.facts[i].faces))
		assert.Equal(t, a.facts[i].opens, b.facts[i].opens)
	}
	c := played("F9 W2 G1", "F2")
	assert.Equal(t, b.m.View(herbert), c.m.View(herbert), "herbert can't tell what sensei has played")
	assert.Equal(t, a.m.View(sensei), c.m.View(sensei), "nor sensei what herbert has")
	assert.Equal(t, &host{}, a.table(match.HostID).Host, "nor a host who sees no more than he needs")
}

// "This skips their turn, and immediately ends the current round following their opponent's next turn." whatever that
// is: cards, a pass, or nothing in time.
func TestPass(t *testing.T) {
	for _, last := range []func(*playing){
		func(p *playing) { p.play(herbert, "F1 F2") },
		func(p *playing) { p.pass(herbert) },
		func(p *playing) { p.wait(360 * time.Second) },
	} {
		p := started(t, sensei)
		p.turns("F5", "W1")
		assert.False(t, p.table(match.Public).LastTurn)
		assert.False(t, p.table(sensei).You.Hints.Last)
		p.pass(sensei)
		assert.True(t, p.table(match.Public).LastTurn)
		assert.True(t, p.table(herbert).You.Hints.Last)
		assert.Equal(t, 1, p.table(match.Public).Round)
		assert.Equal(t, herbert, *p.table(match.Public).Turn)
		assert.Len(t, p.of("turn-taken"), 3)
		last(p)
		assert.Equal(t, 2, p.table(match.Public).Round)
		assert.Len(t, p.of("turn-taken"), 4)
		assert.Len(t, p.of("round-ended"), 1)
		assert.False(t, p.table(match.Public).LastTurn)
	}
}

// A pass is public, and so is that it holds no card: it has no face to open.
func TestAPassHasNothingToHide(t *testing.T) {
	p := started(t, sensei)
	p.pass(sensei)
	passed := p.of("turn-taken")[0]
	assert.Empty(t, passed.faces)
	assert.JSONEq(t, `{"player": "sensei", "passed": true, "elements": [], "leader": "sensei",
		"reserve": {"sensei": 300, "herbert": 300}}`, passed.public)
	assert.Equal(t, [][]string{}, p.table(match.Public).Zones[sensei], "a pass is no play")
}

// "Following each player's turn, players will learn who would have won the round, had it ended there. Card removals will
// be factored into results"
func TestTheLeaderAfterEachTurn(t *testing.T) {
	p := started(t, sensei)
	assert.Nil(t, p.table(match.Public).Leader)
	for _, turn := range []struct{ cards, leader string }{
		{"F10", sensei},  // 10 : 0
		{"W5", sensei},   // 10 : 5
		{"G5", sensei},   // 15 : 0, for grass 5 removes water 5
		{"W10", herbert}, // 5 : 10, for water 10 removes fire 10
		{"F5", herbert},  // 5 : 10, for it removes fire 5 too
		{"F10", herbert}, // 0 : 20, for fire 10 removes grass 5; water 5 stays removed
		{"W10", sensei},  // 10 : 10, for water 10 removes fire 10, and sensei went first
		{"", sensei},     // a pass changes nothing
	} {
		p.turns(turn.cards)
		for _, audience := range []string{match.Public, sensei, herbert} {
			assert.Equal(t, turn.leader, *p.table(audience).Leader, turn.cards)
		}
	}
	p.turns("F1")
	assert.Equal(t, map[string]int{sensei: 10, herbert: 10}, p.table(match.Public).Rounds[0].Totals)
	leaders := p.of("turn-taken")
	assert.Contains(t, leaders[len(leaders)-1].public, `"leader":"sensei"`, "after the last turn too")
}

// An empty hand is not passed for: its player is awaited, and can only pass.
func TestAnEmptyHandIsNotPassedFor(t *testing.T) {
	p := started(t, sensei)
	p.turns(strings.Join(everyCard, " "), "F1")
	assert.Equal(t, []string{sensei}, p.m.View(match.Public).Phase.Awaiting)
	assert.Equal(t, []string{}, list(t, p.table(sensei).You.Hand))
	assert.Equal(t, &hintsFor{Pass: true}, p.table(sensei).You.Hints)
	assert.Equal(t, match.IllegalMove, p.refused(sensei, playOf("F1")))
	p.wait(60 * time.Second)
	assert.Equal(t, []string{sensei}, p.m.View(match.Public).Phase.Awaiting)
	p.pass(sensei)
	assert.True(t, p.table(match.Public).LastTurn)
}

// TestHints: a page can draw the legal choices from them alone.
func TestHints(t *testing.T) {
	p := started(t, sensei)
	assert.Equal(t, &hintsFor{Play: &choice{allCards, 1, 30}, Pass: true}, p.table(sensei).You.Hints)
	assert.Nil(t, p.table(herbert).You.Hints)
	p.turns("F1 F2", "")
	assert.Equal(t, &hintsFor{Play: &choice{allCards &^ set(t, "F1 F2"), 1, 28}, Pass: true, Last: true}, p.table(sensei).You.Hints)
	drafts, err := p.m.Pause(event.Host, "", p.now)
	require.NoError(t, err)
	p.append(drafts)
	assert.Nil(t, p.table(sensei).You.Hints, "a match that is paused awaits nobody")
}

// What these rules don't know stops the match: nothing is guessed.
func TestAnUnknownFactIsABug(t *testing.T) {
	assert.PanicsWithValue(t, "primalpileup: unknown fact cards-burnt", func() {
		evolve(&state{}, &match.Fact[move]{Kind: "cards-burnt"})
	})
}
