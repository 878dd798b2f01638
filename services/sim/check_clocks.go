package sim

import (
	"cmp"
	"slices"
	"time"
)

// What umpire cannot know. It probes once a second; in its log it keeps a probe for every tenth of the time to the next
// deadline, two seconds at least and a minute at most, and takes it for an outage where none stands there three seconds
// after it should. So an outage that nobody watched may stay unknown up to that length, and one that was watched is known
// but for what the steps of this simulation lie apart.
const (
	stepSlack   = 3 * time.Second
	probeOften  = 2 * time.Second
	probeRarely = time.Minute
	unwatched   = 3 * time.Second
)

// measure returns how much of a span the lists cover together.
func measure(in Span, lists ...[]Span) time.Duration {
	var parts []Span
	for _, list := range lists {
		for _, s := range list {
			if from, to := later(s.From, in.From), earlier(s.To, in.To); to.After(from) {
				parts = append(parts, Span{from, to})
			}
		}
	}
	slices.SortFunc(parts, func(a, b Span) int { return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To)) })
	var total time.Duration
	end := in.From
	for _, s := range parts {
		if from := later(s.From, end); s.To.After(from) {
			total += s.To.Sub(from)
			end = s.To
		}
	}
	return total
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// due is the next deadline of the open phase.
func (p *play) due() (at time.Time, ok bool) {
	for id, r := range p.phase.clocks { // order-free: a minimum
		if !r.out && !(p.phase.turn() && p.phase.in[id]) && (!ok || r.deadline.Before(at)) {
			at, ok = r.deadline, true
		}
	}
	return at, ok
}

func (p *play) deadline(f *fact, s *said) {
	o := p.phase
	if o == nil || s.Phase != p.no || !p.paused.IsZero() || !o.complete.IsZero() {
		p.fail(checkDeadlines, "%s, revision %d: a deadline passes where no clock runs", p.h.id, f.revision)
		return
	}
	due, ok := p.due()
	var late []string
	for _, id := range o.Awaiting {
		if r := o.clocks[id]; r != nil && !r.out && r.deadline.Equal(s.Deadline) && o.awaits(id) {
			late = append(late, id)
		}
	}
	p.must(ok && due.Equal(s.Deadline) && !f.At.Before(due) && slices.Equal(late, s.Players), checkDeadlines,
		"%s, revision %d: %v are late at %s; recomputed, %v at %s", p.h.id, f.revision, s.Players, s.Deadline, late, due)
	p.prompt(f, later(s.Deadline, p.touched), "a deadline passed")
	p.touched = f.At
	span := Span{s.Deadline, f.At}
	p.must(!p.within(f.At, p.r.Outages) || measure(span, p.r.Outages) < f.At.Sub(s.Deadline), checkReachable,
		"%s, revision %d: flagged while players could not reach umpire", p.h.id, f.revision)
	for id, r := range o.clocks { // order-free: each by itself
		if r.out || !r.deadline.Equal(s.Deadline) {
			continue
		}
		if o.awaits(id) {
			p.flagged(f, id, r)
			switch o.Kind {
			case repeat:
				p.missed++
			case reserve:
				p.banks[id] = 0
			}
		}
		if o.Kind == repeat {
			r.deadline, r.owed = r.deadline.Add(p.h.move), r.owed+p.h.move
		} else {
			r.out = true
		}
	}
	p.settle(f.At)
}

// within reports whether an instant lies in one of the spans.
func (c *checker) within(at time.Time, spans []Span) bool {
	return slices.ContainsFunc(spans, func(s Span) bool { return !at.Before(s.From) && at.Before(s.To) })
}

// unknown is how much of an outage may stay unknown to umpire. Where it is one process, that accounts for the time before
// each of its lives.
func (p *play) unknown(from, deadline time.Time) time.Duration {
	if p.r.Together {
		return unwatched + stepSlack
	}
	often := min(max(deadline.Sub(from)/10, probeOften), probeRarely)
	return max(often, p.promise(from)) + unwatched + stepSlack
}

// flagged checks that a player has had his time: no pause and no outage was charged to him.
func (p *play) flagged(f *fact, id string, r *running) {
	span := Span{p.phase.opened, r.deadline}
	had := r.deadline.Sub(span.From) - measure(span, p.r.Outages, p.pauses)
	var slack time.Duration
	for _, o := range p.r.Outages {
		if lost := measure(span, []Span{o}); lost > 0 {
			slack += min(lost, p.unknown(o.From, r.deadline))
		}
	}
	p.must(had >= r.owed-slack, checkFlagged, "%s, revision %d: %s had %s of %s, of which umpire could not know about %s",
		p.h.id, f.revision, id, had, r.owed, slack)
}

func (p *play) resumed(f *fact) {
	if p.paused.IsZero() {
		p.fail(checkPhases, "%s, revision %d: resumed without a pause", p.h.id, f.revision)
		return
	}
	p.pauses = append(p.pauses, Span{p.paused, f.At})
	if p.phase != nil {
		for _, r := range p.phase.clocks { // order-free: each by itself
			if !r.out {
				r.deadline = r.deadline.Add(f.At.Sub(p.paused))
			}
		}
	}
	p.paused = time.Time{}
}

func (p *play) extended(f *fact, s *said) {
	by, err := time.ParseDuration(s.By)
	var r *running
	if p.phase != nil {
		r = p.phase.clocks[s.Player]
	}
	if err != nil || r == nil || r.out {
		p.fail(checkStarts, "%s, revision %d: an extension of no clock", p.h.id, f.revision)
		return
	}
	r.deadline = r.deadline.Add(by)
	if s.Reason != "outage" {
		r.owed += by
		return
	}
	p.gift(f, s, by)
}

// gift checks what an outage gives a clock: a span in which the clock ran, which was given by no other event, and in
// which players could not reach umpire, but for what lies between the last proof in the log and the outage.
func (p *play) gift(f *fact, s *said, by time.Duration) {
	end := s.Until
	if !p.paused.IsZero() {
		end = earlier(end, p.paused)
	}
	span := p.ran(by, end)
	p.must(by > 0 && !s.Until.After(f.At) && !span.From.Before(p.phase.opened), checkGiven,
		"%s, revision %d: %s is given %s until %s, in which the clock did not run", p.h.id, f.revision, s.Player, by, s.Until)
	p.must(measure(span, p.given[s.Player]) == 0, checkGiven, "%s, revision %d: %s is given a time twice", p.h.id, f.revision, s.Player)
	p.given[s.Player] = append(p.given[s.Player], span)
	more := span.To.Sub(span.From) - measure(span, p.r.Outages, p.r.Blind, p.pauses)
	slack := stepSlack
	if slices.ContainsFunc(p.r.Crashes, func(at time.Time) bool { return !at.Before(span.From) && !at.After(span.To) }) {
		slack += p.promise(span.From) // so long before it the last proof in the log may lie
	}
	for _, trouble := range append(slices.Clone(p.r.Outages), p.r.Blind...) {
		if measure(span, []Span{trouble}) > 0 {
			slack = max(slack, trouble.From.Sub(p.proof(trouble.From))+stepSlack)
		}
	}
	p.must(more <= slack, checkGiven, "%s, revision %d: %s is given %s until %s, %s more than there was, at most %s is well",
		p.h.id, f.revision, s.Player, by, s.Until, more, slack)
}

// ran returns the span up to an instant in which clocks ran for so long, pauses left out.
func (p *play) ran(long time.Duration, end time.Time) Span {
	from := end.Add(-long)
	for _, pause := range slices.Backward(p.pauses) {
		if pause.From.Before(end) && pause.To.After(from) {
			from = from.Add(-earlier(pause.To, end).Sub(pause.From))
		}
	}
	return Span{from, end}
}
