package primalpileup

import (
	"slices"
	"time"

	"umpire/pkg/match"
)

// The numbers of the sheet.
const (
	lastRound = 9 // it "isn't played out"
	winRounds = 5
	moveTime  = 60 * time.Second
	bankTime  = 5 * time.Minute
)

// Game is Primal Pileup.
func Game() *match.Game {
	return match.Rules[state, move, table]{
		Name: "primal-pileup", Title: "Primal Pileup", Version: 1, Players: 2,
		Roles: []string{"dmo"}, Move: moveTime, Bank: bankTime,
		Prepare: func(*match.Setup) (match.Prepared, error) { return match.Prepared{}, nil },
		Begin:   begin, Clone: clone, Await: await, Decode: decode, Check: check,
		Resolve: resolve, Evolve: evolve,
		Opens: opens, Result: outcome, View: view, Hints: hints, Bot: bot,
	}.Game()
}

// await: pick-starter under the move time alone, then turns, behind whose move time the bank runs.
func await(s *state) match.Await {
	if s.over {
		return match.Await{}
	}
	if s.starter == nobody {
		return match.Await{Phase: pickStarter, Seats: []int{s.dmo()}, Clock: match.Once}
	}
	return match.Await{Phase: turn, Seats: []int{s.turn}, Clock: match.Reserve}
}

// check judges a submission by what its player sees.
func check(v *match.View, t *table, m move) error {
	if picking := v.Phase.Name == pickStarter; picking != (m.kind == pickStarter) {
		return match.Illegal("that belongs to another phase; this one is %s", v.Phase.Name)
	}
	if m.kind != play {
		return nil
	}
	if len(m.cards) == 0 {
		return match.Illegal("a play has at least one card; to put none down, pass")
	}
	var chosen cards
	for _, c := range m.cards {
		if chosen.has(c) {
			return match.Illegal("a card can be played only once")
		}
		if !t.You.Hand.has(c) {
			return match.Illegal("only cards of your hand can be played")
		}
		chosen |= 1 << c
	}
	return nil
}

func resolve(t *match.Turn[state, move]) {
	s := t.State
	if s.starter == nobody {
		pick(t)
		return
	}
	last := s.lastTurn
	take(t)
	if !last {
		return
	}
	endRound(t, s.zones, s.hands, s.plays)
	if s.round == lastRound {
		endRound(t, dump(s.hands), [2]cards{}, nil)
	}
}

// pick: "The DMO decides who goes first in Round 1."
func pick(t *match.Turn[state, move]) {
	m, ok := t.Moves.Of(t.State.dmo())
	if !ok {
		m.player = int(t.Draw("starter", 2)) //nolint:gosec // below 2
	}
	t.Emit("starter-picked", starterPicked{Player: t.Seats.ID(m.player), Drawn: !ok})
}

// take states a turn. "If a player runs out of move time and reserve time, they will automatically do nothing", which
// is to pass.
func take(t *match.Turn[state, move]) {
	s := t.State
	m, _ := t.Moves.Of(s.turn)
	var put cards
	for _, c := range m.cards {
		put |= 1 << c
	}
	zones := s.zones
	var faces []match.NewFace
	if put != 0 {
		zones[s.turn] = append(slices.Clone(zones[s.turn]), put)
		faces = append(faces, match.NewFace{To: []string{t.Seats.ID(s.turn)}, Data: played{put}})
	}
	t.Emit("turn-taken", turnTaken{
		Player: t.Seats.ID(s.turn), Passed: put == 0, Elements: put.letters(),
		Leader:  t.Seats.ID(judge(zones, s.starter).winner),
		Reserve: match.ByID(t.Seats, func(seat int) int { return seconds(t.Bank(seat)) }),
	}, faces...)
}

// endRound: "When a round ends, all card values are revealed." The faces of its plays open; hands are what is left.
func endRound(t *match.Turn[state, move], zones [2][]cards, hands [2]cards, plays []match.Ref) {
	s := t.State
	end := judge(zones, s.starter)
	t.EmitOpening("round-ended", roundEnded{
		Round: s.round, Winner: t.Seats.ID(end.winner),
		Totals:  match.ByID(t.Seats, func(seat int) int { return end.totals[seat] }),
		Zones:   match.ByID(t.Seats, func(seat int) []cards { return append([]cards{}, zones[seat]...) }),
		Removed: match.ByID(t.Seats, func(seat int) cards { return end.removed[seat] }),
		Hands:   match.ByID(t.Seats, func(seat int) cards { return hands[seat] }),
	}, plays)
}

// dump: in the final round "Both players will dump all their remaining cards into their zone", in one play.
func dump(hands [2]cards) (zones [2][]cards) {
	for seat, hand := range hands {
		if hand != 0 {
			zones[seat] = []cards{hand}
		}
	}
	return zones
}

// opens: nothing more when the match has ended, for plays open with each round.
func opens(string, int) bool { return false }

func outcome(s *state) any {
	r := result{By: "rounds", Score: match.ByID(s.seats, func(seat int) int { return s.wins[seat] })}
	for seat := range s.seats {
		if s.wins[seat] >= winRounds {
			r.Winner, r.Loser = s.seats.ID(seat), s.seats.ID(other(seat))
		}
	}
	return r
}

// seconds are the whole seconds of a time, rounded down.
func seconds(d time.Duration) int { return int(d / time.Second) }
