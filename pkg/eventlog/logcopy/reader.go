package logcopy

import (
	"context"
	"fmt"

	"umpire/pkg/eventlog"
)

// The most commits that are read before they are needed, in batches: handing each over by itself would cost as much as
// reading it.
const (
	batchCommits = 16
	batchBytes   = 1 << 20
	batches      = 8
)

var errShort = fmt.Errorf("%w: it ended before its head", eventlog.ErrUnavailable)

// batch is some commits that follow one another, and what came instead of the next one.
type batch struct {
	commits []eventlog.Commit
	err     error
	last    bool // the part ends here
}

// reader reads a part of a log in a goroutine of its own. It is used by one goroutine, which must close it.
type reader struct {
	name    string
	batches chan batch
	ended   func() error // why nothing more may be read
	cancel  context.CancelFunc
	current batch
}

func readAhead(ctx context.Context, p part) *reader { return readBehind(ctx, 0, p) }

// readBehind reads what stands in the part behind a position.
func readBehind(ctx context.Context, after uint64, p part) *reader {
	ctx, cancel := context.WithCancel(ctx)
	r := &reader{name: p.name, batches: make(chan batch, batches), ended: ctx.Err, cancel: cancel}
	if p.head <= after {
		r.current.last = true
		close(r.batches)
		return r
	}
	go func() {
		defer close(r.batches)
		r.read(ctx, after, p)
	}()
	return r
}

func (r *reader) read(ctx context.Context, after uint64, p part) {
	var b batch
	bytes := 0
	for c, err := range p.log.Follow(ctx, after) {
		if b.err = err; err == nil {
			b.commits = append(b.commits, c)
			b.last = c.Position >= p.head
			bytes += size(&c)
		}
		if err == nil && !b.last && len(b.commits) < batchCommits && bytes < batchBytes {
			continue
		}
		select {
		case r.batches <- b:
		case <-ctx.Done():
			return
		}
		if err != nil || b.last {
			return
		}
		b, bytes = batch{commits: make([]eventlog.Commit, 0, batchCommits)}, 0
	}
}

// size is about what a commit takes in memory.
func size(c *eventlog.Commit) int {
	n := 0
	for i := range c.Events {
		n += len(c.Events[i].Public)
		for j := range c.Events[i].Faces {
			n += len(c.Events[i].Faces[j].Box)
		}
		for j := range c.Events[i].Opens {
			n += len(c.Events[i].Opens[j].Face.Data)
		}
	}
	return n
}

// next returns the next commit; ok is false behind the last one. A history that ends too early is an error.
func (r *reader) next() (commit eventlog.Commit, ok bool, err error) {
	for len(r.current.commits) == 0 {
		if r.current.err != nil {
			return eventlog.Commit{}, false, fmt.Errorf("%s: %w", r.name, r.current.err)
		}
		if r.current.last {
			return eventlog.Commit{}, false, nil
		}
		if r.current, ok = <-r.batches; !ok {
			if r.current.err = r.ended(); r.current.err == nil {
				r.current.err = errShort
			}
		}
	}
	commit = r.current.commits[0]
	r.current.commits = r.current.commits[1:]
	return commit, true, nil
}

// close ends the reading and waits until it has ended.
func (r *reader) close() {
	r.cancel()
	for range r.batches { // what was read ahead is not needed
	}
}
