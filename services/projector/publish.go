package projector

import (
	"context"
	"log/slog"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/queue"
	"umpire/services/feed"
)

// QueuePublisher publishes through NATS: ticks at once, views to their bucket, which republishes them, as fast as it
// takes them. While the bucket is busy newer views replace older ones, so a slow disk makes views rarer, never older.
type QueuePublisher struct {
	nc  *nats.Conn
	kv  jetstream.KeyValue
	log *slog.Logger

	mu    sync.Mutex
	dirty map[string]shown
	order []string // of matches in dirty, the longest waiting first
	woken chan struct{}
}

type shown struct {
	revision int64
	view     []byte
}

// NewQueuePublisher returns a publisher; Run does its work.
func NewQueuePublisher(nc *nats.Conn, kv jetstream.KeyValue, log *slog.Logger) *QueuePublisher {
	return &QueuePublisher{nc: nc, kv: kv, log: log, dirty: map[string]shown{}, woken: make(chan struct{}, 1)}
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
	old, waiting := p.dirty[match]
	if waiting && old.revision > revision {
		return
	}
	p.dirty[match] = shown{revision, view}
	if !waiting {
		p.order = append(p.order, match)
	}
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

func (p *QueuePublisher) take() (match string, s shown, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return "", shown{}, false
	}
	match = p.order[0]
	p.order = p.order[1:]
	s = p.dirty[match]
	delete(p.dirty, match)
	return match, s, true
}

// Run puts views into the bucket until the context ends. One that the bucket does not take is tried again, unless a newer
// one has come meanwhile.
func (p *QueuePublisher) Run(ctx context.Context) error {
	failing := false
	for {
		match, s, ok := p.take()
		if !ok {
			select {
			case <-p.woken:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		_, err := p.kv.Put(ctx, match, s.view)
		if err != nil && ctx.Err() == nil {
			if !failing {
				p.log.Warn("the bucket of views takes nothing now", "error", err)
			}
			p.PublishView(match, s.revision, s.view)
			feed.Pause(ctx, feed.LastGap)
		}
		failing = err != nil
	}
}
