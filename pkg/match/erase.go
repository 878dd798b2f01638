package match

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"umpire/pkg/event"
)

// Game is a game's rules with their types erased, so that one machine plays them all.
type Game struct {
	Name, Title string
	Version     int
	Players     int

	roles, seatRoles []string
	fields, options  []string
	clock            Clocking
	atDeadline       bool

	prepare func(*Setup) (Prepared, error)
	begin   func(Start) any
	clone   func(any) any
	await   func(state any) Await
	decode  func(state any, v event.Value) (any, error)
	check   func(v *View, move any) error
	open    func(resolution) // nil where nothing is stated at the beginning
	missed  func(resolution, []int)
	resolve func(resolution)
	evolve  func(state any, f fact)
	opens   func(kind string, face int) bool
	result  func(state any) any
	table   func(watch) any
	hints   func(*View)
	bot     func(v *View, pick func(int) int) any
	newView func() any
}

// ID names the rules that a match was created with, "glass-full@1".
func (g *Game) ID() string { return g.Name + "@" + strconv.Itoa(g.Version) }

// Catalog is a list of games.
type Catalog []*Game

// Find returns the newest version of a game's rules, or nil.
func (c Catalog) Find(name string) *Game {
	var found *Game
	for _, g := range c {
		if g.Name == name && (found == nil || g.Version > found.Version) {
			found = g
		}
	}
	return found
}

// Version returns the rules that an id such as "glass-full@1" names, or nil.
func (c Catalog) Version(id string) *Game {
	i := slices.IndexFunc(c, func(g *Game) bool { return g.ID() == id })
	if i < 0 {
		return nil
	}
	return c[i]
}

// submission is one seat's submission of the open phase.
type submission struct {
	seat     int
	move     any
	raw      json.RawMessage
	revision uint64 // of the event that holds it, as its face 0
}

// resolution is a Turn with its types erased.
type resolution struct {
	state any
	seats Seats
	subs  []submission
	draw  Draw
	bank  func(int) time.Duration
	emit  func(kind string, public any, opens []Ref, faces []NewFace)
}

// fact is a Fact with its types erased.
type fact struct {
	kind     string
	revision uint64
	public   Payload
	faces    []Payload
	subs     []submission
	bank     func(int) time.Duration
}

// watch is a Watch with its types erased.
type watch struct {
	state     any
	seats     Seats
	subs      []submission
	phase     string
	seat      int
	playing   bool
	host, all bool
}

// Game erases the types of the rules. It panics where a game is incomplete, which its first test shows.
func (r Rules[S, M, T]) Game() *Game {
	if r.Name == "" || r.Version < 1 || r.Players < 1 || r.Evolve == nil || r.Resolve == nil || r.View == nil {
		panic(fmt.Sprintf("match: the rules of %q are incomplete", r.Name))
	}
	var open func(resolution)
	if r.Open != nil {
		open = func(res resolution) { r.Open(turnOf[S, M](res)) }
	}
	return &Game{
		Name: r.Name, Title: r.Title, Version: r.Version, Players: r.Players,
		roles: r.Roles, seatRoles: r.SeatRoles, fields: r.Fields, options: r.Options,
		clock: Clocking{Move: r.Move, Reserve: r.Bank}, atDeadline: r.AtDeadline,
		prepare: r.Prepare,
		begin:   func(s Start) any { state := r.Begin(s); return &state },
		clone:   func(state any) any { return r.Clone(state.(*S)) },
		await:   func(state any) Await { return r.Await(state.(*S)) },
		decode:  func(state any, v event.Value) (any, error) { return r.Decode(state.(*S), v) },
		check:   func(v *View, move any) error { return r.Check(v, v.Table.(*T), move.(M)) },
		open:    open,
		missed:  func(res resolution, seats []int) { r.Missed(turnOf[S, M](res), seats) },
		resolve: func(res resolution) { r.Resolve(turnOf[S, M](res)) },
		evolve: func(state any, f fact) {
			r.Evolve(state.(*S), &Fact[M]{
				Kind: f.kind, Revision: f.revision, Public: f.public, Faces: f.faces,
				Moves: movesOf[M](f.subs), Bank: f.bank,
			})
		},
		opens:  r.Opens,
		result: func(state any) any { return r.Result(state.(*S)) },
		table: func(w watch) any {
			return r.View(&Watch[S, M]{
				State: w.state.(*S), Seats: w.seats, Moves: movesOf[M](w.subs), Phase: w.phase,
				Seat: w.seat, Playing: w.playing, Host: w.host, All: w.all,
			})
		},
		hints:   func(v *View) { r.Hints(v, v.Table.(*T)) },
		bot:     func(v *View, pick func(int) int) any { return r.Bot(v, v.Table.(*T), pick) },
		newView: func() any { return new(T) },
	}
}

func turnOf[S, M any](res resolution) *Turn[S, M] {
	return &Turn[S, M]{
		State: res.state.(*S), Seats: res.seats, Moves: movesOf[M](res.subs),
		Draw: res.draw, Bank: res.bank, state: res.emit,
	}
}

func movesOf[M any](subs []submission) Moves[M] {
	if len(subs) == 0 {
		return nil
	}
	moves := make(Moves[M], len(subs))
	for i, s := range subs {
		moves[i] = Move[M]{Seat: s.seat, Move: s.move.(M), Raw: s.raw}
	}
	return moves
}
