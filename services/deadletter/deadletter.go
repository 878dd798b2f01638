// Package deadletter deals with what a service can't deal with however often it tries: it tells of it on the service's
// dead-letter subject, counts it, and pauses the match that it belongs to, so that nobody's clock runs in a match that has
// stopped. No other match is touched.
//
// A letter tells where the commit stands, never what is in it.
package deadletter

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/metrics"
)

// Letter is what the subject umpire.dead.SERVICE carries, as JSON.
type Letter struct {
	Service  string    `json:"service"`
	Code     feed.Code `json:"code"`
	Stream   string    `json:"stream,omitempty"`   // of the log; absent for a message of the feed that is no commit
	Revision uint64    `json:"revision"`           // of the commit's first event
	Position uint64    `json:"position,omitempty"` // of the commit in the log
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
	letter := Letter{Service: service, Code: feed.Undecodable}
	if commit != nil {
		letter.Code, _ = feed.CodeOf(why)
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
	if err != nil { // the metric tells of it too
		o.Log.Warn("a dead letter is not sent", "service", service, "code", letter.Code, "stream", letter.Stream,
			"revision", letter.Revision, "error", err)
	}
	return nil
}
