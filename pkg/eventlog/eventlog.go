// Package eventlog is the port to the log: streams of immutable events, appended at an expected revision, read, and
// followed. The unit is the commit: what one append wrote.
//
// Every log keeps these duties; eventlogtest tries each of them.
//
//  1. Append is atomic: all its events or none, and on disk before it returns.
//  2. Append expects a revision, always. Where the stream's last revision is another, nothing is written and the error
//     is a *Conflict. Of any number of writers at one revision, one wins.
//  3. Revisions of a stream are contiguous from 0; positions rise in the order in which commits became visible.
//  4. A commit is named by its first event's id. An append of a commit that stands in the stream already, wherever,
//     writes nothing and returns the commit as it was first written, days later too. If other ids follow the first
//     one, it is ErrInvalid.
//  5. Read yields the stream's commits in order, from the one that holds the given revision, and ends. A stream that
//     does not exist yields nothing.
//  6. Follow yields all commits after a position, history then live, without gap or repeat, until its context ends
//     (then it yields the context's error) or the caller breaks; either ends within a second, leaving no goroutine.
//  7. A broken connection, a corrupt row or a closed log is an error, never a short history.
//  8. An append that can't be (a bad stream name, nothing to append, over-size) is refused with nothing written.
//  9. What was appended is read back byte for byte, after the process was killed and the log reopened too.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"umpire/pkg/event"
)

// Limits of a commit; they hold in every log, so that a log can be copied into any other.
const (
	MaxEvents     = 64      // events in one commit
	MaxEventBytes = 1 << 19 // of one event as stored; the largest of ours, 52 statements of 500 code points, fits
	MaxBytes      = 1 << 20 // of a commit as stored
)

// NoStream is the revision to expect where the stream must not exist yet.
const NoStream int64 = -1

// Commit is what one append wrote. Its events are shared by all who read them, and changed by nobody.
type Commit struct {
	Stream   string
	First    uint64 // the revision of Events[0]
	Position uint64 // in the whole log; rises from commit to commit, not by one; never 0
	Events   []event.Event
}

// Last returns the revision of the commit's last event.
func (c *Commit) Last() uint64 { return c.First + uint64(len(c.Events)) - 1 }

// Log is the port. All methods may be called concurrently. See the package comment for what each owes.
type Log interface {
	// Append writes the events as one commit behind the stream's revision expected (NoStream: none) and returns it.
	// Errors: *Conflict; ErrTooLarge; ErrInvalid; ErrClosed; ErrCorrupt; ErrUnavailable for a fault, after which it is
	// unknown whether the commit stands: the same append may be repeated without harm. Where the context ends while
	// the log is at it, that is unknown too, and the error is the context's and ErrUnavailable.
	Append(ctx context.Context, stream string, expected int64, events ...event.Event) (Commit, error)
	// Read yields the stream's commits from the one that holds revision from.
	Read(ctx context.Context, stream string, from uint64) iter.Seq2[Commit, error]
	// Follow yields every commit behind the position after (0: from the beginning), then waits for more.
	Follow(ctx context.Context, after uint64) iter.Seq2[Commit, error]
	// Head returns the position of the newest commit, 0 for an empty log.
	Head(ctx context.Context) (uint64, error)
	// Close ends all followers and frees the log. What was acknowledged stays.
	Close() error
}

// Conflict says that a stream stood at another revision than expected.
type Conflict struct {
	Stream   string
	Expected int64
	Actual   int64 // NoStream where the stream does not exist
}

// Error implements error.
func (c *Conflict) Error() string {
	return fmt.Sprintf("eventlog: %s stands at revision %d, not %d", c.Stream, c.Actual, c.Expected)
}

// The kinds of error besides *Conflict; test with errors.Is.
var (
	ErrClosed      = errors.New("eventlog: the log is closed")
	ErrUnavailable = errors.New("eventlog: the log can't be reached or written now")
	ErrCorrupt     = errors.New("eventlog: what the log holds can't be read")
	ErrTooLarge    = errors.New("eventlog: the commit is larger than a log takes")
	ErrInvalid     = errors.New("eventlog: this can't be appended")
)

var streamName = regexp.MustCompile(`^[a-z]+(-[a-z0-9]+){1,4}$`)

// Check refuses what no log takes: a bad stream name, an impossible expectation, no event, too many, too large. Every
// log calls it before it writes; sizes are those of the events as stored.
func Check(stream string, expected int64, sizes []int) error {
	if len(stream) > 64 || !streamName.MatchString(stream) {
		return fmt.Errorf("%w: %q is no stream name", ErrInvalid, stream)
	}
	if expected < NoStream {
		return fmt.Errorf("%w: revision %d can't be expected", ErrInvalid, expected)
	}
	if len(sizes) == 0 {
		return fmt.Errorf("%w: no event", ErrInvalid)
	}
	if len(sizes) > MaxEvents {
		return fmt.Errorf("%w: more than %d events", ErrTooLarge, MaxEvents)
	}
	total := 0
	for _, size := range sizes {
		if size > MaxEventBytes {
			return fmt.Errorf("%w: an event of %d bytes", ErrTooLarge, size)
		}
		total += size
	}
	if total > MaxBytes {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, total)
	}
	return nil
}
