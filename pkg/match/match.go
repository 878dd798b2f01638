package match

import (
	"encoding/json"
	"slices"
	"time"
)

// Status is where a match stands.
type Status string

// The statuses of a match.
const (
	Waiting Status = "waiting" // for its seats to be claimed, or for its time
	Running Status = "running"
	Paused  Status = "paused"
	Ended   Status = "ended"
	Void    Status = "void"
)

// Match is a match as its events so far have made it. Deciding never changes it and Apply does; a Match that others
// may read is to be cloned first.
type Match struct {
	game     *Game
	id       string
	title    string
	seats    Seats
	options  Options
	seed     []byte
	seedHash string // the public commitment to the seed, hex
	insecure bool   // the seed was given from outside

	revision int64     // of the last event applied, -1 before the first
	at       time.Time // of the last event
	hash     string    // of the last event, hex

	status   Status
	draws    []byte  // the key of the draws, fixed at the start
	claims   []claim // by seat; the host's stands last
	phaseNo  int
	phase    *phase // nil before the start and after the end
	banks    []time.Duration
	pausedAt time.Time
	pauses   []Outage // those that are over, since the phase opened
	state    any
	opens    []Ref // faces that open when the match has ended
	result   json.RawMessage
	receipts []Receipt // by seat, the host's last: the seat's latest submission
}

// claim is what became of a seat's link.
type claim struct {
	issue   int // how many links the seat has been given before this one
	claimed bool
	random  []byte
}

// Receipt is what a seat's latest submission was acknowledged with.
type Receipt struct {
	Phase    int
	ID       string // of the event
	Revision uint64
	Hash     string
	Raw      json.RawMessage // the submission, canonical
}

// phase is the open phase.
type phase struct {
	no     int
	opened time.Time
	name   string
	kind   ClockKind
	seats  []int
	clocks []clock // as seats
	subs   []submission
	missed []missed // deadlines that the resolver has not answered yet
	given  []Outage // that the clocks were given
}

// missed is a deadline that seats have missed.
type missed struct{ seats []int }

// turn reports whether the phase awaits one seat: its first submission stands.
func (p *phase) turn() bool { return len(p.seats) == 1 }

func (p *phase) submitted(seat int) bool {
	return slices.ContainsFunc(p.subs, func(s submission) bool { return s.seat == seat })
}

// awaits reports whether the seat can still be waited for: it has not submitted, and its clock has not run out.
func (p *phase) awaits(seat int) bool {
	i := slices.Index(p.seats, seat)
	return i >= 0 && !p.clocks[i].out && !p.submitted(seat)
}

func (p *phase) awaiting() []int {
	return slices.DeleteFunc(slices.Clone(p.seats), func(seat int) bool { return !p.awaits(seat) })
}

// complete reports whether the phase has all that it needs to be resolved.
func (p *phase) complete(atDeadline bool) bool {
	if len(p.awaiting()) > 0 {
		return false
	}
	if !atDeadline || p.turn() || p.kind == Repeat { // clocks that start anew never run out
		return true
	}
	return !slices.ContainsFunc(p.clocks, func(c clock) bool { return c.runs() })
}

// ID returns the match's id.
func (m *Match) ID() string { return m.id }

// Game returns the rules of the match.
func (m *Match) Game() *Game { return m.game }

// Seats returns the players in seating order.
func (m *Match) Seats() Seats { return m.seats }

// Options returns the match's options.
func (m *Match) Options() Options { return m.options }

// Title returns the match's title.
func (m *Match) Title() string { return m.title }

// Status returns where the match stands.
func (m *Match) Status() Status { return m.status }

// Over reports whether nothing can happen any more.
func (m *Match) Over() bool { return m.status == Ended || m.status == Void }

// Revision returns the revision of the last event applied, -1 before the first.
func (m *Match) Revision() int64 { return m.revision }

// At returns the time of the last event; no later event is earlier.
func (m *Match) At() time.Time { return m.at }

// Hash returns the last event's hash, which the next one names.
func (m *Match) Hash() string { return m.hash }

// PhaseNo returns the open phase's number, 0 when none is open.
func (m *Match) PhaseNo() int {
	if m.phase == nil {
		return 0
	}
	return m.phase.no
}

// Awaiting returns the seats that can still submit in the open phase, HostSeat among them.
func (m *Match) Awaiting() []int {
	if m.phase == nil || m.status != Running {
		return nil
	}
	return m.phase.awaiting()
}

// Clone returns a copy that can be changed without changing m.
func (m *Match) Clone() *Match {
	c := *m
	c.claims = slices.Clone(m.claims)
	c.banks = slices.Clone(m.banks)
	c.receipts = slices.Clone(m.receipts)
	c.opens = slices.Clip(m.opens)
	c.pauses = slices.Clip(m.pauses)
	if m.state != nil {
		c.state = m.game.clone(m.state)
	}
	if m.phase != nil {
		p := *m.phase
		p.clocks = slices.Clone(p.clocks)
		p.subs = slices.Clone(p.subs)
		p.missed = slices.Clip(p.missed)
		p.given = slices.Clip(p.given)
		c.phase = &p
	}
	return &c
}

// place is where a seat's claim and receipt lie: the host's behind the players'.
func (m *Match) place(seat int) int {
	if seat == HostSeat {
		return len(m.seats)
	}
	return seat
}

// Seat returns the seat of a player's id or of "host".
func (m *Match) Seat(id string) (seat int, ok bool) {
	if id == HostID {
		return HostSeat, true
	}
	return m.seats.Find(id)
}

// Issue returns how many links a seat had been given before its present one, and whether that one has been claimed.
func (m *Match) Issue(seat int) (issue int, claimed bool) {
	c := m.claims[m.place(seat)]
	return c.issue, c.claimed
}

// LastReceipt returns what the seat's latest submission was acknowledged with; its Phase is 0 before the first.
func (m *Match) LastReceipt(seat int) Receipt { return m.receipts[m.place(seat)] }

// now is the time of an event decided at the clock's t: the later of it and of the last event's.
func (m *Match) now(t time.Time) time.Time {
	if t.Before(m.at) {
		return m.at
	}
	return t.UTC().Round(0)
}
