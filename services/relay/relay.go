// Package relay is the service that copies the log to the stream FEED, in the log's order and without gaps, and each
// event's public part to the match's public subject.
//
// Every message expects the one before it as the stream's last, so two relays can't break the order: the slower one is
// refused and goes on from where the stream stands.
package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/view"
	"umpire/services/feed"
)

// Service relays.
type Service struct {
	Feed feed.Feed
	Conn *nats.Conn
	JS   jetstream.JetStream
	Log  *slog.Logger
}

const (
	// window bounds how many messages may wait for their acknowledgement.
	window = 256
	// ackWait is how long an acknowledgement may take before the relay looks where the stream stands.
	ackWait = 10 * time.Second
)

// Run relays until the context ends, which is its error.
func (s *Service) Run(ctx context.Context) error {
	failing := false
	for {
		err := s.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !failing {
			s.Log.Warn("the relay begins again where the stream stands", "error", err)
		}
		failing = err != nil
		if !feed.Pause(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// round relays from where the stream stands until something fails.
func (s *Service) round(ctx context.Context) error {
	last, err := s.standing(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	acks := make(chan jetstream.PubAckFuture, window)
	var confirming sync.WaitGroup
	confirming.Go(func() { confirm(ctx, cancel, acks) })
	defer confirming.Wait()
	defer close(acks)
	for commit, err := range s.Feed(ctx, last) {
		if err == nil {
			err = s.publish(ctx, &commit, last, acks)
		}
		if err != nil {
			cancel(err)
			return context.Cause(ctx)
		}
		last = commit.Position
	}
	return context.Cause(ctx)
}

// standing returns the log's position of the newest commit in the stream, 0 for an empty stream.
func (s *Service) standing(ctx context.Context) (uint64, error) {
	stream, err := s.JS.Stream(ctx, queue.FeedStream)
	if err != nil {
		return 0, fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	state := stream.CachedInfo().State
	if state.Msgs == 0 {
		return 0, nil
	}
	msg, err := stream.GetMsg(ctx, state.LastSeq)
	if err != nil {
		return 0, fmt.Errorf("reading the end of %s: %w", queue.FeedStream, err)
	}
	position, err := strconv.ParseUint(msg.Header.Get(queue.HeaderPosition), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the end of %s has no position: %w", queue.FeedStream, err)
	}
	return position, nil
}

// publish sends a commit behind the one at the position last.
func (s *Service) publish(ctx context.Context, commit *eventlog.Commit, last uint64, acks chan<- jetstream.PubAckFuture) error {
	position := strconv.FormatUint(commit.Position, 10)
	msg := nats.NewMsg(queue.FeedSubject(commit.Stream))
	msg.Header.Set(queue.HeaderPosition, position)
	msg.Header.Set(queue.HeaderRevision, strconv.FormatUint(commit.First, 10))
	msg.Data = body(commit)
	options := []jetstream.PublishOpt{jetstream.WithMsgID(position)}
	if last > 0 {
		options = append(options, jetstream.WithExpectLastMsgID(strconv.FormatUint(last, 10)))
	}
	ack, err := s.JS.PublishMsgAsync(msg, options...)
	if err != nil {
		return fmt.Errorf("publishing to %s: %w", queue.FeedStream, err)
	}
	s.show(commit)
	select {
	case acks <- ack:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// body is a commit's message: its events as stored, a JSON list.
func body(commit *eventlog.Commit) []byte {
	data := []byte{'['}
	for i := range commit.Events {
		if i > 0 {
			data = append(data, ',')
		}
		data = commit.Events[i].AppendStored(data)
	}
	return append(data, ']')
}

// show publishes the events as everybody may see them.
func (s *Service) show(commit *eventlog.Commit) {
	id, ok := journal.MatchOf(commit.Stream)
	if !ok {
		return
	}
	for i := range commit.Events {
		r := journal.Recorded{Revision: commit.First + uint64(i), Event: commit.Events[i]} //nolint:gosec // an index
		shown, err := view.EventFor(nil, &r, view.Audience{ID: match.Public})
		var data []byte
		if err == nil {
			data, err = json.Marshal(shown)
		}
		if err == nil {
			err = s.Conn.Publish(queue.PublicSubject(id), data)
		}
		if err != nil {
			s.Log.Warn("a public event is not shown", "match", id, "revision", r.Revision, "error", err)
		}
	}
}

// errAckLate means that the stream did not say whether it took a message.
var errAckLate = errors.New("the stream does not acknowledge")

// confirm waits for the acknowledgements in order; the first that fails ends the round.
func confirm(ctx context.Context, cancel context.CancelCauseFunc, acks <-chan jetstream.PubAckFuture) {
	timer := time.NewTimer(ackWait)
	defer timer.Stop()
	for ack := range acks {
		timer.Reset(ackWait)
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			cancel(fmt.Errorf("the stream refused a message: %w", err))
		case <-timer.C:
			cancel(errAckLate)
		case <-ctx.Done():
		}
	}
}
