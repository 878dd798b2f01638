package sim

import (
	"context"
	"fmt"
	"iter"
	"time"

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

// appendTakes is how long an append takes. It is not much, but no service may think that time stands still while it works.
const appendTakes = time.Millisecond

// maxAppends is from how many appends in one call on a service is taken for one that would never end.
const maxAppends = 100

// Append implements eventlog.Log.
func (s *store) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	w := s.w
	w.effect()
	if w.appends++; w.appends > w.record.Longest {
		w.record.Longest = w.appends
	}
	if w.appends > maxAppends {
		panic(crashed{})
	}
	w.pass(appendTakes)
	if err := s.unavailable(); err != nil {
		return eventlog.Commit{}, err
	}
	if w.strikes(appendFails) {
		w.refused(stream)
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
		w.refused(stream)
		return eventlog.Commit{}, fmt.Errorf("%w: simulated, though it was written", eventlog.ErrUnavailable)
	}
	return commit, nil
}

// refused notes that a timer was told that the log did not take its account.
func (w *World) refused(stream string) {
	if stream == probesStream {
		w.record.Refused = append(w.record.Refused, w.now)
	}
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

// Follow implements eventlog.Log as far as it is needed: it ends where the log does, for what comes later services get by
// Handle.
func (s *store) Follow(_ context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		for _, commit := range s.w.record.Commits[s.w.after(after, nil):] {
			err := s.unavailable()
			if !yield(commit, err) || err != nil {
				return
			}
		}
	}
}

// Head implements eventlog.Log.
func (s *store) Head(ctx context.Context) (uint64, error) {
	if err := s.unavailable(); err != nil {
		return 0, err
	}
	return s.Log.Head(ctx)
}

var _ eventlog.Log = (*store)(nil)
