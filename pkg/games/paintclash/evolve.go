package paintclash

import (
	"slices"

	"umpire/pkg/match"
)

// nobody stands where no seat is meant: the place in the seating order before the first.
const nobody = -1

// state is the game as its facts have made it. Arrays are by seat.
type state struct {
	seats     match.Seats
	armory    armory         // never changed
	garnets   [players]int64 // owned now
	paid      [players]int64 // for the team
	sides     [players]color // unpainted until the teams stand
	round     int            // 0 before the first, the last one from there on
	positions [players]cell  // once round 1 has begun
	used      [players]uint8 // guns, a bit each
	paint     canvas
	scores    []score // after each round
	winner    color   // unpainted: none
	decidedBy string  // "" until the winner is counted
	awards    map[string]award
	votes     [players]int // the loser whom a winner named, once the candidate is named
	candidate int
	opponent  int
}

func begin(start match.Start) state {
	s := state{
		seats: start.Seats, armory: match.Read[prepared](start.Setup).Armory, candidate: nobody, opponent: nobody,
	}
	for seat := range s.garnets {
		s.garnets[seat] = match.Read[owned](start.Faces[seat]).Garnets
		s.votes[seat] = nobody
	}
	return s
}

// clone shares what evolving never changes: the armory, the awards, and of the scores those that stand.
func clone(s *state) *state {
	c := *s
	c.scores = slices.Clip(s.scores)
	return &c
}

func evolve(s *state, f *match.Fact[move]) {
	switch f.Kind {
	case "teams-settled":
		evolveTeams(s, match.Read[teamsSettled](f.Public).Teams, f.Faces)
	case "starts-chosen":
		s.place(match.Read[startsChosen](f.Public).Positions)
		s.round = 1
	case "round-resolved":
		evolveRound(s, match.Read[roundResolved](f.Public), f.Faces)
	case "winner-counted":
		evolveWinner(s, match.Read[winnerCounted](f.Public))
	case "candidate-named":
		s.candidate = s.seat(match.Read[candidateNamed](f.Public).Player)
		if len(f.Faces) > 0 {
			votes := match.Read[voted](f.Faces[0]).Votes
			for seat := range s.votes {
				s.votes[seat] = votes[s.seats.ID(seat)] - 1
			}
		}
	case "opponent-chosen":
		s.opponent = s.seat(match.Read[opponentChosen](f.Public).Player)
	default:
		panic("paintclash: unknown fact " + f.Kind)
	}
}

func evolveTeams(s *state, settled teams, faces []match.Payload) {
	for seat := range s.sides {
		s.sides[seat] = pink
		if slices.Contains(settled.Green, s.seats.ID(seat)) {
			s.sides[seat] = green
		}
		did := match.Read[paid](faces[seat])
		s.paid[seat], s.garnets[seat] = did.Paid, did.Garnets
	}
}

// evolveRound: "each gun can only be used once for each player".
func evolveRound(s *state, resolved roundResolved, faces []match.Payload) {
	s.place(resolved.Positions)
	for seat := range s.used {
		s.used[seat] |= 1 << match.Read[fired](faces[seat]).Gun
	}
	for _, name := range resolved.Painted.Green {
		s.paint[board.find(name)] = green
	}
	for _, name := range resolved.Painted.Pink {
		s.paint[board.find(name)] = pink
	}
	s.scores = append(s.scores, resolved.Score)
	s.round = min(resolved.Round+1, lastRound)
}

// evolveWinner pays the prize out: it is owned from now on.
func evolveWinner(s *state, counted winnerCounted) {
	if counted.Winner != nil {
		s.winner = named(*counted.Winner)
	}
	s.decidedBy, s.awards = counted.DecidedBy, counted.Awards
	for seat := range s.garnets {
		s.garnets[seat] += counted.Awards[s.seats.ID(seat)].Garnets
	}
}

func (s *state) place(positions map[string]string) {
	for seat := range s.positions {
		s.positions[seat] = board.find(positions[s.seats.ID(seat)])
	}
}

// seat returns the seat of an id that a fact names.
func (s *state) seat(id string) int {
	seat, ok := s.seats.Find(id)
	if !ok {
		panic("paintclash: a fact names nobody of this match")
	}
	return seat
}

// side returns the seats of a team, in seating order; none for no team, once the teams stand.
func (s *state) side(c color) []int {
	seats := []int{}
	for seat, side := range s.sides {
		if side == c {
			seats = append(seats, seat)
		}
	}
	return seats
}

// left returns the guns that a player has not used, ascending; empty but never nil.
func (s *state) left(seat int) []int {
	left := []int{}
	for gun := 1; gun <= guns; gun++ {
		if s.used[seat]&(1<<gun) == 0 {
			left = append(left, gun)
		}
	}
	return left
}
