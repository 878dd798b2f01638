package projector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/feed"
)

// PublicView returns a match's public view, byte for byte as it is stored and published.
func PublicView(m *match.Match) ([]byte, error) {
	body, err := json.Marshal(m.View(match.Public))
	if err != nil {
		return nil, fmt.Errorf("%w: no JSON can be made of a view of %s", match.ErrBroken, m.ID())
	}
	return body, nil
}

// Recall returns a match's public view as it stood at a revision, nil where the log has none. A match that can't be folded
// keeps the view that it has. It is what queue.Switch asks for.
func Recall(ctx context.Context, j *journal.Journal, id string, revision int64, stored []byte) ([]byte, error) {
	m, err := j.AsOf(ctx, id, uint64(revision)) //nolint:gosec // a view that was read has a revision
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil
	case feed.Hopeless(err):
		return stored, nil
	case err != nil:
		return nil, err
	}
	return PublicView(m)
}

// Recall is what queue.Switch asks for, from the matches that this service keeps.
func (s *Service) Recall(ctx context.Context, id string, revision int64, stored []byte) ([]byte, error) {
	return Recall(ctx, s.Journal, id, revision, stored)
}

// showBatch is how many views ShowAll lets wait for the bucket at once.
const showBatch = 512

// ShowAll publishes the public view of every match in the log, as the log stands: their bucket has lost them. What is
// appended meanwhile is shown as ever.
func (s *Service) ShowAll(ctx context.Context, log eventlog.Log) error {
	head, err := log.Head(ctx)
	if err != nil {
		return err
	}
	batch := map[string]int64{}
	seen := map[string]bool{}
	for commit, err := range eventlog.Upto(ctx, log.Follow, 0, head) {
		if err != nil {
			return fmt.Errorf("reading the log for its views: %w", err)
		}
		last := commit.Position >= head
		if id, ok := journal.MatchOf(commit.Stream); ok && !seen[id] {
			seen[id] = true
			if err := s.showAgain(ctx, id, batch); err != nil {
				return err
			}
		}
		if len(batch) < showBatch && !last {
			continue
		}
		for id, revision := range batch {
			if err := s.Publisher.Settle(ctx, id, revision); err != nil {
				return err
			}
		}
		clear(batch)
	}
	return nil
}

// showAgain publishes a match as it stands in the log, and notes which revision that was: what this process knows of it
// may be older than what was lost, and who knew more may be gone. One that can't be folded keeps the view
// that it had last, if it still has it.
func (s *Service) showAgain(ctx context.Context, id string, batch map[string]int64) error {
	m, err := s.Journal.Refresh(ctx, id)
	if err == nil {
		err = s.show(m)
	}
	if feed.Hopeless(err) {
		return nil
	}
	if err != nil {
		return err
	}
	batch[id] = m.Revision()
	return nil
}
