package sim

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/services/projector"
	"umpire/services/relay"
	"umpire/services/resolver"
	"umpire/services/submission"
	"umpire/services/timer"
)

// kind is a service.
type kind int

// The services of a run.
const (
	theSubmission kind = iota
	theTimer
	theResolver
	theProjector
	theRelay
	kinds
)

var kindNames = [kinds]string{"submission", "timer", "resolver", "projector", "relay"}

// replica is one process of a service. What it has in memory is gone when it crashes.
type replica struct {
	kind      kind
	no        int
	deadUntil time.Time
	begun     bool  // relay: it knows where the stream ends
	cursor    int   // timer: the next commit of the feed; relay: of the log; from the beginning after a crash
	until     int   // timer: where of the feed it must have come before it looks
	held      []int // projector: of the feed, not acknowledged yet
	resumed   bool  // timer: it has accounted for the time before its life
	filled    int   // projector: how often the bucket had been lost when this replica last had made all views again

	journal    *journal.Journal
	submission *submission.Service
	timer      *timer.Service
	resolver   *resolver.Service
	projector  *projector.Service
	relay      *relay.Service
	publisher  *publisher
}

// start makes the replica's process anew.
func (w *World) start(r *replica) {
	c := &w.consumers[theProjector]
	c.pending = append(c.pending, r.held...)
	*r = replica{kind: r.kind, no: r.no, deadUntil: r.deadUntil, filled: r.filled}
	r.journal = journal.New(w.store, w.games, w.record.Vault, w.entropy)
	clock := func() time.Time { return w.now }
	quiet := slog.New(slog.DiscardHandler)
	switch r.kind {
	case theSubmission:
		r.submission = &submission.Service{
			Journal: r.journal, Games: w.games, Authority: w.authority, Clock: clock, Entropy: w.entropy,
			Sleep: func(_ context.Context, d time.Duration) bool { w.pass(d); return true },
		}
	case theTimer:
		if w.record.Together { // who has read nothing thinks that this is the log's first life
			r.until = len(w.record.Commits)
		}
		r.timer = timer.New(timer.Options{
			Journal: r.journal, Log: w.store, Vault: w.record.Vault, Clock: clock, Path: w.probe, Logger: quiet,
			Alone: w.record.Together,
		})
	case theResolver:
		r.resolver = &resolver.Service{Journal: r.journal, Clock: clock, Log: quiet}
	case theProjector:
		r.publisher = newPublisher(w, quiet)
		r.projector = &projector.Service{Journal: r.journal, Authority: w.authority, Clock: clock, Publisher: r.publisher}
	case theRelay:
		r.relay = &relay.Service{Stream: &stream{w}}
	}
}

// lives reports whether a replica can be asked; submissions are taken only once the time before is accounted for.
func (w *World) lives(r *replica) bool {
	return (w.calm || !w.now.Before(r.deadUntil)) && (r.kind != theSubmission || !w.resumes())
}

// resumes reports whether there is one process, and its timer has not accounted yet for the time before this life of it.
func (w *World) resumes() bool { return w.record.Together && !w.replicas[theTimer][0].resumed }

// rising reports whether there is one process that lives and has that still to do.
func (w *World) rising() bool { return w.resumes() && w.lives(w.replicas[theTimer][0]) }

// anyAlive reports whether a service of a kind has a living replica.
func (w *World) anyAlive(k kind) bool { return slices.ContainsFunc(w.replicas[k], w.lives) }

// alive returns a random living replica of a kind, nil when all are dead.
func (w *World) alive(k kind) *replica {
	var living []*replica
	for _, r := range w.replicas[k] {
		if w.lives(r) {
			living = append(living, r)
		}
	}
	if len(living) == 0 {
		return nil
	}
	return living[w.rng.IntN(len(living))]
}

// errCrashed is what the world sees of a call whose service crashed in it.
var errCrashed = errors.New("sim: the service crashed")

// call lets a replica do something; it may crash between any two of its effects.
func (w *World) call(r *replica, what string, do func() error) (err error) {
	w.crashIn, w.appends = 0, 0
	if w.strikes(crash) {
		w.crashIn = 1 + w.rng.IntN(4)
	}
	defer func() {
		w.crashIn = 0
		broken := recover()
		if broken == nil {
			return
		}
		if _, ok := broken.(crashed); !ok {
			panic(broken)
		}
		w.record.note("%s %d crashed in: %s", kindNames[r.kind], r.no, what)
		w.die(r)
		err = errCrashed
	}()
	return do()
}

// die ends the process that a replica is in, and starts it anew, at once or later.
func (w *World) die(r *replica) {
	dead := []*replica{r}
	if w.record.Together {
		dead = slices.Concat(w.replicas[:]...)
	}
	until := r.deadUntil
	if w.strikes(stayDead) {
		until = w.now.Add(time.Duration(w.rng.Int64N(int64(40 * time.Second))))
	}
	for _, r := range dead {
		if r.kind == theTimer {
			w.record.Crashes = append(w.record.Crashes, w.now)
		}
		r.deadUntil = until
		w.start(r)
	}
	if w.record.Together { // it follows the log itself, and keeps no place in it
		w.consumers = [kinds]consumer{}
	}
	w.watch()
}

// probe is the timer's way to ask whether players can reach umpire: through gateway, queue and submission to the log.
func (w *World) probe(context.Context) error {
	if !w.reachable() {
		return eventlog.ErrUnavailable
	}
	return nil
}

// reachable reports whether a player could submit now.
func (w *World) reachable() bool {
	return !w.down(theGateway) && !w.down(theQueue) && !w.down(theLog) && w.anyAlive(theSubmission)
}
