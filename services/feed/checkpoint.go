package feed

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/queue"
)

// End returns the log's position of the newest commit in FEED, 0 while there is none.
func End(ctx context.Context, js jetstream.JetStream) (uint64, error) {
	stream, err := js.Stream(ctx, queue.FeedStream)
	if err != nil {
		return 0, fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	return PositionAt(ctx, stream, stream.CachedInfo().State.LastSeq)
}

// PositionAt returns the position of the commit that a message of FEED holds, or of the last one before it where it holds
// none or is not there any more; 0 where no such commit is.
func PositionAt(ctx context.Context, stream jetstream.Stream, seq uint64) (uint64, error) {
	for first := max(stream.CachedInfo().State.FirstSeq, 1); seq >= first; seq-- {
		msg, err := stream.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", queue.FeedStream, err)
		}
		if position, err := positionOf(msg.Header); err == nil {
			return position, nil
		}
	}
	return 0, nil
}

// Checkpoint returns the log's position up to which the replicas of a service have together dealt with the feed.
func (s *Shared) Checkpoint(ctx context.Context) (uint64, error) {
	stream, err := s.JS.Stream(ctx, queue.FeedStream)
	if err != nil {
		return 0, fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	consumer, err := stream.Consumer(ctx, s.durable())
	if err != nil {
		return 0, fmt.Errorf("looking for the consumer %s: %w", s.durable(), err)
	}
	info := consumer.CachedInfo()
	if info.NumPending == 0 && info.NumAckPending == 0 { // what follows in the feed is no match's
		return PositionAt(ctx, stream, stream.CachedInfo().State.LastSeq)
	}
	return PositionAt(ctx, stream, info.AckFloor.Stream)
}

func (s *Shared) durable() string { return "umpire-" + s.Name }
