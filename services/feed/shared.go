package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/eventlog"
	"umpire/pkg/queue"
	"umpire/services/fault"
	"umpire/services/metrics"
)

const (
	// ackWait is how long a replica may say nothing of a commit before another gets it; one that is at work says so
	// three times in that span.
	ackWait = 6 * time.Second
	// maxUnacknowledged bounds how many commits all replicas together may have in their hands.
	maxUnacknowledged = 4096
)

// Shared deals with the commits of matches together with the other replicas of a service: they share one durable consumer
// of FEED, which gives each commit to one of them, and again when that one dies before it has acknowledged.
//
// A consumer that was lost, with what it knew, is made anew. What FEED may not hold any more is found in the log: each
// replica reads that through once when it begins, and again when FEED was wiped or has dropped what nobody acknowledged.
type Shared struct {
	Name    string
	JS      jetstream.JetStream
	History Feed // the log
	Head    func(ctx context.Context) (uint64, error)
	Handle  Handle
	// Settle returns when what Handle began is done, so that the commit may be acknowledged; nil where Handle does all.
	Settle  func(ctx context.Context, commit *eventlog.Commit) error
	Workers int
	Log     *slog.Logger
	Bury    Bury

	restart atomic.Bool
	seen    seen

	mu      sync.Mutex
	held    map[jetstream.Msg]bool // in this replica's hands
	covered covered
	voided  int // how often what was covered turned out not to be enough
}

// seen is what the last look has found of the consumer. It outlives a round, and not the consumer: one that was made anew
// counts as acknowledged whatever FEED did not hold any more by then, and one whose messages were dropped too.
type seen struct {
	created time.Time
	floor   uint64 // up to this sequence all was acknowledged
	last    uint64 // the stream's last sequence
}

// covered is what this replica has made up for by reading the log: all that the stream that was created then did not hold
// any more before a sequence.
type covered struct {
	created time.Time
	first   uint64
}

// Restart makes the service take up its consumer anew.
func (s *Shared) Restart() { s.restart.Store(true) }

// Run works until the context ends, which is its error.
func (s *Shared) Run(ctx context.Context) error {
	s.held = map[jetstream.Msg]bool{}
	said := ""
	for wait := firstGap; ; wait = min(2*wait, LastGap) {
		began := time.Now()
		err := s.round(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > 2*LastGap {
			wait, said = firstGap, ""
		}
		if said != err.Error() {
			said = err.Error()
			s.Log.Warn("the service takes up its consumer anew", "service", s.Name, "error", err)
		}
		metrics.ConsumerRestarts.WithLabelValues(s.Name).Inc()
		if !Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// round is one try at consuming: one stream, one consumer.
type round struct {
	*Shared
	crew     *crew
	helpers  sync.WaitGroup
	stream   jetstream.Stream
	consumer jetstream.Consumer
	created  time.Time // when the stream was

	looked time.Time
	first  uint64 // what the stream held no more, before this sequence, was read in the log
	unread bool   // the log is to be read through
}

// round consumes until something fails.
func (s *Shared) round(ctx context.Context) error {
	s.restart.Store(false)
	stream, err := s.JS.Stream(ctx, queue.FeedStream)
	if err != nil {
		return fmt.Errorf("looking for %s: %w", queue.FeedStream, err)
	}
	consumer, err := s.prepare(ctx, stream)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &round{Shared: s, stream: stream, consumer: consumer, created: stream.CachedInfo().Created}
	r.crew = newCrew(ctx, s.Workers, crewOptions{s.Name, s.Handle, s.Bury, s.Log})
	defer r.helpers.Wait()
	defer r.crew.dismiss()
	defer cancel()
	s.mu.Lock()
	r.first, r.unread = s.covered.first, !s.covered.created.Equal(r.created)
	s.mu.Unlock()
	messages, err := pull(consumer)
	if err != nil {
		return err
	}
	defer leave(messages)
	r.helpers.Go(func() { s.sayThatWeWork(ctx) })
	return r.consume(ctx, messages)
}

// prepare finds the durable consumer that all replicas share, or makes it.
func (s *Shared) prepare(ctx context.Context, stream jetstream.Stream) (jetstream.Consumer, error) {
	want := jetstream.ConsumerConfig{
		Durable: s.durable(), Description: "shared by all replicas of the " + s.Name,
		DeliverPolicy: jetstream.DeliverAllPolicy, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
		MaxDeliver: -1, MaxAckPending: maxUnacknowledged, FilterSubject: queue.FeedSubject("match-*"),
	}
	consumer, err := stream.Consumer(ctx, want.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		consumer, err = stream.CreateConsumer(ctx, want)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing the consumer %s: %w", want.Durable, err)
	}
	has := consumer.CachedInfo().Config
	for _, differs := range []struct {
		what string
		is   bool
	}{
		{"ack policy", has.AckPolicy != want.AckPolicy}, {"ack wait", has.AckWait != want.AckWait},
		{"filter", has.FilterSubject != want.FilterSubject || len(has.FilterSubjects) > 0},
		{"max deliver", has.MaxDeliver != want.MaxDeliver}, {"deliver policy", has.DeliverPolicy != want.DeliverPolicy},
		{"choice of headers only", has.HeadersOnly},
	} {
		if differs.is {
			return nil, fmt.Errorf("the consumer %s has another %s than umpire gave it; delete it, and it is made anew", want.Durable, differs.what)
		}
	}
	return consumer, nil
}

// leave gives back what was fetched and not taken: another replica need not wait until it is due again, nor is anything
// sent any more to one that has gone.
func leave(messages jetstream.MessagesContext) {
	messages.Drain()
	for {
		msg, err := messages.Next(jetstream.NextMaxWait(quiet))
		if err != nil {
			return
		}
		_ = msg.Nak() // one that is lost comes again when it is due
	}
}

func (r *round) consume(ctx context.Context, messages jetstream.MessagesContext) error {
	for {
		if time.Since(r.looked) >= quiet {
			r.looked = time.Now()
			if err := r.look(ctx); err != nil {
				return err
			}
		}
		msg, err := next(ctx, messages)
		if err != nil {
			return err
		}
		if r.restart.Load() {
			return errors.New("it was stuck")
		}
		if msg != nil {
			if err := r.take(ctx, msg); err != nil {
				return err
			}
		}
	}
}

// look finds out whether stream and consumer are still there, and whether all can be had from them that was not dealt with.
func (r *round) look(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	consumer, err := r.consumer.Info(short) // before the stream, which may drop messages in between
	var stream *jetstream.StreamInfo
	if err == nil {
		stream, err = r.stream.Info(short)
	}
	switch {
	case lost(err):
		return err
	case err != nil:
		return nil // the broker is away, and the consumer comes back with it
	case !stream.Created.Equal(r.created):
		return errAnother
	}
	if !consumer.Created.Equal(r.seen.created) {
		r.seen = seen{created: consumer.Created}
	}
	// What was dropped unacknowledged since the last look stood behind the floor of that time.
	if stream.State.FirstSeq > max(r.seen.floor+1, r.first) {
		r.miss()
	}
	r.seen.floor = consumer.AckFloor.Stream
	if consumer.NumPending == 0 && consumer.NumAckPending == 0 { // what follows in the feed is no match's
		r.seen.floor = max(r.seen.floor, r.seen.last)
	}
	r.seen.last = stream.State.LastSeq
	if !r.unread {
		return nil
	}
	r.first, r.unread = stream.State.FirstSeq, false
	return r.read(ctx)
}

// miss notes that the log has what this replica may never get from FEED: in this round, or in the next if this one ends.
func (r *round) miss() {
	r.unread = true
	r.mu.Lock()
	defer r.mu.Unlock()
	r.covered = covered{}
	r.voided++
}

// read deals with the log as it stands: what FEED does not hold any more, or what a consumer that was lost knew of. Once
// all of it was dealt with, and not just handed to workers, the next round need not do it again.
func (r *round) read(ctx context.Context) error {
	r.mu.Lock()
	covers, voided := covered{r.created, r.first}, r.voided
	r.mu.Unlock()
	var given sync.WaitGroup
	if err := r.readUp(ctx, &given); err != nil {
		return err
	}
	r.helpers.Go(func() {
		given.Wait()
		if ctx.Err() != nil { // workers leave then what they have
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.voided == voided {
			r.covered = covers
		}
	})
	return nil
}

func (r *round) readUp(ctx context.Context, given *sync.WaitGroup) error {
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	for commit, err := range eventlog.Upto(ctx, r.History, 0, head) {
		if err != nil {
			return err
		}
		given.Add(1)
		if !r.crew.give(ctx, task{commit, func(context.Context) { given.Done() }}) {
			return ctx.Err()
		}
	}
	return nil
}

// take hands a message to its worker; it is acknowledged when all has been done that follows from it.
func (r *round) take(ctx context.Context, msg jetstream.Msg) error {
	commit, err := commitOf(msg.Subject(), msg.Headers(), msg.Data())
	if err != nil {
		return r.buryMessage(ctx, msg, err)
	}
	r.hold(msg, true)
	done := func(ctx context.Context) {
		r.helpers.Go(func() {
			defer r.hold(msg, false)
			answer := msg.Nak // another replica need not wait
			if r.settle(ctx, &commit) {
				fault.Point(r.Name + ".handled")
				answer = msg.Ack
			}
			if err := answer(); err != nil {
				r.Log.Debug("an acknowledgement is lost; the commit comes again", "service", r.Name, "error", err)
			}
		})
	}
	if !r.crew.give(ctx, task{commit, done}) {
		r.hold(msg, false)
		return ctx.Err()
	}
	return nil
}

func (s *Shared) hold(msg jetstream.Msg, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.held[msg] = true
	} else {
		delete(s.held, msg)
	}
}

// settle waits until the commit may be acknowledged, however long that takes; false means that the context ended.
func (s *Shared) settle(ctx context.Context, commit *eventlog.Commit) bool {
	for wait := firstGap; ctx.Err() == nil; wait = min(2*wait, LastGap) {
		if s.Settle == nil || s.Settle(ctx, commit) == nil {
			return ctx.Err() == nil
		}
		Pause(ctx, wait)
	}
	return false
}

// buryMessage deals with a message that is no commit. The log has what it should have been and is read through at the next
// look, however many such messages there are, so no match stops.
func (r *round) buryMessage(ctx context.Context, msg jetstream.Msg, why error) error {
	r.Log.Error("a message of the feed is given up", "service", r.Name, "error", why)
	if r.Bury != nil {
		if err := r.Bury(ctx, r.Name, nil, why); err != nil {
			return err
		}
	}
	if err := msg.Term(); err != nil {
		return fmt.Errorf("giving a message up: %w", err)
	}
	r.miss()
	return nil
}

// sayThatWeWork keeps the commits that wait for a fault to pass from being given to another replica all the time.
func (s *Shared) sayThatWeWork(ctx context.Context) {
	for Pause(ctx, ackWait/3) {
		s.mu.Lock()
		held := make([]jetstream.Msg, 0, len(s.held))
		for msg := range s.held { // order-free: each is told of by itself
			held = append(held, msg)
		}
		s.mu.Unlock()
		for _, msg := range held {
			_ = msg.InProgress() // one that is lost lets another replica do the same work
		}
	}
}
