package paintclash

import (
	"slices"

	"umpire/pkg/match"
)

// table is the game's part of a view.
type table struct {
	Round     int               `json:"round"` // 0 before the first
	Teams     *teams            `json:"teams"`
	Positions map[string]string `json:"positions"` // null before round 1
	Paint     paint             `json:"paint"`
	Scores    []roundScore      `json:"scores"`
	Candidate *string           `json:"candidate"`
	Opponent  *string           `json:"opponent"`
	You       *you              `json:"you,omitempty"`
	Host      *host             `json:"host,omitempty"`

	armory armory // public, in match-created: hints draw from it
}

// roundScore is the score after a round.
type roundScore struct {
	Round int `json:"round"`
	score
}

// you is what a player sees besides.
type you struct {
	Team      *string            `json:"team"`
	Garnets   int64              `json:"garnets"` // owned now
	Paid      *int64             `json:"paid"`    // null until the teams stand
	Guns      []int              `json:"guns"`    // left
	Votes     map[string]*string `json:"votes"`   // for a winner from nominate on: by winner, the loser named
	Submitted raw                `json:"submitted"`
	Hints     *hintsFor          `json:"hints"`
}

// hintsFor are the submissions open to a player, also instead of one that he has made: null while he can't submit. Of the
// lists, those of the open phase are there.
type hintsFor struct {
	Colors  []string  `json:"colors,omitempty"`  // team
	MostBid *int64    `json:"mostBid,omitempty"` // team: any bid from 0 to here
	Cells   []string  `json:"cells,omitempty"`   // start
	Walk    []string  `json:"walk,omitempty"`    // round: where the move may end, by mode
	Squid   []string  `json:"squid,omitempty"`
	Guns    []gunHint `json:"guns,omitempty"`    // round: those left
	Players []string  `json:"players,omitempty"` // nominate, choose-opponent
}

// gunHint is a gun with the ways to fire it.
type gunHint struct {
	Gun  int       `json:"gun"`
	Aims []aimHint `json:"aims"`
}

// aimHint is a direction and the cells that the gun covers then, as axial offsets [q, r] from where the move ends: the
// cell at row R, column C leads to row R+r, column C+q+r.
type aimHint struct {
	Direction *string  `json:"direction"` // null for a gun that looks the same in every direction
	Covers    []offset `json:"covers"`
}

// host is what the host sees besides; null where he has chosen to see no more than his tasks need.
type host struct {
	Garnets     map[string]int64  `json:"garnets"`
	Paid        map[string]*int64 `json:"paid"`
	Guns        map[string][]int  `json:"guns"`
	Submissions map[string]raw    `json:"submissions"`
}

func view(w *match.Watch[state, move]) *table {
	s := w.State
	t := &table{
		Round: s.round, Paint: paintOf(&s.paint), Scores: make([]roundScore, len(s.scores)),
		Candidate: idOf(s, s.candidate), Opponent: idOf(s, s.opponent), armory: s.armory,
	}
	if s.settled() {
		list := teamsOf(s.seats, s.sides)
		t.Teams = &list
	}
	if s.round > 0 {
		t.Positions = match.ByID(s.seats, func(seat int) string { return board.names[s.positions[seat]] })
	}
	for i, sc := range s.scores {
		t.Scores[i] = roundScore{i + 1, sc}
	}
	if w.Playing {
		t.You = &you{
			Team: colorOf(s.sides[w.Seat]), Garnets: s.garnets[w.Seat], Paid: s.payment(w.Seat), Guns: s.left(w.Seat),
			Votes: votes(w), Submitted: w.Moves.Raw(w.Seat),
		}
	}
	if w.Host {
		t.Host = &host{}
		if w.All {
			t.Host = &host{
				Garnets: match.ByID(s.seats, func(seat int) int64 { return s.garnets[seat] }),
				Paid:    match.ByID(s.seats, s.payment), Guns: match.ByID(s.seats, s.left),
				Submissions: match.ByID(s.seats, w.Moves.Raw),
			}
		}
	}
	return t
}

// votes: the winners choose "together", so they see each other's votes at once, and nobody else does.
func votes(w *match.Watch[state, move]) map[string]*string {
	s := w.State
	if s.winner == unpainted || s.sides[w.Seat] != s.winner {
		return nil
	}
	votes := map[string]*string{}
	for _, seat := range s.side(s.winner) {
		votes[s.seats.ID(seat)] = idOf(s, s.votes[seat])
		if m, ok := w.Moves.Of(seat); ok && w.Phase == nominate {
			votes[s.seats.ID(seat)] = idOf(s, m.player)
		}
	}
	return votes
}

func (s *state) settled() bool { return s.sides[0] != unpainted }

// payment is what a player has paid for his team, nil until the teams stand.
func (s *state) payment(seat int) *int64 {
	if !s.settled() {
		return nil
	}
	paid := s.paid[seat]
	return &paid
}

func idOf(s *state, seat int) *string {
	if seat == nobody {
		return nil
	}
	id := s.seats.ID(seat)
	return &id
}

func colorOf(c color) *string {
	if c == unpainted {
		return nil
	}
	name := c.name()
	return &name
}

// sides returns the players of a team and of the other one, as the table shows them.
func (t *table) sides(team *string) (mine, theirs []string) {
	switch {
	case team == nil:
		return nil, nil
	case *team == green.name():
		return t.Teams.Green, t.Teams.Pink
	default:
		return t.Teams.Pink, t.Teams.Green
	}
}

// own is the team of the player whose table it is, once the teams stand.
func (t *table) own() color { return named(*t.You.Team) }

// painted are the cells that are painted in the color of the player whose table it is.
func (t *table) painted() *[cells]bool {
	list := t.Paint.Green
	if t.own() == pink {
		list = t.Paint.Pink
	}
	painted := [cells]bool{}
	for _, name := range list {
		painted[board.find(name)] = true
	}
	return &painted
}

// hints offers the legal submissions, from what the player sees.
func hints(v *match.View, t *table) {
	if !v.Awaits(v.Audience) && !replaces(v) {
		return
	}
	h := &hintsFor{}
	mine, theirs := t.sides(t.You.Team)
	switch v.Phase.Name {
	case team:
		h.Colors, h.MostBid = []string{green.name(), pink.name()}, &t.You.Garnets
	case start:
		h.Cells = board.list(board.zone(t.own()))
	case round:
		from := board.find(t.Positions[v.Audience])
		h.Walk = board.list(board.walks[from])
		h.Squid = board.list(board.swims(from, t.painted()))
		for _, gun := range t.You.Guns {
			h.Guns = append(h.Guns, gunHint{Gun: gun, Aims: aims(t.armory, gun)})
		}
	case nominate:
		h.Players = theirs
	case chooseOpponent:
		h.Players = slices.DeleteFunc(slices.Clone(mine), func(id string) bool { return id == v.Audience })
	}
	t.You.Hints = h
}

// replaces reports whether a player may replace his submission: in the phases of all he may until they are resolved.
func replaces(v *match.View) bool {
	return v.Status == match.Running && v.Phase != nil && v.Phase.Name != chooseOpponent &&
		slices.Contains(v.Phase.Submitted, v.Audience)
}

// aims are the ways to fire a gun.
func aims(a armory, gun int) []aimHint {
	if a.alike(gun) {
		return []aimHint{{Covers: a.shape(gun, 0)}}
	}
	list := make([]aimHint, len(directions))
	for i := range directions {
		list[i] = aimHint{Direction: &directions[i], Covers: a.shape(gun, i)}
	}
	return list
}
