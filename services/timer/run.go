package timer

import (
	"context"
	"sync"
	"time"

	"umpire/services/feed"
)

const (
	// firing bounds how many matches are fired at once; their appends share the log's transactions.
	firing = 128
	// idle is how long the timer sleeps where no deadline is near.
	idle = time.Minute
	// again is when a match is tried anew that the log refused to take.
	again = 100 * time.Millisecond
)

// Run fires deadlines as they come until the context ends.
func (s *Service) Run(ctx context.Context) error {
	var underway sync.WaitGroup
	defer underway.Wait()
	slots := make(chan struct{}, firing)
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		for _, id := range s.Due(s.clock()) {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			underway.Go(func() {
				defer func() { <-slots }()
				s.insist(ctx, id)
			})
		}
		timer.Reset(s.sleep())
		select {
		case <-timer.C:
		case <-s.woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sleep is how long until the earliest deadline.
func (s *Service) sleep() time.Duration {
	at, ok := s.Next()
	if !ok {
		return idle
	}
	return min(idle, max(0, at.Sub(s.clock())))
}

// insist fires a match until that succeeds: a deadline must not be lost to a fault. The fault is logged once.
func (s *Service) insist(ctx context.Context, id string) {
	for first := true; ; first = false {
		err := s.Fire(ctx, id)
		if err == nil || ctx.Err() != nil {
			return
		}
		if feed.Hopeless(err) {
			s.log.Error("a match can't be timed", "match", id, "error", err)
			return
		}
		if first {
			s.log.Warn("a deadline waits for a fault to pass", "match", id, "error", err)
		}
		if !feed.Pause(ctx, again) {
			return
		}
	}
}
