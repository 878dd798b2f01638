package match

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"umpire/pkg/event"
)

// ErrUnknownEvent means that the log holds an event that this program does not know: a newer one wrote it.
var ErrUnknownEvent = errors.New("match: the log holds an event that this version of umpire does not know")

// ErrBroken means that an event does not fit the match that it stands in: a bug, or a log that was altered.
var ErrBroken = errors.New("match: an event does not fit its match")

// Replay makes a match of the first event of its stream, which must be match-created.
func Replay(games Catalog, f event.Fact) (*Match, error) {
	if strings.HasPrefix(f.Type, "match-created.") && f.Type != "match-created.v1" {
		return nil, fmt.Errorf("%w: %s", ErrUnknownEvent, f.Type)
	}
	if f.Type != "match-created.v1" || f.Revision != 0 {
		return nil, fmt.Errorf("%w: a stream begins with match-created, not with revision %d of %s", ErrBroken, f.Revision, f.Type)
	}
	m := &Match{revision: -1}
	if err := m.apply(games, f, nil); err != nil {
		return nil, err
	}
	return m, nil
}

// Apply folds the next event into the match. After an error the match is not to be used any more.
func (m *Match) Apply(f event.Fact) error { return m.apply(nil, f, nil) }

// ApplyDraft folds an event that was made from a draft of this process, which saves decoding it.
func (m *Match) ApplyDraft(f event.Fact, d *Draft) error { return m.apply(nil, f, d) }

func (m *Match) apply(games Catalog, f event.Fact, d *Draft) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%w: revision %d, %s: %s", ErrBroken, f.Revision, f.Type, describe(broken))
		}
	}()
	if int64(f.Revision) != m.revision+1 { //nolint:gosec // revisions are far from 2^63
		return fmt.Errorf("%w: revision %d follows %d", ErrBroken, f.Revision, m.revision)
	}
	game, kind, version, err := kindOf(f.Type)
	if err != nil {
		return err
	}
	if version != "v1" {
		return fmt.Errorf("%w: %s", ErrUnknownEvent, f.Type)
	}
	p := payloads{public: Payload{raw: f.Public}, faces: make([]Payload, len(f.Faces))}
	for i := range f.Faces {
		p.faces[i].raw = f.Faces[i].Data
	}
	if d != nil {
		p.public.value = d.public
		for i := range d.faces {
			p.faces[i].value = d.faces[i]
		}
	}
	switch {
	case game == "":
		err = m.applyOwn(games, kind, f, p)
	case m.game != nil && game == m.game.Name:
		m.evolve(kind, f.Revision, p)
	default:
		err = fmt.Errorf("%w: %s", ErrUnknownEvent, f.Type)
	}
	m.revision, m.at, m.hash = int64(f.Revision), f.At, f.Hash //nolint:gosec // as above
	return err
}

// describe tells what a panic was without values that could be sealed.
func describe(broken any) string {
	if err, ok := broken.(*payloadError); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", broken)
}

// payloads are an event's parts in clear.
type payloads struct {
	public Payload
	faces  []Payload
}

// evolve folds a fact of the game's.
func (m *Match) evolve(kind string, revision uint64, p payloads) {
	var subs []submission
	if m.phase != nil {
		subs = m.phase.subs
		m.phase.missed = nil // the resolver answers all of them in the commit that this fact stands in
	}
	m.game.evolve(m.state, fact{
		kind: kind, revision: revision, public: p.public, faces: p.faces, subs: subs, bank: m.bank,
	})
	for i := range p.faces {
		if m.game.opens(kind, i) {
			m.opens = append(m.opens, Ref{revision, i})
		}
	}
}

func (m *Match) bank(seat int) time.Duration { return m.banks[seat] }

// applyOwn folds an event of the machine's own.
func (m *Match) applyOwn(games Catalog, kind string, f event.Fact, p payloads) error {
	switch kind {
	case "match-created":
		return m.applyCreated(games, p)
	case "seat-claimed":
		claimed := Read[seatClaimed](p.public)
		seat, _ := m.Seat(claimed.Player)
		random, _ := hex.DecodeString(claimed.Random)
		m.claims[m.place(seat)] = claim{issue: claimed.Issue, claimed: true, random: random}
	case "seat-reissued":
		reissued := Read[seatReissued](p.public)
		seat, _ := m.Seat(reissued.Player)
		c := &m.claims[m.place(seat)]
		c.issue, c.claimed = reissued.Issue, false
	case "match-started":
		m.start()
	case "phase-opened":
		m.applyOpened(Read[phaseOpened](p.public), f.At)
	case "submission-accepted", "submission-replaced":
		return m.applySubmission(f, p)
	case "deadline-passed":
		m.applyDeadline(Read[deadlinePassed](p.public))
	case "match-paused":
		if m.status == Running { // umpire pauses a match that it can't read, and so can't tell whether it runs
			m.status, m.pausedAt = Paused, f.At
		}
	case "match-resumed":
		m.status = Running
		m.pauses = append(m.pauses, Outage{From: m.pausedAt, To: f.At})
		if m.phase == nil { // paused before the first phase was opened
			break
		}
		for i := range m.phase.clocks {
			m.phase.clocks[i].shift(f.At.Sub(m.pausedAt))
		}
	case "clock-extended":
		return m.applyExtended(Read[clockExtended](p.public))
	case "match-voided":
		m.status, m.phase = Void, nil
	case "match-ended":
		m.closePhase()
		m.status, m.result = Ended, Read[matchEnded](p.public).Result
	default:
		return fmt.Errorf("%w: %s", ErrUnknownEvent, f.Type)
	}
	return nil
}

func (m *Match) applyCreated(games Catalog, p payloads) error {
	created := Read[matchCreated](p.public)
	if m.game = games.Version(created.Game); m.game == nil {
		return fmt.Errorf("%w: rules %s", ErrUnknownEvent, created.Game)
	}
	m.id, m.title, m.seats = created.Match, created.Title, created.Players
	m.options = created.Options.options()
	m.seedHash, m.insecure = created.SeedHash, created.InsecureSeed
	seed, err := hex.DecodeString(Read[seedFace](p.faces[0]).Seed)
	if err != nil {
		return fmt.Errorf("%w: the seed is not hex", ErrBroken)
	}
	m.seed = seed
	m.status = Waiting
	m.claims = make([]claim, len(m.seats)+1)
	m.receipts = make([]Receipt, len(m.seats)+1)
	m.banks = slices.Repeat([]time.Duration{m.options.Clock.Reserve}, len(m.seats))
	setup := Payload{value: created.Setup}
	if p.public.raw != nil {
		v, err := event.Parse(p.public.raw)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		raw, _ := v.Get("setup")
		setup = Payload{raw: json.RawMessage(raw.Raw())}
	}
	m.state = m.game.begin(Start{Seats: m.seats, Clock: m.options.Clock, Setup: setup, Faces: p.faces[1:]})
	return nil
}

// start fixes the key of the draws.
func (m *Match) start() {
	random := make([][]byte, len(m.seats))
	for seat := range m.seats {
		random[seat] = m.claims[seat].random
	}
	m.draws = drawKey(m.seed, random)
	m.status = Running
}

// closePhase drops the open phase; of its submissions, those that are to open when the match has ended are noted.
func (m *Match) closePhase() {
	m.opens = append(m.opens, m.phaseOpens()...)
	m.phase = nil
}

// phaseOpens returns the open phase's submissions that open when the match has ended.
func (m *Match) phaseOpens() []Ref {
	if m.phase == nil || !m.game.opens("submission/"+m.phase.name, 0) {
		return nil
	}
	refs := make([]Ref, len(m.phase.subs))
	for i, s := range m.phase.subs {
		refs[i] = Ref{Revision: s.revision}
	}
	return refs
}

func (m *Match) applyOpened(o phaseOpened, at time.Time) {
	m.closePhase()
	m.phaseNo, m.pauses = o.Phase, nil
	p := &phase{no: o.Phase, opened: at, name: o.Name, kind: o.Kind}
	for _, id := range o.Awaiting {
		seat, _ := m.Seat(id)
		c := clock{}
		if shown := o.Clocks[id]; shown != nil {
			c.deadline = shown.Deadline.Time
			if shown.ReserveFrom != nil {
				c.from = shown.ReserveFrom.Time
				c.bank = c.deadline.Sub(c.from)
			}
		}
		p.seats = append(p.seats, seat)
		p.clocks = append(p.clocks, c)
	}
	m.phase = p
}

func (m *Match) applySubmission(f event.Fact, p payloads) error {
	s := Read[submitted](p.public)
	seat, _ := m.Seat(s.Player)
	made, ok := p.faces[0].value.(submission)
	if !ok {
		v, err := event.Parse(p.faces[0].raw)
		var move any
		if err == nil {
			move, err = m.game.decode(m.state, v)
		}
		if err != nil { // which could quote what is sealed
			return fmt.Errorf("%w: revision %d holds a submission that these rules can't read", ErrBroken, f.Revision)
		}
		made = submission{seat: seat, move: move, raw: p.faces[0].raw}
	}
	made.revision = f.Revision
	m.phase.subs = slices.DeleteFunc(m.phase.subs, func(s submission) bool { return s.seat == seat })
	at, _ := slices.BinarySearchFunc(m.phase.subs, seat, func(s submission, seat int) int { return s.seat - seat })
	m.phase.subs = slices.Insert(m.phase.subs, at, made)
	m.stopClock(seat, f.At)
	m.receipts[m.place(seat)] = Receipt{
		Phase: s.Phase, ID: f.ID.String(), Revision: f.Revision, Hash: f.Hash, Raw: made.raw,
	}
	return nil
}

func (m *Match) applyExtended(e clockExtended) error {
	by, err := time.ParseDuration(e.By)
	if err != nil {
		return fmt.Errorf("%w: an extension by no duration", ErrBroken)
	}
	for i, seat := range m.phase.seats {
		if m.seats.ID(seat) == e.Player {
			m.phase.clocks[i].shift(by)
		}
	}
	if e.Until != nil {
		m.phase.given = append(m.phase.given, m.took(by, *e.Until))
	}
	return nil
}

// options reads the options as match-created states them.
func (o optionsJSON) options() Options {
	out := Options{
		AtDeadline: o.Close == CloseAtDeadline, Start: o.Start, Listed: o.Listed, HostSees: o.HostSees, Open: o.Open,
	}
	out.Clock.Move, _ = time.ParseDuration(o.Clock.Move)
	out.Clock.Reserve, _ = time.ParseDuration(o.Clock.Reserve)
	if at, err := time.Parse(time.RFC3339Nano, o.Start); err == nil {
		out.StartAt = at.UTC()
	}
	return out
}

func (o Options) json() optionsJSON {
	out := optionsJSON{
		Close: CloseWhenAllIn, Start: o.Start, Listed: o.Listed, HostSees: o.HostSees, Open: o.Open,
	}
	out.Clock.Move, out.Clock.Reserve = o.Clock.Move.String(), o.Clock.Reserve.String()
	if o.AtDeadline {
		out.Close = CloseAtDeadline
	}
	return out
}
