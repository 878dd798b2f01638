package match

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"umpire/pkg/event"
)

// Create states a new match at the clock's t, by its operator: the match begins when its option says so. seed has 32
// bytes; insecure says in public that it was given from outside. It returns warnings for whoever creates the match.
// Errors are *SetupError.
func Create(id string, setup *Setup, seed []byte, insecure bool, t time.Time) (drafts []Draft, warnings []string, err error) {
	prepared, err := setup.Game.prepare(setup)
	if err != nil {
		return nil, nil, err
	}
	if prepared.Public == nil {
		prepared.Public = struct{}{}
	}
	hash := sha256.Sum256(seed)
	m := &Match{}
	faces := append([]NewFace{{To: []string{}, Data: seedFace{hex.EncodeToString(seed)}}}, prepared.Faces...)
	drafts = append(drafts, m.draft(t, "match-created", event.Operator, matchCreated{
		Match: id, Game: setup.Game.ID(), Title: setup.Title, Players: setup.Seats, Options: setup.Options.json(),
		Setup: prepared.Public, SeedHash: hex.EncodeToString(hash[:]), InsecureSeed: insecure,
	}, faces...))
	if o := setup.Options; o.Start == StartNow || !o.StartAt.IsZero() && !o.StartAt.After(t) {
		drafts = append(drafts, m.draft(t, "match-started", umpireRole, struct{}{}))
	}
	return drafts, prepared.Warnings, nil
}

// Claim states that a seat's link of the given issue was opened, with up to RandomSize bytes of the player's own for
// the draws, and the match's start when that was the last seat that it waited for. Refusals: claimed, match-over.
func (m *Match) Claim(seat, issue int, random []byte, t time.Time) ([]Draft, error) {
	c := m.claims[m.place(seat)]
	if c.claimed || c.issue != issue {
		return nil, refuse(Claimed, "this link has been used, or was replaced by a newer one; ask the host for a new one")
	}
	if m.Over() {
		return nil, refuse(MatchOver, "the match is over")
	}
	by := event.Player
	if seat == HostSeat {
		by = event.Host
	}
	drafts := []Draft{m.draft(t, "seat-claimed", by, seatClaimed{
		Player: m.seats.ID(seat), Issue: issue, Random: hex.EncodeToString(random),
	})}
	if m.status == Waiting && m.options.Start == StartWhenClaimed && m.lastToCome(seat) {
		drafts = append(drafts, m.draft(t, "match-started", umpireRole, struct{}{}))
	}
	return drafts, nil
}

// lastToCome reports whether every player's seat but this one has been claimed. The host's is not waited for.
func (m *Match) lastToCome(seat int) bool {
	if seat == HostSeat {
		return false
	}
	for other := range m.seats {
		if other != seat && !m.claims[other].claimed {
			return false
		}
	}
	return true
}

// Submit states a seat's submission to the open phase, which phaseNo may name (0: whichever is open). The id is a
// player's or "host". v may have been read loosely. The refusals and their order are the rulebook's.
func (m *Match) Submit(id string, phaseNo int64, named bool, v event.Value, t time.Time) ([]Draft, error) {
	seat, ok := m.Seat(id)
	if !ok {
		return nil, refuse(UnknownPlayer, "there is no player of that id in this match")
	}
	if err := m.admits(seat, phaseNo, named); err != nil {
		return nil, err
	}
	move, raw, err := m.decode(v)
	if err != nil {
		return nil, err
	}
	view := m.View(id)
	if err := m.game.check(view, move); err != nil {
		return nil, err
	}
	kind, by := "submission-accepted", event.Player
	if m.phase.submitted(seat) {
		kind = "submission-replaced"
	}
	if seat == HostSeat {
		by = event.Host
	}
	made := submission{seat: seat, move: move, raw: raw}
	d := m.draft(t, kind, by, submitted{Phase: m.phase.no, Player: id})
	d.Faces = []DraftFace{{To: []string{id}, Data: raw}}
	d.faces = []any{made}
	return []Draft{d}, nil
}

// admits refuses a submission for what the match is, before it looks at the submission.
func (m *Match) admits(seat int, phaseNo int64, named bool) error {
	switch {
	case m.Over():
		return refuse(MatchOver, "the match is over")
	case m.status == Paused:
		return refuse(MatchPaused, "the match is paused")
	case named && phaseNo != int64(m.PhaseNo()):
		return refuse(PhaseClosed, "that phase is not open; the one that is has number %d", m.PhaseNo())
	case m.phase == nil:
		return refuse(NotAwaited, "no phase is open yet")
	}
	i := slices.Index(m.phase.seats, seat)
	switch {
	case i < 0:
		return refuse(NotAwaited, "this phase does not await you")
	case m.phase.clocks[i].out:
		return refuse(NotAwaited, "your time in this phase is over")
	case m.phase.turn() && m.phase.submitted(seat):
		return refuse(AlreadySubmitted, "you have submitted already, and in a turn the first submission stands")
	}
	return nil
}

func (m *Match) decode(v event.Value) (move any, raw []byte, err error) {
	if v.Kind != event.Object {
		return nil, nil, Malformed("a submission is a JSON object")
	}
	if err := v.Fault(); err != nil {
		return nil, nil, Malformed("a submission has no duplicate name and no lone surrogate")
	}
	if move, err = m.game.decode(m.state, v); err != nil {
		return nil, nil, err
	}
	raw, err = v.AppendCanonical(nil)
	if err != nil { // a number beyond 2^53 where the rules have judged it well
		return nil, nil, Illegal("a number is too large")
	}
	return move, raw, nil
}

// SameSubmission reports whether v is, as a value, what the receipt's submission was.
func (r Receipt) SameSubmission(v event.Value) bool { return SameValue(r.Raw, v) }

// SameValue reports whether v has the canonical form raw.
func SameValue(raw []byte, v event.Value) bool {
	if v.Fault() != nil {
		return false
	}
	given, err := v.AppendCanonical(nil)
	return err == nil && bytes.Equal(given, raw)
}
