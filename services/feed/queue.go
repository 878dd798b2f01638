package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/eventlog"
	"umpire/pkg/queue"
	"umpire/services/metrics"
)

const (
	pulled = 256 // messages that are fetched ahead
	// pullTime is how long one request for messages lasts.
	pullTime = 5 * time.Second
	// beat is how often the broker gives a sign of life; after two that did not come a request is taken for lost.
	beat = 500 * time.Millisecond
	// quiet is how long the feed may say nothing before it is looked at: a stream that was wiped is silent too. It is
	// longer than two beats, or a lost request would never be noticed.
	quiet = 2*beat + beat/2
	// stalled is how many looks in a row may find messages that do not come before the consumer is made anew.
	stalled = 3
	// lookTime bounds how long a look at a stream may take.
	lookTime = 2 * time.Second
	// idle is how long the broker keeps a consumer that nobody asks any more.
	idle = time.Minute
)

// Queue follows the log through the stream FEED, by a consumer of its own. FEED is a window, and can be wiped and filled
// again from the log's beginning. So what its sequences tell is not relied on: each message names the commit before it in
// the log, and where that one was not seen, what is missing is read from the log.
type Queue struct {
	Name string // of the service
	JS   jetstream.JetStream
	Log  Feed

	restart atomic.Bool
}

// Restart makes who follows take up the feed anew.
func (q *Queue) Restart() { q.restart.Store(true) }

// Follow is a Feed. It ends with an error when the feed can't be consumed any more, for its follower to begin again.
func (q *Queue) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		f := follower{q: q, after: after, yield: yield}
		if err := f.run(ctx); err != nil && !f.left {
			yield(eventlog.Commit{}, err)
		}
	}
}

// follower is one call of Follow.
type follower struct {
	q     *Queue
	after uint64 // the position up to which commits were yielded
	yield func(eventlog.Commit, error) bool
	left  bool // who follows has gone away

	stream   jetstream.Stream
	consumer jetstream.Consumer
	created  time.Time // of the stream that is consumed
	seq      uint64    // of the last message seen
	behind   int       // looks in a row that found messages which do not come
}

// errLeft ends a run whose follower has broken off.
var errLeft = errors.New("feed: nobody follows any more")

func (f *follower) run(ctx context.Context) (err error) {
	f.q.restart.Store(false)
	if f.stream, err = f.q.JS.Stream(ctx, queue.FeedStream); err != nil {
		return fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	info := f.stream.CachedInfo()
	f.created = info.Created
	start, err := f.search(ctx, info.State)
	if err != nil {
		return fmt.Errorf("searching %s: %w", queue.FeedStream, err)
	}
	f.seq = start - 1
	// nats.go's ordered consumer would wait for a stream that was deleted whatever the context says, and go on at an old
	// stream's sequence in a new one.
	f.consumer, err = f.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Description:   "one process's own, of the " + f.q.Name,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: start, AckPolicy: jetstream.AckNonePolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: idle,
	})
	if err != nil {
		return fmt.Errorf("consuming %s: %w", queue.FeedStream, err)
	}
	messages, err := pull(f.consumer)
	if err != nil {
		return err
	}
	defer messages.Stop()
	return f.consume(ctx, messages)
}

func pull(consumer jetstream.Consumer) (jetstream.MessagesContext, error) {
	messages, err := consumer.Messages(
		jetstream.PullMaxMessages(pulled), jetstream.PullExpiry(pullTime), jetstream.PullHeartbeat(beat))
	if err != nil {
		return nil, fmt.Errorf("consuming %s: %w", queue.FeedStream, err)
	}
	return messages, nil
}

// next waits for a message. It returns nil and no error when there is none to be had for now.
func next(ctx context.Context, messages jetstream.MessagesContext) (jetstream.Msg, error) {
	wait, cancel := context.WithTimeout(ctx, quiet)
	defer cancel()
	msg, err := messages.Next(jetstream.NextContext(wait))
	switch {
	case err == nil:
		return msg, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, jetstream.ErrNoHeartbeat):
		return nil, nil
	}
	return nil, fmt.Errorf("consuming %s: %w", queue.FeedStream, err)
}

// search returns the sequence of the first message whose commit stands behind after.
func (f *follower) search(ctx context.Context, state jetstream.StreamState) (uint64, error) {
	low, high := max(state.FirstSeq, 1), state.LastSeq+1
	if f.after == 0 || state.Msgs == 0 {
		return low, nil
	}
	for low < high {
		middle := low + (high-low)/2
		seq, position, err := f.readable(ctx, middle, high)
		switch {
		case err != nil:
			return 0, err
		case seq < high && position <= f.after:
			low = seq + 1
		default:
			high = middle
		}
	}
	return low, nil
}

// readable returns the first message from a sequence on, and before another, that has a position; the other where there
// is none.
func (f *follower) readable(ctx context.Context, from, until uint64) (seq, position uint64, err error) {
	for seq = from; seq < until; seq++ {
		msg, err := f.stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(">")) // or the next that is still there
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
		if err != nil {
			return 0, 0, err
		}
		seq = msg.Sequence
		if position, err = positionOf(msg.Header); err == nil {
			return min(seq, until), position, nil
		}
	}
	return until, 0, nil
}

func (f *follower) consume(ctx context.Context, messages jetstream.MessagesContext) error {
	for {
		msg, err := next(ctx, messages)
		if err != nil {
			return err
		}
		if f.q.restart.Load() {
			metrics.ConsumerRestarts.WithLabelValues(f.q.Name).Inc()
			return errors.New("the consumer is made anew")
		}
		if msg == nil {
			err = f.look(ctx)
		} else {
			f.behind = 0
			err = f.take(ctx, msg)
		}
		if err != nil {
			return err
		}
	}
}

// look finds out whether silence means that nothing happens.
func (f *follower) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	_, err := f.consumer.Info(ctx)
	var info *jetstream.StreamInfo
	if err == nil {
		info, err = f.stream.Info(ctx)
	}
	switch {
	case lost(err):
		return err
	case err != nil:
		return nil // the broker is away, and the consumer comes back with it
	case !info.Created.Equal(f.created) || info.State.LastSeq < f.seq:
		return errAnother
	case info.State.LastSeq == f.seq:
		f.behind = 0
		return nil
	}
	if f.behind++; f.behind >= stalled {
		metrics.ConsumerRestarts.WithLabelValues(f.q.Name).Inc()
		return fmt.Errorf("%s has messages behind %d that do not come", queue.FeedStream, f.seq)
	}
	return nil
}

// errAnother means that the stream was wiped.
var errAnother = fmt.Errorf("%s is another than the one that was consumed", queue.FeedStream)

// lost reports whether an error says that a stream or a consumer is not there any more.
func lost(err error) bool {
	return errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound)
}

// take yields what a message holds, and before it what was not seen of the log.
func (f *follower) take(ctx context.Context, msg jetstream.Msg) error {
	meta, err := msg.Metadata()
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	f.seq = meta.Sequence.Stream
	position, err := positionOf(msg.Headers())
	if err != nil || position <= f.after { // a stranger's, or one that was seen
		return nil
	}
	commit, err := commitOf(msg.Subject(), msg.Headers(), msg.Data())
	if err != nil || !follows(msg.Headers(), f.after) { // the log says what it should have been
		return f.history(ctx, position)
	}
	return f.give(commit)
}

func (f *follower) give(commit eventlog.Commit) error {
	if !f.yield(commit, nil) {
		f.left = true
		return errLeft
	}
	f.after = commit.Position
	return nil
}

// history yields the log's commits up to a position that stands in it.
func (f *follower) history(ctx context.Context, until uint64) error {
	for commit, err := range eventlog.Upto(ctx, f.q.Log, f.after, until) {
		if err != nil {
			return err
		}
		if err := f.give(commit); err != nil {
			return err
		}
	}
	return nil
}
