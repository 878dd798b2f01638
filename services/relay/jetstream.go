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
	"github.com/nats-io/nuid"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/view"
	"umpire/services/fault"
	"umpire/services/feed"
)

const (
	// window bounds how many messages may wait for their acknowledgement.
	window = 256
	// ackWait is how long an acknowledgement may take before the relay looks where the stream stands.
	ackWait = 10 * time.Second
	// lastAcks is how long the acknowledgements that are still to come at a round's end may take together.
	lastAcks = 2 * time.Second
	// lookEvery is how often the relay looks whether the stream still has what it took.
	lookEvery = time.Second
)

// JetStream is the stream FEED. Messages wait for their acknowledgements side by side; the first that fails makes the
// relay look where the stream stands.
type JetStream struct {
	conn *nats.Conn
	js   jetstream.JetStream
	log  *slog.Logger

	// Of the round under way:
	seq   uint64 // of the stream's last message when it began
	last  uint64 // the position that the stream ended at then
	round string // names its messages
	count int    // of its messages
	sent  chan sent
}

// sent is a commit whose message waits for its acknowledgement.
type sent struct {
	commit eventlog.Commit
	ack    jetstream.PubAckFuture
}

// NewJetStream returns the stream.
func NewJetStream(conn *nats.Conn, js jetstream.JetStream, log *slog.Logger) *JetStream {
	return &JetStream{conn: conn, js: js, log: log}
}

// Begin implements Stream. Until end, acknowledgements are awaited and the stream is looked at now and then: it may have
// been wiped while the log was quiet.
func (s *JetStream) Begin(ctx context.Context, fail context.CancelCauseFunc) (end func()) {
	s.round, s.count, s.sent = nuid.Next(), 0, make(chan sent, window)
	confirmed := make(chan uint64, 1)
	var working sync.WaitGroup
	working.Go(func() { s.confirm(ctx, fail, s.sent, confirmed) })
	working.Go(func() { s.watch(ctx, fail, s.last, confirmed) })
	return func() {
		fail(nil) // the round is over
		close(s.sent)
		working.Wait()
	}
}

// watch ends the round when the stream has lost what it was known to hold: at first, and what was confirmed since.
func (s *JetStream) watch(ctx context.Context, fail context.CancelCauseFunc, known uint64, confirmed <-chan uint64) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case known = <-confirmed:
			continue
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, last, err := s.standing(ctx); err == nil && last < known {
			fail(fmt.Errorf("%w: at %d, and it had %d", ErrOrder, last, known))
		}
	}
}

// Last implements Stream.
func (s *JetStream) Last(ctx context.Context) (position uint64, err error) {
	s.seq, s.last, err = s.standing(ctx)
	return s.last, err
}

// standing returns the sequence of the stream's last message, which outlives a purge, and the position that it holds.
func (s *JetStream) standing(ctx context.Context) (seq, position uint64, err error) {
	stream, err := s.js.Stream(ctx, queue.FeedStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) { // the broker has lost its disk: all in it can be made anew
		feed.Pause(ctx, queue.Deleting)
		return 0, 0, queue.Prepare(ctx, s.js)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	last := stream.CachedInfo().State.LastSeq
	position, err = feed.PositionAt(ctx, stream, last)
	return last, position, err
}

// Publish implements Stream. A round's first message expects the stream's last by its sequence, which holds in a purged
// stream too; every other expects the one before it by its name. A sequence would not do for these: where others had put
// as many messages as were refused, the next would be taken, and the stream have a gap.
func (s *JetStream) Publish(ctx context.Context, commit *eventlog.Commit, last uint64) error {
	msg := nats.NewMsg(queue.FeedSubject(commit.Stream))
	msg.Header.Set(queue.HeaderPosition, strconv.FormatUint(commit.Position, 10))
	msg.Header.Set(queue.HeaderPrevious, strconv.FormatUint(last, 10))
	msg.Header.Set(queue.HeaderRevision, strconv.FormatUint(commit.First, 10))
	msg.Data = body(commit)
	fault.Point("relay.read")
	behind := jetstream.WithExpectLastSequence(s.seq)
	if s.count > 0 {
		behind = jetstream.WithExpectLastMsgID(s.name(s.count - 1))
	}
	ack, err := s.js.PublishMsgAsync(msg, jetstream.WithMsgID(s.name(s.count)), behind)
	s.count++
	if err != nil {
		return fmt.Errorf("publishing to %s: %w", queue.FeedStream, err)
	}
	fault.Point("relay.published")
	s.sent <- sent{*commit, ack} // at the round's end too: the stream may take it
	return context.Cause(ctx)
}

// name is that of a message of the round; no other round's message has it.
func (s *JetStream) name(n int) string { return s.round + "." + strconv.Itoa(n) }

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
func (s *JetStream) show(commit *eventlog.Commit) {
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
			err = s.conn.Publish(queue.PublicSubject(id), data)
		}
		if err != nil {
			s.log.Warn("a public event is not shown", "match", id, "revision", r.Revision, "error", err)
		}
	}
}

// errAckLate means that the stream did not say whether it took a message.
var errAckLate = errors.New("the stream does not acknowledge")

// confirm waits for the acknowledgements in order, and shows what was taken. The first that fails ends the round; those
// behind it are awaited a little still, for the stream may have taken them where another relay had put the one before.
func (s *JetStream) confirm(
	ctx context.Context, fail context.CancelCauseFunc, messages <-chan sent, confirmed chan<- uint64,
) {
	patience, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastAcks, giveUp) })()
	late := time.NewTimer(ackWait)
	defer late.Stop()
	for m := range messages {
		late.Reset(ackWait)
		select {
		case <-m.ack.Ok():
			fault.Point("relay.acknowledged")
			s.show(&m.commit)
			select {
			case confirmed <- m.commit.Position:
			case <-ctx.Done():
			}
		case err := <-m.ack.Err():
			fail(fmt.Errorf("the stream refused a message: %w", err))
		case <-late.C:
			fail(errAckLate)
		case <-patience.Done():
		}
	}
}
