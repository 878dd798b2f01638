package primalpileup

import (
	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The phases and the types of submission, which share a name where a phase takes only one.
const (
	pickStarter = "pick-starter"
	turn        = "turn"
	play        = "play"
	pass        = "pass"
)

// move is a submission.
type move struct {
	kind   string
	player int    // pick-starter: the seat picked
	cards  []card // play: as they were sent, which may be none, or one twice
}

// decode reads a submission.
func decode(s *state, v event.Value) (move, error) {
	form := match.OpenForm(v)
	m := move{kind: form.Choice("type", pickStarter, play, pass)}
	switch m.kind {
	case pickStarter:
		form.Fields([]string{"player"})
		m.player = form.Player("player", s.seats)
	case play:
		form.Fields([]string{"cards"})
		for _, name := range form.Strings("cards") {
			c, ok := parseCard(name)
			if !ok {
				form.Fail(match.Malformed("a card is written as the letter of its element, F, W or G, and its number, 1 to 10"))
			}
			m.cards = append(m.cards, c)
		}
	default:
		form.Fields(nil)
	}
	return m, form.Err()
}

// The public parts of the game's events.
type (
	starterPicked struct {
		Player string `json:"player"`
		Drawn  bool   `json:"drawn"` // the DMO had not picked in time
	}
	turnTaken struct {
		Player   string         `json:"player"`
		Passed   bool           `json:"passed"`
		Elements []string       `json:"elements"` // of the cards played, sorted; none where he passed
		Leader   string         `json:"leader"`
		Reserve  map[string]int `json:"reserve"` // whole seconds left
	}
	roundEnded struct {
		Round   int                `json:"round"`
		Winner  string             `json:"winner"`
		Totals  map[string]int     `json:"totals"`
		Zones   map[string][]cards `json:"zones"` // plays
		Removed map[string]cards   `json:"removed"`
		Hands   map[string]cards   `json:"hands"` // that go on into the next round
	}
)

// played is the face of a turn in which cards were played, to who played them.
type played struct {
	Cards cards `json:"cards"`
}

// result is how a match ended.
type result struct {
	Winner string         `json:"winner"`
	Loser  string         `json:"loser"`
	By     string         `json:"by"`    // "rounds"
	Score  map[string]int `json:"score"` // rounds won
}
