package nothingbutthetruth

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"umpire/pkg/event"
	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// The phases and the types of submission, which share a name; a shift's phase takes a decline too.
const (
	order   = "order"
	place   = "place"
	bid     = "bid"
	shift   = "shift"
	decline = "decline"
	ask     = "ask"
	answer  = "answer"
	judge   = "judge"
)

// letters name the statements of a cycle.
var letters = []string{"A", "B", "C", "D"}

// maxText bounds a question and an answer, in code points.
const maxText = 2000

// move is a submission.
type move struct {
	kind      string
	order     []string // letters, most likely true first
	cells     []int    // place: sorted, perhaps with the same cell twice
	coins     int64    // bid: the nearest that fits, however large
	direction string   // shift
	anchor    int      // shift: a cell, or noAnchor
	text      string   // of a question or an answer
	right     []int    // judge: seats, perhaps one twice
}

// decode reads a submission.
func decode(s *state, v event.Value) (move, error) {
	form := match.OpenForm(v)
	m := move{kind: form.Choice("type", order, place, bid, shift, decline, ask, answer, judge), anchor: noAnchor}
	switch m.kind {
	case order:
		form.Fields([]string{"order"})
		m.order = readOrder(form)
	case place:
		form.Fields([]string{"cells"})
		m.cells = readCells(form)
	case bid:
		form.Fields([]string{"coins"})
		m.coins = form.Whole("coins", 0, math.MaxInt64)
	case shift:
		form.Fields([]string{"direction"}, "anchor")
		m.direction = form.Choice("direction", directions...)
		if !form.Null("anchor") {
			m.anchor = readCell(form, form.Text("anchor"))
		}
	case ask:
		form.Fields([]string{"question"})
		if m.text = readText(form, "question"); !statements.Visible(m.text) {
			form.Fail(match.Malformed("a question must not be empty"))
		}
	case answer:
		form.Fields([]string{"text"})
		m.text = readText(form, "text")
	case judge:
		form.Fields([]string{"right"})
		m.right = readRight(form, s.seats)
	default: // decline
		form.Fields(nil)
	}
	return m, form.Err()
}

func readOrder(form *match.Form) []string {
	given := form.Strings("order")
	if !slices.Equal(slices.Sorted(slices.Values(given)), letters) {
		form.Fail(match.Malformed("an order names A, B, C and D, each once"))
	}
	return given
}

func readCells(form *match.Form) []int {
	names := form.Strings("cells")
	cells := make([]int, len(names))
	for i, name := range names {
		cells[i] = readCell(form, name)
	}
	slices.Sort(cells)
	return cells
}

func readCell(form *match.Form, name string) int {
	cell, ok := parseCell(name)
	if !ok {
		form.Fail(match.Malformed("a cell is a row A-F and a column 1-6, such as C4"))
	}
	return cell
}

func readText(form *match.Form, name string) string {
	text := form.Text(name)
	if utf8.RuneCountInString(text) > maxText {
		form.Fail(match.Malformed("the field %q has at most %d characters", name, maxText))
	}
	return text
}

func readRight(form *match.Form, seats match.Seats) []int {
	ids := form.Strings("right")
	right := make([]int, len(ids))
	for i, id := range ids {
		seat, ok := seats.Find(id)
		if !ok {
			form.Fail(match.Malformed("the field \"right\" must be a list of ids of players of this match"))
		}
		right[i] = seat
	}
	return right
}

// missing is what is taken for who has submitted nothing: the order A, B, C, D; no stone; a bid of 0; an empty answer;
// no shift.
func missing(phase string) move {
	switch phase {
	case order:
		return move{kind: order, order: letters}
	case shift:
		return move{kind: decline}
	default:
		return move{kind: phase}
	}
}

// The public parts of the game's events.
type (
	statementsShown struct {
		Cycle      int               `json:"cycle"`
		Statements map[string]string `json:"statements"` // by letter
	}
	coinsPaid struct {
		Cycle  int             `json:"cycle"`
		Truths map[string]bool `json:"truths"` // by letter
		Gains  map[string]int  `json:"gains"`
		Coins  map[string]int  `json:"coins"`
	}
	stonesPlaced struct {
		Cycle  int                 `json:"cycle"`
		Stones map[string][]string `json:"stones"` // all on the board
		Coins  map[string]int      `json:"coins"`
	}
	bidsResolved struct {
		Cycle  int            `json:"cycle"`
		Winner *string        `json:"winner"` // null on a tie
		Coins  map[string]int `json:"coins"`
	}
	stonesShifted struct {
		Player    string              `json:"player"`
		Direction string              `json:"direction"`
		Anchor    *string             `json:"anchor"`
		Stones    map[string][]string `json:"stones"`
	}
	shiftDeclined struct {
		Player string `json:"player"`
	}
	questionAsked struct {
		Question string `json:"question"`
	}
	answersIn     struct{}
	answersJudged struct {
		Right []string `json:"right"` // ids in seating order
	}
)

// The faces of the game's events.
type (
	// cycleStatements, of match-created, one a cycle, to the host. "True statements are interpreted as 1 and False as
	// 0", here too: so a face's size does not depend on how many are true.
	cycleStatements struct {
		Cycle  int      `json:"cycle"`
		Texts  []string `json:"texts"`
		Truths []int    `json:"truths"`
	}
	givenAnswers struct { // of answers-in, to the host
		Answers map[string]string `json:"answers"`
	}
)

// result is how a match ended.
type result struct {
	Winner string           `json:"winner"`
	Loser  string           `json:"loser"`
	By     string           `json:"by"`     // "groups" or "tie-break"
	Groups map[string][]int `json:"groups"` // sizes from the largest down
}

// sealed is a cycle's face, and open reads it back.
func sealed(cycle int, four []statements.Statement) cycleStatements {
	face := cycleStatements{Cycle: cycle}
	for _, s := range four {
		truth := 0
		if s.Truth {
			truth = 1
		}
		face.Texts, face.Truths = append(face.Texts, s.Text), append(face.Truths, truth)
	}
	return face
}

func (c cycleStatements) open() []statements.Statement {
	four := make([]statements.Statement, len(c.Texts))
	for i, text := range c.Texts {
		four[i] = statements.Statement{Text: text, Truth: c.Truths[i] == 1}
	}
	return four
}

// byLetter makes a map keyed by a cycle's letters.
func byLetter[T any](of func(i int) T) map[string]T {
	m := make(map[string]T, len(letters))
	for i, letter := range letters {
		m[letter] = of(i)
	}
	return m
}

// index is the place of a letter in its cycle.
func index(letter string) int { return strings.Index("ABCD", letter) }
