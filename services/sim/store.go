package sim

import (
	"context"
	"fmt"
	"iter"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
)

// store is the log of a run: one in memory, behind faults. Every replica has it.
type store struct {
	*memlog.Log
	w *World
}

// crashed is what a crash unwinds a service with.
type crashed struct{}

// effect is called around everything that a service does to the world outside it: there it may crash.
func (w *World) effect() {
	if w.crashIn > 0 {
		if w.crashIn--; w.crashIn == 0 {
			panic(crashed{})
		}
	}
}

func (s *store) unavailable() error {
	if s.w.down(theLog) {
		return fmt.Errorf("%w: the simulated log is away", eventlog.ErrUnavailable)
	}
	return nil
}

// Append implements eventlog.Log.
func (s *store) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	w := s.w
	w.effect()
	if err := s.unavailable(); err != nil {
		return eventlog.Commit{}, err
	}
	if w.strikes(appendFails) {
		return eventlog.Commit{}, fmt.Errorf("%w: simulated, nothing was written", eventlog.ErrUnavailable)
	}
	if w.strikes(appendConflicts) {
		return eventlog.Commit{}, &eventlog.Conflict{Stream: stream, Expected: expected, Actual: expected + 1}
	}
	commit, err := s.Log.Append(ctx, stream, expected, events...)
	if err != nil {
		w.record.note("append %s at %d: %v", stream, expected, err)
		return commit, err
	}
	if commit.Position > w.lastPosition() {
		w.record.Commits = append(w.record.Commits, commit)
		w.commits[stream]++
		for i := range commit.Events {
			if w.record.listening() {
				w.record.note("append %s", commit.Events[i].AppendStored(nil))
			}
		}
	}
	w.effect()
	if w.strikes(appendUnknown) {
		return eventlog.Commit{}, fmt.Errorf("%w: simulated, though it was written", eventlog.ErrUnavailable)
	}
	return commit, nil
}

func (w *World) lastPosition() uint64 {
	if len(w.record.Commits) == 0 {
		return 0
	}
	return w.record.Commits[len(w.record.Commits)-1].Position
}

// Read implements eventlog.Log.
func (s *store) Read(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		if err := s.unavailable(); err != nil {
			yield(eventlog.Commit{}, err)
			return
		}
		for commit, err := range s.Log.Read(ctx, stream, from) {
			if !yield(commit, err) {
				return
			}
		}
	}
}

// Follow is not simulated: services get commits by Handle.
func (s *store) Follow(context.Context, uint64) iter.Seq2[eventlog.Commit, error] {
	panic("sim: nobody follows the log here")
}

// Head implements eventlog.Log.
func (s *store) Head(ctx context.Context) (uint64, error) {
	if err := s.unavailable(); err != nil {
		return 0, err
	}
	return s.Log.Head(ctx)
}

var _ eventlog.Log = (*store)(nil)
