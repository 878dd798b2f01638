package glassfull

import (
	"umpire/pkg/match"
)

// table is the game's part of a view.
type table struct {
	Bout    int            `json:"bout"`
	Starter *string        `json:"starter"`
	Turn    *string        `json:"turn"`
	Marks   []string       `json:"marks"`
	Wins    map[string]int `json:"wins"`
	Strikes map[string]int `json:"strikes"`
	Calls   map[string]int `json:"calls"`
	Sponges map[string]int `json:"sponges"` // received in this bout
	Bouts   []bout         `json:"bouts"`
	You     *you           `json:"you,omitempty"`
	Host    *host          `json:"host,omitempty"`
}

// you is what a player sees besides.
type you struct {
	Sponges int       `json:"sponges"` // not spent yet
	Added   int       `json:"added"`   // cups, in this bout
	Moves   []moved   `json:"moves"`
	Hints   *hintsFor `json:"hints"`
}

// hintsFor are the submissions open to a player: null while he is not awaited.
type hintsFor struct {
	Pick      []string `json:"pick,omitempty"` // players that can be picked to start
	Add       []int    `json:"add,omitempty"`  // cups
	Sponge    bool     `json:"sponge"`
	Challenge bool     `json:"challenge"`
}

// host is what the host sees besides; null where he has chosen to see no more than his tasks need.
type host struct {
	Level   *int               `json:"level"`
	Sponges map[string]int     `json:"sponges"`
	Added   map[string]int     `json:"added"`
	Moves   map[string][]moved `json:"moves"`
}

func view(w *match.Watch[state, move]) *table {
	s := w.State
	bySeat := func(list [2]int) map[string]int {
		return match.ByID(s.seats, func(seat int) int { return list[seat] })
	}
	t := &table{
		Bout: s.bout, Starter: idOf(s, s.starter), Turn: idOf(s, s.turn), Marks: marks(s.level),
		Wins: bySeat(s.wins), Strikes: bySeat(s.strikes), Calls: bySeat(s.calls), Sponges: bySeat(s.received),
		Bouts: append([]bout{}, s.bouts...),
	}
	if s.over {
		t.Turn = nil
	}
	if w.Playing {
		t.You = &you{Sponges: s.sponges(w.Seat), Added: s.added[w.Seat], Moves: s.own(w.Seat)}
	}
	if w.Host {
		t.Host = &host{}
		if w.All {
			t.Host = &host{
				Level: &s.level, Added: bySeat(s.added),
				Sponges: match.ByID(s.seats, s.sponges), Moves: match.ByID(s.seats, s.own),
			}
		}
	}
	return t
}

// own is the list of a player's moves, empty but never nil.
func (s *state) own(seat int) []moved { return append([]moved{}, s.moves[seat]...) }

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
	if v.Phase.Name == pickStarter {
		h := &hintsFor{}
		for _, p := range v.Players {
			h.Pick = append(h.Pick, p.ID)
		}
		t.You.Hints = h
		return
	}
	t.You.Hints = &hintsFor{Add: []int{1, 2, 3}, Sponge: t.You.Sponges > 0, Challenge: true}
}
