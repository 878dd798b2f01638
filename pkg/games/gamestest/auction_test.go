package gamestest

import (
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// faults are the mistakes that a game can be made with, for the suite to find.
type faults struct {
	leakyTable  bool // the public sees the highest bid
	leakyFaces  bool // a bid of nothing makes a face fewer
	leakyType   bool // an event's type tells of a bid
	sharedState bool // a clone shares memory with its original
	lax         bool // 2.0 is taken for 2
	tellingTale bool // a refusal quotes what was sent
	endless     bool
	twoFaced    bool // one player's table says something else of what is public
	idleBot     bool // the bot makes what is illegal
	unreadable  bool // the view is another when it was JSON
}

// The auction is a small game with all that the machine has: phases for all, for one and for the host, the kinds of
// clock but one, a secret in the set-up, draws, and faces. Three bid in the dark; who bids most pays and wins the
// round, and gives a coin to somebody; after each second round the host says who behaved.
type (
	auctionState struct {
		seats  match.Seats
		round  int
		phase  string
		coins  []int
		wins   []int
		winner int
		over   bool
	}
	auctionMove struct {
		kind   string
		coins  int
		player int
		right  []string
	}
	auctionTable struct {
		Round   int            `json:"round"`
		Wins    map[string]int `json:"wins"`
		Highest *int           `json:"highest"` // always null, but for a leak
		You     *auctionYou    `json:"you,omitempty"`
		Host    *auctionHost   `json:"host,omitempty"`
	}
	auctionYou struct {
		Coins int  `json:"coins"`
		Bid   *int `json:"bid"`
		Hints int  `json:"hints"`
	}
	auctionHost struct {
		Coins map[string]int `json:"coins"`
	}
	bidsResolved struct {
		Winner string `json:"winner"`
	}
	purse struct {
		Coins int `json:"coins"`
	}
	coinGiven struct {
		Player string `json:"player"`
	}
	judged struct {
		Right []string `json:"right"`
	}
)

type auction struct{ faults }

func (a auction) rules() *match.Game {
	return match.Rules[auctionState, auctionMove, auctionTable]{
		Name: "dark-auction", Title: "Dark Auction", Version: 1, Players: 3, Fields: []string{"purses"},
		Move: 30 * time.Second, Bank: 10 * time.Second, Prepare: a.prepare, Begin: a.begin, Clone: a.clone,
		Await: a.await, Decode: a.decode, Check: a.check, Resolve: a.resolve, Evolve: a.evolve,
		Opens:  func(kind string, _ int) bool { return kind == "submission/bid" },
		Result: func(s *auctionState) any { return slices.Max(s.wins) },
		View:   a.view, Hints: func(_ *match.View, t *auctionTable) { t.You.Hints = t.You.Coins }, Bot: a.bot,
	}.Game()
}

func (a auction) prepare(s *match.Setup) (match.Prepared, error) {
	purses, _ := s.Field("purses")
	p := match.Prepared{}
	for _, seat := range s.Seats {
		coins, ok := purses.Get(seat.ID)
		n, whole := coins.Int()
		if !ok || !whole {
			return p, match.BadSetup("purses", "must have every player")
		}
		p.Faces = append(p.Faces, match.NewFace{To: []string{seat.ID}, Data: purse{int(n)}})
	}
	return p, nil
}

func (a auction) begin(start match.Start) auctionState {
	s := auctionState{seats: start.Seats, round: 1, phase: "bid", wins: make([]int, 3), winner: -1}
	for _, f := range start.Faces {
		s.coins = append(s.coins, match.Read[purse](f).Coins)
	}
	return s
}

func (a auction) clone(s *auctionState) *auctionState {
	c := *s
	if !a.sharedState {
		c.coins, c.wins = slices.Clone(s.coins), slices.Clone(s.wins)
	}
	return &c
}

func (a auction) await(s *auctionState) match.Await {
	switch {
	case s.over:
		return match.Await{}
	case s.phase == "bid":
		return match.Await{Phase: "bid", Seats: s.seats.All(), Clock: match.Once}
	case s.phase == "give":
		return match.Await{Phase: "give", Seats: []int{s.winner}, Clock: match.Reserve}
	}
	return match.Await{Phase: "judge", Seats: []int{match.HostSeat}, Clock: match.None}
}

func (a auction) decode(s *auctionState, v event.Value) (auctionMove, error) {
	form := match.OpenForm(v)
	m := auctionMove{kind: form.Choice("type", "bid", "give", "judge")}
	switch m.kind {
	case "bid":
		form.Fields([]string{"coins"})
		coins, _ := v.Get("coins")
		if a.lax && coins.Raw() == "2.0" {
			m.coins = 2
			return m, form.Err()
		}
		m.coins = int(form.Whole("coins", 0, 1<<62))
	case "give":
		form.Fields([]string{"player"})
		m.player = form.Player("player", s.seats)
	default:
		form.Fields([]string{"right"})
		m.right = form.Strings("right")
		for _, id := range m.right {
			if _, ok := s.seats.Find(id); !ok {
				form.Fail(match.Malformed("the list %q must be of players", "right"))
			}
		}
	}
	return m, form.Err()
}

func (a auction) check(v *match.View, t *auctionTable, m auctionMove) error {
	if m.kind != v.Phase.Name {
		return match.Illegal("this phase is another")
	}
	if m.kind == "bid" && m.coins > t.You.Coins {
		if a.tellingTale {
			return match.Illegal("you can't pay %d", m.coins)
		}
		return match.Illegal("you can't pay that")
	}
	for i, id := range m.right {
		if slices.Contains(m.right[:i], id) {
			return match.Illegal("a player is named twice")
		}
	}
	return nil
}

func (a auction) resolve(t *match.Turn[auctionState, auctionMove]) {
	switch t.State.phase {
	case "bid":
		a.resolveBids(t)
	case "give":
		given := coinGiven{}
		if m, ok := t.Moves.Of(t.State.winner); ok {
			given.Player = t.Seats.ID(m.player)
		}
		t.Emit("coin-given", given)
	default:
		t.Emit("judged", judged{t.Moves[0].Move.right})
	}
}

func (a auction) resolveBids(t *match.Turn[auctionState, auctionMove]) {
	s := t.State
	best, tied := -1, []int{}
	left := slices.Clone(s.coins)
	for seat := range t.Seats {
		bid := int(t.Draw(fmt.Sprintf("bid/%d/%s", s.round, t.Seats.ID(seat)), 2))
		if m, ok := t.Moves.Of(seat); ok {
			bid = m.coins
		}
		bid = min(bid, s.coins[seat])
		if bid > best {
			best, tied = bid, nil
		}
		if bid == best {
			tied = append(tied, seat)
		}
	}
	winner := tied[0]
	if len(tied) > 1 {
		winner = tied[t.Draw(fmt.Sprintf("tie/%d", s.round), uint64(len(tied)))]
	}
	left[winner] -= best
	var faces []match.NewFace
	for seat := range t.Seats {
		if m, ok := t.Moves.Of(seat); a.leakyFaces && ok && m.coins == 0 {
			continue
		}
		faces = append(faces, match.NewFace{To: []string{t.Seats.ID(seat)}, Data: purse{left[seat]}})
	}
	kind := "bids-resolved"
	if a.leakyType && best == 0 {
		kind = "nothing-bid"
	}
	t.Emit(kind, bidsResolved{t.Seats.ID(winner)}, faces...)
}

func (a auction) evolve(s *auctionState, f *match.Fact[auctionMove]) {
	last := true
	switch f.Kind {
	case "bids-resolved", "nothing-bid":
		s.winner, _ = s.seats.Find(match.Read[bidsResolved](f.Public).Winner)
		s.wins[s.winner]++
		for seat := range f.Faces {
			s.coins[seat] = match.Read[purse](f.Faces[seat]).Coins
		}
		s.phase, last = "give", false
	case "coin-given":
		if seat, ok := s.seats.Find(match.Read[coinGiven](f.Public).Player); ok {
			s.coins[seat]++
		}
		s.phase, last = "judge", s.round%2 == 1
	case "judged":
	default:
		panic("unknown fact " + f.Kind)
	}
	if last {
		s.phase, s.over = "bid", s.round >= 4 && !a.endless
		s.round++
	}
}

func (a auction) view(w *match.Watch[auctionState, auctionMove]) *auctionTable {
	s := w.State
	t := &auctionTable{
		Round: s.round,
		Wins:  match.ByID(s.seats, func(seat int) int { return s.wins[seat] }),
	}
	if a.leakyTable && len(w.Moves) > 0 {
		most := 0
		for _, m := range w.Moves {
			most = max(most, m.Move.coins)
		}
		t.Highest = &most
	}
	if w.Playing {
		t.You = &auctionYou{Coins: s.coins[w.Seat]}
		if m, ok := w.Moves.Of(w.Seat); ok {
			t.You.Bid = &m.coins
		}
		if a.twoFaced && w.Seat == 1 {
			t.Round++
		}
	}
	if w.Host {
		t.Host = &auctionHost{}
		if w.All {
			t.Host.Coins = match.ByID(s.seats, func(seat int) int { return s.coins[seat] })
		}
	}
	if a.unreadable {
		t.Wins["\xff"] = 1
	}
	return t
}

func (a auction) bot(v *match.View, t *auctionTable, pick Pick) any {
	switch v.Phase.Name {
	case "bid":
		if a.idleBot {
			return map[string]any{"type": "bid", "coins": t.You.Coins + 1}
		}
		return map[string]any{"type": "bid", "coins": pick(t.You.Hints + 1)}
	case "give":
		return map[string]any{"type": "give", "player": v.Players[pick(3)].ID}
	}
	right := []string{}
	for _, p := range v.Players {
		if pick(2) == 0 {
			right = append(right, p.ID)
		}
	}
	return map[string]any{"type": "judge", "right": right}
}
