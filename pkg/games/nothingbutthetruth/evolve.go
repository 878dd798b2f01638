package nothingbutthetruth

import (
	"slices"

	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// nobody stands where no seat is meant.
const nobody = -1

// state is the game as its facts have made it. Arrays are by seat. What pointers, maps and slices hold is never changed
// once it is there, so copies of a state may share it.
type state struct {
	seats      match.Seats
	statements []statements.Statement // all 52
	phase      string                 // the one awaited, "" when the game is over
	cycle      int                    // from 1; 0 before the match has begun
	texts      map[string]string      // this cycle's statements, by letter
	truths     map[string]bool        // by letter, nil until the coins are paid
	gains      map[string]int         // by player, nil until the coins are paid
	coins      [2]int
	board      board
	bidWinner  int         // of the last bids that were resolved, or nobody
	shift      *shiftTaken // that followed them, or nil
	question   *string     // the tie-break's, nil before and again at each new one
	own        [2]own
	winner     int // nobody until the game is over
}

// own is what a player has submitted in this cycle's phases that are over, or what was taken for it; nil before.
type own struct {
	order  []string
	placed []string
	bid    *int64
	answer *string
}

// shiftTaken is a shift as everybody sees it.
type shiftTaken struct {
	Player    string  `json:"player"`
	Direction string  `json:"direction"`
	Anchor    *string `json:"anchor"`
}

func begin(start match.Start) state {
	s := state{
		seats: start.Seats, phase: order,
		bidWinner: nobody, winner: nobody,
	}
	for _, face := range start.Faces {
		s.statements = append(s.statements, match.Read[cycleStatements](face).open()...)
	}
	return s
}

func clone(s *state) *state {
	c := *s
	return &c
}

func evolve(s *state, f *match.Fact[move]) {
	switch f.Kind {
	case "coins-paid":
		paid := match.Read[coinsPaid](f.Public)
		s.note(f.Moves, order)
		s.truths, s.gains, s.coins = paid.Truths, paid.Gains, s.toSeats(paid.Coins)
		s.phase = place
	case "stones-placed":
		placed := match.Read[stonesPlaced](f.Public)
		s.note(f.Moves, place)
		s.board, s.coins = s.toBoard(placed.Stones), s.toSeats(placed.Coins)
		s.phase = bid
		if s.board.full() { // "The game ends when the Statements run out or the board is full."
			s.settle()
		}
	case "bids-resolved":
		evolveBids(s, f)
	case "stones-shifted":
		shifted := match.Read[stonesShifted](f.Public)
		s.board = s.toBoard(shifted.Stones)
		s.shift = &shiftTaken{Player: shifted.Player, Direction: shifted.Direction, Anchor: shifted.Anchor}
		s.endCycle()
	case "shift-declined":
		s.endCycle()
	case "statements-shown":
		shown := match.Read[statementsShown](f.Public)
		s.cycle, s.texts, s.phase = shown.Cycle, shown.Statements, order
		s.truths, s.gains, s.own = nil, nil, [2]own{}
	case "question-asked":
		question := match.Read[questionAsked](f.Public).Question
		s.question, s.phase = &question, answer
	case "answers-in":
		answers := match.Read[givenAnswers](f.Faces[0]).Answers
		for seat := range s.seats {
			given := answers[s.seats.ID(seat)]
			s.own[seat].answer = &given
		}
		s.phase = judge
	case "answers-judged":
		evolveJudged(s, match.Read[answersJudged](f.Public))
	default:
		panic("nothingbutthetruth: unknown fact " + f.Kind)
	}
}

// evolveBids replaces the winner of the last bids, and with him the shift that followed them.
func evolveBids(s *state, f *match.Fact[move]) {
	resolved := match.Read[bidsResolved](f.Public)
	s.note(f.Moves, bid)
	s.coins, s.bidWinner, s.shift = s.toSeats(resolved.Coins), nobody, nil
	if resolved.Winner == nil {
		s.endCycle()
		return
	}
	s.bidWinner, _ = s.seats.Find(*resolved.Winner)
	s.phase = shift
}

// evolveJudged: "until a player gets one right that the other gets wrong".
func evolveJudged(s *state, judged answersJudged) {
	if len(judged.Right) == 1 {
		s.winner, _ = s.seats.Find(judged.Right[0])
		s.phase = ""
		return
	}
	s.askAgain()
}

// endCycle settles the game after the last cycle; after any other the next one's statements are shown.
func (s *state) endCycle() {
	if s.cycle == statements.Cycles {
		s.settle()
	}
}

// settle ends the game, or: "If still tied, trivia questions of any format are asked".
func (s *state) settle() {
	if s.winner = s.board.ahead(); s.winner == nobody {
		s.askAgain()
		return
	}
	s.phase = ""
}

func (s *state) askAgain() {
	s.phase, s.question = ask, nil
	for seat := range s.own {
		s.own[seat].answer = nil
	}
}

// note keeps what the seats have submitted in a phase that is over.
func (s *state) note(moves match.Moves[move], phase string) {
	for seat := range s.own {
		s.own[seat].note(made(moves, seat, phase))
	}
}

func (o *own) note(m move) {
	switch m.kind {
	case order:
		o.order = slices.Clone(m.order)
	case place:
		o.placed = namesOf(m.cells)
	case bid:
		o.bid = &m.coins
	case answer:
		o.answer = &m.text
	}
}

// bySeat keys a list by player, and toSeats reads it back.
func (s *state) bySeat(list [2]int) map[string]int {
	return match.ByID(s.seats, func(seat int) int { return list[seat] })
}

func (s *state) toSeats(m map[string]int) (list [2]int) {
	for seat := range s.seats {
		list[seat] = m[s.seats.ID(seat)]
	}
	return list
}

// stones keys a board's stones by player, and toBoard reads them back.
func (s *state) stones(b *board) map[string][]string {
	return match.ByID(s.seats, func(seat int) []string { return namesOf(b.cells(stoneOf(seat))) })
}

func (s *state) toBoard(stones map[string][]string) (b board) {
	for seat := range s.seats {
		for _, name := range stones[s.seats.ID(seat)] {
			cell, ok := parseCell(name)
			if !ok {
				panic("nothingbutthetruth: a stone on no cell")
			}
			b[cell] = stoneOf(seat)
		}
	}
	return b
}

// idOf is a seat's id, nil for nobody.
func (s *state) idOf(seat int) *string {
	if seat == nobody {
		return nil
	}
	id := s.seats.ID(seat)
	return &id
}
