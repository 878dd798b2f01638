package timer

import (
	"context"
	"errors"
	"sync"
	"time"

	"umpire/services/feed"
)

const (
	// firing bounds how many matches are fired at once; their appends share the log's transactions.
	firing = 128
	// again is when a match is tried anew that the log refused to take.
	again = 100 * time.Millisecond
)

// Look probes where that is due, and returns the matches that are to be fired and when the probe began. An error means
// that nothing may be fired.
func (s *Service) Look(ctx context.Context) (due []string, began time.Time, err error) {
	began = s.o.Clock()
	next, ok := s.Next()
	isDue := ok && !next.After(began)
	every := s.every(began)
	p := &s.probes
	p.mu.Lock()
	rested := began.Sub(p.good) >= probeEvery || p.failed || !p.read
	promised := p.due(began, every) // however busy players are meanwhile
	p.mu.Unlock()
	if !isDue && !rested && !promised {
		return nil, began, nil
	}
	if err := s.Probe(ctx); err != nil {
		return nil, began, err
	}
	return s.Due(began), began, nil
}

// Tick does once what Run does all the time: it looks, and fires what is due.
func (s *Service) Tick(ctx context.Context) error {
	due, began, err := s.Look(ctx)
	for i, id := range due {
		if err := s.Fire(ctx, id, began); err != nil {
			return errors.Join(err, s.putBack(ctx, due[i:]))
		}
	}
	return err
}

// putBack notes matches again that were taken out of the heap and could not be fired.
func (s *Service) putBack(ctx context.Context, ids []string) error {
	for _, id := range ids {
		m, err := s.o.Journal.Load(ctx, id)
		if err != nil {
			return err
		}
		s.note(m)
	}
	return nil
}

// Run fires deadlines as they come until the context ends; then it writes a last probe, so that the next life knows how
// long this one lasted.
func (s *Service) Run(ctx context.Context) error {
	var underway sync.WaitGroup
	defer underway.Wait()
	slots := make(chan struct{}, firing)
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-timer.C:
		case <-s.woken:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.farewell(ctx))
		}
		due, began, err := s.Look(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.o.Logger.Warn("no deadline is fired while this lasts", "error", err)
		}
		failing = err != nil
		for _, id := range due {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			underway.Go(func() {
				defer func() { <-slots }()
				s.insist(ctx, id, began)
			})
		}
		timer.Reset(s.sleep(failing))
	}
}

// lastProbe bounds how long a stop waits for its last probe.
const lastProbe = time.Second

// farewell writes a last probe if umpire can be reached until the end.
func (s *Service) farewell(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastProbe)
	defer cancel()
	s.probes.mu.Lock()
	known := s.probes.read && !s.probes.failed
	s.probes.mu.Unlock()
	if !known {
		return nil
	}
	if err := s.writeProbe(ctx, s.o.Clock(), logRarely); err != nil {
		s.o.Logger.Warn("the last probe is not in the log", "error", err)
	}
	return nil
}

// sleep is how long until the earliest deadline or the next probe.
func (s *Service) sleep(failing bool) time.Duration {
	at, ok := s.Next()
	if failing || !ok {
		return probeEvery
	}
	return min(probeEvery, max(0, at.Sub(s.o.Clock())))
}

// insist fires a match until that succeeds: a deadline must not be lost to a fault. The fault is logged once. What a new
// outage owes is given on the way, for Fire looks each time.
func (s *Service) insist(ctx context.Context, id string, began time.Time) {
	for first := true; ; first = false {
		err := s.Fire(ctx, id, began)
		if err == nil || ctx.Err() != nil {
			return
		}
		if feed.Hopeless(err) {
			s.o.Logger.Error("a match can't be timed", "match", id, "error", err)
			return
		}
		if first {
			s.o.Logger.Warn("a deadline waits for a fault to pass", "match", id, "error", err)
		}
		if !feed.Pause(ctx, again) {
			return
		}
	}
}
