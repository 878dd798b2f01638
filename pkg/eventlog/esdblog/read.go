package esdblog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"umpire/pkg/eventlog"
)

// Read implements eventlog.Log. A connection that is cut on the way is made again, and the reading goes on behind the
// last commit.
func (l *Log) Read(ctx context.Context, name string, from uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		ctx, stop := l.begin(ctx)
		defer stop()
		err := l.ended(ctx)
		if err == nil && ours(name) && eventlog.Check(name, eventlog.NoStream, []int{0}) == nil {
			memory := l.streams.get(name) // who reads a stream is about to append to it
			err = l.read(ctx, &tries{}, name, from, func(c eventlog.Commit) bool {
				l.streams.note(memory, &c)
				return yield(c, nil)
			})
		}
		if errors.Is(err, errEnough) {
			return
		}
		if err == nil {
			err = l.ended(ctx)
		}
		if err != nil {
			yield(eventlog.Commit{}, l.fail(ctx, "reading "+name, err))
		}
	}
}

var (
	errEnough    = errors.New("the reader has enough")
	errNoted     = errors.New("the server doesn't tell positions here")
	errFurtherUp = errors.New("the commit that holds the revision begins further up")
	errShort     = errors.New("a commit was not sent to its end")
)

// read hands over the commits of a stream from the one that holds a revision, each with its position.
func (l *Log) read(ctx context.Context, t *tries, name string, from uint64, yield func(eventlog.Commit) bool) error {
	err := l.scan(ctx, t, name, from, func(c *eventlog.Commit) error {
		if c.Position == 0 {
			from = c.First
			return errNoted
		}
		if !yield(*c) {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errNoted) {
		return err
	}
	return l.search(ctx, t, name, from, yield)
}

// at returns the commit that begins at a revision.
func (l *Log) at(ctx context.Context, t *tries, name string, first uint64) (eventlog.Commit, error) {
	var found eventlog.Commit
	err := l.read(ctx, t, name, first, func(c eventlog.Commit) bool {
		found = c
		return false
	})
	if err != nil && !errors.Is(err, errEnough) {
		return found, err
	}
	if len(found.Events) == 0 || found.First != first {
		return found, fmt.Errorf("%w: %s has lost the commit at revision %d", eventlog.ErrCorrupt, name, first)
	}
	return found, nil
}

// scan reads a stream, and goes on behind the last event when it is cut off. Positions may be missing.
func (l *Log) scan(ctx context.Context, t *tries, name string, from uint64, take func(*eventlog.Commit) error) error {
	if from > math.MaxInt64 {
		return nil // a revision that no stream has, and which the server would take for another
	}
	s := &scanner{name: name, next: from, from: from, take: take}
	for {
		before := s.due()
		err := l.receive(ctx, readStream(name, before), func(p *piece) (bool, error) { return true, s.add(ctx, p) })
		if err == nil && len(s.pieces) > 0 {
			err = fmt.Errorf("%w: %s at revision %d", errShort, name, s.pieces[0].revision)
		}
		if err == nil {
			return nil
		}
		if errors.Is(err, errFurtherUp) {
			continue
		}
		if s.due() > before {
			t.reset()
		}
		if s.stopped != nil || ctx.Err() != nil || !t.again(ctx, err) {
			return err
		}
	}
}

// scanner puts a stream's events together into commits.
type scanner struct {
	name    string
	next    uint64 // the first revision that has not been handed over or left out
	from    uint64 // what is wanted begins with the commit that holds it
	whole   bool   // a commit's beginning has been seen, or is known: from there on none may be missing
	pieces  []*piece
	take    func(*eventlog.Commit) error
	stopped error // what take returned
}

// due returns the revision of the event to come.
func (s *scanner) due() uint64 { return s.next + uint64(len(s.pieces)) }

// add puts an event to its commit, and hands that over when it is whole.
func (s *scanner) add(ctx context.Context, p *piece) error {
	expected := s.due()
	if p.stream != s.name || p.revision != expected {
		return fmt.Errorf("%w: %s ends before revision %d and goes on at %s, %d",
			eventlog.ErrCorrupt, s.name, expected, p.stream, p.revision)
	}
	if p.mark.I != len(s.pieces) {
		if s.whole || len(s.pieces) > 0 || uint64(p.mark.I) > p.revision { //nolint:gosec // from 0 up
			return fmt.Errorf("%w: %s at revision %d: event %d of a commit where %d is due",
				eventlog.ErrCorrupt, s.name, p.revision, p.mark.I, len(s.pieces))
		}
		s.whole, s.next = true, p.revision-uint64(p.mark.I) //nolint:gosec // from 0 up
		return errFurtherUp
	}
	s.whole = true
	if s.pieces = append(s.pieces, p); !p.mark.last() {
		return nil
	}
	s.next = p.revision + 1
	pieces := s.pieces
	s.pieces = nil
	if p.revision < s.from {
		return nil
	}
	c, err := assemble(pieces)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // what has come already doesn't count: the caller has turned away
		return err
	}
	s.stopped = s.take(&c)
	return s.stopped
}

// search finds a stream's commits in $all, where the server doesn't tell positions otherwise. It reads the log from the
// beginning.
func (l *Log) search(ctx context.Context, t *tries, name string, from uint64, yield func(eventlog.Commit) bool) error {
	for {
		before := from
		s := &scanner{name: name, next: 0, from: from, take: func(c *eventlog.Commit) error {
			if c.Position == 0 {
				return fmt.Errorf("%w: %s at revision %d has no position", eventlog.ErrCorrupt, name, c.First)
			}
			from = c.Last() + 1
			if !yield(*c) {
				return errEnough
			}
			return nil
		}}
		err := l.receive(ctx, readAll(name), func(p *piece) (bool, error) {
			if p.stream != name { // the filter takes names that begin alike
				return true, nil
			}
			return true, s.add(ctx, p)
		})
		if err == nil {
			return nil
		}
		if from > before {
			t.reset()
		}
		if s.stopped != nil || ctx.Err() != nil || !t.again(ctx, err) {
			return err
		}
	}
}
