// Package relay is the service that copies the log to the stream FEED, in the log's order and without gaps, and each
// event's public part to the match's public subject.
//
// Every message expects the one before it as the stream's last, so two relays can't break the order: the slower one is
// refused and goes on from where the stream stands.
package relay

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"umpire/pkg/eventlog"
	"umpire/services/feed"
)

// Stream is what the relay copies to.
type Stream interface {
	// Last returns the log's position of the newest commit in the stream, 0 for an empty one.
	Last(ctx context.Context) (uint64, error)
	// Begin is called before a round of publishing and end after it. A stream that learns only later that a commit
	// does not stand ends the round by fail.
	Begin(ctx context.Context, fail context.CancelCauseFunc) (end func())
	// Publish puts a commit behind the one at the position last; ErrOrder where the stream does not end there.
	Publish(ctx context.Context, commit *eventlog.Commit, last uint64) error
}

// ErrOrder means that the stream does not end where the relay thought: another relay, or a wiped stream.
var ErrOrder = errors.New("relay: the stream ends elsewhere")

// Service is one relay. Handle is not safe for concurrent use.
type Service struct {
	Stream Stream
	Feed   feed.Feed
	Log    *slog.Logger

	known bool
	last  uint64
}

// Behind returns the position behind which the relay has to go on.
func (s *Service) Behind(ctx context.Context) (uint64, error) {
	if s.known {
		return s.last, nil
	}
	last, err := s.Stream.Last(ctx)
	if err == nil {
		s.known, s.last = true, last
	}
	return last, err
}

// Handle copies the commit that follows in the log. After an error the relay has to go on behind where the stream stands,
// which Behind tells.
func (s *Service) Handle(ctx context.Context, commit *eventlog.Commit) error {
	last, err := s.Behind(ctx)
	if err != nil || commit.Position <= last {
		return err
	}
	if err := s.Stream.Publish(ctx, commit, last); err != nil {
		s.known = false
		return err
	}
	s.last = commit.Position
	return nil
}

// Run relays until the context ends, which is its error.
func (s *Service) Run(ctx context.Context) error {
	failing := false
	for {
		err := s.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !failing {
			s.Log.Warn("the relay begins again where the stream stands", "error", err)
		}
		failing = err != nil
		if !feed.Pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// round relays from where the stream stands until something fails.
func (s *Service) round(ctx context.Context) error {
	s.known = false
	last, err := s.Behind(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.Stream.Begin(ctx, cancel)()
	for commit, err := range s.Feed(ctx, last) {
		if err == nil {
			err = s.Handle(ctx, &commit)
		}
		if err != nil {
			cancel(err)
			break
		}
	}
	return context.Cause(ctx)
}
