package glassfull

import (
	"slices"

	"umpire/pkg/match"
)

// nobody stands where no seat is meant.
const nobody = -1

// state is the game as its facts have made it. Arrays are by seat.
type state struct {
	seats    match.Seats
	over     bool
	bout     int
	picker   int // who picks, or picked, this bout's starter
	starter  int
	turn     int
	level    int // cups in the tank
	wins     [2]int
	strikes  [2]int
	calls    [2]int // failed challenges of this bout
	received [2]int // sponges of this bout
	spent    [2]int
	added    [2]int // cups added in this bout
	moves    [2][]moved
	bouts    []bout
}

// moved is one of a player's own moves.
type moved struct {
	Bout int    `json:"bout"`
	Type string `json:"type"`
	Cups *int   `json:"cups"`
}

// bout is a bout that has ended.
type bout struct {
	No     int    `json:"no"`
	Winner string `json:"winner"`
	By     string `json:"by"`
}

func begin(start match.Start) state {
	return state{
		seats: start.Seats, bout: 1, picker: start.Seats.With("dmo"), starter: nobody, turn: nobody,
	}
}

func clone(s *state) *state {
	c := *s
	c.bouts = slices.Clip(s.bouts)
	for seat := range c.moves {
		c.moves[seat] = slices.Clip(s.moves[seat])
	}
	return &c
}

func evolve(s *state, f *match.Fact[move]) {
	switch f.Kind {
	case "starter-picked":
		picked := match.Read[starterPicked](f.Public)
		s.starter, _ = s.seats.Find(picked.Player)
		s.turn = s.starter
	case "turn-taken":
		evolveTurn(s, match.Read[turnTaken](f.Public), match.Read[done](f.Faces[0]), match.Read[water](f.Faces[1]))
	case "challenge-failed":
		seat, _ := s.seats.Find(match.Read[challengeFailed](f.Public).Player)
		s.calls[seat]++
		s.note(seat, done{Type: challenge})
		s.turn = other(seat)
	case "strike-given":
		struck := match.Read[strikeGiven](f.Public)
		seat, _ := s.seats.Find(struck.Player)
		s.strikes[seat] = struck.Strikes
		s.over = s.strikes[seat] >= lastStrike
	case "bout-ended":
		evolveEnd(s, match.Read[boutEnded](f.Public), match.Read[done](f.Faces[0]))
	default:
		panic("glassfull: unknown fact " + f.Kind)
	}
}

func evolveTurn(s *state, taken turnTaken, did done, w water) {
	seat, _ := s.seats.Find(taken.Player)
	s.level = w.Level
	for seat := range s.seats {
		s.received[seat] = taken.Sponges[s.seats.ID(seat)]
	}
	if did.Type == sponge {
		s.spent[seat]++
	} else {
		s.added[seat] += *did.Cups
	}
	s.note(seat, did)
	s.turn = other(seat)
}

// evolveEnd ends a bout; unless it was the last, the next begins with an empty tank. "Sponges do not carry over".
func evolveEnd(s *state, ended boutEnded, did done) {
	winner, _ := s.seats.Find(ended.Winner)
	s.note(s.turn, did)
	s.wins[winner]++
	s.bouts = append(s.bouts, bout{No: ended.Bout, Winner: ended.Winner, By: ended.By})
	if s.wins[winner] >= winBouts {
		s.over = true
		return
	}
	s.bout++
	s.picker, s.starter, s.turn, s.level = other(winner), nobody, nobody, 0
	s.calls, s.received, s.spent, s.added = [2]int{}, [2]int{}, [2]int{}, [2]int{}
}

// note lists a move among a player's own.
func (s *state) note(seat int, did done) {
	s.moves[seat] = append(s.moves[seat], moved{Bout: s.bout, Type: did.Type, Cups: did.Cups})
}

func (s *state) sponges(seat int) int { return s.received[seat] - s.spent[seat] }
