package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// Halt pauses a match by umpire, in public and without detail: a service has met in it what no try can deal with. It is
// harmless where the match does not run. A match that can't be folded is paused all the same, behind its last event: its
// stream stays sound, and who can read it one day finds it paused.
func (j *Journal) Halt(ctx context.Context, id string, at time.Time) error {
	for {
		m, err := j.Refresh(ctx, id)
		switch {
		case err == nil:
			var drafts []match.Draft
			if drafts, err = m.PauseBroken(at); err != nil {
				return nil // it does not run
			}
			_, err = j.Append(ctx, id, m, event.ID{}, drafts)
		case errors.Is(err, match.ErrBroken), errors.Is(err, match.ErrUnknownEvent):
			err = j.haltUnread(ctx, id, at)
		case errors.Is(err, ErrNotFound):
			return nil
		}
		var conflict *eventlog.Conflict
		if !errors.As(err, &conflict) {
			return err
		}
	}
}

// haltUnread appends the pause to a stream that can't be folded.
func (j *Journal) haltUnread(ctx context.Context, id string, at time.Time) error {
	e := j.entry(id)
	from := uint64(0)
	if m := j.known(e); m != nil {
		from = uint64(m.Revision()) //nolint:gosec // a match that was read has a revision
	}
	var last Recorded
	for ev, err := range j.Events(ctx, id, from) {
		if err != nil {
			return err
		}
		last = ev
	}
	draft := match.UnreadPause(at)
	if last.Type == draft.Type && last.By == draft.By {
		return nil // another has done it
	}
	if last.At.After(draft.At) {
		draft.At = last.At
	}
	ev := event.Event{
		ID:   e.keys.Name("fact", draft.Type, fmt.Sprint(last.Revision+1), event.ID{}.String()),
		Type: draft.Type, At: draft.At, By: draft.By, Public: draft.Public, Prev: last.Hash,
	}
	ev.Hash = ev.ComputeHash()
	_, err := j.log.Append(ctx, Stream(id), int64(last.Revision), ev) //nolint:gosec // far from 2^63
	if err != nil {
		return fmt.Errorf("appending to match %s: %w", id, err)
	}
	return nil
}

func (j *Journal) known(e *entry) *match.Match {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}
