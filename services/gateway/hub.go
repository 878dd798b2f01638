package gateway

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"umpire/pkg/queue"
	"umpire/services/metrics"
)

// hub wakes the readers of a match when a revision of it has been projected. It has one subscription, whatever the
// number of readers.
type hub struct {
	sub *nats.Subscription

	mu      sync.Mutex
	readers map[string]map[*reader]struct{}
}

// reader is one stream's place in the hub: a slot of one, so that who is slow misses ticks in between, never the last,
// and stops nobody.
type reader struct {
	woken    chan struct{}
	revision atomic.Int64 // the newest that a tick has told of: any replica of the projector is to show no older one
}

func (r *reader) wake() {
	select {
	case r.woken <- struct{}{}:
	default:
	}
}

func newHub(conn *nats.Conn) (*hub, error) {
	h := &hub{readers: map[string]map[*reader]struct{}{}}
	sub, err := conn.Subscribe(queue.AllTicks, func(msg *nats.Msg) {
		revision, _ := strconv.ParseInt(string(msg.Data), 10, 64) // without one, whoever is woken takes what he gets
		h.tick(queue.MatchOfTick(msg.Subject), revision)
	})
	if err != nil {
		return nil, fmt.Errorf("subscribing to ticks: %w", err)
	}
	h.sub = sub
	conn.SetReconnectHandler(func(*nats.Conn) { h.wakeAll() }) // ticks were missed meanwhile
	return h, nil
}

func (h *hub) close() error { return h.sub.Unsubscribe() }

func (h *hub) join(match string) *reader {
	r := &reader{woken: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers[match] == nil {
		h.readers[match] = map[*reader]struct{}{}
	}
	h.readers[match][r] = struct{}{}
	metrics.StreamsOpen.Inc()
	return r
}

func (h *hub) leave(match string, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	metrics.StreamsOpen.Dec()
	delete(h.readers[match], r)
	if len(h.readers[match]) == 0 {
		delete(h.readers, match)
	}
}

func (h *hub) tick(match string, revision int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers[match] {
		if revision > r.revision.Load() { // only here, under the lock, is it written
			r.revision.Store(revision)
		}
		r.wake()
	}
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, readers := range h.readers { // order-free: each is woken
		for r := range readers {
			r.wake()
		}
	}
}
