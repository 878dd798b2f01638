package primalpileup

import "math/bits"

// standing is how a round stands: who would win it if it ended now, and why.
type standing struct {
	winner  int
	totals  [2]int // of what is left
	removed [2]cards
}

// judge counts a round up: "The player with a larger sum of non-removed cards in their zone wins the round. If there is
// a tie, the player who went first wins the round."
func judge(zones [2][]cards, first int) standing {
	down := [2]cards{union(zones[0]), union(zones[1])}
	s := standing{winner: first}
	for seat := range down {
		s.removed[seat] = removed(down[seat], down[other(seat)])
		s.totals[seat] = (down[seat] &^ s.removed[seat]).total()
	}
	if second := other(first); s.totals[second] > s.totals[first] {
		s.winner = second
	}
	return s
}

// removed: "A card is removed from play if your opponent has played a card of superior element with a larger or equal
// value." "This happens simultaneously", so it goes by all that the opponent has put down, removed or not.
func removed(own, opposing cards) cards {
	var gone cards
	for element := range len(elements) {
		strongest := bits.Len32(uint32(suit(opposing, superior(element)))) // its number, 0 without one
		gone |= (suit(own, element) & (1<<strongest - 1)) << (element * highest)
	}
	return gone
}

// superior is the element that beats this one: water beats fire, grass beats water, fire beats grass.
func superior(element int) int { return (element + 1) % len(elements) }

// suit returns the cards of one element, moved to the place of the first.
func suit(c cards, element int) cards { return c >> (element * highest) & (1<<highest - 1) }

func union(plays []cards) cards {
	var all cards
	for _, play := range plays {
		all |= play
	}
	return all
}

func other(seat int) int { return 1 - seat }
