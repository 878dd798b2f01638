package gateway

import (
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"

	"umpire/pkg/queue"
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
type reader struct{ woken chan struct{} }

func newHub(conn *nats.Conn) (*hub, error) {
	h := &hub{readers: map[string]map[*reader]struct{}{}}
	sub, err := conn.Subscribe(queue.AllTicks, func(msg *nats.Msg) { h.tick(queue.MatchOfTick(msg.Subject)) })
	if err != nil {
		return nil, fmt.Errorf("subscribing to ticks: %w", err)
	}
	h.sub = sub
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
	return r
}

func (h *hub) leave(match string, r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers[match], r)
	if len(h.readers[match]) == 0 {
		delete(h.readers, match)
	}
}

func (h *hub) tick(match string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers[match] {
		select {
		case r.woken <- struct{}{}:
		default:
		}
	}
}
