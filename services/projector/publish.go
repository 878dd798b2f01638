package projector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	for ctx.Err() == nil {
		did, err := p.Step(ctx)
		if !did {
			select {
			case <-p.woken:
			case <-ctx.Done():
			}
			continue
		}
		if err != nil && ctx.Err() == nil {
			if !failing {
				p.log.Warn("the bucket of views takes nothing now", "error", err)
			}
			feed.Pause(ctx, feed.LastGap)
		}
		failing = err != nil
	}
	return ctx.Err()
}

// Step puts the view that waits longest into the bucket; did is false where none waits. After an error it waits again.
func (p *QueuePublisher) Step(ctx context.Context) (did bool, err error) {
	match, s, ok := p.take()
	if !ok {
		return false, nil
	}
	if err := p.put(ctx, match, s); err != nil {
		p.PublishView(match, s.revision, s.view)
		return true, err
	}
	return true, nil
}

// putTries bounds how often another process may come between reading and writing a view before it is put off.
const putTries = 10

// put keeps a view in the bucket unless a newer one stands there: another process may be ahead of this one.
func (p *QueuePublisher) put(ctx context.Context, match string, s shown) error {
	var err error
	for range putTries {
		var was jetstream.KeyValueEntry
		was, err = p.kv.Get(ctx, match)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			_, err = p.kv.Create(ctx, match, s.view)
		case err == nil && (revisionOf(was.Value()) > s.revision || bytes.Equal(was.Value(), s.view)):
			return nil
		case err == nil:
			_, err = p.kv.Update(ctx, match, s.view, was.Revision())
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return err
		}
	}
	return err
}

// revisionOf is a stored view's revision; what can't be read is older than any view.
func revisionOf(view []byte) int64 {
	head := struct {
		Revision int64 `json:"revision"`
	}{-1}
	if err := json.Unmarshal(view, &head); err != nil {
		return -1
	}
	return head.Revision
}
