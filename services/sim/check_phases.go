package sim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// said is what the machine's own events say in public; each uses some of it.
type said struct {
	Player   string          `json:"player"`
	Phase    int             `json:"phase"`
	Name     string          `json:"name"`
	Awaiting []string        `json:"awaiting"`
	Kind     string          `json:"clock"`
	Clocks   map[string]show `json:"clocks"`
	Deadline time.Time       `json:"deadline"`
	Players  []string        `json:"players"`
	By       string          `json:"by"`
	Reason   string          `json:"reason"`
	Until    time.Time       `json:"until"`
}

// show is a clock as phase-opened shows it.
type show struct {
	Deadline    time.Time `json:"deadline"`
	ReserveFrom time.Time `json:"reserveFrom"`
}

func (c *checker) said(h *history, f *fact) *said {
	var s said
	if err := json.Unmarshal(f.Public, &s); err != nil {
		c.fail(checkChain, "%s, revision %d can't be read: %v", h.id, f.revision, err)
	}
	return &s
}

// The kinds of clock, as phase-opened names them.
const (
	once    = "once"
	repeat  = "repeat"
	reserve = "reserve"
)

// play recomputes phases and clocks of a match from its raw events alone: a twin of the machine that knows no rules.
type play struct {
	*checker
	h       *history
	no      int
	phase   *open
	banks   map[string]time.Duration
	paused  time.Time // since when; zero: it is not
	pauses  []Span
	given   map[string][]Span // what outages gave, by player
	started bool
	over    bool
	missed  int       // deadlines of repeating clocks that nobody has answered yet
	struck  int       // the commit that answered the last one
	touched time.Time // when something last changed what is due
}

// open is the open phase.
type open struct {
	said
	opened   time.Time
	in       map[string]bool
	clocks   map[string]*running
	complete time.Time // since when; zero: it is not
}

// running is a clock.
type running struct {
	deadline time.Time
	owed     time.Duration // the time that the player must have had by then since the phase opened
	bank     time.Duration
	out      bool
}

func (c *checker) play(h *history) {
	p := &play{checker: c, h: h, banks: map[string]time.Duration{}, given: map[string][]Span{}}
	for _, player := range h.said.Players {
		p.banks[player.ID] = h.bank
	}
	for i := range h.facts {
		p.take(&h.facts[i])
	}
}

func (p *play) take(f *fact) {
	kind, own := strings.CutSuffix(f.Type, ".v1")
	if own = own && !strings.Contains(kind, "."); !own {
		p.resolving(f, false)
		return
	}
	p.must(!p.over || kind == "seat-claimed", checkEnds, "%s, revision %d: %s after the end", p.h.id, f.revision, kind)
	if kind == "match-created" {
		return
	}
	s := p.said(p.h, f)
	switch kind {
	case "match-started":
		p.started = true
	case "phase-opened":
		p.resolving(f, true)
		p.open(f, s)
		p.touched = f.At
	case "submission-accepted", "submission-replaced":
		p.submitted(f, s)
	case "deadline-passed":
		p.deadline(f, s)
	case "clock-extended":
		p.extended(f, s)
		p.touched = f.At
	case "match-paused":
		p.must(p.paused.IsZero(), checkPhases, "%s, revision %d: paused twice", p.h.id, f.revision)
		p.paused = f.At
	case "match-resumed":
		p.resumed(f)
		p.touched = f.At
	case "match-voided":
		p.over = true
	case "match-ended":
		p.resolving(f, true)
		p.over = true
	}
}

// resolving checks that what the resolver says is due, and its alone to say.
func (p *play) resolving(f *fact, last bool) {
	p.must(f.By == "resolver", checkResolved, "%s, revision %d: %s by %s", p.h.id, f.revision, f.Type, f.By)
	p.must(p.paused.IsZero() && p.started && !p.over, checkResolved, "%s, revision %d: resolved while the match does not run", p.h.id, f.revision)
	if p.phase == nil {
		return
	}
	due := !p.phase.complete.IsZero() || p.missed > 0 && !last || p.struck == f.commit && f.Type == "match-ended.v1"
	p.must(due, checkResolved, "%s, revision %d: %s before phase %d was complete", p.h.id, f.revision, f.Type, p.no)
	if !last {
		if strings.HasSuffix(f.Type, ".strike-given.v1") && strings.Contains(string(f.Public), `"reason":"time"`) {
			p.missed, p.struck = p.missed-1, f.commit
			p.must(p.missed >= 0, checkResolved, "%s, revision %d: a strike for no deadline", p.h.id, f.revision)
		}
		return
	}
	if !p.phase.complete.IsZero() {
		p.prompt(f, later(p.phase.complete, p.touched), "resolved")
	}
}

// The bounds of a delay that nothing excuses. While faults go on messages wait for their turn among them.
const (
	promptUnderFaults = 3 * time.Minute
	promptInCalm      = 2500 * time.Millisecond
)

// prompt checks that what was due at an instant was not late without a reason.
func (p *play) prompt(f *fact, due time.Time, what string) {
	bound := promptUnderFaults
	if due.After(p.r.Calm) {
		bound = promptInCalm
	}
	span := Span{due, f.At}
	late := f.At.Sub(due) - measure(span, p.r.Excused, p.r.Outages, p.r.Blind, p.pauses)
	p.must(late <= bound, checkPrompt, "%s, revision %d: %s %s late without a reason", p.h.id, f.revision, what, late)
}

func (p *play) open(f *fact, s *said) {
	p.must(s.Phase == p.no+1, checkPhases, "%s, revision %d: phase %d follows %d", p.h.id, f.revision, s.Phase, p.no)
	p.no, p.missed = s.Phase, 0
	p.phase = &open{said: *s, opened: f.At, in: map[string]bool{}, clocks: map[string]*running{}}
	for id, shown := range s.Clocks { // order-free: each by itself
		r := &running{deadline: shown.Deadline, owed: p.h.move}
		want := f.At.Add(p.h.move)
		if s.Kind == reserve {
			r.bank = p.banks[id]
			r.owed += r.bank
			p.must(shown.ReserveFrom.Equal(want), checkStarts, "%s, revision %d: the bank of %s runs from %s, not %s",
				p.h.id, f.revision, id, shown.ReserveFrom, want)
			want = want.Add(r.bank)
		}
		p.must(shown.Deadline.Equal(want), checkStarts, "%s, revision %d: the deadline of %s is %s, not %s",
			p.h.id, f.revision, id, shown.Deadline, want)
		p.phase.clocks[id] = r
	}
	p.must(len(s.Clocks) == len(s.Awaiting) || s.Kind == "none", checkStarts, "%s, revision %d: who is awaited has a clock", p.h.id, f.revision)
	p.settle(f.At)
}

func (o *open) turn() bool { return len(o.Awaiting) == 1 }

// awaits reports whether somebody can still be waited for.
func (o *open) awaits(id string) bool {
	r := o.clocks[id]
	return slices.Contains(o.Awaiting, id) && !o.in[id] && (r == nil || !r.out)
}

// settle notes when the phase has become complete.
func (p *play) settle(at time.Time) {
	o := p.phase
	if !o.complete.IsZero() || slices.ContainsFunc(o.Awaiting, o.awaits) {
		return
	}
	if p.h.said.Options.Close == "at-deadline" && !o.turn() && o.Kind != repeat {
		for _, r := range o.clocks { // order-free: any
			if !r.out {
				return
			}
		}
	}
	o.complete = at
}

func (p *play) submitted(f *fact, s *said) {
	o := p.phase
	ok := o != nil && s.Phase == p.no && p.paused.IsZero() && slices.Contains(o.Awaiting, s.Player)
	if ok {
		r := o.clocks[s.Player]
		ok = (r == nil || !r.out) && !(o.in[s.Player] && o.turn()) && o.in[s.Player] == (f.Type == "submission-replaced.v1")
	}
	p.must(ok, checkPhases, "%s, revision %d: %s by %s stands and may not", p.h.id, f.revision, f.Type, s.Player)
	if !ok {
		return
	}
	o.in[s.Player] = true
	if r := o.clocks[s.Player]; o.Kind == reserve {
		p.banks[s.Player] = max(0, min(r.bank, r.deadline.Sub(f.At)))
	}
	p.settle(f.At)
}
