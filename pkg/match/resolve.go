package match

import (
	"time"

	"umpire/pkg/event"
)

// Resolve states what the referee has to say at the clock's t: the first phase of a match that has started, the
// penalties of deadlines missed, the facts of a phase that is complete and the next phase or the end. It returns nil
// while there is nothing to say.
func (m *Match) Resolve(t time.Time) []Draft {
	if m.status != Running {
		return nil
	}
	if p := m.phase; p != nil && len(p.missed) == 0 && !p.complete(m.options.AtDeadline) {
		return nil
	}
	r := resolver{work: m.Clone(), at: m.now(t), from: m.revision}
	r.run()
	return r.drafts
}

// resolver works a resolution out on a copy of the match, which evolves with each fact stated.
type resolver struct {
	work   *Match
	at     time.Time
	from   int64
	drafts []Draft
}

func (r *resolver) run() {
	m := r.work
	if m.phase == nil {
		if m.game.open != nil && m.phaseNo == 0 {
			m.game.open(r.resolution())
		}
		r.next()
		return
	}
	over := false
	for _, late := range m.phase.missed {
		if !over {
			m.game.missed(r.resolution(), late.seats)
			over = m.game.await(m.state).Phase == ""
		}
	}
	m.phase.missed = nil
	switch {
	case over:
		r.next()
	case m.phase.complete(m.options.AtDeadline):
		m.game.resolve(r.resolution())
		r.next()
	}
}

func (r *resolver) resolution() resolution {
	m := r.work
	var subs []submission
	if m.phase != nil {
		subs = m.phase.subs
	}
	return resolution{
		state: m.state, seats: m.seats, subs: subs, draw: DrawFrom(m.draws), bank: m.bank, emit: r.emit,
	}
}

// emit states a fact of the game's and evolves the copy by it.
func (r *resolver) emit(kind string, public any, opens []Ref, faces []NewFace) {
	m := r.work
	d := m.draft(r.at, m.game.Name+"."+kind, resolverRole, public, faces...)
	d.Opens = opens
	r.drafts = append(r.drafts, d)
	m.revision++
	p := payloads{public: Payload{raw: d.Public, value: d.public}, faces: make([]Payload, len(d.Faces))}
	for i := range d.Faces {
		p.faces[i] = Payload{raw: d.Faces[i].Data, value: d.faces[i]}
	}
	m.evolve(kind, uint64(m.revision), p) //nolint:gosec // a revision is never negative here
}

// next opens the phase that the state waits for, or ends the match.
func (r *resolver) next() {
	m := r.work
	await := m.game.await(m.state)
	if await.Phase == "" {
		r.end()
		return
	}
	opened := phaseOpened{
		Phase: m.phaseNo + 1, Name: await.Phase, Awaiting: m.seats.IDs(await.Seats), Kind: await.Clock,
		Clocks: map[string]*ClockView{},
	}
	for i, seat := range await.Seats {
		if c := m.startClock(await.Clock, seat, r.at); c.runs() {
			opened.Clocks[opened.Awaiting[i]] = c.view()
		}
	}
	r.drafts = append(r.drafts, m.draft(r.at, "phase-opened", resolverRole, opened))
}

func (r *resolver) end() {
	m := r.work
	result := canonical(m.game.result(m.state))
	d := m.draft(r.at, "match-ended", resolverRole, matchEnded{Result: result})
	d.Opens = []Ref{{Revision: 0, Face: 0}} // the seed, always
	if m.options.Open == OpenAtEnd {
		d.Opens = append(d.Opens, m.opens...)
		d.Opens = append(d.Opens, m.phaseOpens()...)
	}
	r.drafts = append(r.drafts, d)
}

// PauseBroken pauses a match whose rules have failed, in public and without detail, so that its host can act and no
// other match is touched.
func (m *Match) PauseBroken(t time.Time) ([]Draft, error) { return m.Pause(event.Umpire, ownFault, t) }

const ownFault = "umpire met a fault of its own in this match and has stopped it; no time is charged"

// UnreadPause pauses a match that can't be folded, whatever it is doing: where it does not run, nothing follows from it.
func UnreadPause(t time.Time) Draft {
	public := controlled{ownFault}
	return Draft{Type: "match-paused.v1", At: t.UTC(), By: event.Umpire, Public: canonical(public), public: public}
}
