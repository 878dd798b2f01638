package glassfull

import (
	"time"

	"umpire/pkg/match"
)

// The numbers of the sheet.
const (
	capacity   = 20 // cups
	mostCups   = 3  // of one add
	cupsSponge = 7  // added within a bout, for each sponge
	winBouts   = 2  // of 3
	lastStrike = 5
	moveTime   = 30 * time.Second
)

// Game is Glass Full.
func Game() *match.Game {
	return match.Rules[state, move, table]{
		Name: "glass-full", Title: "Glass Full", Version: 1, Players: 2,
		Roles: []string{"dmo"}, Move: moveTime,
		Prepare: func(*match.Setup) (match.Prepared, error) { return match.Prepared{}, nil },
		Begin:   begin, Clone: clone, Await: await, Decode: decode, Check: check,
		Missed: missed, Resolve: resolve, Evolve: evolve,
		Opens: opens, Result: outcome, View: view, Hints: hints, Bot: bot,
	}.Game()
}

// await: pick-starter, then turns, each under a clock that repeats.
func await(s *state) match.Await {
	if s.over {
		return match.Await{}
	}
	if s.turn == nobody {
		return match.Await{Phase: pickStarter, Seats: []int{s.picker}, Clock: match.Repeat}
	}
	return match.Await{Phase: turn, Seats: []int{s.turn}, Clock: match.Repeat}
}

// check judges a submission by what its player sees.
func check(v *match.View, t *table, m move) error {
	if picking := v.Phase.Name == pickStarter; picking != (m.kind == pickStarter) {
		return match.Illegal("that belongs to another phase; this one is %s", v.Phase.Name)
	}
	if m.kind == sponge && t.You.Sponges == 0 {
		return match.Illegal("you have no sponge to spend")
	}
	return nil
}

// missed: "If a player exceeds this time limit, they will receive a strike", and another after another 30 s.
func missed(t *match.Turn[state, move], seats []int) {
	for _, seat := range seats {
		strike(t, seat, "time")
	}
}

func strike(t *match.Turn[state, move], seat int, reason string) {
	t.Emit("strike-given", strikeGiven{
		Player: t.Seats.ID(seat), Strikes: t.State.strikes[seat] + 1, Reason: reason,
	})
}

func resolve(t *match.Turn[state, move]) {
	s := t.State
	seat := t.Moves[0].Seat
	m := t.Moves[0].Move
	switch {
	case m.kind == pickStarter:
		t.Emit("starter-picked", starterPicked{Bout: s.bout, Player: t.Seats.ID(m.player)})
	case m.kind == challenge && s.level == capacity:
		endBout(t, seat, seat, challenge, done{Type: challenge})
	case m.kind == challenge:
		t.Emit("challenge-failed", challengeFailed{Player: t.Seats.ID(seat)})
		strike(t, seat, challenge)
	case m.kind == add && s.level+m.cups > capacity:
		endBout(t, seat, other(seat), "overflow", done{Type: add, Cups: &m.cups})
	default:
		pour(t, seat, m)
	}
}

// pour states a turn that changed the water.
func pour(t *match.Turn[state, move], seat int, m move) {
	s := t.State
	level, received := s.level-1, s.received
	did := done{Type: m.kind}
	if m.kind == add {
		level = s.level + m.cups
		received[seat] = (s.added[seat] + m.cups) / cupsSponge
		did.Cups = &m.cups
	}
	t.Emit("turn-taken", turnTaken{
		Player: t.Seats.ID(seat), Marks: marks(level),
		Sponges: match.ByID(t.Seats, func(seat int) int { return received[seat] }),
	}, match.NewFace{To: []string{t.Seats.ID(seat)}, Data: did}, match.NewFace{To: []string{}, Data: water{level}})
}

func endBout(t *match.Turn[state, move], mover, winner int, by string, did done) {
	t.Emit("bout-ended", boutEnded{Bout: t.State.bout, Winner: t.Seats.ID(winner), By: by},
		match.NewFace{To: []string{t.Seats.ID(mover)}, Data: did})
}

// opens: moves and the level, when the match has ended.
func opens(kind string, _ int) bool { return kind == "turn-taken" || kind == "bout-ended" }

func outcome(s *state) any {
	r := result{By: "bouts", Score: match.ByID(s.seats, func(seat int) int { return s.wins[seat] })}
	for seat := range s.seats {
		if s.strikes[seat] >= lastStrike {
			r.By, r.Loser, r.Winner = "strikes", s.seats.ID(seat), s.seats.ID(other(seat))
		}
		if s.wins[seat] >= winBouts {
			r.Winner, r.Loser = s.seats.ID(seat), s.seats.ID(other(seat))
		}
	}
	return r
}

// marks are the markings that can be read at a level, lowest first.
func marks(level int) []string {
	all := []string{"0-5", "6-10", "11-15", "16-20"}
	return all[:min(max(level-1, 0)/5, 3)+1]
}

func other(seat int) int { return 1 - seat }
