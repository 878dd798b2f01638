package glassfull

import (
	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The phases and the types of submission, which share a name where a phase takes only one.
const (
	pickStarter = "pick-starter"
	turn        = "turn"
	add         = "add"
	sponge      = "sponge"
	challenge   = "challenge"
)

// move is a submission.
type move struct {
	kind   string
	player int // pick-starter: the seat picked
	cups   int // add
}

// decode reads a submission.
func decode(s *state, v event.Value) (move, error) {
	form := match.OpenForm(v)
	m := move{kind: form.Choice("type", pickStarter, add, sponge, challenge)}
	switch m.kind {
	case pickStarter:
		form.Fields([]string{"player"})
		m.player = form.Player("player", s.seats)
	case add:
		form.Fields([]string{"cups"})
		m.cups = int(form.Whole("cups", 1, mostCups))
	default:
		form.Fields(nil)
	}
	return m, form.Err()
}

// The public parts of the game's events.
type (
	starterPicked struct {
		Bout   int    `json:"bout"`
		Player string `json:"player"`
	}
	turnTaken struct {
		Player  string         `json:"player"`
		Marks   []string       `json:"marks"`
		Sponges map[string]int `json:"sponges"`
	}
	challengeFailed struct {
		Player string `json:"player"`
	}
	strikeGiven struct {
		Player  string `json:"player"`
		Strikes int    `json:"strikes"`
		Reason  string `json:"reason"` // "time" or "challenge"
	}
	boutEnded struct {
		Bout   int    `json:"bout"`
		Winner string `json:"winner"`
		By     string `json:"by"` // "overflow" or "challenge"
	}
)

// The faces of the game's events.
type (
	done struct { // to who did it
		Type string `json:"type"`
		Cups *int   `json:"cups"` // null unless an add
	}
	water struct { // to nobody
		Level int `json:"level"`
	}
)

// result is how a match ended.
type result struct {
	Winner string         `json:"winner"`
	Loser  string         `json:"loser"`
	By     string         `json:"by"`    // "bouts" or "strikes"
	Score  map[string]int `json:"score"` // bouts won
}
