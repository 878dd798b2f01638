package match

import (
	"slices"
	"time"
)

// reasonOutage is clock-extended's reason where umpire itself was not to be reached.
const reasonOutage = "outage"

// Outage is a span in which players could not be sure of reaching umpire.
type Outage struct{ From, To time.Time }

// Without returns what is left of spans, in their order, where an outage is cut out.
func Without(spans []Outage, o Outage) []Outage {
	var left []Outage
	for _, s := range spans {
		if !o.To.After(s.From) || !s.To.After(o.From) {
			left = append(left, s)
			continue
		}
		if s.From.Before(o.From) {
			left = append(left, Outage{s.From, o.From})
		}
		if o.To.Before(s.To) {
			left = append(left, Outage{o.To, s.To})
		}
	}
	return left
}

// Give states that the clocks which ran in an outage get back what it took of them: nobody is punished for our outage,
// and nobody gets more than its length. An outage is given once, whatever part of it was told of first; one that took
// nothing gives nothing.
func (m *Match) Give(o Outage, t time.Time) []Draft {
	p := m.phase
	if p == nil || m.Over() {
		return nil
	}
	if o.From.Before(p.opened) {
		o.From = p.opened // the clocks did not run before
	}
	o.To = m.unpaused(o.To)
	if !o.To.After(o.From) {
		return nil
	}
	parts := []Outage{o}
	for _, given := range p.given {
		parts = Without(parts, given)
	}
	var drafts []Draft
	for _, part := range parts {
		span := part.To.Sub(part.From)
		for _, pause := range m.pauses { // which lie one behind the other
			span -= overlap(pause, part)
		}
		if span > 0 {
			drafts = append(drafts, m.extendAll(span, part.To, t)...)
		}
	}
	return drafts
}

// unpaused returns an instant, or when the match was paused before it and has not been resumed.
func (m *Match) unpaused(t time.Time) time.Time {
	if m.status == Paused && m.pausedAt.Before(t) {
		return m.pausedAt
	}
	return t
}

// extendAll gives each clock that runs what an outage up to an instant took of it.
func (m *Match) extendAll(by time.Duration, until, t time.Time) (drafts []Draft) {
	p := m.phase
	for i, c := range p.clocks {
		if c.runs() && !(p.turn() && p.submitted(p.seats[i])) {
			drafts = append(drafts, m.draft(t, "clock-extended", umpireRole, clockExtended{
				Player: m.seats.ID(p.seats[i]), By: by.String(), Why: "umpire could not be reached for a while",
				Reason: reasonOutage, Until: &until,
			}))
		}
	}
	return drafts
}

// took returns the outage up to an instant that took so much of clocks; while the match was paused it took nothing.
func (m *Match) took(by time.Duration, until time.Time) Outage {
	until = m.unpaused(until)
	from := until.Add(-by)
	for _, pause := range slices.Backward(m.pauses) {
		if pause.To.After(from) {
			from = from.Add(-overlap(pause, Outage{pause.From, until}))
		}
	}
	return Outage{from, until}
}

// overlap is how much two spans have in common.
func overlap(a, b Outage) time.Duration {
	from, to := a.From, a.To
	if b.From.After(from) {
		from = b.From
	}
	if b.To.Before(to) {
		to = b.To
	}
	return max(0, to.Sub(from))
}
