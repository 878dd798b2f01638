package match

import (
	"time"
)

// reasonOutage is clock-extended's reason where umpire itself was not to be reached.
const reasonOutage = "outage"

// Outage is a span in which players could not be sure of reaching umpire.
type Outage struct{ From, To time.Time }

// Give states that the clocks which ran in an outage get back what it took of them: nobody is punished for our outage,
// and nobody gets more than its length. An outage is given once; one that took nothing gives nothing.
func (m *Match) Give(o Outage, t time.Time) []Draft {
	p := m.phase
	if p == nil || m.Over() || !o.To.After(m.given) {
		return nil
	}
	from, to := o.From, o.To
	for _, since := range []time.Time{p.opened, m.given} {
		if since.After(from) {
			from = since // the clocks did not run before, or were given that part already
		}
	}
	if m.status == Paused && m.pausedAt.Before(to) {
		to = m.pausedAt
	}
	span := to.Sub(from)
	for _, pause := range m.pauses { // which lie one behind the other
		span -= overlap(pause, Outage{from, to})
	}
	if span <= 0 {
		return nil
	}
	var drafts []Draft
	for i, c := range p.clocks {
		if c.runs() && !(p.turn() && p.submitted(p.seats[i])) {
			drafts = append(drafts, m.draft(t, "clock-extended", umpireRole, clockExtended{
				Player: m.seats.ID(p.seats[i]), By: span.String(), Why: "umpire could not be reached for a while",
				Reason: reasonOutage, Until: &o.To,
			}))
		}
	}
	return drafts
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
