package match

import (
	"time"

	"umpire/pkg/event"
)

// The controls of a match's host, of its operator and of umpire itself. why is public, 0 to 500 code points.

// Pause stops the match and all its clocks. Refusals: match-over, match-paused, conflict before the start.
func (m *Match) Pause(by event.Role, why string, t time.Time) ([]Draft, error) {
	switch {
	case m.Over():
		return nil, refuse(MatchOver, "the match is over")
	case m.status == Paused:
		return nil, refuse(MatchPaused, "the match is paused already")
	case m.status == Waiting:
		return nil, refuse(ConflictState, "the match has not begun")
	}
	return m.control(t, "match-paused", by, why, controlled{why})
}

// Resume lets a paused match go on: each clock has exactly the time that it had left. Refusals: match-over, conflict.
func (m *Match) Resume(by event.Role, why string, t time.Time) ([]Draft, error) {
	switch {
	case m.Over():
		return nil, refuse(MatchOver, "the match is over")
	case m.status != Paused:
		return nil, refuse(ConflictState, "the match is not paused")
	}
	return m.control(t, "match-resumed", by, why, controlled{why})
}

// Extend adds to one player's clock, while paused too. Refusals, in this order: unknown-player, match-over,
// not-awaited, malformed.
func (m *Match) Extend(by event.Role, id string, span time.Duration, why string, t time.Time) ([]Draft, error) {
	seat, ok := m.seats.Find(id)
	switch {
	case !ok:
		return nil, refuse(UnknownPlayer, "there is no player of that id in this match")
	case m.Over():
		return nil, refuse(MatchOver, "the match is over")
	case !m.extendable(seat):
		return nil, refuse(NotAwaited, "no clock of that player is running")
	case span <= 0:
		return nil, refuse(MalformedMove, "a clock is extended by more than nothing")
	case span > maxDuration:
		return nil, refuse(MalformedMove, "a clock is extended by %s at most", maxDuration)
	}
	return m.control(t, "clock-extended", by, why, clockExtended{Player: id, By: span.String(), Why: why, Reason: "host"})
}

// extendable reports whether a seat has a running clock and is awaited; who has submitted is so only where the phase
// is held open to its deadline.
func (m *Match) extendable(seat int) bool {
	if m.phase == nil {
		return false
	}
	for i, in := range m.phase.seats {
		if in == seat && m.phase.clocks[i].runs() {
			return !m.phase.submitted(seat) || m.options.AtDeadline && !m.phase.turn()
		}
	}
	return false
}

// VoidMatch ends the match without a result. Refusal: match-over.
func (m *Match) VoidMatch(by event.Role, why string, t time.Time) ([]Draft, error) {
	if m.Over() {
		return nil, refuse(MatchOver, "the match is over")
	}
	return m.control(t, "match-voided", by, why, controlled{why})
}

// Reissue replaces a seat's link by a new one, in public; the old one and its token are void. Refusals:
// unknown-player, match-over.
func (m *Match) Reissue(by event.Role, id, why string, t time.Time) ([]Draft, error) {
	seat, ok := m.Seat(id)
	switch {
	case !ok:
		return nil, refuse(UnknownPlayer, "there is no player of that id in this match")
	case m.Over():
		return nil, refuse(MatchOver, "the match is over")
	}
	issue := m.claims[m.place(seat)].issue + 1
	return m.control(t, "seat-reissued", by, why, seatReissued{Player: id, Issue: issue, Why: why})
}

// control states a control after its reason has been checked.
func (m *Match) control(t time.Time, kind string, by event.Role, why string, public any) ([]Draft, error) {
	if why != "" && !ValidName(why, maxWhyPoints) {
		return nil, refuse(MalformedMove, "the reason must be readable text of at most %d characters", maxWhyPoints)
	}
	return []Draft{m.draft(t, kind, by, public)}, nil
}
