package feed

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"umpire/pkg/eventlog"
	"umpire/pkg/queue"
)

// errUnreadable means that a message of the feed is none that the relay wrote.
var errUnreadable = errors.New("a message of the feed can't be read")

// commitOf reads a message of the feed.
func commitOf(subject string, header nats.Header, body []byte) (eventlog.Commit, error) {
	position, err := positionOf(header)
	if err != nil {
		return eventlog.Commit{}, err
	}
	first, err := strconv.ParseUint(header.Get(queue.HeaderRevision), 10, 64)
	if err != nil {
		return eventlog.Commit{}, fmt.Errorf("%w: it has no revision", errUnreadable)
	}
	stream, ok := queue.StreamOf(subject)
	if !ok {
		return eventlog.Commit{}, fmt.Errorf("%w: its subject names no stream", errUnreadable)
	}
	events, err := eventlog.Unpack(string(body))
	if err != nil || len(events) == 0 {
		return eventlog.Commit{}, fmt.Errorf("%w: its body is no commit", errUnreadable)
	}
	return eventlog.Commit{Stream: stream, First: first, Position: position, Events: events}, nil
}

func positionOf(header nats.Header) (uint64, error) {
	position, err := strconv.ParseUint(header.Get(queue.HeaderPosition), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: it has no position", errUnreadable)
	}
	return position, nil
}

// follows reports whether a message's commit is the one that follows in the log after a position.
func follows(header nats.Header, after uint64) bool {
	previous, err := strconv.ParseUint(header.Get(queue.HeaderPrevious), 10, 64)
	return err == nil && previous <= after
}
