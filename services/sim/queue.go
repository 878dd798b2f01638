package sim

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"umpire/pkg/eventlog"
	"umpire/services/relay"
)

// The simulated queue: a stream, two durable consumers that replicas share, ordered consumers of their own for the
// timers, and the bucket of views. All of it can be wiped.

// consumer is a durable one: what was delivered and not acknowledged comes again.
type consumer struct {
	next    int   // of the feed
	pending []int // delivered later, or again
}

// stream is the feed as a relay sees it.
type stream struct{ w *World }

// Last implements relay.Stream.
func (s *stream) Last(context.Context) (uint64, error) {
	w := s.w
	w.effect()
	if w.down(theQueue) {
		return 0, errAway
	}
	if len(w.feed) == 0 {
		return 0, nil
	}
	return w.feed[len(w.feed)-1].Position, nil
}

// Begin implements relay.Stream.
func (s *stream) Begin(context.Context, context.CancelCauseFunc) (end func()) { return func() {} }

// Publish implements relay.Stream.
func (s *stream) Publish(ctx context.Context, commit *eventlog.Commit, last uint64) error {
	w := s.w
	at, err := s.Last(ctx)
	if err != nil {
		return err
	}
	if at != last {
		return relay.ErrOrder
	}
	w.feed = append(w.feed, *commit)
	w.record.note("feed %d %s", commit.Position, commit.Stream)
	w.effect()
	if w.strikes(replyLost) {
		return errAway
	}
	return nil
}

var errAway = fmt.Errorf("sim: the queue is away")

// wipe loses all that the queue held, or the bucket of views alone.
func (w *World) wipe() {
	w.bucket = map[string]*entry{}
	w.wipes++
	if !w.calm && w.rng.IntN(4) == 0 {
		w.record.note("the bucket alone is lost")
		return
	}
	w.feed = nil
	w.consumers = [kinds]consumer{}
	for _, r := range w.replicas[theProjector] {
		r.held = nil // whatever is acknowledged now, nobody knows it any more
	}
	for _, r := range w.replicas[theTimer] {
		if !w.record.Together {
			r.cursor = 0
		}
	}
	for _, r := range w.replicas[theRelay] {
		if w.calm || w.rng.IntN(2) == 0 { // else it learns of it with the next commit
			w.start(r)
		}
	}
}

// relayStep lets a relay copy the next commit of the log.
func (w *World) relayStep() {
	r := w.alive(theRelay)
	if r == nil || w.down(theLog) {
		return
	}
	if !r.begun { // as a round of its Run begins
		r.cursor, r.begun = w.after(r.relay.Behind(context.Background())), true
	}
	if r.cursor >= len(w.record.Commits) {
		if w.calm && w.behind() { // nothing more comes that would tell it of a wiped stream
			w.start(r)
		}
		return
	}
	commit := w.record.Commits[r.cursor]
	err := w.call(r, "relay", func() error { return r.relay.Handle(context.Background(), &commit) })
	switch {
	case err == nil:
		r.cursor++
	case r.relay != nil && !errors.Is(err, errCrashed):
		r.cursor = w.after(r.relay.Behind(context.Background()))
	}
}

// after returns the place in the log's commits behind a position.
func (w *World) after(position uint64, err error) int {
	if err != nil {
		return 0
	}
	return sort.Search(len(w.record.Commits), func(i int) bool { return w.record.Commits[i].Position > position })
}

// deliverSome hands a shared consumer's next message to some replica; in one process, which reads the log from its
// beginning whenever it starts, it mostly is several.
func (w *World) deliverSome(k kind) {
	n := 1
	if w.record.Together {
		n += w.rng.IntN(8)
	}
	for range n {
		w.deliver(k)
	}
}

// deliver hands the next message, or one that is due again, to some replica of a service that shares a consumer.
func (w *World) deliver(k kind) {
	if w.down(theQueue) || k == theProjector && !w.calm && w.now.Before(w.stalled) {
		return
	}
	r := w.alive(k)
	c := &w.consumers[k]
	if r == nil || c.next >= len(w.feed) && len(c.pending) == 0 {
		return
	}
	var at int
	if n := len(c.pending); n > 0 && (c.next >= len(w.feed) || w.rng.IntN(3) == 0) {
		i := w.rng.IntN(n)
		at = c.pending[i]
		c.pending = append(c.pending[:i], c.pending[i+1:]...)
	} else {
		at = c.next
		c.next++
		if w.strikes(deliverLater) {
			c.pending = append(c.pending, at)
			return
		}
	}
	commit := w.feed[at]
	err := w.call(r, fmt.Sprintf("commit %d", commit.Position), func() error {
		switch {
		case k == theResolver:
			return r.resolver.Handle(context.Background(), &commit)
		case w.record.Together:
			return r.projector.Handle(context.Background(), &commit)
		}
		return r.projector.Show(context.Background(), &commit)
	})
	switch {
	case err == nil && k == theProjector && !w.record.Together && !w.settled(r, &commit):
		r.held = append(r.held, at)
	case err != nil || w.strikes(deliverAgain):
		c.pending = append(c.pending, at)
	}
}

// news is what a timer follows: in one process the log itself.
func (w *World) news() []eventlog.Commit {
	if w.record.Together {
		return w.record.Commits
	}
	return w.feed
}

// source is the part that has it.
func (w *World) source() part {
	if w.record.Together {
		return theLog
	}
	return theQueue
}

// deliverTimer hands a timer the next message of its own consumer.
func (w *World) deliverTimer() {
	r := w.alive(theTimer)
	if r == nil || w.down(w.source()) || r.cursor >= len(w.news()) {
		return
	}
	commit := w.news()[r.cursor]
	err := w.call(r, fmt.Sprintf("commit %d", commit.Position), func() error {
		return r.timer.Handle(context.Background(), &commit)
	})
	switch {
	case err == nil && w.strikes(deliverAgain):
		r.cursor = max(0, r.cursor-w.rng.IntN(4))
	case err == nil:
		r.cursor++
	}
}

// tickTimer lets a timer see to what is due.
func (w *World) tickTimer() {
	r := w.alive(theTimer)
	if r == nil {
		return
	}
	w.tick(r)
}

// tickTimers lets all timers that live see to what is due, as they would by themselves.
func (w *World) tickTimers() {
	for _, r := range w.replicas[theTimer] {
		if w.lives(r) {
			w.tick(r)
		}
	}
}

func (w *World) tick(r *replica) {
	for r.cursor < r.until {
		before := r.cursor
		if w.deliverTimer(); r.cursor == before {
			return // another time
		}
	}
	err := w.call(r, "tick", func() error {
		if w.resumes() {
			if err := r.timer.Resume(context.Background()); err != nil {
				return err
			}
			r.resumed = true
		}
		return r.timer.Tick(context.Background())
	})
	if err != nil {
		w.record.note("timer %d: %v", r.no, err)
		return
	}
	if w.now.Sub(w.looked) > blindness {
		w.record.Blind = append(w.record.Blind, Span{w.looked, w.now})
	}
	w.looked = w.now
}

// blindness is how long no timer may look before that is noted; they mean to look once a second.
const blindness = 1500 * time.Millisecond
