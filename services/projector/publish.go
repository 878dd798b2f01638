package projector

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/queue"
	"umpire/services/fault"
	"umpire/services/feed"
	"umpire/services/metrics"
)

const (
	// putters is how many views are put at once, each of another match: a put waits for the broker most of the time.
	putters = 16
	// firstGap is the pause after a put that failed; it doubles up to feed.LastGap.
	firstGap = 10 * time.Millisecond
)

// QueuePublisher publishes through NATS: ticks at once, views to the current generation of their bucket, which republishes
// them, as fast as it takes them. While the bucket is busy newer views replace older ones, so a slow disk makes views
// rarer, never older. A bucket that was lost is made again, and filled.
type QueuePublisher struct {
	// Refill publishes every match again; it is called when the bucket has lost views. Nil: nothing can be done then.
	Refill func(ctx context.Context) error
	// Recall is what a switch of generations that another process left unfinished needs: see queue.Switch.
	Recall func(ctx context.Context, match string, revision int64, stored []byte) ([]byte, error)

	nc    *nats.Conn
	shelf shelf
	log   *slog.Logger

	mu      sync.Mutex
	matches map[string]*waiting // with a view that is not in the bucket yet
	order   []string            // of those with a view to put that nobody puts, the longest waiting first
	woken   chan struct{}
	failing bool // the last put failed, and it was logged
}

// waiting is a match with a view that is not in the bucket yet.
type waiting struct {
	next    *shown // to be put; nil while the one under way is the newest
	flying  bool   // one is being put
	settled []settled
}

type shown struct {
	revision int64
	view     []byte
}

// settled is somebody who waits until a revision is in the bucket.
type settled struct {
	revision int64
	done     chan struct{}
}

// NewQueuePublisher returns a publisher; Run does its work.
func NewQueuePublisher(nc *nats.Conn, js jetstream.JetStream, log *slog.Logger) *QueuePublisher {
	p := newPublisher(nc, log)
	p.shelf.js = js
	return p
}

// NewBucketPublisher returns a publisher to one bucket, of which no generations are known.
func NewBucketPublisher(kv jetstream.KeyValue, log *slog.Logger) *QueuePublisher {
	p := newPublisher(nil, log)
	p.shelf.views = &queue.Views{Name: queue.ViewsBucket, KV: kv}
	return p
}

func newPublisher(nc *nats.Conn, log *slog.Logger) *QueuePublisher {
	return &QueuePublisher{nc: nc, log: log, matches: map[string]*waiting{}, woken: make(chan struct{}, 1)}
}

// Tick implements Publisher. A tick that is lost is made good by the readers' own looking now and then.
func (p *QueuePublisher) Tick(match string, revision int64) {
	if err := p.nc.Publish(queue.TickSubject(match), strconv.AppendInt(nil, revision, 10)); err != nil {
		p.log.Warn("a tick is lost", "match", match, "error", err)
	}
}

// PublishView implements Publisher.
func (p *QueuePublisher) PublishView(match string, revision int64, view []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.matches[match]
	if w == nil {
		w = &waiting{}
		p.matches[match] = w
	}
	if w.next != nil && w.next.revision > revision {
		return
	}
	first := w.next == nil && !w.flying
	w.next = &shown{revision, view}
	if first {
		p.queue(match)
	}
}

// queue lets a match wait for a putter; p is locked.
func (p *QueuePublisher) queue(match string) {
	p.order = append(p.order, match)
	p.wake()
}

func (p *QueuePublisher) wake() {
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// Settle implements Publisher.
func (p *QueuePublisher) Settle(ctx context.Context, match string, revision int64) error {
	p.mu.Lock()
	w := p.matches[match]
	if w == nil {
		p.mu.Unlock()
		return ctx.Err()
	}
	done := make(chan struct{})
	w.settled = append(w.settled, settled{revision, done})
	p.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take hands out the view that waits longest; until it was put or given back, no other of its match is.
func (p *QueuePublisher) take() (match string, s shown, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return "", shown{}, false
	}
	match = p.order[0]
	p.order = p.order[1:]
	if len(p.order) > 0 {
		p.wake() // another putter
	}
	w := p.matches[match]
	s = *w.next
	w.next, w.flying = nil, true
	return match, s, true
}

// landed notes that a match's view at a revision is in the bucket.
func (p *QueuePublisher) landed(match string, revision int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = false
	w := p.matches[match]
	w.flying = false
	if w.next == nil {
		delete(p.matches, match)
		for _, s := range w.settled {
			close(s.done)
		}
		return
	}
	p.queue(match)
	kept := w.settled[:0]
	for _, s := range w.settled {
		if s.revision <= revision {
			close(s.done)
			continue
		}
		kept = append(kept, s)
	}
	w.settled = kept
}

// giveBack lets a view wait again that was not put, unless a newer one has come meanwhile. The first fault is logged.
func (p *QueuePublisher) giveBack(match string, s shown, err error, quiet bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.matches[match]
	w.flying = false
	if w.next == nil || w.next.revision < s.revision {
		w.next = &s
	}
	p.queue(match)
	if !p.failing && !quiet {
		p.failing = true
		p.log.Warn("the bucket of views takes nothing now", "error", err)
	}
}

// Run puts views into the bucket until the context ends. One that the bucket does not take is tried again, unless a newer
// one has come meanwhile.
func (p *QueuePublisher) Run(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	for range putters {
		working.Go(func() { p.work(ctx) })
	}
	if p.shelf.js != nil {
		working.Go(func() { p.watch(ctx) })
	}
	<-ctx.Done()
	return ctx.Err()
}

// work puts views until the context ends.
func (p *QueuePublisher) work(ctx context.Context) {
	gap := firstGap
	for ctx.Err() == nil {
		did, err := p.try(ctx, gap < feed.LastGap/2)
		switch {
		case !did:
			select {
			case <-p.woken:
			case <-ctx.Done():
			}
		case err != nil:
			feed.Pause(ctx, gap)
			gap = min(2*gap, feed.LastGap)
		default:
			gap = firstGap
		}
	}
}

// Step puts the view that waits longest into the bucket; did is false where none waits. After an error it waits again.
func (p *QueuePublisher) Step(ctx context.Context) (did bool, err error) { return p.try(ctx, false) }

// try is Step. A bucket that is sealed, which is so for a moment when generations change, is logged only where it has not
// just been met.
func (p *QueuePublisher) try(ctx context.Context, patient bool) (did bool, err error) {
	match, s, ok := p.take()
	if !ok {
		return false, nil
	}
	put, err := p.put(ctx, match, s)
	if err != nil {
		p.giveBack(match, s, err, ctx.Err() != nil || patient && errors.Is(err, errSealed))
		return true, err
	}
	if put.Did {
		metrics.ViewsPut.Inc()
	}
	p.landed(match, put.Revision)
	return true, nil
}

// putTime bounds one put.
const putTime = 2 * time.Second

func (p *QueuePublisher) put(ctx context.Context, match string, s shown) (queue.Put, error) {
	views, err := p.shelf.current(ctx, p.look)
	if err != nil {
		return queue.Put{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	put, err := queue.PutView(ctx, views.KV, match, s.revision, s.view, false)
	if err != nil {
		p.shelf.distrust(views)
		if queue.Sealed(err) {
			err = errSealed
		}
		return put, err
	}
	fault.Point("projector.put")
	return put, nil
}
