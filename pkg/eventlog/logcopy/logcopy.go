// Package logcopy copies a log into another, of whatever kind both are: every commit as one commit, with its events byte
// for byte, in the one order that the source has across all streams. Only positions are the target's own.
//
// The target is its own checkpoint. A copy that was interrupted, at whatever point, is begun again by the same call: what
// the target holds is compared with the beginning of the source, and copying goes on behind it. A target that holds
// anything else is refused and left as it is. At the end both logs are read from their beginnings and compared.
//
// Commits are appended one by one, each when the one before is on disk. Two appends under way at once, to different
// streams, may become visible in either order, and the port has no way to tell a log which comes first: a group of
// appends that SQLite would bring to the disk together would stand there in an order of its own. What can be done
// meanwhile is: the commits that come next are read and decoded while the disk is at work.
package logcopy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"umpire/pkg/eventlog"
)

// Phase is a part of the work.
type Phase string

// The phases, in their order.
const (
	Comparing Phase = "comparing" // what the target holds already
	Copying   Phase = "copying"
	Verifying Phase = "verifying"
)

// Options say what a copy tells on its way.
type Options struct {
	// Progress, if there is one, is called after every commit with how many are dealt with in this phase, of how many.
	// Before a log with gaps between its positions has been read once, the latter is an estimate.
	Progress func(phase Phase, done, total uint64)
}

// Report says what was done; after an error, what was done until then.
type Report struct {
	Commits  uint64 `json:"commits"`  // of the source that stand in the target
	Events   uint64 `json:"events"`   // in them
	Streams  uint64 `json:"streams"`  // in them
	Skipped  uint64 `json:"skipped"`  // commits that stood in the target before
	Added    uint64 `json:"added"`    // commits that came to the source since the copy began, and are not in it
	Verified bool   `json:"verified"` // both logs were compared whole, and nothing is wrong
}

// ErrTarget refuses a target that holds anything but the beginning of the source. Nothing was written to it.
var ErrTarget = errors.New("the target does not hold the beginning of this source, and nothing was written to it")

// Difference is what a comparison found wrong.
type Difference struct {
	Stream   string
	Revision uint64
	What     string
}

// Error implements error.
func (d *Difference) Error() string {
	return fmt.Sprintf("%s, revision %d: %s", d.Stream, d.Revision, d.What)
}

// Copy copies what the source holds now into the target, and verifies the copy. Where the target holds what the source
// does not begin with, that is ErrTarget; what this and the verification find is a *Difference.
func Copy(ctx context.Context, from, to eventlog.Log, o Options) (Report, error) {
	c := &copier{from: from, to: to, tell: o.tell}
	var err error
	if c.stand, err = to.Head(ctx); err != nil {
		return c.report, fmt.Errorf("the target: %w", err)
	}
	if c.head, err = from.Head(ctx); err != nil {
		return c.report, fmt.Errorf("the source: %w", err)
	}
	if err := c.transfer(ctx); err != nil {
		return c.report, err
	}
	if c.stand, err = to.Head(ctx); err != nil {
		return c.report, fmt.Errorf("the target: %w", err)
	}
	if _, err := compare(ctx, c.source(), c.target(), c.report.Commits, o.tell); err != nil {
		return c.report, err
	}
	c.report.Verified = true
	c.report.Added, err = c.added(ctx)
	return c.report, err
}

// Verify compares two logs whole, as they are now, and writes nothing. What it finds is a *Difference.
func Verify(ctx context.Context, from, to eventlog.Log, o Options) (Report, error) {
	c := &copier{from: from, to: to}
	var err error
	if c.stand, err = to.Head(ctx); err != nil {
		return c.report, fmt.Errorf("the target: %w", err)
	}
	if c.head, err = from.Head(ctx); err != nil {
		return c.report, fmt.Errorf("the source: %w", err)
	}
	seen, err := compare(ctx, c.source(), c.target(), 0, o.tell)
	c.report.Commits, c.report.Events, c.report.Streams = seen.commits, seen.events, uint64(len(seen.streams))
	c.report.Skipped, c.report.Verified = seen.commits, err == nil
	return c.report, err
}

func (o Options) tell(phase Phase, done, total uint64) {
	if o.Progress != nil {
		o.Progress(phase, done, total)
	}
}

// part is a log up to a position.
type part struct {
	name string
	log  eventlog.Log
	head uint64
}

// total estimates how many commits the part has, from how many there are up to a position: where positions have no gaps,
// that is right.
func (p part) total(commits, position uint64) uint64 {
	if position == 0 {
		return 0
	}
	return max(commits, uint64(math.Round(float64(commits)*float64(p.head)/float64(position))))
}

type copier struct {
	from, to    eventlog.Log
	tell        func(Phase, uint64, uint64)
	head, stand uint64 // where the source ends, and the target
	report      Report
}

func (c *copier) source() part { return part{"the source", c.from, c.head} }
func (c *copier) target() part { return part{"the target", c.to, c.stand} }

// transfer passes over what the target holds and appends the rest.
func (c *copier) transfer(ctx context.Context) error {
	source := readAhead(ctx, c.source())
	defer source.close()
	chains := newChains(false) // the verification looks at the hashes, of what stands in the target then
	if err := c.compareStanding(ctx, source, chains); err != nil {
		return err
	}
	c.report.Skipped = c.report.Commits
	for {
		commit, ok, err := source.next()
		if err != nil || !ok {
			return err
		}
		if !chains.take(&commit) {
			return fmt.Errorf("the source can't be copied: %w", chains.gap(&commit))
		}
		if err := c.append(ctx, &commit); err != nil {
			return err
		}
		c.count(chains)
		c.tell(Copying, c.report.Commits-c.report.Skipped, c.source().total(c.report.Commits, commit.Position)-c.report.Skipped)
	}
}

// compareStanding sees to it that the target holds the beginning of the source and nothing else.
func (c *copier) compareStanding(ctx context.Context, source *reader, chains *chains) error {
	target := readAhead(ctx, c.target())
	defer target.close()
	for {
		standing, ok, err := target.next()
		if err != nil || !ok {
			return err
		}
		commit, ok, err := source.next()
		if err != nil {
			return err
		}
		if err := differ(&commit, ok, &standing, true); err != nil {
			return fmt.Errorf("%w: %w", ErrTarget, err)
		}
		if !chains.take(&commit) {
			return fmt.Errorf("the source can't be copied: %w", chains.gap(&commit))
		}
		c.count(chains)
		c.tell(Comparing, c.report.Commits, c.target().total(c.report.Commits, standing.Position))
	}
}

func (c *copier) count(chains *chains) {
	c.report.Commits, c.report.Events, c.report.Streams = chains.commits, chains.events, uint64(len(chains.streams))
}

// A log that can't be reached is asked again for some three seconds: a network has hiccups, and a repeated append does
// no harm.
const (
	tries      = 6
	firstPause = 100 * time.Millisecond
)

// append writes a commit behind all others in the target.
func (c *copier) append(ctx context.Context, commit *eventlog.Commit) error {
	pause := firstPause
	for try := 1; ; try++ {
		written, err := c.to.Append(ctx, commit.Stream, int64(commit.First)-1, commit.Events...) //nolint:gosec // a revision
		if err == nil {
			return c.placed(commit, &written)
		}
		if !errors.Is(err, eventlog.ErrUnavailable) || ctx.Err() != nil || try == tries {
			return fmt.Errorf("the target took %d commits and not the next, of %s at revision %d: %w",
				c.report.Commits, commit.Stream, commit.First, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause *= 2
	}
}

// placed checks where a commit has come to stand: elsewhere than last only if somebody else writes to the target.
func (c *copier) placed(commit, written *eventlog.Commit) error {
	if written.First != commit.First || written.Position <= c.stand {
		return &Difference{commit.Stream, commit.First, "the target holds it elsewhere; does something else write to the target?"}
	}
	c.stand = written.Position
	return nil
}

// added counts what has come to the source since its end was noted.
func (c *copier) added(ctx context.Context) (uint64, error) {
	head, err := c.from.Head(ctx)
	if err != nil || head <= c.head {
		return 0, err
	}
	source := readBehind(ctx, c.head, part{"the source", c.from, head})
	defer source.close()
	for n := uint64(0); ; n++ {
		if _, ok, err := source.next(); err != nil || !ok {
			return n, err
		}
	}
}
