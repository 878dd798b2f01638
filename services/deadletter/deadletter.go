// Package deadletter deals with what a service can't deal with however often it tries: it tells of it on the service's
// dead-letter subject, counts it, and pauses the match that it belongs to, so that nobody's clock runs in a match that has
// stopped. No other match is touched.
//
// A letter tells where the commit stands, never what is in it.
package deadletter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/metrics"
)

// Letter is what the subject umpire.dead.SERVICE carries, as JSON.
type Letter struct {
	Service  string `json:"service"`
	Code     Code   `json:"code"`
	Stream   string `json:"stream,omitempty"`   // of the log; absent for a message of the feed that is no commit
	Revision uint64 `json:"revision"`           // of the commit's first event
	Position uint64 `json:"position,omitempty"` // of the commit in the log
}

// Code says what kind of thing can't be dealt with.
type Code string

// The codes.
const (
	Broken       Code = "broken"        // a broken invariant: a bug of ours
	UnknownEvent Code = "unknown-event" // an event of a version that this program does not know
	Corrupt      Code = "corrupt"       // what the log holds can't be read
	TooLarge     Code = "too-large"     // what follows from it is more than a log takes
	Invalid      Code = "invalid"       // what follows from it is refused by the log
	Undecodable  Code = "undecodable"   // a message of the feed that is no commit
)

// CodeOf returns the code of an error that no try can mend.
func CodeOf(err error) Code {
	for _, c := range []struct {
		kind error
		code Code
	}{
		{match.ErrUnknownEvent, UnknownEvent}, {match.ErrBroken, Broken}, {eventlog.ErrCorrupt, Corrupt},
		{eventlog.ErrTooLarge, TooLarge}, {eventlog.ErrInvalid, Invalid},
	} {
		if errors.Is(err, c.kind) {
			return c.code
		}
	}
	return Undecodable
}

// Office deals with commits that services give up.
type Office struct {
	Conn    *nats.Conn
	Journal *journal.Journal
	Clock   func() time.Time
	Log     *slog.Logger
}

// Bury is a feed.Bury. A commit of nil is a message of the feed that is none, which stops no match.
func (o *Office) Bury(ctx context.Context, service string, commit *eventlog.Commit, why error) error {
	letter := Letter{Service: service, Code: CodeOf(why)}
	if commit != nil {
		letter.Stream, letter.Revision, letter.Position = commit.Stream, commit.First, commit.Position
		if id, ok := journal.MatchOf(commit.Stream); ok {
			switch err := o.Journal.Halt(ctx, id, o.Clock()); {
			case err != nil && feed.Hopeless(err): // its stream can't be read: nobody can append to it either
				o.Log.Error("a match that is given up can't be paused", "match", id, "error", err)
			case err != nil:
				return fmt.Errorf("pausing a match that can't be dealt with: %w", err)
			}
		}
	}
	metrics.DeadLetters.WithLabelValues(service, string(letter.Code)).Inc()
	body, err := json.Marshal(letter)
	if err == nil {
		err = o.Conn.Publish(queue.DeadLetters(service), body)
	}
	if err != nil { // the log line and the metric tell of it too
		o.Log.Warn("a dead letter is not sent", "service", service, "error", err)
	}
	o.Log.Error("a commit is given up", "service", service, "code", letter.Code, "stream", letter.Stream, "revision", letter.Revision)
	return nil
}
