// Package feed runs a service's loop over the log's commits: one at a time for each match, many matches at once.
package feed

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// Feed yields the log's commits in order after a position: history, then live, until its context ends.
type Feed func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error]

// Handle deals with one commit. Handling one twice, late, or on two replicas at once must be harmless.
type Handle func(ctx context.Context, commit *eventlog.Commit) error

// Bury deals with a commit that no try can deal with: it tells of it, and stops its match alone. After an error it is
// tried again.
type Bury func(ctx context.Context, service string, commit *eventlog.Commit, why error) error

// Loop is one service's loop.
type Loop struct {
	Name    string
	Feed    Feed
	Handle  Handle
	Workers int // how many matches are dealt with at once
	Log     *slog.Logger
	Bury    Bury // nil: what can't be dealt with is logged

	position atomic.Uint64
	underway atomic.Int64
}

const (
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
	c := newCrew(ctx, l.Workers, crewOptions{l.Name, l.Handle, l.Bury, l.Log})
	defer c.dismiss()
	for wait := firstGap; ; wait = min(2*wait, LastGap) {
		for commit, err := range l.Feed(ctx, l.Position()) {
			if err != nil {
				if ctx.Err() == nil {
					l.Log.Warn("the feed broke and is followed again", "service", l.Name, "error", err)
				}
				break
			}
			l.underway.Add(1)
			if !c.give(ctx, task{commit, func(context.Context) { l.underway.Add(-1) }}) {
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

// Code says why no later try can deal with a commit.
type Code string

// The codes.
const (
	Broken       Code = "broken"        // a broken invariant: a bug of ours
	UnknownEvent Code = "unknown-event" // an event of a version that this program does not know
	Corrupt      Code = "corrupt"       // what the log holds can't be read
	TooLarge     Code = "too-large"     // what follows from it is more than a log takes
	Invalid      Code = "invalid"       // what follows from it is refused by the log
	Undecodable  Code = "undecodable"   // it is a message of the feed, and no commit
)

// hopeless are the errors that no later try can mend. One that says that the program is too old for an event comes before
// that it is broken for it.
var hopeless = []struct {
	kind error
	code Code
}{
	{match.ErrUnknownEvent, UnknownEvent}, {match.ErrBroken, Broken}, {eventlog.ErrCorrupt, Corrupt},
	{eventlog.ErrTooLarge, TooLarge}, {eventlog.ErrInvalid, Invalid},
}

// CodeOf returns the code of an error that no later try can mend; ok is false for every other.
func CodeOf(err error) (code Code, ok bool) {
	for _, h := range hopeless {
		if errors.Is(err, h.kind) {
			return h.code, true
		}
	}
	return "", false
}

// Hopeless reports whether no later try can mend an error: the match that it is about is left aside, and no other waits.
func Hopeless(err error) bool {
	_, ok := CodeOf(err)
	return ok
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
