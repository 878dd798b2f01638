// Package projector is the service that shows: it folds matches, publishes each changed public view, and answers who
// asks for the view or the feed that his token allows. All that it keeps can be thrown away and is rebuilt from the log.
package projector

import (
	"context"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
)

// Publisher takes what the projector shows to everybody.
type Publisher interface {
	// PublishView hands on a match's public view; the latest wins.
	PublishView(match string, revision int64, view []byte)
	// Tick tells that a revision of a match has been projected.
	Tick(match string, revision int64)
	// Settle returns once a match's view at that revision, or a newer one, is where everybody may see it; at once where
	// none of that match waits for it. Else it returns with its context's error.
	Settle(ctx context.Context, match string, revision int64) error
}

// Service is safe for concurrent use.
type Service struct {
	Journal   *journal.Journal
	Authority *token.Authority
	Clock     func() time.Time
	Publisher Publisher
	index     index
}

// Handle lists and shows the match that the commit belongs to: Note and Show in one, where one loop does both.
func (s *Service) Handle(ctx context.Context, commit *eventlog.Commit) error {
	m, err := s.Journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
	}
	if m.Revision() > int64(commit.Last()) && s.index.has(m.ID()) { //nolint:gosec // far from 2^63
		return nil // a newer commit of this match comes and shows it
	}
	s.index.note(m, commit)
	return s.show(m)
}

// Note takes the match that the commit belongs to into the list of matches, which each replica answers by itself.
func (s *Service) Note(ctx context.Context, commit *eventlog.Commit) error {
	m, err := s.Journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
	}
	s.index.note(m, commit)
	return nil
}

// Show publishes the public view of the match that the commit belongs to. Replicas share this work; Settle tells when it
// is done.
func (s *Service) Show(ctx context.Context, commit *eventlog.Commit) error {
	m, err := s.Journal.Observe(ctx, commit)
	if err != nil || m == nil {
		return err
	}
	return s.show(m)
}

func (s *Service) show(m *match.Match) error {
	body, err := PublicView(m)
	if err != nil {
		return err
	}
	s.Publisher.PublishView(m.ID(), m.Revision(), body)
	s.Publisher.Tick(m.ID(), m.Revision())
	return nil
}

// Question asks for a view or a feed.
type Question struct {
	Audience    string  `json:"audience,omitempty"`    // where the token allows more than one
	Revision    *uint64 `json:"revision,omitempty"`    // as it stood then
	MinRevision int64   `json:"minRevision,omitempty"` // not older than this
	After       *uint64 `json:"after,omitempty"`       // of a feed: the last revision already known
}

// View returns a match's view for the audience that the token allows.
func (s *Service) View(ctx context.Context, bearer, id string, q *Question) (any, error) {
	m, audience, err := s.admit(ctx, bearer, id, q)
	if err != nil {
		return nil, err
	}
	if q.Revision != nil {
		if m, err = s.Journal.AsOf(ctx, id, *q.Revision); err != nil {
			return nil, err
		}
	}
	return m.View(audience), nil
}

// admit returns the match and the audience that the bearer may be.
func (s *Service) admit(ctx context.Context, bearer, id string, q *Question) (*match.Match, string, error) {
	who := token.Token{}
	if bearer != "" {
		var err error
		if who, err = s.Authority.Verify(bearer, s.Clock()); err != nil {
			return nil, "", err
		}
	}
	m, err := s.Journal.Load(ctx, id)
	if err == nil && m.Revision() < q.MinRevision {
		m, err = s.Journal.Refresh(ctx, id)
	}
	if err != nil {
		return nil, "", err
	}
	own := match.Public
	if who.Role == token.Seat {
		if who.Match != id {
			return nil, "", problem.New(problem.Forbidden, "this token is for another match")
		}
		seat, ok := m.Seat(who.Seat)
		if !ok {
			return nil, "", token.ErrInvalid
		}
		if issue, claimed := m.Issue(seat); issue != who.Issue || !claimed {
			if m, err = s.Journal.Refresh(ctx, id); err != nil {
				return nil, "", err
			}
			if issue, claimed = m.Issue(seat); issue != who.Issue || !claimed {
				return nil, "", problem.New(problem.Unauthorized, "the token was replaced by a newer link's")
			}
		}
		own = who.Seat
	}
	if q.Audience != "" && q.Audience != own && q.Audience != match.Public {
		return nil, "", problem.New(problem.Forbidden, "this token does not show that audience's view")
	}
	if q.Audience != "" {
		own = q.Audience
	}
	return m, own, nil
}
