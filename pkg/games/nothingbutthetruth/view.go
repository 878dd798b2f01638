package nothingbutthetruth

import (
	"maps"
	"slices"

	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// table is the game's part of a view.
type table struct {
	Cycle      int                 `json:"cycle"`
	Statements map[string]string   `json:"statements"` // this cycle's, by letter
	Truths     map[string]bool     `json:"truths"`     // likewise; null until the coins are paid
	Gains      map[string]int      `json:"gains"`      // this cycle's coins; null until they are paid
	Coins      map[string]int      `json:"coins"`
	Price      map[string]int      `json:"price"` // of a stone, from the board as it is
	Stones     map[string][]string `json:"stones"`
	BidWinner  *string             `json:"bidWinner"` // of the last bids that were resolved
	Shift      *shiftTaken         `json:"shift"`     // that followed them
	Question   *string             `json:"question"`
	You        *you                `json:"you,omitempty"`
	Host       *host               `json:"host,omitempty"`
}

// you is what a player sees besides: what he has submitted in this cycle.
type you struct {
	Order  []string  `json:"order"`
	Placed []string  `json:"placed"` // as submitted, cells that both named included
	Bid    *int64    `json:"bid"`
	Answer *string   `json:"answer"`
	Hints  *hintsFor `json:"hints"`
}

// hintsFor are the submissions open to a player, one field a phase: null while he can't submit.
type hintsFor struct {
	Order  []string    `json:"order,omitempty"` // the letters to put in order
	Place  *placeHint  `json:"place,omitempty"`
	Bid    *bidHint    `json:"bid,omitempty"`
	Shift  *shiftHint  `json:"shift,omitempty"`
	Answer *answerHint `json:"answer,omitempty"`
	// Replaces says that he has submitted and may still put another submission in its place.
	Replaces bool `json:"replaces"`
}

type placeHint struct {
	Cells []string `json:"cells"` // the empty ones
	Price int      `json:"price"` // of each stone
	Most  int      `json:"most"`  // stones that can be afforded and placed
}

type bidHint struct {
	Most int `json:"most"`
}

type shiftHint struct {
	Directions []string `json:"directions"`
	Anchors    []string `json:"anchors"` // any one of these, or none
	Decline    bool     `json:"decline"`
}

type answerHint struct {
	Most int `json:"most"` // characters
}

// host is what the host sees besides; but for the statements, and the answers while he judges, null where he has chosen
// to see no more than his tasks need.
type host struct {
	Statements []statements.Statement `json:"statements"` // all 52
	Orders     map[string][]string    `json:"orders"`
	Placed     map[string][]string    `json:"placed"`
	Bids       map[string]*int64      `json:"bids"`
	Answers    map[string]*string     `json:"answers"`
}

func view(w *match.Watch[state, move]) *table {
	s := w.State
	t := &table{
		Cycle: s.cycle, Statements: maps.Clone(s.texts), Truths: maps.Clone(s.truths), Gains: maps.Clone(s.gains),
		Coins: s.bySeat(s.coins), Price: match.ByID(s.seats, s.board.price), Stones: s.stones(&s.board),
		BidWinner: s.idOf(s.bidWinner), Shift: s.shift, Question: s.question,
	}
	submitted := s.own
	for _, m := range w.Moves {
		if m.Seat != match.HostSeat && w.Phase == s.phase { // else it is noted, and perhaps its cycle over
			submitted[m.Seat].note(m.Move)
		}
	}
	if w.Playing {
		o := submitted[w.Seat]
		t.You = &you{Order: slices.Clone(o.order), Placed: slices.Clone(o.placed), Bid: o.bid, Answer: o.answer}
	}
	if w.Host {
		t.Host = hostView(w, submitted)
	}
	return t
}

func hostView(w *match.Watch[state, move], submitted [2]own) *host {
	s := w.State
	h := &host{Statements: slices.Clone(s.statements)}
	if w.All || w.Phase == judge && s.phase == judge {
		h.Answers = match.ByID(s.seats, func(seat int) *string { return submitted[seat].answer })
	}
	if w.All {
		h.Orders = match.ByID(s.seats, func(seat int) []string { return slices.Clone(submitted[seat].order) })
		h.Placed = match.ByID(s.seats, func(seat int) []string { return slices.Clone(submitted[seat].placed) })
		h.Bids = match.ByID(s.seats, func(seat int) *int64 { return submitted[seat].bid })
	}
	return h
}

// hints offers the legal submissions, from what the player sees; also to who has submitted in a phase of both, where he
// may replace his submission.
func hints(v *match.View, t *table) {
	replaces := v.Status == match.Running && v.Phase != nil && v.Phase.Name != shift &&
		slices.Contains(v.Phase.Submitted, v.Audience)
	if !v.Awaits(v.Audience) && !replaces {
		return
	}
	h := &hintsFor{Replaces: replaces}
	switch v.Phase.Name {
	case order:
		h.Order = slices.Clone(letters)
	case place:
		cells, price := t.free(), t.Price[v.Audience]
		h.Place = &placeHint{Cells: cells, Price: price, Most: min(t.Coins[v.Audience]/price, len(cells))}
	case bid:
		h.Bid = &bidHint{Most: t.Coins[v.Audience]}
	case shift:
		h.Shift = &shiftHint{Directions: slices.Clone(directions), Anchors: t.taken(), Decline: true}
	case answer:
		h.Answer = &answerHint{Most: maxText}
	}
	t.You.Hints = h
}

// occupied reports whether there is a stone on a cell.
func (t *table) occupied(cell string) bool {
	for _, stones := range t.Stones { // order-free: a cell holds one stone at most
		if slices.Contains(stones, cell) {
			return true
		}
	}
	return false
}

// free are the cells without a stone, taken are those with one, both sorted and never nil.
func (t *table) free() []string  { return t.cells(false) }
func (t *table) taken() []string { return t.cells(true) }

func (t *table) cells(occupied bool) []string {
	cells := []string{}
	for cell := range side * side {
		if name := cellNames[cell]; t.occupied(name) == occupied {
			cells = append(cells, name)
		}
	}
	return cells
}
