package paintclash

import (
	"encoding/json"
	"math"
	"slices"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The phases, which are the types of submission too: each phase takes only one.
const (
	team           = "team"
	start          = "start"
	round          = "round"
	nominate       = "nominate"
	chooseOpponent = "choose-opponent"
)

// The modes of a move: "normal movement" and "squid movement".
const (
	walk  = "walk"
	squid = "squid"
)

// color is a team, or what a cell is painted.
type color uint8

const (
	unpainted color = iota // of a team: none
	green
	pink
)

var colorNames = [...]string{"", "green", "pink"}

// name is the color's word; name and named are each other's inverse.
func (c color) name() string { return colorNames[c] }

func named(name string) color { return color(slices.Index(colorNames[:], name)) }

func (c color) other() color { return green + pink - c }

// move is a submission.
type move struct {
	kind      string
	color     color  // team
	bid       int64  // team
	cell      cell   // start, and where a round's move ends
	mode      string // round
	gun       int    // round
	direction int    // round: its place in the list of directions, undirected where left out
	player    int    // nominate, choose-opponent: the seat
}

// undirected stands for the direction that the shot of a gun that looks the same in every direction was given without.
const undirected = -1

// decode reads a submission.
func decode(s *state, v event.Value) (move, error) {
	form := match.OpenForm(v)
	m := move{kind: form.Choice("type", team, start, round, nominate, chooseOpponent)}
	switch m.kind {
	case team:
		form.Fields([]string{"color", "bid"})
		m.color = named(form.Choice("color", green.name(), pink.name()))
		m.bid = form.Whole("bid", 0, math.MaxInt64) // what he has is for check to judge
	case start:
		form.Fields([]string{"cell"})
		m.cell = cellOf(form, "cell")
	case round:
		form.Fields([]string{"move", "shot"})
		decodeMove(&m, form)
		decodeShot(&m, form, s.armory)
	case nominate, chooseOpponent:
		form.Fields([]string{"player"})
		m.player = form.Player("player", s.seats)
	}
	return m, form.Err()
}

func decodeMove(m *move, form *match.Form) {
	part := form.Object("move")
	part.Exactly([]string{"mode", "to"})
	m.mode = part.Choice("mode", walk, squid)
	m.cell = cellOf(part, "to")
	form.Fail(part.Err())
}

// decodeShot: "a gun to use as well as a direction if applicable".
func decodeShot(m *move, form *match.Form, a armory) {
	part := form.Object("shot")
	part.Exactly([]string{"gun"}, "direction")
	m.gun = int(part.Whole("gun", 1, guns))
	if m.direction = undirected; !part.Null("direction") || !a.alike(m.gun) {
		m.direction = slices.Index(directions, part.Choice("direction", directions...))
	}
	form.Fail(part.Err())
}

func cellOf(form *match.Form, name string) cell {
	c := board.find(form.Text(name))
	if c == nowhere {
		form.Fail(match.Malformed("the field %q must be a cell of the board, such as \"C4\"", name))
	}
	return c
}

// What match-created holds of the game: the guns in public, and a face for each player with what he owns.
type (
	prepared struct {
		Armory armory `json:"armory"`
	}
	owned struct { // to the player
		Garnets int64 `json:"garnets"`
	}
)

// The public parts of the game's events.
type (
	teamsSettled struct {
		Teams teams `json:"teams"`
	}
	startsChosen struct {
		Positions map[string]string `json:"positions"`
	}
	roundResolved struct {
		Round     int               `json:"round"`
		Positions map[string]string `json:"positions"`
		Painted   paint             `json:"painted"` // in this round
		Score     score             `json:"score"`   // after it
	}
	winnerCounted struct {
		Winner    *string          `json:"winner"`
		DecidedBy string           `json:"decidedBy"`
		Score     score            `json:"score"`
		Awards    map[string]award `json:"awards"` // winners only
	}
	candidateNamed struct {
		Player string `json:"player"`
		How    string `json:"how"` // "vote" or "draw"
	}
	opponentChosen struct {
		Player string `json:"player"`
		Drawn  bool   `json:"drawn"`
	}
)

// The faces of the game's events.
type (
	paid struct { // to the player
		Color   string `json:"color"` // as he chose, or as it was drawn for him
		Paid    int64  `json:"paid"`
		Garnets int64  `json:"garnets"` // left
	}
	tiesDrawn struct { // to nobody
		Players []string `json:"players"` // who was drawn, in the order of the draws
	}
	fired struct { // to the player
		Mode      *string `json:"mode"` // null: he stayed, for he missed the round
		Gun       int     `json:"gun"`
		Direction *string `json:"direction"` // null where it was left out
	}
	voted struct { // to the winners
		// Votes are, by winner, the loser's place in the seating order from 1, 0 without a vote. Numbers of one digit:
		// the size of the sealed face does not tell how many have voted.
		Votes map[string]int `json:"votes"`
	}
)

// teams are the players of each team in seating order.
type teams struct {
	Green []string `json:"green"`
	Pink  []string `json:"pink"`
}

// paint are the cells of each color, sorted.
type paint struct {
	Green []string `json:"green"`
	Pink  []string `json:"pink"`
}

// score is how many cells each color has.
type score struct {
	Green int `json:"green"`
	Pink  int `json:"pink"`
}

// award is what each player of the winning team receives.
type award struct {
	TokensOfLife int   `json:"tokensOfLife"`
	Garnets      int64 `json:"garnets"`
}

// result is how a match ended.
type result struct {
	Winner    *string          `json:"winner"` // a color
	Score     score            `json:"score"`
	DecidedBy string           `json:"decidedBy"` // "cells", "round-5" to "round-1", or "none"
	Candidate string           `json:"candidate"`
	Opponent  string           `json:"opponent"`
	Awards    map[string]award `json:"awards"` // winners only
}

// raw is a submission as it was sent; absent, it is null.
type raw = json.RawMessage
