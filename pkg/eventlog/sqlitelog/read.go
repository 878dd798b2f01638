package sqlitelog

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"math"

	"umpire/pkg/eventlog"
)

// columns are those of a row, in its order.
const columns = "position, stream, revision, last, events"

// row is a commit as it stands in the file.
type row struct {
	position, first, last uint64
	stream, events        string
}

func newRow(values []driver.Value) *row {
	position, _ := values[0].(int64)
	stream, _ := values[1].(string)
	first, _ := values[2].(int64)
	last, _ := values[3].(int64)
	events, _ := values[4].(string)
	return &row{unsigned(position), unsigned(first), unsigned(last), stream, events}
}

// commit reads the row's events, which must be as many as the row says.
func (r *row) commit() (eventlog.Commit, error) {
	events, err := eventlog.Unpack(r.events)
	if err != nil {
		return eventlog.Commit{}, fmt.Errorf("%w: position %d: %w", eventlog.ErrCorrupt, r.position, err)
	}
	c := eventlog.Commit{Stream: r.stream, First: r.first, Position: r.position, Events: events}
	if c.Last() != r.last {
		return eventlog.Commit{}, fmt.Errorf("%w: position %d has %d events and ends at revision %d",
			eventlog.ErrCorrupt, r.position, len(events), r.last)
	}
	return c, nil
}

// Read implements eventlog.Log.
func (l *Log) Read(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		next := from
		for first := true; ; first = false {
			page, more, err := l.take(ctx, func(r *reader) *stmt { return r.stream }, stream, signed(next))
			if err != nil {
				yield(eventlog.Commit{}, err)
				return
			}
			for i, r := range page {
				// The first commit may begin before the revision asked for, the others follow one another.
				if r.first > next || r.last < next || r.first != next && (i > 0 || !first) {
					yield(eventlog.Commit{}, l.gap("%s has revision %d to %d where %d is expected", stream, r.first, r.last, next))
					return
				}
				if !l.yield(ctx, yield, r) {
					return
				}
				next = r.last + 1
			}
			if !more {
				return
			}
		}
	}
}

// Follow implements eventlog.Log.
func (l *Log) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		seen := after
		batch := make([]eventlog.Commit, 0, 64)
		for {
			if err := l.alive(ctx); err != nil {
				yield(eventlog.Commit{}, err)
				return
			}
			recent, more, ok := l.tail.after(seen, batch)
			if !ok {
				if seen, ok = l.followFile(ctx, seen, yield); !ok {
					return
				}
				continue
			}
			for _, c := range recent {
				if err := l.alive(ctx); err != nil {
					yield(eventlog.Commit{}, err)
					return
				}
				if !yield(c, nil) {
					return
				}
				seen = c.Position
			}
			clear(recent)
			if len(recent) > 0 {
				continue
			}
			select {
			case <-more:
			case <-ctx.Done():
			case <-l.closing:
			}
		}
	}
}

// followFile yields a page of what lies behind a position that the ring has left behind.
func (l *Log) followFile(ctx context.Context, seen uint64, yield func(eventlog.Commit, error) bool) (uint64, bool) {
	page, _, err := l.take(ctx, func(r *reader) *stmt { return r.log }, signed(seen))
	if err == nil && len(page) == 0 {
		err = l.gap("position %d is missing", seen+1)
	}
	if err != nil {
		yield(eventlog.Commit{}, err)
		return seen, false
	}
	for _, r := range page {
		if r.position != seen+1 {
			yield(eventlog.Commit{}, l.gap("position %d is missing", seen+1))
			return seen, false
		}
		if !l.yield(ctx, yield, r) {
			return seen, false
		}
		seen = r.position
	}
	return seen, true
}

// yield hands on a row, or the error that it can't be.
func (l *Log) yield(ctx context.Context, yield func(eventlog.Commit, error) bool, r *row) bool {
	err := l.alive(ctx)
	var c eventlog.Commit
	if err == nil {
		if c, err = r.commit(); err != nil {
			err = fault(l.path, "reading", err)
		}
	}
	return yield(c, err) && err == nil
}

func (l *Log) gap(format string, args ...any) error {
	return fmt.Errorf("%w: %s: "+format, append([]any{eventlog.ErrCorrupt, l.path}, args...)...)
}

// signed makes a number one that SQLite knows; nothing stands as far out as those it changes.
func signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) } //nolint:gosec // that is what it is for

// unsigned takes a number from the file. A negative one becomes so large that nothing agrees with it.
func unsigned(n int64) uint64 { return uint64(n) } //nolint:gosec // as said

// take runs a statement of a reader's for one page of rows; more tells that there may be others.
func (l *Log) take(ctx context.Context, which func(*reader) *stmt, args ...any) (page []*row, more bool, err error) {
	if err := l.alive(ctx); err != nil {
		return nil, false, err
	}
	r, err := l.readers.get(ctx, l.closing)
	if err != nil {
		return nil, false, err
	}
	bytes := 0
	err = which(r).query(func(values []driver.Value) bool {
		page = append(page, newRow(values))
		bytes += len(page[len(page)-1].events)
		more = bytes >= pageBytes || len(page) == l.page
		return !more
	}, append(args, int64(l.page))...)
	l.readers.put(r, err)
	if err != nil {
		return nil, false, fault(l.path, "reading", err)
	}
	return page, more, nil
}

// pool is a fixed number of connections for reading, each made when it is first needed.
type pool struct {
	path  string
	slots chan *reader
}

// reader is a connection and its statements; nil in the pool where the connection is still to be made.
type reader struct {
	conn        *conn
	stream, log *stmt
}

func newPool(path string, n int) *pool {
	p := &pool{path: path, slots: make(chan *reader, n)}
	for range n {
		p.slots <- nil
	}
	return p
}

func (p *pool) get(ctx context.Context, closing <-chan struct{}) (*reader, error) {
	var r *reader
	select {
	case r = <-p.slots:
	case <-ctx.Done():
		return nil, fmt.Errorf("sqlitelog: %w", ctx.Err())
	case <-closing:
		return nil, eventlog.ErrClosed
	}
	if r != nil {
		return r, nil
	}
	r, err := newReader(p.path)
	if err != nil {
		p.slots <- nil
		return nil, fault(p.path, "reading", err)
	}
	return r, nil
}

// put gives a reader back; after an error its connection is not used again.
func (p *pool) put(r *reader, err error) {
	if err != nil {
		_ = r.conn.close() // the error is told already
		r = nil
	}
	p.slots <- r
}

// close waits for every reader to be given back.
func (p *pool) close() error {
	var errs []error
	for range cap(p.slots) {
		if r := <-p.slots; r != nil {
			errs = append(errs, r.conn.close())
		}
	}
	return errors.Join(errs...)
}

func newReader(path string) (*reader, error) {
	c, err := connect(path, "ro", "busy_timeout = 5000", "cache_size = -4096")
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c}
	r.stream, err = c.prepare("SELECT " + columns + ` FROM commits WHERE stream = ?1 AND last >= ?2 AND revision >= coalesce(
		(SELECT revision FROM commits WHERE stream = ?1 AND revision <= ?2 ORDER BY revision DESC LIMIT 1), 0)
		ORDER BY revision LIMIT ?3`)
	if err == nil {
		r.log, err = c.prepare("SELECT " + columns + " FROM commits WHERE position > ? ORDER BY position LIMIT ?")
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return r, nil
}
