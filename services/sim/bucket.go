package sim

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/services/projector"
)

// publisher is a projector's own way to the bucket: the production one, over a bucket of the simulation.
type publisher struct {
	*projector.QueuePublisher
	w       *World
	waiting map[string]bool // matches whose view is not in the bucket yet
}

func newPublisher(w *World, log *slog.Logger) *publisher {
	return &publisher{projector.NewQueuePublisher(nil, &bucket{w: w}, log), w, map[string]bool{}}
}

// PublishView implements projector.Publisher.
func (p *publisher) PublishView(match string, revision int64, view []byte) {
	p.w.effect()
	p.waiting[match] = true
	p.QueuePublisher.PublishView(match, revision, view)
}

// Tick implements projector.Publisher. A tick is lost while the queue is away.
func (p *publisher) Tick(match string, revision int64) {
	if !p.w.down(theQueue) {
		p.w.ticked[match] = max(p.w.ticked[match], revision)
	}
}

// step puts one view into the bucket.
func (p *publisher) step() (did bool, err error) {
	if did, err = p.Step(context.Background()); !did {
		clear(p.waiting) // all of them are there
	}
	return did, err
}

// publish lets some projector put what waits longest into the bucket; did is false where none had anything.
func (w *World) publish() (did bool) {
	for range w.replicas[theProjector] {
		r := w.alive(theProjector)
		if r == nil || w.down(theQueue) {
			return false
		}
		err := w.call(r, "publish", func() (err error) {
			did, err = r.publisher.step()
			return err
		})
		if did || err != nil {
			return true
		}
	}
	if !w.calm {
		return false
	}
	for _, r := range w.replicas[theProjector] { // none is left out when all is to arrive
		if more, err := r.publisher.step(); more || err != nil {
			return true
		}
	}
	return false
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
