// Package feed runs a service's loop over the log's commits: one at a time for each match, many matches at once.
package feed

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/problem"
)

// Feed yields the log's commits in order after a position: history, then live, until its context ends.
type Feed func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error]

// Handle deals with one commit. Handling one twice, late, or on two replicas at once must be harmless.
type Handle func(ctx context.Context, commit *eventlog.Commit) error

// Loop is one service's loop.
type Loop struct {
	Name    string
	Feed    Feed
	Handle  Handle
	Workers int // how many matches are dealt with at once
	Log     *slog.Logger

	position atomic.Uint64
	underway atomic.Int64
}

const (
	backlog  = 64 // commits that wait for a worker
	firstGap = 10 * time.Millisecond
	// LastGap is the longest pause between two tries of something that fails.
	LastGap = 2 * time.Second
)

// Position returns the position of the newest commit handed to a worker.
func (l *Loop) Position() uint64 { return l.position.Load() }

// Reach waits until the loop has dealt with the log up to a position and has nothing under way, or the context ends.
func (l *Loop) Reach(ctx context.Context, position uint64) error {
	for l.Position() < position || l.underway.Load() > 0 {
		if !Pause(ctx, firstGap) {
			return ctx.Err()
		}
	}
	return nil
}

// Run works until the context ends, which is its error. A feed that breaks is followed again from where it broke.
func (l *Loop) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	queues := make([]chan eventlog.Commit, l.Workers)
	for i := range queues {
		queues[i] = make(chan eventlog.Commit, backlog)
		workers.Go(func() {
			for commit := range queues[i] {
				l.try(ctx, &commit)
				l.underway.Add(-1)
			}
		})
	}
	defer workers.Wait()
	defer func() {
		for _, q := range queues {
			close(q)
		}
	}()
	seed := maphash.MakeSeed()
	for wait := firstGap; ; wait = min(2*wait, LastGap) {
		for commit, err := range l.Feed(ctx, l.Position()) {
			if err != nil {
				if ctx.Err() == nil {
					l.Log.Warn("the feed broke and is followed again", "service", l.Name, "error", err)
				}
				break
			}
			l.underway.Add(1)
			select {
			case queues[maphash.String(seed, commit.Stream)%uint64(len(queues))] <- commit:
			case <-ctx.Done():
				l.underway.Add(-1)
				return ctx.Err()
			}
			l.position.Store(commit.Position)
			wait = firstGap
		}
		if !Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// try handles a commit until it is handled, the context ends, or it shows to be a bug, which stops that match alone. A
// fault is logged once, however often it is met.
func (l *Loop) try(ctx context.Context, commit *eventlog.Commit) {
	for wait := firstGap; ctx.Err() == nil; wait = min(2*wait, LastGap) {
		err := l.handle(ctx, commit)
		if err == nil || ctx.Err() != nil {
			return
		}
		if Hopeless(err) {
			l.Log.Error("a match can't be dealt with", "service", l.Name, "stream", commit.Stream, "error", err)
			return
		}
		if wait == firstGap {
			l.Log.Warn("a commit waits for a fault to pass", "service", l.Name, "stream", commit.Stream, "error", err)
		}
		Pause(ctx, wait)
	}
}

// handle makes a panic, which is a bug that this match has met, an error.
func (l *Loop) handle(ctx context.Context, commit *eventlog.Commit) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%w: a bug: %s", match.ErrBroken, problem.Bug(broken))
		}
	}()
	return l.Handle(ctx, commit)
}

// Hopeless reports whether no later try can mend an error: the match that it is about is left aside, and no other waits.
func Hopeless(err error) bool {
	return slices.ContainsFunc([]error{
		match.ErrBroken, match.ErrUnknownEvent, eventlog.ErrCorrupt, eventlog.ErrTooLarge, eventlog.ErrInvalid,
	}, func(kind error) bool { return errors.Is(err, kind) })
}

// Pause waits; it returns false when the context ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
