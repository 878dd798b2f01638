package primalpileup

import (
	"math/bits"

	"umpire/pkg/match"
)

// bot plays a random legal submission: mostly a card or a few, now and then any number, and a pass often enough for
// rounds to end.
func bot(_ *match.View, t *table, pick func(int) int) any {
	h := t.You.Hints
	if len(h.Pick) > 0 {
		return map[string]any{"type": pickStarter, "player": h.Pick[pick(len(h.Pick))]}
	}
	if h.Play == nil || pick(4) == 0 {
		return map[string]any{"type": pass}
	}
	most := h.Play.Least
	switch {
	case pick(20) == 0:
		most = h.Play.Most
	case pick(3) == 0:
		most = min(most+2, h.Play.Most)
	}
	var chosen cards
	for n := h.Play.Least + pick(most-h.Play.Least+1); n > 0; n-- {
		left := h.Play.Cards &^ chosen
		chosen |= 1 << nth(left, pick(left.count()))
	}
	return map[string]any{"type": play, "cards": chosen}
}

// nth is the card at place n of a sorted list, from 0.
func nth(c cards, n int) card {
	for ; n > 0; n-- {
		c &= c - 1
	}
	return card(bits.TrailingZeros32(uint32(c)))
}
