package nothingbutthetruth

import (
	"slices"
	"time"

	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// The numbers of the sheet, but for the time, for which it gives none.
const (
	fullPrice  = 8 // coins
	leastPrice = 4
	moveTime   = 24 * time.Hour
)

// Game is Nothing But the Truth.
func Game() *match.Game { return rules().Game() }

func rules() match.Rules[state, move, table] {
	return match.Rules[state, move, table]{
		Name: "nothing-but-the-truth", Title: "Nothing But the Truth", Version: 1, Players: 2,
		SeatRoles: []string{"black", "white"}, Fields: []string{"statements"}, Move: moveTime,
		Prepare: prepare, Begin: begin, Open: showNext, Clone: clone, Await: await, Decode: decode, Check: check,
		Resolve: resolve, Evolve: evolve,
		Opens: opens, Result: outcome, View: view, Hints: hints, Bot: bot,
	}
}

// await: order, place, bid and the winner's shift in each cycle; ask, answer and judge while the groups leave a tie.
func await(s *state) match.Await {
	switch s.phase {
	case "":
		return match.Await{}
	case shift:
		return match.Await{Phase: shift, Seats: []int{s.bidWinner}, Clock: match.Once}
	case ask, judge:
		return match.Await{Phase: s.phase, Seats: []int{match.HostSeat}, Clock: match.None}
	default:
		return match.Await{Phase: s.phase, Seats: s.seats.All(), Clock: match.Once}
	}
}

// check judges a submission by what its player, or the host, sees.
func check(v *match.View, t *table, m move) error {
	if v.Phase.Name != m.kind && (v.Phase.Name != shift || m.kind != decline) {
		return match.Illegal("that belongs to another phase; this one is %s", v.Phase.Name)
	}
	switch m.kind {
	case place:
		return checkPlace(v, t, m.cells)
	case bid:
		if m.coins > int64(t.Coins[v.Audience]) {
			return match.Illegal("you have only %d coins", t.Coins[v.Audience])
		}
	case shift:
		if m.anchor != noAnchor && !t.occupied(cellNames[m.anchor]) {
			return match.Illegal("the anchor must be a stone on the board")
		}
	case judge:
		return checkJudge(v, t, m.right)
	}
	return nil
}

// checkPlace: "submitting a list of empty spaces, though they must have enough coins to afford them".
func checkPlace(v *match.View, t *table, cells []int) error {
	for i, cell := range cells {
		if i > 0 && cell == cells[i-1] {
			return match.Illegal("a cell stands twice in your list")
		}
		if t.occupied(cellNames[cell]) {
			return match.Illegal("a cell of your list holds a stone already")
		}
	}
	if t.Price[v.Audience]*len(cells) > t.Coins[v.Audience] {
		return match.Illegal("at %d coins a stone you can't afford so many", t.Price[v.Audience])
	}
	return nil
}

func checkJudge(v *match.View, t *table, right []int) error {
	for i, seat := range right {
		if slices.Contains(right[:i], seat) {
			return match.Illegal("a player is named twice")
		}
		if given := t.Host.Answers[v.Players[seat].ID]; given == nil || *given == "" {
			return match.Illegal("an empty answer is wrong")
		}
	}
	return nil
}

func resolve(t *match.Turn[state, move]) {
	switch t.State.phase {
	case order:
		payCoins(t)
	case place:
		placeStones(t)
	case bid:
		resolveBids(t)
	case shift:
		shiftStones(t)
	case ask:
		t.Emit("question-asked", questionAsked{Question: t.Moves[0].Move.text})
	case answer:
		t.Emit("answers-in", answersIn{}, match.NewFace{To: []string{match.HostID}, Data: givenAnswers{
			Answers: match.ByID(t.Seats, func(seat int) string { return made(t.Moves, seat, answer).text }),
		}})
	case judge:
		right := slices.Sorted(slices.Values(t.Moves[0].Move.right))
		t.Emit("answers-judged", answersJudged{Right: t.Seats.IDs(right)})
	default:
		panic("nothingbutthetruth: nothing to resolve in " + t.State.phase)
	}
}

// made is a seat's submission, or what is taken for one.
func made(moves match.Moves[move], seat int, phase string) move {
	if m, ok := moves.Of(seat); ok {
		return m
	}
	return missing(phase)
}

// payCoins: "Players will then receive coins equal to the binary number created when True statements are interpreted as
// 1 and False as 0." The first of an order is the highest digit. The cycle's statements open with their truths.
func payCoins(t *match.Turn[state, move]) {
	s := t.State
	four := statements.OfCycle(s.statements, s.cycle)
	gains, coins := [2]int{}, s.coins
	for seat := range s.seats {
		for _, letter := range made(t.Moves, seat, order).order {
			gains[seat] *= 2
			if four[index(letter)].Truth {
				gains[seat]++
			}
		}
		coins[seat] += gains[seat]
	}
	t.EmitOpening("coins-paid", coinsPaid{
		Cycle: s.cycle, Truths: byLetter(func(i int) bool { return four[i].Truth }),
		Gains: s.bySeat(gains), Coins: s.bySeat(coins),
	}, []match.Ref{match.SetupFace(s.cycle - 1)})
}

// placeStones: "Any spaces submitted by both players will remain empty, and coins will not be deducted for them." The
// price is the one before the placement, the same for every stone.
func placeStones(t *match.Turn[state, move]) {
	s := t.State
	lists := [2][]int{made(t.Moves, 0, place).cells, made(t.Moves, 1, place).cells}
	after, coins := s.board, s.coins
	for seat := range s.seats {
		for _, cell := range lists[seat] {
			if slices.Contains(lists[other(seat)], cell) {
				continue
			}
			after[cell] = stoneOf(seat)
			coins[seat] -= s.board.price(seat)
		}
	}
	t.Emit("stones-placed", stonesPlaced{Cycle: s.cycle, Stones: s.stones(&after), Coins: s.bySeat(coins)})
}

// resolveBids: "Whoever submits a higher bid will be charged that amount of coins, then may make a shift. If the bid is
// tied, nobody is charged and nobody gets to shift."
func resolveBids(t *match.Turn[state, move]) {
	s := t.State
	bids := [2]int{int(made(t.Moves, 0, bid).coins), int(made(t.Moves, 1, bid).coins)}
	coins, winner := s.coins, nobody
	for seat := range s.seats {
		if bids[seat] > bids[other(seat)] {
			winner = seat
			coins[seat] -= bids[seat]
		}
	}
	t.Emit("bids-resolved", bidsResolved{Cycle: s.cycle, Winner: s.idOf(winner), Coins: s.bySeat(coins)})
	if winner == nobody {
		showNext(t)
	}
}

// shiftStones: "A shift consists of picking a direction and optionally an anchor stone." "Players may also win the bid
// and decide not to shift."
func shiftStones(t *match.Turn[state, move]) {
	s := t.State
	m, player := made(t.Moves, s.bidWinner, shift), s.seats.ID(s.bidWinner)
	if m.kind == decline {
		t.Emit("shift-declined", shiftDeclined{Player: player})
	} else {
		after := s.board.shifted(m.direction, m.anchor)
		shifted := stonesShifted{Player: player, Direction: m.direction, Stones: s.stones(&after)}
		if m.anchor != noAnchor {
			anchor := cellNames[m.anchor]
			shifted.Anchor = &anchor
		}
		t.Emit("stones-shifted", shifted)
	}
	showNext(t)
}

// showNext: "The Host will reveal 4 Objective Statements", the first when the match begins, unless they have run out.
func showNext(t *match.Turn[state, move]) {
	if cycle := t.State.cycle + 1; cycle <= statements.Cycles {
		t.Emit("statements-shown", statementsShown{
			Cycle: cycle, Statements: texts(statements.OfCycle(t.State.statements, cycle)),
		})
	}
}

// opens: orders and bids, when the match has ended. Truths open with each cycle's coins, statements that were never
// shown stay sealed.
func opens(kind string, _ int) bool { return kind == "submission/"+order || kind == "submission/"+bid }

func outcome(s *state) any {
	r := result{
		Winner: s.seats.ID(s.winner), Loser: s.seats.ID(other(s.winner)), By: "groups",
		Groups: match.ByID(s.seats, s.board.groups),
	}
	if s.question != nil {
		r.By = "tie-break"
	}
	return r
}

func other(seat int) int { return 1 - seat }
