package paintclash

import (
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The numbers of the sheet.
const (
	players      = 8
	teamSize     = 4
	lastRound    = 6
	prizeGarnets = 3
	walkSteps    = 2
	squidSteps   = 4
	moveTime     = 24 * time.Hour // "Each round (and pregame phase) takes 24 hours."
)

// prize: "Each player on the winning team receives a Token of Life and 3 Garnets."
var prize = award{TokensOfLife: 1, Garnets: prizeGarnets}

// mostGarnets leaves room for the prize in what every reader of JSON holds exactly.
const mostGarnets = 1<<53 - 1 - prizeGarnets

// Game is Paint Clash.
func Game() *match.Game {
	return match.Rules[state, move, table]{
		Name: "paint-clash", Title: "Paint Clash", Version: 1, Players: players,
		Fields: []string{"garnets"}, Options: []string{"armory"}, Move: moveTime, AtDeadline: true,
		Prepare: prepare,
		Begin:   begin, Clone: clone, Await: await, Decode: decode, Check: check,
		Resolve: resolve, Evolve: evolve,
		Opens: opens, Result: outcome, View: view, Hints: hints, Bot: bot,
	}.Game()
}

// prepare checks who owns how many garnets, and the armory where the match brings its own.
func prepare(setup *match.Setup) (match.Prepared, error) {
	faces, err := readGarnets(setup)
	if err != nil {
		return match.Prepared{}, err
	}
	shapes := standard
	if v, given := setup.Option("armory"); given {
		if shapes, err = readArmory(v); err != nil {
			return match.Prepared{}, err
		}
	}
	return match.Prepared{Public: prepared{Armory: shapes}, Faces: faces}, nil
}

// readGarnets reads what each player owns, which names exactly the players; a face for each in seating order.
func readGarnets(setup *match.Setup) ([]match.NewFace, error) {
	v, _ := setup.Field("garnets")
	if v.Kind != event.Object {
		return nil, match.BadSetup("garnets", "must be an object: by player, the garnets owned")
	}
	for _, m := range v.Members() {
		if _, ok := setup.Seats.Find(m.Name); !ok {
			return nil, match.BadSetup("garnets."+m.Name, "is not a player of this match")
		}
	}
	faces := make([]match.NewFace, 0, len(setup.Seats))
	for _, p := range setup.Seats {
		number, _ := v.Get(p.ID)
		n, ok := number.Int()
		if !ok || n < 0 || n > mostGarnets {
			return nil, match.BadSetup("garnets."+p.ID, "must be a whole number from 0 to %d", int64(mostGarnets))
		}
		faces = append(faces, match.NewFace{To: []string{p.ID}, Data: owned{Garnets: n}})
	}
	return faces, nil
}

// await: "two pregame phases: Team selection, and then starting location selection. Afterwards, there are 6 rounds", and
// the aftermath, in which the winners name a candidate and he an opponent.
func await(s *state) match.Await {
	await := match.Await{Seats: s.seats.All(), Clock: match.Once}
	switch {
	case s.sides[0] == unpainted:
		await.Phase = team
	case s.round == 0:
		await.Phase = start
	case s.decidedBy == "":
		await.Phase = round
	case s.candidate == nobody:
		await.Phase, await.Seats = nominate, s.side(s.winner)
	case s.opponent == nobody:
		await.Phase, await.Seats = chooseOpponent, []int{s.candidate}
	default:
		return match.Await{}
	}
	return await
}

// check judges a submission by what its player sees.
func check(v *match.View, t *table, m move) error {
	if m.kind != v.Phase.Name {
		return match.Illegal("that belongs to another phase; this one is %s", v.Phase.Name)
	}
	mine, theirs := t.sides(t.You.Team)
	switch m.kind {
	case team:
		if m.bid > t.You.Garnets {
			return match.Illegal("you can't bid more garnets than you have")
		}
	case start:
		if !board.inZone(m.cell, t.own()) {
			return match.Illegal("that cell is not in your team's zone")
		}
	case round:
		return checkRound(v, t, m)
	case nominate:
		if !slices.Contains(theirs, v.Players[m.player].ID) {
			return match.Illegal("the Elimination Candidate is somebody of the losing team")
		}
	case chooseOpponent:
		if id := v.Players[m.player].ID; id == v.Audience || !slices.Contains(mine, id) {
			return match.Illegal("the Death Match Opponent is somebody else of your own team")
		}
	}
	return nil
}

func checkRound(v *match.View, t *table, m move) error {
	from := board.find(t.Positions[v.Audience])
	switch {
	case from == m.cell:
		return match.Illegal("you must move to a different cell")
	case m.mode == walk && !slices.Contains(board.walks[from], m.cell):
		return match.Illegal("that cell is more than %d steps away", walkSteps)
	case m.mode == squid && !slices.Contains(board.swims(from, t.painted()), m.cell):
		return match.Illegal("there is no way of at most %d steps over cells that are all painted in your color", squidSteps)
	case !slices.Contains(t.You.Guns, m.gun):
		return match.Illegal("you have used that gun")
	}
	return nil
}

func resolve(t *match.Turn[state, move]) {
	switch await(t.State).Phase {
	case team:
		settleTeams(t)
	case start:
		chooseStarts(t)
	case round:
		playRound(t)
		if len(t.State.scores) == lastRound {
			countWinner(t)
		}
	case nominate:
		nameCandidate(t)
	case chooseOpponent:
		nameOpponent(t)
	}
}

// settleTeams: "Failure to submit in team selection randomizes your team selection with 0 Garnets spent". Every player
// gets a face, also who pays nothing; a last one, for nobody, holds what was drawn among equals, if anything.
func settleTeams(t *match.Turn[state, move]) {
	s := t.State
	wishes := [players]wish{}
	for seat := range wishes {
		w := wish{owned: s.garnets[seat]}
		if m, ok := t.Moves.Of(seat); ok {
			w.color, w.bid = m.color, m.bid
		} else {
			w.color = [...]color{green, pink}[t.Draw("team/"+s.seats.ID(seat), 2)]
		}
		wishes[seat] = w
	}
	sides, pays, drawn := split(wishes, t.Draw)
	faces := make([]match.NewFace, 0, players+1)
	for seat, w := range wishes {
		faces = append(faces, match.NewFace{To: []string{s.seats.ID(seat)}, Data: paid{
			Color: w.color.name(), Paid: pays[seat], Garnets: s.garnets[seat] - pays[seat],
		}})
	}
	faces = append(faces, match.NewFace{To: []string{}, Data: tiesDrawn{Players: s.seats.IDs(drawn)}})
	t.Emit("teams-settled", teamsSettled{Teams: teamsOf(s.seats, sides)}, faces...)
}

// chooseStarts: "failure to submit in starting location selection randomizes your starting location".
func chooseStarts(t *match.Turn[state, move]) {
	s := t.State
	t.Emit("starts-chosen", startsChosen{Positions: match.ByID(s.seats, func(seat int) string {
		if m, ok := t.Moves.Of(seat); ok {
			return board.names[m.cell]
		}
		zone := board.zone(s.sides[seat])
		return board.names[zone[t.Draw("start/"+s.seats.ID(seat), uint64(len(zone)))]]
	})})
}

// playRound: "in gameplay rounds, failure to submit means you do not move and use a gun at random."
func playRound(t *match.Turn[state, move]) {
	s := t.State
	ends := s.positions
	shots := make([]shot, players)
	faces := make([]match.NewFace, players)
	for seat := range players {
		id := s.seats.ID(seat)
		m, ok := t.Moves.Of(seat)
		did := fired{Mode: &m.mode}
		if ok {
			ends[seat] = m.cell
		} else {
			left := s.left(seat)
			m.gun = left[t.Draw(fmt.Sprintf("gun/%d/%s", s.round, id), uint64(len(left)))]
			m.direction = int(t.Draw(fmt.Sprintf("direction/%d/%s", s.round, id), uint64(len(directions)))) //nolint:gosec // below 6
			did.Mode = nil
		}
		did.Gun = m.gun
		if m.direction != undirected {
			did.Direction = &directions[m.direction]
		}
		shots[seat] = shot{team: s.sides[seat], from: ends[seat], shape: s.armory.shape(m.gun, max(m.direction, 0))}
		faces[seat] = match.NewFace{To: []string{id}, Data: did}
	}
	fresh := splash(&s.paint, shots)
	before, more := count(&s.paint), count(&fresh)
	t.Emit("round-resolved", roundResolved{
		Round: s.round, Positions: match.ByID(s.seats, func(seat int) string { return board.names[ends[seat]] }),
		Painted: paintOf(&fresh), Score: score{Green: before.Green + more.Green, Pink: before.Pink + more.Pink},
	}, faces...)
}

// countWinner: "The winning team is the team that colored more cells." "In the event that the game was always tied, then
// no player wins a Token of Life and the Elimination Candidate is picked at random."
func countWinner(t *match.Turn[state, move]) {
	s := t.State
	winner, by := ahead(s.scores)
	awards := map[string]award{}
	for _, seat := range s.side(winner) {
		awards[s.seats.ID(seat)] = prize
	}
	t.Emit("winner-counted", winnerCounted{
		Winner: colorOf(winner), DecidedBy: by, Score: s.scores[lastRound-1], Awards: awards,
	})
	if winner == unpainted {
		seat := t.Draw("candidate", players)
		t.Emit("candidate-named", candidateNamed{Player: s.seats[seat].ID, How: "draw"})
	}
}

// nameCandidate: "Together, they select a single player from the losing team as the Elimination Candidate": most votes;
// equal, as with no vote at all, it is drawn.
func nameCandidate(t *match.Turn[state, move]) {
	s := t.State
	winners := s.side(s.winner)
	votes := map[string]int{}
	tally := [players]int{}
	for _, seat := range winners {
		votes[s.seats.ID(seat)] = 0
		if m, ok := t.Moves.Of(seat); ok {
			votes[s.seats.ID(seat)] = m.player + 1
			tally[m.player]++
		}
	}
	most := slices.Max(tally[:])
	tied := slices.DeleteFunc(s.side(s.winner.other()), func(seat int) bool { return tally[seat] < most })
	named, how := tied[0], "vote"
	if len(tied) > 1 {
		named, how = tied[t.Draw("candidate-tie", uint64(len(tied)))], "draw"
	}
	t.Emit("candidate-named", candidateNamed{Player: s.seats.ID(named), How: how},
		match.NewFace{To: s.seats.IDs(winners), Data: voted{Votes: votes}})
}

// nameOpponent: the candidate "must then choose someone from their team as their Death Match Opponent."
func nameOpponent(t *match.Turn[state, move]) {
	s := t.State
	if m, ok := t.Moves.Of(s.candidate); ok {
		t.Emit("opponent-chosen", opponentChosen{Player: s.seats.ID(m.player)})
		return
	}
	mates := slices.DeleteFunc(s.side(s.sides[s.candidate]), func(seat int) bool { return seat == s.candidate })
	drawn := mates[t.Draw("opponent", uint64(len(mates)))]
	t.Emit("opponent-chosen", opponentChosen{Player: s.seats.ID(drawn), Drawn: true})
}

// opens: "which guns you have used", and so shots and modes, when the match has ended; never bids, payments, garnets or
// votes.
func opens(kind string, _ int) bool { return kind == "round-resolved" }

func outcome(s *state) any {
	return result{
		Winner: colorOf(s.winner), Score: s.scores[lastRound-1], DecidedBy: s.decidedBy,
		Candidate: s.seats.ID(s.candidate), Opponent: s.seats.ID(s.opponent), Awards: s.awards,
	}
}
