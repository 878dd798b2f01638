package primalpileup

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// beats is the sheet's circle, written out: fire beats grass, grass beats water, water beats fire.
var beats = map[byte]byte{'F': 'G', 'G': 'W', 'W': 'F'}

// value reads the number of a card as it is written.
func value(t *testing.T, name string) int {
	t.Helper()
	var n int
	require.NoError(t, json.Unmarshal([]byte(name[1:]), &n))
	return n
}

// removedOneByOne is the dumb twin of removed: every card against every card.
func removedOneByOne(t *testing.T, own, opposing []string) []string {
	t.Helper()
	gone := []string{}
	for _, mine := range own {
		for _, his := range opposing {
			if beats[his[0]] == mine[0] && value(t, his) >= value(t, mine) {
				gone = append(gone, mine)
				break
			}
		}
	}
	return gone
}

// someCards is a random set, thin or thick.
func someCards(random *rand.Rand) cards {
	c := cards(random.Uint32()) & allCards
	for n := random.IntN(4); n > 0; n-- {
		c &= cards(random.Uint32())
	}
	return c
}

func TestCardsAreWrittenAndReadAsOne(t *testing.T) {
	assert.Equal(t, everyCard, list(t, allCards))
	assert.Equal(t, faceDown, allCards.letters())
	assert.Equal(t, 30, allCards.count())
	assert.Equal(t, 3*55, allCards.total())
	for i, name := range everyCard {
		one, ok := parseCard(name)
		require.True(t, ok)
		assert.Equal(t, card(i), one)
		assert.Equal(t, name[:1], one.letter())
		assert.Equal(t, value(t, name), one.number())
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := someCards(random)
		names := list(t, c)
		sum := 0
		for _, name := range names {
			sum += value(t, name)
		}
		assert.Equal(t, sum, c.total())
		assert.Len(t, names, c.count())
		assert.Equal(t, c, set(t, strings.Join(names, " ")))
	}
}

func TestALogThatHoldsNoCardsIsBroken(t *testing.T) {
	for _, data := range []string{`["F11"]`, `["F1","F1"]`, `["F01"]`, `[""]`, `"F1"`, `[1]`} {
		var c cards
		require.Error(t, json.Unmarshal([]byte(data), &c), data)
	}
	c := allCards
	require.NoError(t, json.Unmarshal([]byte(`["G10","F1"]`), &c))
	assert.Equal(t, []string{"F1", "G10"}, list(t, c))
}

// "A card is removed from play if your opponent has played a card of superior element with a larger or equal value."
func TestRemoval(t *testing.T) {
	for _, mine := range everyCard {
		for _, his := range everyCard {
			gone := beats[his[0]] == mine[0] && value(t, his) >= value(t, mine)
			assert.Equal(t, gone, removed(set(t, mine), set(t, his)) != 0, "%s against %s", mine, his)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		own, opposing := someCards(random), someCards(random)
		want := removedOneByOne(t, list(t, own), list(t, opposing))
		assert.Equal(t, want, list(t, removed(own, opposing)), "%v against %v", list(t, own), list(t, opposing))
	}
}

// "For instance, a Fire 5 would remove Grass 5, Grass 4, and so on -- even if all of them were played in the same
// round!"
func TestAFire5RemovesGrass5AndGrass4AndSoOn(t *testing.T) {
	s := judge([2][]cards{{set(t, "F5")}, {set(t, "G5 G4"), set(t, "G6"), set(t, "G3 G2 G1")}}, 0)
	assert.Equal(t, []string{"G1", "G2", "G3", "G4", "G5"}, list(t, s.removed[1]))
	assert.Equal(t, [2]int{5, 6}, s.totals)
	assert.Empty(t, list(t, s.removed[0]))
	assert.Equal(t, 1, s.winner)
}

// "This happens simultaneously."
func TestARemovedCardStillRemoves(t *testing.T) {
	// F5 removes G4, G4 removes W3, W3 would remove F3; all of these are removed, and all of them remove.
	s := judge([2][]cards{{set(t, "F5"), set(t, "W3")}, {set(t, "G4"), set(t, "F3")}}, 0)
	assert.Equal(t, []string{"W3"}, list(t, s.removed[0]))
	assert.Equal(t, []string{"F3", "G4"}, list(t, s.removed[1]))
	assert.Equal(t, [2]int{5, 0}, s.totals)
}

// "The player with a larger sum of non-removed cards in their zone wins the round. If there is a tie, the player who
// went first wins the round."
func TestTheLargerSumWinsAndATieIsTheFirstPlayers(t *testing.T) {
	for _, test := range []struct {
		zones  [2]string
		first  int
		totals [2]int
		winner int
	}{
		{[2]string{"F5", "F4"}, 1, [2]int{5, 4}, 0},
		{[2]string{"F5", "F6"}, 0, [2]int{5, 6}, 1},
		{[2]string{"F5", "F5"}, 0, [2]int{5, 5}, 0},
		{[2]string{"F5", "F5"}, 1, [2]int{5, 5}, 1},
		{[2]string{"", ""}, 0, [2]int{0, 0}, 0},
		{[2]string{"", ""}, 1, [2]int{0, 0}, 1},
		{[2]string{"F10 W10 G10", "F9 W9 G9"}, 1, [2]int{30, 0}, 0},
		{[2]string{"F1", "W1"}, 0, [2]int{0, 1}, 1},
	} {
		s := judge([2][]cards{{set(t, test.zones[0])}, {set(t, test.zones[1])}}, test.first)
		assert.Equal(t, test.totals, s.totals, test.zones)
		assert.Equal(t, test.winner, s.winner, test.zones)
	}
}

// TestJudgeAgainstItsTwin counts random rounds up card by card, and from either side of the table.
func TestJudgeAgainstItsTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		a, b, first := someCards(random), someCards(random), random.IntN(2)
		sums := [2]int{}
		for seat, pair := range [2][2][]string{{list(t, a), list(t, b)}, {list(t, b), list(t, a)}} {
			gone := removedOneByOne(t, pair[0], pair[1])
			for _, name := range pair[0] {
				sums[seat] += value(t, name)
			}
			for _, name := range gone {
				sums[seat] -= value(t, name)
			}
		}
		winner := first
		if sums[0] != sums[1] {
			winner = 0
			if sums[1] > sums[0] {
				winner = 1
			}
		}
		got := judge([2][]cards{{a}, {b}}, first)
		assert.Equal(t, sums, got.totals)
		assert.Equal(t, winner, got.winner)
		split := judge([2][]cards{{a & 0x2aaaaaaa, a &^ 0x2aaaaaaa}, {b}}, first)
		assert.Equal(t, got, split, "it makes no difference in which plays the cards came")
		swapped := judge([2][]cards{{b}, {a}}, other(first))
		assert.Equal(t, other(winner), swapped.winner)
	}
}
