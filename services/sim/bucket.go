package sim

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/services/projector"
)

// publisher is a projector's own way to the bucket: the production one, over a bucket of the simulation.
type publisher struct {
	*projector.QueuePublisher
	w *World
}

func newPublisher(w *World, log *slog.Logger) *publisher {
	return &publisher{projector.NewBucketPublisher(&bucket{w: w}, log), w}
}

// PublishView implements projector.Publisher.
func (p *publisher) PublishView(match string, revision int64, view []byte) {
	p.w.effect()
	p.QueuePublisher.PublishView(match, revision, view)
}

// Tick implements projector.Publisher. A tick is lost while the queue is away.
func (p *publisher) Tick(match string, revision int64) {
	if !p.w.down(theQueue) {
		p.w.ticked[match] = max(p.w.ticked[match], revision)
	}
}

// Settle implements projector.Publisher. Nobody else puts views while somebody waits for one, so who waits does.
func (p *publisher) Settle(ctx context.Context, match string, revision int64) error {
	for !p.settled(match, revision) {
		if _, err := p.Step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settled asks the production Settle and does not wait.
func (p *publisher) settled(match string, revision int64) bool {
	return p.QueuePublisher.Settle(&glance{Context: context.Background()}, match, revision) == nil
}

// glance is a context that ends as soon as somebody waits for its end.
type glance struct {
	context.Context
	waited bool
}

// Done implements context.Context.
func (g *glance) Done() <-chan struct{} {
	g.waited = true
	ended := make(chan struct{})
	close(ended)
	return ended
}

// Err implements context.Context.
func (g *glance) Err() error {
	if g.waited {
		return context.DeadlineExceeded
	}
	return nil
}

// publish lets some projector put what waits longest into the bucket; did is false where none had anything.
func (w *World) publish() (did bool) {
	for range w.replicas[theProjector] {
		r := w.alive(theProjector)
		if r == nil || w.down(theQueue) {
			return false
		}
		if w.publishOf(r) {
			return true
		}
	}
	// None is left out when all is to arrive.
	return w.calm && slices.ContainsFunc(w.replicas[theProjector], w.publishOf)
}

// publishOf lets a projector put a view, or make all views again where it has not done so since the bucket was lost.
func (w *World) publishOf(r *replica) (did bool) {
	err := w.call(r, "publish", func() (err error) {
		if lost := w.wipes; r.filled != lost && (w.calm || w.rng.IntN(2) == 0) {
			did = true
			if err = r.projector.ShowAll(context.Background(), w.store); err == nil {
				r.filled = lost
				w.record.note("projector %d has made all views again", r.no)
			}
			return err
		}
		did, err = r.publisher.Step(context.Background())
		return err
	})
	w.confirm(r)
	return did || err != nil
}

// confirm acknowledges the commits in a projector's hands whose views are in the bucket. An acknowledgement may be lost.
func (w *World) confirm(r *replica) {
	r.held = slices.DeleteFunc(r.held, func(at int) bool {
		if !w.settled(r, &w.feed[at]) {
			return false
		}
		if w.strikes(deliverAgain) {
			c := &w.consumers[theProjector]
			c.pending = append(c.pending, at)
		}
		return true
	})
}

// settled reports whether a projector may acknowledge a commit.
func (w *World) settled(r *replica, commit *eventlog.Commit) bool {
	id, ok := journal.MatchOf(commit.Stream)
	return !ok || r.publisher.settled(id, int64(commit.Last())) //nolint:gosec // far from 2^63
}

// entry is a view in the bucket.
type entry struct {
	jetstream.KeyValueEntry
	value    []byte
	revision uint64 // of the bucket
}

// Value implements jetstream.KeyValueEntry.
func (e *entry) Value() []byte { return e.value }

// Revision implements jetstream.KeyValueEntry.
func (e *entry) Revision() uint64 { return e.revision }

// bucket is the bucket of views as far as a projector uses it; the other methods are none.
type bucket struct {
	jetstream.KeyValue
	w *World
}

// Get implements jetstream.KeyValue.
func (b *bucket) Get(_ context.Context, key string) (jetstream.KeyValueEntry, error) {
	if b.w.down(theQueue) {
		return nil, errAway
	}
	if e := b.w.bucket[key]; e != nil {
		return e, nil
	}
	return nil, jetstream.ErrKeyNotFound
}

// Create implements jetstream.KeyValue.
func (b *bucket) Create(ctx context.Context, key string, value []byte, _ ...jetstream.KVCreateOpt) (uint64, error) {
	if b.w.bucket[key] != nil {
		return 0, jetstream.ErrKeyExists
	}
	return b.Update(ctx, key, value, 0)
}

// Update implements jetstream.KeyValue.
func (b *bucket) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	w := b.w
	w.effect()
	if w.down(theQueue) {
		return 0, errAway
	}
	if e := w.bucket[key]; e != nil && e.revision != revision {
		return 0, jetstream.ErrKeyRevisionMismatch
	}
	w.bucket[key] = &entry{value: value, revision: revision + 1}
	w.record.Shown = append(w.record.Shown, Shown{Match: key, View: value, Wipes: w.wipes})
	w.record.note("view %s %s", key, value)
	w.effect()
	if w.strikes(replyLost) {
		return 0, errors.New("sim: the bucket's answer is lost")
	}
	return revision + 1, nil
}
