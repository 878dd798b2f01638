package match

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"umpire/pkg/event"
)

// ClockKind says what happens when a deadline comes.
type ClockKind string

// The kinds of clock.
const (
	None    ClockKind = "none"    // it waits
	Once    ClockKind = "once"    // a default is taken for whoever is missing
	Repeat  ClockKind = "repeat"  // a penalty falls and the clock starts anew from that deadline
	Reserve ClockKind = "reserve" // behind the move time a bank of reserve runs, which lasts the match
)

// Await is what a game's state waits for; the zero value says that the game is over.
type Await struct {
	Phase string    // its name
	Seats []int     // in seating order; []int{HostSeat} for the host
	Clock ClockKind // in this phase
}

// Rules are one game: a struct of pure functions over its state S, its submissions M and its table T (the view's part
// that is the game's own). What they are handed belongs to the machine; what they return is theirs no more.
type Rules[S, M, T any] struct {
	Name    string // "glass-full"
	Title   string // "Glass Full"
	Version int    // of the rules, from 1; a match keeps the version that it was created with
	Players int    // how many the game is for

	Roles      []string      // roles that a set-up must give to players
	SeatRoles  []string      // roles that come with the place in the seating order, if any
	Fields     []string      // fields of a set-up that only this game has
	Options    []string      // options that only this game has
	Move       time.Duration // the sheet's main time
	Bank       time.Duration // the sheet's reserve, 0 without
	AtDeadline bool          // whether options.close is at-deadline unless said otherwise

	// Prepare checks the game's own fields of a set-up and says what match-created holds of them.
	Prepare func(setup *Setup) (Prepared, error)
	// Begin makes the first state from what Prepare put into match-created.
	Begin func(Start) S
	// Open states what becomes public when the match begins, before its first phase; nil for nothing.
	Open func(*Turn[S, M])
	// Clone copies a state so that evolving the copy leaves the original as it is.
	Clone func(*S) *S
	// Await says what the state waits for.
	Await func(*S) Await
	// Decode reads a submission strictly; it may look only at what the set-up fixed. Its errors are Malformed.
	Decode func(*S, event.Value) (M, error)
	// Check judges a decoded submission by what its player sees, so that a refusal can't tell him more. Its errors
	// are Illegal.
	Check func(*View, *T, M) error
	// Missed states what follows when seats have missed a deadline of a Repeat clock; nil in games without.
	Missed func(t *Turn[S, M], seats []int)
	// Resolve states what follows from the phase's submissions; a seat without one has missed its clock.
	Resolve func(*Turn[S, M])
	// Evolve folds one of the game's facts into the state.
	Evolve func(*S, *Fact[M])
	// Opens says which faces open when the match has ended: those of the game's own facts by their kind, those of
	// submissions by "submission/" and the phase's name.
	Opens func(kind string, face int) bool
	// Result states how a match ended whose state awaits nothing any more.
	Result func(*S) any
	// View builds the table for an audience; what may not be seen stays out of it.
	View func(*Watch[S, M]) *T
	// Hints fills the table's you.hints from the player's own view.
	Hints func(*View, *T)
	// Bot returns a legal submission for a player who sees this view and is awaited; pick(n) gives 0..n-1.
	Bot func(v *View, t *T, pick func(n int) int) any
}

// Prepared is what a game puts into match-created.
type Prepared struct {
	Public   any       // stands as "setup" in the public part; nil for {}
	Faces    []NewFace // in an order and number that depend on public facts alone
	Warnings []string  // for the answer to whoever creates the match
}

// Start is what Begin has to go by.
type Start struct {
	Seats Seats
	Clock Clocking
	Setup Payload
	Faces []Payload // as Prepare gave them
}

// Clocking is a match's time: the main time of every phase that has a clock, and the bank of reserve.
type Clocking struct {
	Move    time.Duration
	Reserve time.Duration
}

// SetupFace names the face that Prepare put at place i, so that a later fact can open it.
func SetupFace(i int) Ref { return Ref{Revision: 0, Face: i + 1} }

// NewFace is a face before it is sealed.
type NewFace struct {
	To   []string // audiences; empty: nobody until it is opened
	Data any
}

// Ref names a face of an earlier event.
type Ref struct {
	Revision uint64
	Face     int
}

// Payload is a part of an event, in clear: as the value that a decision stated, or as the JSON that the log gave back.
type Payload struct {
	raw   json.RawMessage
	value any
}

// Read returns the payload as a T. It panics where the log holds something else: a broken invariant, which stops the
// match.
func Read[T any](p Payload) T {
	if v, ok := p.value.(T); ok {
		return v
	}
	var v T
	if err := json.Unmarshal(p.raw, &v); err != nil {
		panic(&payloadError{fmt.Sprintf("the payload is no %T: %v", v, scrub(err))})
	}
	return v
}

// payloadError says that an event holds something else than its type promises.
type payloadError struct{ what string }

func (e *payloadError) Error() string { return e.what }

// scrub keeps a decoding error's kind and drops the value that it may quote, which could be sealed.
func scrub(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		kind, _, _ := strings.Cut(typed.Value, " ") // behind a blank stands a number itself
		return fmt.Errorf("%s where %s is expected", kind, typed.Type)
	}
	return errors.New("not the JSON expected")
}

// Fact is one of a game's events as it evolves the state.
type Fact[M any] struct {
	Kind     string // "turn-taken": the type without the game's name and the version
	Revision uint64
	Public   Payload
	Faces    []Payload
	Moves    Moves[M] // the submissions of the phase that the fact resolves
	// Bank is what the fact's phase left of a seat's reserve.
	Bank func(seat int) time.Duration
}

// Moves are the submissions of the open phase.
type Moves[M any] []Move[M]

// Move is one seat's submission.
type Move[M any] struct {
	Seat int
	Move M
	Raw  json.RawMessage // canonical JSON
}

// Of returns a seat's submission.
func (ms Moves[M]) Of(seat int) (move M, ok bool) {
	for i := range ms {
		if ms[i].Seat == seat {
			return ms[i].Move, true
		}
	}
	return move, false
}

// Raw returns a seat's submission as it was sent, nil without one.
func (ms Moves[M]) Raw(seat int) json.RawMessage {
	for i := range ms {
		if ms[i].Seat == seat {
			return ms[i].Raw
		}
	}
	return nil
}

// Turn is one resolution under way. State evolves with each fact that is stated.
type Turn[S, M any] struct {
	State *S
	Seats Seats
	Moves Moves[M]
	Draw  Draw
	Bank  func(seat int) time.Duration // what is left of a seat's reserve
	state func(kind string, public any, opens []Ref, faces []NewFace)
}

// Emit states a fact: its public part, and its faces in an order and number that depend on public facts alone.
func (t *Turn[S, M]) Emit(kind string, public any, faces ...NewFace) {
	t.state(kind, public, nil, faces)
}

// EmitOpening states a fact that makes earlier faces public.
func (t *Turn[S, M]) EmitOpening(kind string, public any, opens []Ref, faces ...NewFace) {
	t.state(kind, public, opens, faces)
}

// Watch is what a game builds a table from.
type Watch[S, M any] struct {
	State *S
	Seats Seats
	Moves Moves[M] // of the open phase
	Phase string   // the open phase's name, "" when there is none
	// Seat is whose table it is where Playing; Host says that it is the host's.
	Seat    int
	Playing bool
	Host    bool
	// All says that the host of this match sees everything, not only what his tasks need.
	All bool
}
