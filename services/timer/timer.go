// Package timer is the service that says that time is over. It keeps the next deadline of every open match in a heap and
// appends deadline-passed when one runs out. Replicas race, and the log takes one.
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
)

// Service is safe for concurrent use.
type Service struct {
	journal *journal.Journal
	clock   func() time.Time
	log     *slog.Logger

	mu    sync.Mutex
	queue deadlines
	known map[string]*deadline
	woken chan struct{} // told that an earlier deadline stands first
}

// New returns a timer without deadlines: Handle tells it of them.
func New(j *journal.Journal, clock func() time.Time, log *slog.Logger) *Service {
	return &Service{
		journal: j, clock: clock, log: log, known: map[string]*deadline{}, woken: make(chan struct{}, 1),
	}
}

// Handle notes the next deadline of the match that the commit belongs to.
func (s *Service) Handle(ctx context.Context, commit *eventlog.Commit) error {
	m, err := s.journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
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

// Fire appends what time has brought to a match, deadline by deadline, and notes the next one. It is harmless where
// nothing is due.
func (s *Service) Fire(ctx context.Context, id string) error {
	m, err := s.journal.Load(ctx, id)
	for err == nil {
		drafts := m.Expire(s.clock())
		if drafts == nil {
			s.note(m)
			return nil
		}
		var conflict *eventlog.Conflict
		next, appendErr := s.journal.Append(ctx, id, m, event.ID{}, drafts)
		if m, err = next, appendErr; errors.As(err, &conflict) {
			m, err = s.journal.Refresh(ctx, id)
		}
	}
	return err
}

// deadline is a match's next one.
type deadline struct {
	match    string
	at       time.Time
	revision int64 // of the match when it was noted
	index    int   // in the heap
}

// deadlines is a heap, the earliest first.
type deadlines []*deadline

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	one := x.(*deadline)
	one.index = len(*d)
	*d = append(*d, one)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	one := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return one
}
