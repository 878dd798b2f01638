package primalpileup

import (
	"encoding/json"
	"errors"
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

const (
	elements = "FWG" // fire, water, grass, in the order of a sorted list
	highest  = 10    // number of a card
	deck     = len(elements) * highest
)

// card is one card, counted from 0 in the order of a sorted list: by element, then by number.
type card int

// names are the cards as they are written: F1, ..., F10, W1, ..., G10.
var names = nameCards()

func nameCards() (all [deck]string) {
	for c := range card(deck) {
		all[c] = c.letter() + strconv.Itoa(c.number())
	}
	return all
}

func (c card) letter() string {
	element := int(c) / highest
	return elements[element : element+1]
}

func (c card) number() int { return int(c)%highest + 1 }

// parseCard reads a card as it is written.
func parseCard(s string) (c card, ok bool) {
	i := slices.Index(names[:], s)
	return card(i), i >= 0
}

// cards is a set of cards, a bit for each; in JSON it is a sorted list.
type cards uint32

// allCards: "Each player has 30 cards, one for each combination of type (fire/water/grass) and number (1-10)."
const allCards cards = 1<<deck - 1

func (c cards) has(one card) bool { return c&(1<<one) != 0 }

func (c cards) count() int { return bits.OnesCount32(uint32(c)) }

// each goes through the set in the order of a sorted list.
func (c cards) each() iter.Seq[card] {
	return func(yield func(card) bool) {
		for ; c != 0 && yield(card(bits.TrailingZeros32(uint32(c)))); c &= c - 1 {
		}
	}
}

// total is the sum of the numbers.
func (c cards) total() int {
	sum := 0
	for one := range c.each() {
		sum += one.number()
	}
	return sum
}

// letters are the elements of the cards, a letter for each.
func (c cards) letters() []string {
	list := make([]string, 0, c.count())
	for one := range c.each() {
		list = append(list, one.letter())
	}
	return list
}

// MarshalJSON implements json.Marshaler.
func (c cards) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 2+6*c.count()), '[')
	for one := range c.each() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), names[one]...), '"')
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *cards) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*c = 0
	for _, s := range list {
		one, ok := parseCard(s)
		if !ok || c.has(one) {
			return errors.New("primalpileup: a list of cards holds what is no card, or a card twice")
		}
		*c |= 1 << one
	}
	return nil
}
