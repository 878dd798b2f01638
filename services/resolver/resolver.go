// Package resolver is the service that resolves: when a phase has all that it needs, it decides what follows and appends
// the facts and the next phase in one commit. It alone does, so that an audit can tell who may do what.
package resolver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/fault"
	"umpire/services/problem"
)

// Service is safe for concurrent use. Replicas may resolve the same match: the log takes one.
type Service struct {
	Journal *journal.Journal
	Clock   func() time.Time
	Log     *slog.Logger
}

// Handle resolves the match that the commit belongs to for as long as there is something to resolve.
func (s *Service) Handle(ctx context.Context, commit *eventlog.Commit) error {
	m, err := s.Journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
	}
	for {
		drafts := s.resolve(m)
		if len(drafts) == 0 {
			return nil
		}
		next, err := s.Journal.Append(ctx, m.ID(), m, event.ID{}, drafts)
		fault.Point("resolver.appended")
		var conflict *eventlog.Conflict
		if errors.As(err, &conflict) {
			next, err = s.Journal.Refresh(ctx, m.ID())
		}
		if err != nil {
			return err
		}
		m = next
	}
}

// resolve decides. Rules that panic are a bug: the match is paused, in public, and the others go on.
func (s *Service) resolve(m *match.Match) (drafts []match.Draft) {
	defer func() {
		if broken := recover(); broken != nil {
			s.Log.Error("the rules of a match have failed; it is paused", "match", m.ID(), "game", m.Game().ID(),
				"revision", m.Revision(), "bug", problem.Bug(broken))
			drafts, _ = m.PauseBroken(s.Clock())
		}
	}()
	return m.Resolve(s.Clock())
}
