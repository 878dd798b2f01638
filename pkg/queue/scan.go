package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	scanned = 512 // views that are fetched ahead
	// scanQuiet is how long a bucket that has more may send nothing.
	scanQuiet = 10 * time.Second
)

// Viewed returns the matches that a generation has a view of, in no order.
func Viewed(ctx context.Context, js jetstream.JetStream, bucket string) ([]string, error) {
	stream, err := js.Stream(ctx, streamOf(bucket))
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = stream.Info(ctx, jetstream.WithSubjectFilter(keyOf(bucket, ">")))
	}
	if err != nil {
		return nil, fmt.Errorf("listing the bucket %s: %w", bucket, err)
	}
	matches := make([]string, 0, len(info.State.Subjects))
	for subject := range info.State.Subjects { // order-free: it is said so
		matches = append(matches, strings.TrimPrefix(subject, keyOf(bucket, "")))
	}
	return matches, nil
}

// scan yields every view of a generation that was put behind a sequence, in the order of the puts, as it stands when it is
// come to; it returns the sequence of the last put. A view that is replaced meanwhile moves behind that: the next scan, from
// there on, finds it.
func scan(
	ctx context.Context, js jetstream.JetStream, bucket string, after uint64, yield func(entry) bool,
) (last uint64, err error) {
	fail := func(err error) (uint64, error) { return after, fmt.Errorf("reading the bucket %s: %w", bucket, err) }
	stream, err := js.Stream(ctx, streamOf(bucket))
	if err != nil {
		return fail(err)
	}
	if last = stream.CachedInfo().State.LastSeq; last <= after {
		return after, nil
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: after + 1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fail(err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return fail(err)
	}
	if info.NumPending == 0 { // views were put, and removed again
		return last, nil
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(scanned))
	if err != nil {
		return fail(err)
	}
	defer messages.Stop()
	prefix := keyOf(bucket, "")
	for {
		wait, cancel := context.WithTimeout(ctx, scanQuiet)
		msg, err := messages.Next(jetstream.NextContext(wait))
		cancel()
		if err != nil {
			return fail(err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return fail(err)
		}
		removed := msg.Headers().Get("KV-Operation") != ""
		if !removed && !yield(entry{strings.TrimPrefix(msg.Subject(), prefix), msg.Data()}) {
			return after, ctx.Err()
		}
		if meta.Sequence.Stream >= last || meta.NumPending == 0 {
			return max(last, meta.Sequence.Stream), nil
		}
	}
}
