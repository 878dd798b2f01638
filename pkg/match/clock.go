package match

import (
	"slices"
	"time"
)

// clock is one seat's time in a phase.
type clock struct {
	deadline time.Time     // when it has run out, the bank included; zero: no clock
	from     time.Time     // Reserve: when the move time is over and the bank begins to run
	bank     time.Duration // Reserve: what the bank held when the phase opened
	out      bool          // it has run out and the log says so
}

// runs reports whether the clock still has time to run.
func (c clock) runs() bool { return !c.deadline.IsZero() && !c.out }

// left returns what a Reserve clock that stopped at t leaves of the bank.
func (c clock) left(t time.Time) time.Duration {
	return max(0, min(c.bank, c.deadline.Sub(t)))
}

// shift moves a running clock by a span in which it stood still.
func (c *clock) shift(span time.Duration) {
	if !c.runs() {
		return
	}
	c.deadline = c.deadline.Add(span)
	if !c.from.IsZero() {
		c.from = c.from.Add(span)
	}
}

// startClock returns a seat's clock in a phase that opens at t.
func (m *Match) startClock(kind ClockKind, seat int, t time.Time) clock {
	switch kind {
	case Once, Repeat:
		return clock{deadline: t.Add(m.options.Clock.Move)}
	case Reserve:
		from, bank := t.Add(m.options.Clock.Move), m.banks[seat]
		return clock{deadline: from.Add(bank), from: from, bank: bank}
	default:
		return clock{}
	}
}

// Deadline returns the next instant at which time alone changes the match: its start, or the earliest deadline of a
// clock that runs. ok is false while there is none: a paused match has no time, and one that only waits for the
// resolver has none either.
func (m *Match) Deadline() (at time.Time, ok bool) {
	if m.status == Waiting {
		return m.options.StartAt, !m.options.StartAt.IsZero()
	}
	p := m.phase
	if m.status != Running || p == nil || p.complete(m.options.AtDeadline) {
		return time.Time{}, false
	}
	for i, c := range p.clocks {
		if c.runs() && !(p.turn() && p.submitted(p.seats[i])) && (!ok || c.deadline.Before(at)) {
			at, ok = c.deadline, true
		}
	}
	return at, ok
}

// Expire states what the time t brings: the match's start, or that a deadline has passed, for all clocks of the phase
// that were due at that instant. It returns nil while nothing is due; the next instant needs a call of its own.
func (m *Match) Expire(t time.Time) []Draft {
	due, ok := m.Deadline()
	if !ok || due.After(t) {
		return nil
	}
	if m.status == Waiting {
		return []Draft{m.draft(t, "match-started", umpireRole, struct{}{})}
	}
	late := []int{}
	for i, c := range m.phase.clocks {
		if c.runs() && c.deadline.Equal(due) && m.phase.awaits(m.phase.seats[i]) {
			late = append(late, m.phase.seats[i])
		}
	}
	return []Draft{m.draft(t, "deadline-passed", timerRole, deadlinePassed{
		Phase: m.phase.no, Deadline: due, Players: m.seats.IDs(late),
	})}
}

// applyDeadline folds a deadline that passed: Repeat clocks start anew from it, others have run out.
func (m *Match) applyDeadline(d deadlinePassed) {
	p := m.phase
	late := missed{}
	for i := range p.clocks {
		c := &p.clocks[i]
		if !c.runs() || !c.deadline.Equal(d.Deadline) {
			continue
		}
		awaited := p.awaits(p.seats[i])
		if awaited {
			late.seats = append(late.seats, p.seats[i])
		}
		switch p.kind {
		case Repeat:
			c.deadline = c.deadline.Add(m.options.Clock.Move)
		case Reserve:
			if awaited { // whoever has submitted keeps what he had left then
				m.banks[p.seats[i]] = 0
			}
			c.out = true
		default:
			c.out = true
		}
	}
	if p.kind == Repeat && len(late.seats) > 0 {
		p.missed = append(p.missed, late)
	}
}

// stopClock settles a seat's bank when its submission stands at t.
func (m *Match) stopClock(seat int, t time.Time) {
	p := m.phase
	if i := slices.Index(p.seats, seat); p.kind == Reserve && i >= 0 {
		m.banks[seat] = p.clocks[i].left(t)
	}
}
