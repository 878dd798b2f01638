package feed

import (
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/metrics"
	"umpire/services/problem"
)

// backlog is how many commits may wait for one worker.
const backlog = 64

// crew deals with commits: one at a time for each match, many matches at once.
type crew struct {
	crewOptions
	workers sync.WaitGroup
	queues  []chan task
	seed    maphash.Seed
}

type crewOptions struct {
	name   string
	handle Handle
	bury   Bury
	log    *slog.Logger
}

// task is a commit and what is to be done when it was dealt with.
type task struct {
	commit eventlog.Commit
	done   func(ctx context.Context)
}

func newCrew(ctx context.Context, workers int, o crewOptions) *crew {
	if o.bury == nil {
		o.bury = func(context.Context, string, *eventlog.Commit, error) error { return nil }
	}
	c := &crew{crewOptions: o, queues: make([]chan task, workers), seed: maphash.MakeSeed()}
	for i := range c.queues {
		c.queues[i] = make(chan task, backlog)
		c.workers.Go(func() {
			for t := range c.queues[i] {
				c.try(ctx, &t.commit)
				t.done(ctx)
			}
		})
	}
	return c
}

// give hands a task to the worker of its stream; it returns false when the context ended first.
func (c *crew) give(ctx context.Context, t task) bool {
	select {
	case c.queues[maphash.String(c.seed, t.commit.Stream)%uint64(len(c.queues))] <- t:
		return true
	case <-ctx.Done():
		return false
	}
}

// dismiss waits until all has been done that was given; nothing may be given any more.
func (c *crew) dismiss() {
	for _, q := range c.queues {
		close(q)
	}
	c.workers.Wait()
}

// try handles a commit until it is handled, the context ends, or it shows to be a bug, which stops that match alone. A
// fault is logged once, however often it is met.
func (c *crew) try(ctx context.Context, commit *eventlog.Commit) {
	for wait := firstGap; ctx.Err() == nil; wait = min(2*wait, LastGap) {
		err := c.protect(func() error { return c.handle(ctx, commit) })
		if err == nil {
			metrics.CommitsHandled.WithLabelValues(c.name).Inc()
			return
		}
		if ctx.Err() != nil {
			return
		}
		metrics.CommitFailures.WithLabelValues(c.name).Inc()
		if Hopeless(err) {
			if wait == firstGap {
				c.log.Error("a commit is given up", "service", c.name, "stream", commit.Stream, "revision", commit.First, "error", err)
			}
			why := err
			if err = c.protect(func() error { return c.bury(ctx, c.name, commit, why) }); err == nil {
				return
			}
		}
		if wait == firstGap {
			c.log.Warn("a commit waits for a fault to pass", "service", c.name, "stream", commit.Stream, "error", err)
		}
		Pause(ctx, wait)
	}
}

// protect makes a panic, which is a bug that this match has met, an error.
func (c *crew) protect(f func() error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%w: a bug: %s", match.ErrBroken, problem.Bug(broken))
		}
	}()
	return f()
}
