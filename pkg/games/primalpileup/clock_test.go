package primalpileup

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// clock returns how long a player has until the bank begins to run, and until it is gone too.
func (p *playing) clock(who string) (move, bank time.Duration) {
	p.Helper()
	c := p.m.View(match.Public).Phase.Clocks[who]
	require.NotNil(p, c)
	if c.ReserveFrom == nil {
		return c.Deadline.Sub(p.now), 0
	}
	return c.ReserveFrom.Sub(p.now), c.Deadline.Sub(c.ReserveFrom.Time)
}

// "Players have 60 seconds to make a move on their turn. Players have 5 minutes of reserve time which they will
// automatically use upon running out of time."
func TestATurnOver60SecondsUsesTheBank(t *testing.T) {
	for _, test := range []struct {
		took time.Duration
		left int // whole seconds
	}{
		{0, 300},
		{59 * time.Second, 300},
		{60 * time.Second, 300},
		{60*time.Second + 1, 299},
		{61 * time.Second, 299},
		{61*time.Second + 1, 298},
		{359 * time.Second, 1},
		{360*time.Second - 1, 0},
	} {
		p := started(t, sensei)
		move, bank := p.clock(sensei)
		assert.Equal(t, 60*time.Second, move)
		assert.Equal(t, 300*time.Second, bank)
		p.wait(test.took)
		assert.Equal(t, 300, p.table(match.Public).Reserve[sensei], "as of the last turn resolved")
		p.play(sensei, "F1")
		assert.Equal(t, map[string]int{sensei: test.left, herbert: 300}, p.table(match.Public).Reserve, test.took)
		assert.Equal(t, []string{herbert}, p.m.View(match.Public).Phase.Awaiting)
	}
}

// The bank is one for the match: what a turn leaves of it goes on into the next, and the next round.
func TestTheBankLastsTheMatch(t *testing.T) {
	p := started(t, sensei)
	p.wait(100 * time.Second)
	p.turns("") // 40 s
	p.wait(160 * time.Second)
	p.turns("") // 100 s, and the round is sensei's
	assert.Equal(t, 2, p.table(match.Public).Round)
	p.wait(90*time.Second + 500*time.Millisecond)
	p.turns("") // 30.5 s
	assert.Equal(t, map[string]int{sensei: 229, herbert: 200}, p.table(match.Public).Reserve)
	p.turns("")
	move, bank := p.clock(sensei)
	assert.Equal(t, 60*time.Second, move)
	assert.Equal(t, 229500*time.Millisecond, bank)
}

// "If a player runs out of move time and reserve time, they will automatically do nothing.", which is to pass.
func TestDoNothingIsAPass(t *testing.T) {
	p := started(t, sensei)
	p.turns("F1", "F1")
	p.wait(360*time.Second - 1)
	assert.False(t, p.table(match.Public).LastTurn)
	p.wait(1)
	assert.True(t, p.table(match.Public).LastTurn)
	assert.Equal(t, []string{herbert}, p.m.View(match.Public).Phase.Awaiting)
	taken := p.of("turn-taken")
	assert.JSONEq(t, `{"player": "sensei", "passed": true, "elements": [], "leader": "sensei",
		"reserve": {"sensei": 0, "herbert": 300}}`, taken[2].public)
	assert.Empty(t, taken[2].faces)
	p.pass(herbert)
	// From now on sensei has the move time alone, and passes by silence again.
	move, bank := p.clock(sensei)
	assert.Equal(t, 60*time.Second, move)
	assert.Zero(t, bank)
	p.wait(60 * time.Second)
	assert.True(t, p.table(match.Public).LastTurn)
	p.wait(360 * time.Second)
	assert.Equal(t, 3, p.table(match.Public).Round)
	assert.Equal(t, map[string]int{sensei: 0, herbert: 0}, p.table(match.Public).Reserve)
}

// Two silent players play the match out: all rounds are ties, won by who went first.
func TestSilenceEndsTheMatch(t *testing.T) {
	p := start(t, `{}`)
	p.wait(time.Hour)
	assert.JSONEq(t, `{"winner": "herbert", "loser": "sensei", "by": "rounds", "score": {"sensei": 0, "herbert": 5}}`,
		string(p.m.View(match.Public).Result))
}

// The pick-starter has the move time alone; not made in time, it is drawn, and the bank is not touched.
func TestThePickStarterHasTheMoveTimeAlone(t *testing.T) {
	p := start(t, `{}`)
	move, bank := p.clock(herbert)
	assert.Equal(t, 60*time.Second, move)
	assert.Zero(t, bank)
	p.wait(60*time.Second - 1)
	assert.Nil(t, p.table(match.Public).Starter)
	p.wait(1)
	assert.Equal(t, herbert, *p.table(match.Public).Starter, "the seed draws place 1")
	assert.JSONEq(t, `{"player": "herbert", "drawn": true}`, p.of("starter-picked")[0].public)
	assert.Equal(t, map[string]int{sensei: 300, herbert: 300}, p.table(match.Public).Reserve)
	_, bank = p.clock(herbert)
	assert.Equal(t, 300*time.Second, bank)

	p = start(t, `{}`)
	p.wait(60*time.Second - 1)
	p.pick(sensei)
	assert.Equal(t, sensei, *p.table(match.Public).Starter)
	assert.Equal(t, map[string]int{sensei: 300, herbert: 300}, p.table(match.Public).Reserve)
}

// The drawn starter is draw("starter", 2) in seating order.
func TestTheDrawOfTheStarter(t *testing.T) {
	drawn := map[string]int{}
	for i := range 12 {
		seed := bytes.Repeat([]byte{byte(i)}, 32)
		p := startWith(t, `{}`, hex.EncodeToString(seed))
		p.wait(60 * time.Second)
		starter := *p.table(match.Public).Starter
		assert.Equal(t, []string{sensei, herbert}[match.DrawFrom(seed)("starter", 2)], starter)
		drawn[starter]++
	}
	assert.Len(t, drawn, 2)
}

// The set-up's clock: its move holds in both phases, its reserve may be nothing.
func TestTheClockOfTheSetup(t *testing.T) {
	p := start(t, `{"clock": {"move": "10s", "reserve": "0s"}}`)
	assert.Equal(t, map[string]int{sensei: 0, herbert: 0}, p.table(match.Public).Reserve)
	move, bank := p.clock(herbert)
	assert.Equal(t, 10*time.Second, move)
	assert.Zero(t, bank)
	p.pick(sensei)
	p.wait(10*time.Second - 1)
	assert.Empty(t, p.of("turn-taken"))
	p.wait(1)
	assert.Len(t, p.of("turn-taken"), 1)

	p = start(t, `{"clock": {"reserve": "1m30.9s"}}`)
	assert.Equal(t, map[string]int{sensei: 90, herbert: 90}, p.table(match.Public).Reserve, "rounded down")
}

// A pause costs nothing of the bank, and an extension goes to the move time of the turn.
func TestPauseAndExtend(t *testing.T) {
	p := started(t, sensei)
	p.wait(70 * time.Second)
	drafts, err := p.m.Pause(event.Host, "", p.now)
	require.NoError(t, err)
	p.append(drafts)
	assert.Equal(t, match.MatchPaused, p.refused(sensei, passes))
	p.wait(time.Hour)
	drafts, err = p.m.Extend(event.Host, sensei, 5*time.Second, "", p.now)
	require.NoError(t, err)
	p.append(drafts)
	drafts, err = p.m.Resume(event.Host, "", p.now)
	require.NoError(t, err)
	p.append(drafts)
	p.wait(time.Second)
	p.turns("F1") // 71 s of 65 s
	assert.Equal(t, map[string]int{sensei: 294, herbert: 300}, p.table(match.Public).Reserve)
}
