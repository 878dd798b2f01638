package nothingbutthetruth

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "The game ends when the Statements run out": cycle 13 has its bids and its shift.
func TestTheGameEndsWhenTheStatementsRunOut(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.toCycle(13)
	p.placed("A1 A3 B5", "C1 C2")
	p.bid(sensei, 1)
	p.bid(herbert, 0)
	assert.Equal(t, shift, p.phase())
	p.shift(sensei, "right", "A1")
	assert.Equal(t, match.Ended, p.m.Status())
	tb := p.table(match.Public)
	assert.Equal(t, 13, tb.Cycle)
	assert.Equal(t, "A1", *tb.Shift.Anchor)
	assert.Equal(t, both([]string{"A1", "A6", "B6"}, []string{"C5", "C6"}), tb.Stones)
	assert.JSONEq(t, `{"winner":"sensei","loser":"herbert","by":"groups","groups":{"sensei":[2,1],"herbert":[2]}}`,
		p.result(), "sizes from the largest down")
}

func TestTheLastCycleMayEndWithATieOrADecline(t *testing.T) {
	t.Parallel()
	for _, coins := range []int{0, 1} {
		p := started(t)
		p.toCycle(13)
		p.placed("", "C1")
		p.bid(sensei, coins)
		p.bid(herbert, 0)
		if coins > 0 {
			p.submit(sensei, `{"type":"decline"}`)
		}
		assert.JSONEq(t, `{"winner":"herbert","loser":"sensei","by":"groups","groups":{"sensei":[],"herbert":[1]}}`, p.result())
	}
}

// filled is a match whose board is full in cycle 7: the cells of each are placed as far as the coins go, in their order.
func filled(t *testing.T, black, white []string) *playing {
	t.Helper()
	p := start(t, "TTTF", `{"hostSees": "all"}`)
	for p.m.Status() == match.Running && p.phase() != ask {
		require.Equal(t, order, p.phase())
		p.ordered()
		v := p.table(match.Public)
		take := func(who string, cells *[]string) string {
			n := min(v.Coins[who]/v.Price[who], len(*cells))
			now := strings.Join((*cells)[:n], " ")
			*cells = (*cells)[n:]
			return now
		}
		p.place(sensei, take(sensei, &black))
		p.place(herbert, take(herbert, &white))
		if p.phase() == bid {
			p.bid(sensei, 0)
			p.bid(herbert, 0)
		}
	}
	return p
}

// halves are the cells of a board like a chessboard's, 18 each and none joined.
func halves() (black, white []string) {
	for cell := range side * side {
		if (cell/side+cell%side)%2 == 0 {
			black = append(black, cellNames[cell])
		} else {
			white = append(white, cellNames[cell])
		}
	}
	return black, white
}

// "or the board is full": without bids.
func TestTheGameEndsWhenTheBoardIsFull(t *testing.T) {
	t.Parallel()
	black, white := halves()
	// One cell changes hands, so that white has a group of three.
	at := slices.Index(black, "F6")
	black, white = slices.Delete(black, at, at+1), append(white, "F6")
	p := filled(t, black, white)
	assert.Equal(t, match.Ended, p.m.Status())
	tb := p.table(match.Public)
	assert.Less(t, tb.Cycle, 13)
	assert.NotNil(t, tb.Truths, "the table stays as it last was")
	assert.Nil(t, p.table(sensei).You.Bid)
	assert.Equal(t, "stones-placed", p.facts[len(p.facts)-2].kind)
	assert.Contains(t, p.result(), `"winner":"herbert"`)
	assert.Contains(t, p.result(), `"herbert":[3,1,1`)
	assert.Contains(t, p.result(), `"by":"groups"`)
}

func TestAFullBoardMayBeTied(t *testing.T) {
	t.Parallel()
	black, white := halves()
	p := filled(t, black, white)
	assert.Equal(t, ask, p.phase())
	assert.Equal(t, []string{theHost}, p.m.View(match.Public).Phase.Awaiting)
	p.asked("3", "4")
	p.submit(theHost, `{"type":"judge","right":["herbert"]}`)
	assert.Contains(t, p.result(), `"by":"tie-break"`)
}

// "If still tied, trivia questions of any format are asked until a player gets one right that the other gets wrong."
func TestTieBreak(t *testing.T) {
	t.Parallel()
	p := tied(t, `{"hostSees": "all"}`)
	v := p.m.View(match.Public)
	assert.Equal(t, []string{theHost}, v.Phase.Awaiting)
	assert.Nil(t, v.Phase.Clocks[sensei], "the host has all the time he wants")
	assert.Nil(t, p.table(match.Public).Question)
	p.wait(1000 * time.Hour)
	for _, right := range []string{`[]`, `["herbert","sensei"]`} {
		p.submit(theHost, `{"type":"ask","question":"2 + 2?"}`)
		assert.Equal(t, "2 + 2?", *p.table(match.Public).Question)
		assert.Equal(t, []string{sensei, herbert}, p.m.View(match.Public).Phase.Awaiting)
		assert.Nil(t, p.table(sensei).You.Answer)
		p.submit(sensei, `{"type":"answer","text":"4"}`)
		assert.Equal(t, "4", *p.table(sensei).You.Answer)
		p.submit(herbert, `{"type":"answer","text":"vier"}`)
		assert.Equal(t, judge, p.phase())
		p.wait(1000 * time.Hour)
		p.submit(theHost, `{"type":"judge","right":%s}`, right)
		assert.Equal(t, ask, p.phase(), "again and again until one is right and the other wrong")
		assert.Nil(t, p.table(match.Public).Question, "null again at each new ask")
		assert.Nil(t, p.table(sensei).You.Answer, "and answer with it")
		assert.Nil(t, p.table(theHost).Host.Answers[herbert])
		assert.Equal(t, match.Running, p.m.Status())
	}
	assert.JSONEq(t, `{"right":["sensei","herbert"]}`, p.last("answers-judged").public, "in seating order")
	p.asked("5", "4")
	p.submit(theHost, `{"type":"judge","right":["herbert"]}`)
	assert.JSONEq(t, `{"winner":"herbert","loser":"sensei","by":"tie-break","groups":{"sensei":[],"herbert":[]}}`, p.result())
	assert.Equal(t, "2 + 2?", *p.table(match.Public).Question, "the last one stays")
	assert.Equal(t, "5", *p.table(sensei).You.Answer)
	assert.Equal(t, both([]string{}, []string{}), p.table(match.Public).Stones)
}

func TestTheFirstMayWinTheTieBreakToo(t *testing.T) {
	t.Parallel()
	p := tied(t, `{}`)
	p.asked("4", "5")
	p.submit(theHost, `{"type":"judge","right":["sensei"]}`)
	assert.Contains(t, p.result(), `"winner":"sensei"`)
	assert.Contains(t, p.result(), `"loser":"herbert"`)
}

func TestAnEmptyAnswerIsWrong(t *testing.T) {
	t.Parallel()
	p := tied(t, `{}`)
	p.submit(theHost, `{"type":"ask","question":"2 + 2?"}`)
	p.submit(sensei, `{"type":"answer","text":""}`)
	p.wait(24 * time.Hour)
	assert.Equal(t, judge, p.phase())
	assert.Empty(t, *p.table(herbert).You.Answer, "who is missing has given an empty one")
	for _, right := range []string{`["sensei"]`, `["herbert"]`, `["sensei","herbert"]`} {
		assert.Equal(t, match.IllegalMove, p.try(theHost, `{"type":"judge","right":`+right+`}`), right)
	}
	p.submit(theHost, `{"type":"judge","right":[]}`)
	assert.Equal(t, ask, p.phase())
}

func TestTheHostJudgesAnAnswerOfBlanks(t *testing.T) {
	t.Parallel()
	p := tied(t, `{}`)
	p.asked(" ", "")
	p.submit(theHost, `{"type":"judge","right":["sensei"]}`)
	assert.Contains(t, p.result(), `"winner":"sensei"`)
}

func TestNobodyIsRightTwice(t *testing.T) {
	t.Parallel()
	p := tied(t, `{}`)
	p.asked("4", "5")
	assert.Equal(t, match.IllegalMove, p.try(theHost, `{"type":"judge","right":["sensei","sensei"]}`))
	assert.Equal(t, match.IllegalMove, p.try(theHost, `{"type":"judge","right":["sensei","herbert","sensei"]}`))
	assert.Equal(t, judge, p.phase())
}
