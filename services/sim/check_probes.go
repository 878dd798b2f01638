package sim

import (
	"encoding/json"
	"slices"
	"time"
)

const probesStream = "umpire-probes"

// proof returns the last instant before another at which the log knew umpire to be reachable.
func (c *checker) proof(before time.Time) time.Time {
	last := epoch
	for i := range c.r.Commits {
		if c.r.Commits[i].Stream != probesStream {
			continue
		}
		for _, e := range c.r.Commits[i].Events {
			if at := provenAt(e.Public, e.At); !at.After(before) {
				last = later(last, at)
			}
		}
	}
	return last
}

// promise returns how soon the next probe was promised by the last one before an instant: what is open only since then
// could not be known when it was promised.
func (c *checker) promise(before time.Time) time.Duration {
	within := probeRarely
	for i := range c.r.Commits {
		if c.r.Commits[i].Stream != probesStream {
			continue
		}
		for _, e := range c.r.Commits[i].Events {
			var p struct{ Within string }
			if json.Unmarshal(e.Public, &p) != nil || p.Within == "" || e.At.After(before) {
				continue
			}
			within, _ = time.ParseDuration(p.Within)
		}
	}
	return within
}

// provenAt is the instant of which an event of the probes' stream says that umpire was reachable then.
func provenAt(public json.RawMessage, at time.Time) time.Time {
	var o struct{ From, To time.Time }
	if err := json.Unmarshal(public, &o); err == nil && !o.To.IsZero() {
		return o.To
	}
	return at
}

// probes checks the account of umpire's own health: outages lie in order and before they were noted, and while timers
// look and players can reach umpire a probe goes to the log at least as often as promised.
func (c *checker) probes() {
	last := epoch
	for i := range c.r.Commits {
		commit := &c.r.Commits[i]
		if commit.Stream != probesStream {
			continue
		}
		for _, e := range commit.Events {
			at := provenAt(e.Public, e.At)
			c.must(!at.After(e.At), checkProbes, "%s, revision %d tells of the future", probesStream, commit.First)
			span := Span{last, at}
			gap := at.Sub(last) - measure(span, c.r.Outages, c.r.Blind)
			c.must(gap <= probeRarely+stepSlack || !c.timed(span), checkProbes,
				"%s, revision %d: %s without a probe", probesStream, commit.First, gap)
			last = later(last, at)
		}
	}
}

// timed reports whether players' submissions do not prove within a span what a probe would have.
func (c *checker) timed(span Span) bool {
	for i := range c.r.Commits {
		for _, e := range c.r.Commits[i].Events {
			if e.By == "player" && e.At.After(span.From) && e.At.Before(span.To) {
				return false
			}
		}
	}
	return true
}

// together is how far apart two outages in the log may be and look like one.
const together = 100 * time.Millisecond

// toldAtMost is how many pieces an outage may be told of in: timers race, and what one adds to another's is a piece more.
const toldAtMost = 3

// told checks that umpire tells of one outage once, or almost: that outages which follow at once upon one another are few
// for the trouble there was meanwhile.
func (c *checker) told() {
	run, begun, last := 0, epoch, epoch
	for i := range c.r.Commits {
		if c.r.Commits[i].Stream != probesStream {
			continue
		}
		for _, e := range c.r.Commits[i].Events {
			var o struct{ From, To time.Time }
			if e.Type != "outage-ended.v1" || json.Unmarshal(e.Public, &o) != nil {
				continue
			}
			if o.From.Sub(last) > together {
				run, begun = 0, o.From
			}
			run++
			last = o.To
			c.must(run <= toldAtMost*(1+c.troubles(Span{begun, o.To})), checkTold,
				"%s: %d outages one after the other from %s to %s", probesStream, run, begun, o.To)
		}
	}
}

// troubles counts what may have parted outages within a span: such as there truly were, crashes, and accounts that the log did not take.
func (c *checker) troubles(in Span) int {
	n := 0
	for _, s := range append(slices.Clone(c.r.Outages), c.r.Blind...) {
		if measure(in, []Span{s}) > 0 {
			n++
		}
	}
	for _, at := range append(slices.Clone(c.r.Crashes), c.r.Refused...) {
		if !at.Before(in.From) && !at.After(in.To) {
			n++
		}
	}
	return n
}
