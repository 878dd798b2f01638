package nothingbutthetruth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "1) The Host will reveal 4 Objective Statements."
func TestFourStatementsACycle(t *testing.T) {
	t.Parallel()
	p := started(t)
	tb := p.table(match.Public)
	assert.Nil(t, tb.BidWinner)
	assert.Nil(t, tb.Shift)
	assert.Nil(t, tb.Question)
	assert.Equal(t, both(0, 0), tb.Coins)
	assert.Equal(t, both(8, 8), tb.Price)
	assert.Equal(t, both([]string{}, []string{}), tb.Stones)
	for cycle := 1; cycle <= 13; cycle++ {
		tb := p.table(match.Public)
		assert.Equal(t, cycle, tb.Cycle)
		assert.Equal(t, byLetter(func(i int) string { return fmt.Sprint(cycle, letters[i]) }), tb.Statements)
		assert.Nil(t, tb.Truths)
		assert.Nil(t, tb.Gains)
		if cycle > 1 {
			assert.JSONEq(t, fmt.Sprintf(`{"cycle":%d,"statements":{"A":"%[1]dA","B":"%[1]dB","C":"%[1]dC","D":"%[1]dD"}}`, cycle),
				p.last("statements-shown").public)
		}
		p.cycle("", "")
	}
}

// "Player 1 order: ABDC = 1100 = 12 coins", "Player 2 order: ADBC = 1010 = 10 coins"
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.order(sensei, "ABDC")
	p.order(herbert, "ADBC")
	tb := p.table(match.Public)
	assert.Equal(t, both(12, 10), tb.Gains)
	assert.Equal(t, both(12, 10), tb.Coins)
	assert.Equal(t, map[string]bool{"A": true, "B": true, "C": false, "D": false}, tb.Truths)
}

// "Players will then receive coins equal to the binary number created when True statements are interpreted as 1 and
// False as 0."
func TestCoinsAreTheBinaryNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, order string
		coins          int
	}{
		{"TFFF", "ABCD", 8}, {"TFFF", "BACD", 4}, {"TFFF", "BCAD", 2}, {"TFFF", "BCDA", 1},
		{"TTFF", "CDAB", 3}, {"TTFF", "CADB", 5}, {"FTTF", "DBAC", 5}, {"FTTT", "DCBA", 14}, {"FTTT", "ABCD", 7},
		{"TFFT", "DABC", 12}, {"TTTF", "CDBA", 11},
	} {
		p := start(t, c.pattern, `{}`)
		p.order(sensei, c.order)
		p.order(herbert, c.order)
		assert.Equal(t, both(c.coins, c.coins), p.table(match.Public).Gains, "%s ordered %s", c.pattern, c.order)
		p.place(sensei, "")
		p.place(herbert, "")
		p.bid(sensei, 0)
		p.bid(herbert, 0)
		p.order(sensei, c.order)
		p.order(herbert, c.order)
		tb := p.table(match.Public)
		assert.Equal(t, both(c.coins, c.coins), tb.Gains, "gains are this cycle's")
		assert.Equal(t, both(2*c.coins, 2*c.coins), tb.Coins, "coins add up")
	}
}

func TestTruthsAreShownWhenTheCoinsArePaid(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.cycle("", "")
	p.order(sensei, "DCBA")
	assert.Nil(t, p.table(sensei).Truths)
	p.order(herbert, "ABCD")
	paid := p.last("coins-paid")
	assert.JSONEq(t, `{"cycle":2,"truths":{"A":true,"B":true,"C":false,"D":false},"gains":{"sensei":3,"herbert":12},
		"coins":{"sensei":15,"herbert":24}}`, paid.public)
	assert.Equal(t, []match.Ref{match.SetupFace(1)}, paid.opens, "the cycle's statements open, no others")
	assert.Empty(t, paid.faces)
	p.place(sensei, "")
	p.place(herbert, "")
	assert.NotNil(t, p.table(match.Public).Truths, "until the next cycle")
	p.bid(sensei, 0)
	p.bid(herbert, 0)
	assert.Nil(t, p.table(match.Public).Truths)
}

func TestAMissingOrderIsABCD(t *testing.T) {
	t.Parallel()
	p := start(t, "FTTF", `{"hostSees": "all"}`)
	p.order(sensei, "BCAD")
	assert.Nil(t, p.table(herbert).You.Order)
	p.wait(24*time.Hour - 1)
	assert.Equal(t, order, p.phase())
	p.wait(1)
	assert.Equal(t, both(12, 6), p.table(match.Public).Gains)
	assert.Equal(t, []string{"A", "B", "C", "D"}, p.table(herbert).You.Order, "a default taken shows there once the phase is over")
}

func TestWhoIsMissingBuysNoneBidsNothingAndDeclines(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.ordered()
	p.place(sensei, "C3")
	assert.Nil(t, p.table(herbert).You.Placed)
	p.wait(24 * time.Hour)
	assert.Equal(t, []string{}, p.table(herbert).You.Placed)
	assert.Equal(t, both([]string{"C3"}, []string{}), p.table(match.Public).Stones)
	p.bid(sensei, 1)
	assert.Nil(t, p.table(herbert).You.Bid)
	p.wait(24 * time.Hour)
	assert.Equal(t, int64(0), *p.table(herbert).You.Bid)
	assert.Equal(t, shift, p.phase())
	p.wait(24 * time.Hour)
	assert.Equal(t, order, p.phase())
	assert.JSONEq(t, `{"player":"sensei"}`, p.last("shift-declined").public)
	tb := p.table(match.Public)
	assert.Equal(t, sensei, *tb.BidWinner)
	assert.Nil(t, tb.Shift)
	assert.Equal(t, both([]string{"C3"}, []string{}), tb.Stones)
	assert.Equal(t, both(3, 12), tb.Coins)
}

// "Players may then purchase and place stones by submitting a list of empty spaces, though they must have enough coins
// to afford them."
func TestPlace(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.cycle("A1", "A3")
	p.ordered() // 16 coins each, a stone at 7
	for _, c := range []struct {
		cells string
		code  match.Code
	}{
		{"", ""},
		{"B1", ""},
		{"B1 F6", ""},
		{"B1 F6 F5", match.IllegalMove}, // not affordable
		{"A1", match.IllegalMove},       // one's own stone stands there
		{"A3", match.IllegalMove},       // the other's
		{"B1 B1", match.IllegalMove},    // not different
		{"B2 A1", match.IllegalMove},
	} {
		p.try(sensei, `{"type":"place","cells":[]}`)
		assert.Equal(t, c.code, p.try(sensei, `{"type":"place","cells":`+list(strings.Fields(c.cells))+`}`), c.cells)
	}
	p.place(sensei, "F6 B1")
	assert.Equal(t, []string{"B1", "F6"}, p.table(sensei).You.Placed, "as submitted, sorted")
	p.place(herbert, "")
	assert.Equal(t, both([]string{"A1", "B1", "F6"}, []string{"A3"}), p.table(match.Public).Stones)
	assert.Equal(t, both(2, 16), p.table(match.Public).Coins)
	assert.JSONEq(t, `{"cycle":2,"stones":{"sensei":["A1","B1","F6"],"herbert":["A3"]},"coins":{"sensei":2,"herbert":16}}`,
		p.last("stones-placed").public)
	assert.Equal(t, both(6, 7), p.table(match.Public).Price)
}

// "Stones cost 8 coins, minus 1 for every group of stones the player currently has on the board."
func TestThePriceIsFixedBeforeThePlacement(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.cycle("", "")
	p.ordered()
	p.place(sensei, "A1 A3 A5") // three groups more, but 8 coins each
	p.place(herbert, "")
	assert.Equal(t, both(0, 24), p.table(match.Public).Coins)
	assert.Equal(t, both(5, 8), p.table(match.Public).Price)
	p.bid(sensei, 0)
	p.bid(herbert, 0)
	p.ordered()
	assert.Equal(t, match.IllegalMove, p.try(sensei, `{"type":"place","cells":["A2","A4","B1"]}`))
	p.place(sensei, "A2 A4") // joins all to one group, still 5 coins each
	p.place(herbert, "")
	assert.Equal(t, both(2, 36), p.table(match.Public).Coins)
	assert.Equal(t, both(7, 8), p.table(match.Public).Price)
}

// "Stone cost cannot drop below 4 coins."
func TestTheCostCannotDropBelow4(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.toCycle(5)
	p.cycle("A1 A3 A5 C1 C3 C5", "")
	assert.Equal(t, both(4, 8), p.table(match.Public).Price)
	p.ordered() // 60-48+12 = 24
	assert.Equal(t, match.IllegalMove, p.try(sensei, `{"type":"place","cells":["E1","E2","E3","E4","E5","E6","F1"]}`))
	p.place(sensei, "E1 E2 E3 E4 E5 E6")
	p.place(herbert, "")
	assert.Equal(t, 0, p.table(match.Public).Coins[sensei])
}

// "Any spaces submitted by both players will remain empty, and coins will not be deducted for them."
func TestBothNameACell(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.toCycle(2)
	p.placed("B2 C4 A1", "C4 D4 B2")
	tb := p.table(match.Public)
	assert.Equal(t, both([]string{"A1"}, []string{"D4"}), tb.Stones)
	assert.Equal(t, both(16, 16), tb.Coins)
	assert.NotContains(t, p.last("stones-placed").public, "C4", "which cells these were is not announced")
	assert.Equal(t, []string{"A1", "B2", "C4"}, p.table(sensei).You.Placed, "conflicts included")
	p.bid(sensei, 0)
	p.bid(herbert, 0)
	p.placed("B2", "")
	assert.Equal(t, []string{"A1", "B2"}, p.table(match.Public).Stones[sensei], "they stay empty, so they can be named again")
}

func TestTheWholeListMustBeAffordable(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.ordered()
	p.place(herbert, "B2")
	assert.Equal(t, match.IllegalMove, p.try(sensei, `{"type":"place","cells":["B2","C4"]}`), "though B2 would cost nothing")
	p.place(sensei, "B2")
	assert.Equal(t, both(12, 12), p.table(match.Public).Coins, "conflicts give back their coins")
}

// "Whoever submits a higher bid will be charged that amount of coins, then may make a shift."
func TestTheHigherBidPaysAndShifts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		black, white int
		winner       string
		coins        map[string]int
	}{{5, 4, sensei, both(7, 12)}, {0, 1, herbert, both(12, 11)}, {12, 0, sensei, both(0, 12)}} {
		p := started(t)
		p.placed("", "")
		p.bid(sensei, c.black)
		p.bid(herbert, c.white)
		assert.Equal(t, shift, p.phase())
		assert.Equal(t, []string{c.winner}, p.m.View(match.Public).Phase.Awaiting)
		tb := p.table(match.Public)
		assert.Equal(t, c.winner, *tb.BidWinner)
		assert.Equal(t, c.coins, tb.Coins)
		assert.Equal(t, int64(c.black), *p.table(sensei).You.Bid)
	}
}

// "If the bid is tied, nobody is charged and nobody gets to shift."
func TestATiedBid(t *testing.T) {
	t.Parallel()
	for _, coins := range []int{0, 3, 12} {
		p := started(t)
		p.placed("", "")
		p.bid(sensei, coins)
		p.bid(herbert, coins)
		tb := p.table(match.Public)
		assert.Equal(t, order, p.phase())
		assert.Equal(t, 2, tb.Cycle)
		assert.Nil(t, tb.BidWinner)
		assert.Equal(t, both(12, 12), tb.Coins)
		assert.JSONEq(t, `{"cycle":1,"winner":null,"coins":{"sensei":12,"herbert":12}}`, p.last("bids-resolved").public)
	}
}

func TestABidIsAtMostWhatOneHasAfterPlacement(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.placed("A1", "")
	assert.Equal(t, match.IllegalMove, p.try(sensei, `{"type":"bid","coins":5}`))
	assert.Equal(t, match.IllegalMove, p.try(sensei, `{"type":"bid","coins":1`+strings.Repeat("0", 30)+`}`), "however large")
	assert.Equal(t, match.IllegalMove, p.try(herbert, `{"type":"bid","coins":13}`))
	p.bid(sensei, 4)
	p.bid(herbert, 12)
	assert.Equal(t, both(4, 0), p.table(match.Public).Coins)
}

// "A shift consists of picking a direction and optionally an anchor stone." "Players may select their own or their
// opponent's stone as an anchor."
func TestAnchors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		anchor string
		code   match.Code
		stones map[string][]string
	}{
		{"", "", both([]string{"D2", "F1"}, []string{"E2", "F2"})},
		{"C1", "", both([]string{"C1", "D2"}, []string{"E2", "F2"})}, // one's own
		{"D2", "", both([]string{"C2", "F1"}, []string{"D2", "F2"})}, // the opponent's
		{"B1", match.IllegalMove, nil},                               // no stone
	} {
		p := started(t)
		p.toCycle(3)
		p.placed("A2 C1", "D2 F2")
		p.bid(sensei, 1)
		p.bid(herbert, 0)
		submission := `{"type":"shift","direction":"down","anchor":null}`
		if c.anchor != "" {
			submission = strings.ReplaceAll(submission, "null", `"`+c.anchor+`"`)
		}
		require.Equal(t, c.code, p.try(sensei, submission), c.anchor)
		if c.code != "" {
			continue
		}
		tb := p.table(match.Public)
		assert.Equal(t, c.stones, tb.Stones, c.anchor)
		assert.Equal(t, sensei, tb.Shift.Player)
		assert.Equal(t, "down", tb.Shift.Direction)
		assert.Equal(t, c.anchor == "", tb.Shift.Anchor == nil)
		assert.Equal(t, 4, tb.Cycle)
	}
}

// "Players may also win the bid and decide not to shift."
func TestDecline(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.placed("A1", "")
	p.bid(sensei, 1)
	p.bid(herbert, 0)
	p.submit(sensei, `{"type":"decline"}`)
	tb := p.table(match.Public)
	assert.Equal(t, sensei, *tb.BidWinner)
	assert.Nil(t, tb.Shift)
	assert.Equal(t, []string{"A1"}, tb.Stones[sensei])
	assert.Equal(t, 2, tb.Cycle)
}

func TestBidWinnerAndShiftStayUntilTheNextBids(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.placed("", "")
	p.bid(sensei, 1)
	p.bid(herbert, 0)
	p.shift(sensei, "left", "") // a shift that moves nothing is allowed
	for range 2 {
		tb := p.table(match.Public)
		assert.Equal(t, sensei, *tb.BidWinner)
		assert.Equal(t, &shiftTaken{Player: sensei, Direction: "left"}, tb.Shift)
		if p.phase() == order {
			p.placed("", "")
		}
	}
	p.bid(sensei, 0)
	p.bid(herbert, 2)
	tb := p.table(match.Public)
	assert.Equal(t, herbert, *tb.BidWinner)
	assert.Nil(t, tb.Shift)
	p.shift(herbert, "up", "")
	p.placed("", "")
	p.bid(sensei, 0)
	p.bid(herbert, 0)
	tb = p.table(match.Public)
	assert.Nil(t, tb.BidWinner)
	assert.Nil(t, tb.Shift)
}

func TestAShiftIsATurn(t *testing.T) {
	t.Parallel()
	p := start(t, "TTFF", `{"close": "at-deadline"}`)
	p.ordered()
	assert.Equal(t, order, p.phase(), "a simultaneous phase is held open")
	p.order(sensei, "BACD")
	p.wait(24 * time.Hour)
	p.wait(24 * time.Hour)
	p.bid(sensei, 1)
	p.wait(24 * time.Hour)
	require.Equal(t, shift, p.phase())
	p.shift(sensei, "down", "")
	assert.Equal(t, order, p.phase(), "at-deadline does not hold it")
}

func TestPhasesInTheirOrder(t *testing.T) {
	t.Parallel()
	p := tied(t, `{}`)
	var names []string
	for _, f := range p.facts {
		if f.kind == "phase-opened" {
			_, rest, _ := strings.Cut(f.public, `"name":"`)
			name, _, _ := strings.Cut(rest, `"`)
			names = append(names, name)
		}
	}
	assert.Equal(t, append(slices.Repeat([]string{order, place, bid}, 13), ask), names)
}
