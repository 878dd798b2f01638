// Package memlog keeps a log in memory: for tests, rehearsals and simulation. It starts no goroutine and knows no
// clock, so what it does depends on the order of the calls alone.
package memlog

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"sync"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// Log is a log in memory.
type Log struct {
	mu      sync.Mutex
	commits []eventlog.Commit // the one at position p stands at p-1; only ever appended to
	streams map[string]*stream
	more    chan struct{} // closed and replaced with every commit, closed for good with the log
	closed  bool
}

// stream holds where a stream's commits stand in Log.commits.
type stream struct {
	places []int
	named  map[event.ID]int
}

// New returns an empty log.
func New() *Log {
	return &Log{streams: map[string]*stream{}, more: make(chan struct{})}
}

// Append implements eventlog.Log.
func (l *Log) Append(ctx context.Context, name string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if err := ctx.Err(); err != nil {
		return eventlog.Commit{}, fmt.Errorf("memlog: nothing was appended to %s: %w", name, err)
	}
	packed, err := eventlog.Pack(name, expected, events)
	if err != nil {
		return eventlog.Commit{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return eventlog.Commit{}, eventlog.ErrClosed
	}
	s := l.streams[name]
	if s == nil {
		s = &stream{named: map[event.ID]int{}}
	}
	if place, stands := s.named[events[0].ID]; stands {
		return eventlog.Repeat(l.commits[place], packed.Events)
	}
	head := l.head(s)
	if head != expected {
		return eventlog.Commit{}, &eventlog.Conflict{Stream: name, Expected: expected, Actual: head}
	}
	commit := eventlog.Commit{Stream: name, Position: uint64(len(l.commits) + 1), Events: packed.Events}
	if head != eventlog.NoStream {
		commit.First = uint64(head) + 1 //nolint:gosec // a revision
	}
	s.named[events[0].ID] = len(l.commits)
	s.places = append(s.places, len(l.commits))
	l.streams[name] = s
	l.commits = append(l.commits, commit)
	close(l.more)
	l.more = make(chan struct{})
	return commit, nil
}

func (l *Log) head(s *stream) int64 {
	if len(s.places) == 0 {
		return eventlog.NoStream
	}
	return int64(l.commits[s.places[len(s.places)-1]].Last()) //nolint:gosec // far from the end of int64
}

// Read implements eventlog.Log.
func (l *Log) Read(ctx context.Context, name string, from uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		commits, places := l.snapshot(name)
		start := sort.Search(len(places), func(i int) bool { return commits[places[i]].Last() >= from })
		for i := start; ; i++ {
			if err := l.alive(ctx); err != nil {
				yield(eventlog.Commit{}, err)
				return
			}
			if i >= len(places) || !yield(commits[places[i]], nil) {
				return
			}
		}
	}
}

// snapshot returns slices of which no element will change.
func (l *Log) snapshot(name string) (commits []eventlog.Commit, places []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.streams[name]; s != nil {
		places = s.places
	}
	return l.commits, places
}

// Follow implements eventlog.Log.
func (l *Log) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		next := after
		for {
			l.mu.Lock()
			commits, more := l.commits, l.more
			l.mu.Unlock()
			for ; next < uint64(len(commits)); next++ {
				if err := l.alive(ctx); err != nil {
					yield(eventlog.Commit{}, err)
					return
				}
				if !yield(commits[next], nil) {
					return
				}
			}
			if err := l.alive(ctx); err != nil {
				yield(eventlog.Commit{}, err)
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
			}
		}
	}
}

// Head implements eventlog.Log.
func (l *Log) Head(ctx context.Context) (uint64, error) {
	if err := l.alive(ctx); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.commits)), nil
}

// Close implements eventlog.Log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		close(l.more)
	}
	return nil
}

func (l *Log) alive(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memlog: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return eventlog.ErrClosed
	}
	return nil
}

var _ eventlog.Log = (*Log)(nil)
