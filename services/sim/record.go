package sim

import (
	"fmt"
	"io"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// Record is what a run left behind, in the order in which it happened.
type Record struct {
	Seed    uint64
	Commits []eventlog.Commit // the log
	Acks    []Ack             // submissions that a player was told stand
	Asked   map[Asked]bool    // what players asked for, whatever was answered
	Shown   []Shown           // public views as the bucket took them
	Seen    []Seen            // what an audience was given, a sample
	Outages []Span            // when players could not reach umpire; the truth, which umpire must find out
	Blind   []Span            // when no timer looked, or none that could; what umpire could not know then
	Excused []Span            // when resolving was hindered: the queue, the log, all relays or all resolvers were away
	Crashes []time.Time       // of timers: what one had not written down yet is forgotten
	Refused []time.Time       // when a timer could not write down what it knew, or was told so
	Matches []string
	Kept    map[string][]byte // the bucket as it is in the end
	Vault   *event.Vault
	Steps   int
	Longest int // the most appends that one call asked for
	// Together says that all services are one process, which dies as a whole: while it is dead, players can't reach umpire.
	Together bool
	Calm     time.Time // when the faults stopped
	End      time.Time
	Coverage *Coverage

	transcript io.Writer // nil unless somebody reads along
}

// Asked is a submission's key as a player used it.
type Asked struct {
	Match, Player string
	Phase         int
	Key           string
}

// Ack is a submission that was acknowledged.
type Ack struct {
	Match, Player string
	Phase         int // the one named
	Key           string
	Revision      uint64
	Hash          string
	Move          string // canonical JSON
	At            time.Time
}

// Shown is a public view that was put into the bucket.
type Shown struct {
	Match string
	View  []byte
	Wipes int // how often the bucket had been wiped before
}

// Seen is a message that an audience was given: a view, a line of its feed, or a refusal.
type Seen struct {
	Match, Audience string
	Kind            string
	Revision        int64
	Body            []byte
}

// The kinds of message.
const (
	seenView    = "view"
	seenEvent   = "event" // a line of a feed
	seenRefusal = "refusal"
)

// Span is a stretch of virtual time.
type Span struct{ From, To time.Time }

// listening reports whether somebody reads the transcript; what only he needs is not made for nobody.
func (r *Record) listening() bool { return r.transcript != nil }

// note adds a line to the run's transcript, which two runs of one seed must have in common, byte for byte.
func (r *Record) note(format string, args ...any) {
	if r.listening() {
		_, _ = fmt.Fprintf(r.transcript, "%6d "+format+"\n", append([]any{r.Steps}, args...)...)
	}
}

func newRecord(seed uint64, transcript io.Writer) *Record {
	return &Record{Seed: seed, transcript: transcript, Coverage: newCoverage(), Asked: map[Asked]bool{}}
}

// spans notes when something holds.
type spans struct {
	list  []Span
	since time.Time
	on    bool
}

// look takes in whether it holds now.
func (s *spans) look(on bool, now time.Time) {
	if s.on && !on {
		s.list = append(s.list, Span{s.since, now})
	}
	if on && !s.on {
		s.since = now
	}
	s.on = on
}
