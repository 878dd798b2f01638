// Package timer is the service that says that time is over. It keeps the next deadline of every open match in a heap and
// appends deadline-passed when one runs out. Replicas race, and the log takes one.
//
// Nobody is punished for our outage. Before it fires, the timer needs a probe, begun after the deadline, to come back
// through gateway, queue and log; while none does, nothing is flagged. When one does after others have failed, or after
// nobody was there to send any, the gap since players were last sure to reach umpire is written to the log and given to
// every clock that ran in it, before anything is fired.
//
// A timer that is alone on its log, as in one process with all else, takes the time between two lives for an outage, and
// accounts for it before players can reach the second: Resume.
//
// Of several timers, what one alone knew of an outage when it died is known to the next by the probe that was promised and
// does not stand in the log; an outage that was over before the promise was due stays unknown, which is a minute at most,
// and no more than a tenth of the time that was left to the next deadline, or two seconds. To give so much after every crash
// would give what nobody took, and an outage's beginning can't be written down while the log may be what is away.
package timer

import (
	"container/heap"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/fault"
	"umpire/services/metrics"
)

// Options are what a timer works with.
type Options struct {
	Journal *journal.Journal
	Log     eventlog.Log // of the probes
	Vault   *event.Vault
	Clock   func() time.Time
	// Path asks what a player would need to submit: gateway, queue and log. An error means that he can't.
	Path   func(ctx context.Context) error
	Logger *slog.Logger
	// Alone says that there is no other timer on this log, so that a gap in its own life is an outage, and the time before
	// it: Resume is to be called.
	Alone bool
}

// Service is safe for concurrent use.
type Service struct {
	o      Options
	probes probes

	mu    sync.Mutex
	queue deadlines
	known map[string]*deadline
	woken chan struct{} // told that an earlier deadline stands first
}

// New returns a timer without deadlines: Handle tells it of them.
func New(o Options) *Service {
	s := &Service{o: o, known: map[string]*deadline{}, woken: make(chan struct{}, 1)}
	s.probes.keys = o.Vault.Keys(ProbesStream)
	return s
}

// Handle notes the next deadline of the match that the commit belongs to, and what the commit proves of umpire itself.
func (s *Service) Handle(ctx context.Context, commit *eventlog.Commit) error {
	if commit.Stream == ProbesStream {
		s.learn(commit)
		return nil
	}
	if err := s.catchUp(ctx); err != nil { // else what is told first would hide a gap before it
		return err
	}
	m, err := s.o.Journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
	}
	for i := range commit.Events {
		if commit.Events[i].By == event.Player { // it came the whole way that a probe goes
			s.saw(commit.Events[i].At)
		}
	}
	s.note(m)
	return nil
}

// note puts a match where its next deadline belongs, or out of the heap where it has none.
func (s *Service) note(m *match.Match) {
	at, ok := m.Deadline()
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.known[m.ID()]
	switch {
	case d == nil && !ok, d != nil && m.Revision() < d.revision:
		return
	case d == nil:
		d = &deadline{match: m.ID(), at: at, revision: m.Revision()}
		s.known[d.match] = d
		heap.Push(&s.queue, d)
	case !ok:
		heap.Remove(&s.queue, d.index)
		delete(s.known, d.match)
		return
	default:
		d.at, d.revision = at, m.Revision()
		heap.Fix(&s.queue, d.index)
	}
	metrics.Pending.Set(float64(len(s.queue)))
	if s.queue[0] == d {
		s.wake()
	}
}

func (s *Service) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Next returns the earliest deadline; ok is false while there is none.
func (s *Service) Next() (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return time.Time{}, false
	}
	return s.queue[0].at, true
}

// Pending returns how many matches have a deadline.
func (s *Service) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Due takes the matches whose deadlines have come by now out of the heap; each is to be given to Fire.
func (s *Service) Due(now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []string
	for len(s.queue) > 0 && !s.queue[0].at.After(now) {
		d := heap.Pop(&s.queue).(*deadline)
		delete(s.known, d.match)
		due = append(due, d.match)
	}
	return due
}

// open returns the matches that have a deadline.
func (s *Service) open() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.queue))
	for i, d := range s.queue {
		ids[i] = d.match
	}
	return ids
}

// Fire appends what time has brought to a match: first what outages owe its clocks, then, deadline by deadline, those
// that had passed when the probe began. It notes the next one. It is harmless where nothing is due.
func (s *Service) Fire(ctx context.Context, id string, began time.Time) error {
	m, err := s.o.Journal.Load(ctx, id)
	for err == nil {
		drafts, counts := s.owed(m), func() {}
		if drafts == nil {
			due, ok := m.Deadline()
			if !ok || due.After(began) {
				s.note(m)
				return nil
			}
			drafts = m.Expire(s.o.Clock())
			counts = func() { measure(s.o.Clock().Sub(due)) }
		}
		m, err = s.append(ctx, m, drafts, counts)
	}
	return err
}

// append writes drafts behind m and calls counts; after a conflict it returns the match as another has left it.
func (s *Service) append(
	ctx context.Context, m *match.Match, drafts []match.Draft, counts func(),
) (*match.Match, error) {
	next, err := s.o.Journal.Append(ctx, m.ID(), m, event.ID{}, drafts)
	fault.Point("timer.appended")
	var conflict *eventlog.Conflict
	if errors.As(err, &conflict) {
		return s.o.Journal.Refresh(ctx, m.ID())
	}
	if err == nil {
		counts()
	}
	return next, err
}

// measure counts a deadline that stands in the log, and how late it came there.
func measure(late time.Duration) {
	metrics.Fired.Inc()
	metrics.Lateness.Observe(late.Seconds())
}

// owed states what outages took of the match's clocks and have not given back yet.
func (s *Service) owed(m *match.Match) []match.Draft {
	for _, o := range s.probes.outages() {
		if drafts := m.Give(o, s.o.Clock()); drafts != nil {
			return drafts
		}
	}
	return nil
}
