package primalpileup

import (
	"slices"

	"umpire/pkg/match"
)

// nobody stands where no seat is meant.
const nobody = -1

// state is the game as its facts have made it. Arrays are by seat.
type state struct {
	seats       match.Seats
	over        bool
	round       int
	starter     int // who went first in this round
	turn        int
	lastTurn    bool // somebody has passed
	leader      int
	wins        [2]int
	reserve     [2]int   // whole seconds left in the bank as of the last turn
	inventories [2]cards // hands at the start of this round
	hands       [2]cards
	zones       [2][]cards  // plays of this round
	plays       []match.Ref // their faces, which open when the round ends
	rounds      []round
}

// round is a round that has ended.
type round struct {
	no      int
	winner  int
	totals  [2]int
	zones   [2][]cards
	removed [2]cards
}

func begin(start match.Start) state {
	full := [2]cards{allCards, allCards}
	bank := seconds(start.Clock.Reserve)
	return state{
		seats: start.Seats, round: 1, starter: nobody, turn: nobody, leader: nobody,
		reserve: [2]int{bank, bank}, inventories: full, hands: full,
	}
}

func clone(s *state) *state {
	c := *s
	for seat := range c.zones {
		c.zones[seat] = slices.Clip(s.zones[seat])
	}
	c.plays = slices.Clip(s.plays)
	c.rounds = slices.Clip(s.rounds)
	return &c
}

func evolve(s *state, f *match.Fact[move]) {
	switch f.Kind {
	case "starter-picked":
		s.starter, _ = s.seats.Find(match.Read[starterPicked](f.Public).Player)
		s.turn = s.starter
	case "turn-taken":
		evolveTurn(s, match.Read[turnTaken](f.Public), f)
	case "round-ended":
		evolveEnd(s, match.Read[roundEnded](f.Public))
	default:
		panic("primalpileup: unknown fact " + f.Kind)
	}
}

func evolveTurn(s *state, taken turnTaken, f *match.Fact[move]) {
	seat, _ := s.seats.Find(taken.Player)
	if taken.Passed {
		s.lastTurn = true
	} else {
		put := match.Read[played](f.Faces[0]).Cards
		s.hands[seat] &^= put
		s.zones[seat] = append(s.zones[seat], put)
		s.plays = append(s.plays, match.Ref{Revision: f.Revision, Face: 0})
	}
	s.leader, _ = s.seats.Find(taken.Leader)
	for seat := range s.seats {
		s.reserve[seat] = taken.Reserve[s.seats.ID(seat)]
	}
	s.turn = other(seat)
}

// evolveEnd ends a round; unless that ends the match, the next begins: "Zones are cleared between rounds", and "the
// person who won the previous round goes first".
func evolveEnd(s *state, ended roundEnded) {
	winner, _ := s.seats.Find(ended.Winner)
	end := round{no: ended.Round, winner: winner}
	for seat := range s.seats {
		id := s.seats.ID(seat)
		end.totals[seat], end.zones[seat], end.removed[seat] = ended.Totals[id], ended.Zones[id], ended.Removed[id]
		s.hands[seat] = ended.Hands[id]
	}
	s.rounds = append(s.rounds, end)
	s.wins[winner]++
	s.turn, s.plays = nobody, nil
	if s.wins[winner] >= winRounds {
		s.over, s.leader, s.zones = true, winner, end.zones
		return
	}
	s.round++
	s.starter, s.lastTurn, s.leader = winner, false, nobody
	s.inventories, s.zones = s.hands, [2][]cards{}
	if s.round < lastRound {
		s.turn = winner
	}
}

// dmo is the seat of who decides who goes first in round 1.
func (s *state) dmo() int { return s.seats.With("dmo") }
