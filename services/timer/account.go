package timer

import (
	"context"
	"errors"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/metrics"
)

// Resume accounts for the time before the life of a timer that is alone, in which nobody could reach umpire. It is to be
// called when the timer has been told all that stands in the log, and before players can reach umpire: a
// submission of this life must not stand between that time and its account, which this life may not live to write.
func (s *Service) Resume(ctx context.Context) error {
	if err := s.readOn(ctx); err != nil {
		return err
	}
	now, p := s.o.Clock(), &s.probes
	p.mu.Lock()
	first := p.good.IsZero()
	if first {
		p.good = now
	} else if now.After(p.good) {
		p.missed(now)
	}
	p.mu.Unlock()
	if first { // so that the next life can tell how long this one lasted
		return s.writeProbe(ctx, now, logRarely)
	}
	return s.account(ctx)
}

// account decides which gaps were outages, writes those down and gives them to the clocks that ran in them.
func (s *Service) account(ctx context.Context) error {
	p := &s.probes
	given := false
	for {
		if err := s.readOn(ctx); err != nil { // others may have been awake
			return err
		}
		gap, ok := s.nextGap()
		if !ok {
			break
		}
		err := s.write(ctx, "outage-ended.v1", outageEnded{gap.From, gap.To}, s.o.Clock())
		var conflict *eventlog.Conflict
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return err
		}
		given = true
		metrics.Outages.Inc()
		s.o.Logger.Warn("players could not reach umpire; their clocks get it back", "from", gap.From, "to", gap.To)
	}
	if given {
		s.giveAll(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.good, p.failed = s.o.Clock(), false
	return nil
}

// nextGap returns the earliest part of a gap that was an outage and does not stand in the log yet.
func (s *Service) nextGap() (gap match.Outage, ok bool) {
	now, p := s.o.Clock(), &s.probes
	p.mu.Lock()
	defer p.mu.Unlock()
	since := now.Sub(p.good)
	gone := s.o.Alone && since > patience // nobody else was there
	if p.broken(now) || since > 0 && p.failed || gone {
		p.missed(now)
		p.failed = false // once: what follows is this account's own time
	}
	for _, o := range p.known {
		p.gaps = match.Without(p.gaps, o)
	}
	if len(p.gaps) == 0 {
		return match.Outage{}, false
	}
	return p.gaps[0], true
}

// giveAll gives what is owed to all matches that have a clock; who is missed gets it before he is fired.
func (s *Service) giveAll(ctx context.Context) {
	for _, id := range s.open() {
		if err := s.Fire(ctx, id, time.Time{}); err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("a match gets an outage back later", "match", id, "error", err)
		}
	}
}
