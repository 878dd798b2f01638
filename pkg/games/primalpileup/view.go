package primalpileup

import "umpire/pkg/match"

// table is the game's part of a view.
type table struct {
	Round       int                   `json:"round"`
	Starter     *string               `json:"starter"`
	Turn        *string               `json:"turn"`
	LastTurn    bool                  `json:"lastTurn"` // somebody has passed
	Leader      *string               `json:"leader"`   // null before the round's first turn
	Zones       map[string][][]string `json:"zones"`    // plays of this round, each a list of elements
	Inventories map[string]cards      `json:"inventories"`
	Wins        map[string]int        `json:"wins"`
	Rounds      []roundView           `json:"rounds"`
	Reserve     map[string]int        `json:"reserve"`
	You         *you                  `json:"you,omitempty"`
	Host        *host                 `json:"host,omitempty"`
}

// roundView is a round that has ended, with its cards.
type roundView struct {
	No      int                `json:"no"`
	Winner  string             `json:"winner"`
	Totals  map[string]int     `json:"totals"`
	Zones   map[string][]cards `json:"zones"`
	Removed map[string]cards   `json:"removed"`
}

// you is what a player sees besides.
type you struct {
	Hand  cards     `json:"hand"`
	Zone  []cards   `json:"zone"` // own plays of this round
	Hints *hintsFor `json:"hints"`
}

// hintsFor are the submissions open to a player: null while he is not awaited.
type hintsFor struct {
	Pick []string `json:"pick,omitempty"` // players that can be picked to go first
	Play *choice  `json:"play"`           // null where there is no card to play
	Pass bool     `json:"pass"`
	Last bool     `json:"last"` // the round ends with this turn
}

// choice offers cards of which at least and at most so many make a play.
type choice struct {
	Cards cards `json:"cards"`
	Least int   `json:"least"`
	Most  int   `json:"most"`
}

// host is what the host sees besides; null where he has chosen to see no more than his tasks need.
type host struct {
	Hands map[string]cards   `json:"hands"`
	Zones map[string][]cards `json:"zones"`
}

func view(w *match.Watch[state, move]) *table {
	s := w.State
	t := &table{
		Round: s.round, Starter: idOf(s, s.starter), Turn: idOf(s, s.turn), LastTurn: s.lastTurn,
		Leader:      idOf(s, s.leader),
		Zones:       match.ByID(s.seats, s.shown),
		Inventories: match.ByID(s.seats, func(seat int) cards { return s.inventories[seat] }),
		Wins:        match.ByID(s.seats, func(seat int) int { return s.wins[seat] }),
		Rounds:      make([]roundView, len(s.rounds)),
		Reserve:     match.ByID(s.seats, func(seat int) int { return s.reserve[seat] }),
	}
	for i := range s.rounds {
		t.Rounds[i] = s.rounds[i].view(s.seats)
	}
	if w.Playing {
		t.You = &you{Hand: s.hands[w.Seat], Zone: s.zone(w.Seat)}
	}
	if w.Host {
		t.Host = &host{}
		if w.All {
			t.Host.Hands = match.ByID(s.seats, func(seat int) cards { return s.hands[seat] })
			t.Host.Zones = match.ByID(s.seats, s.zone)
		}
	}
	return t
}

// shown is what everybody sees of a player's zone: "The cards' element(s) will be revealed to the other player, but not
// the number."
func (s *state) shown(seat int) [][]string {
	list := make([][]string, len(s.zones[seat]))
	for i, put := range s.zones[seat] {
		list[i] = put.letters()
	}
	return list
}

// zone is the list of a player's plays, empty but never nil.
func (s *state) zone(seat int) []cards { return append([]cards{}, s.zones[seat]...) }

func (r *round) view(seats match.Seats) roundView {
	return roundView{
		No: r.no, Winner: seats.ID(r.winner),
		Totals:  match.ByID(seats, func(seat int) int { return r.totals[seat] }),
		Zones:   match.ByID(seats, func(seat int) []cards { return append([]cards{}, r.zones[seat]...) }),
		Removed: match.ByID(seats, func(seat int) cards { return r.removed[seat] }),
	}
}

func idOf(s *state, seat int) *string {
	if seat == nobody {
		return nil
	}
	id := s.seats.ID(seat)
	return &id
}

// hints offers the legal submissions, from what the player sees.
func hints(v *match.View, t *table) {
	if !v.Awaits(v.Audience) {
		return
	}
	h := &hintsFor{}
	t.You.Hints = h
	if v.Phase.Name == pickStarter {
		for _, p := range v.Players {
			h.Pick = append(h.Pick, p.ID)
		}
		return
	}
	h.Pass, h.Last = true, t.LastTurn
	if hand := t.You.Hand; hand != 0 {
		h.Play = &choice{Cards: hand, Least: 1, Most: hand.count()}
	}
}
