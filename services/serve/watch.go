package serve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"umpire/services/feed"
	"umpire/services/metrics"
)

const (
	// watchEvery is how often a service compares what it has dealt with to what there is.
	watchEvery = 2 * time.Second
	// stuckAfter is how long a service may stand still while the log grows before it takes up its consumer anew.
	stuckAfter = 15 * time.Second
)

// watch compares a service's checkpoint with the log's head: a service that is stuck says so, and begins again.
type watch struct {
	name    string
	head    func(ctx context.Context) (uint64, error)
	at      func(ctx context.Context) (uint64, error)
	restart func() // nil where there is nothing to take up anew

	mu    sync.Mutex
	begun uint64    // the head that was to be reached when the watch began; 0 once it was
	last  uint64    // the checkpoint when it moved last
	since time.Time // when that was, or when there was nothing to do
	tried time.Time // when it was made to begin again last
	known bool
	why   error // for /readyz
}

// look compares once.
func (w *watch) look(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	at, err := w.at(ctx) // before the head, which is never behind it then
	var head uint64
	if err == nil {
		head, err = w.head(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil { // nothing can be told; the log and the queue have checks of their own
		w.why = err
		w.since = now
		return
	}
	metrics.LogHead.WithLabelValues(w.name).Set(float64(head))
	metrics.FeedPosition.WithLabelValues(w.name).Set(float64(at))
	if !w.known {
		w.known, w.begun, w.since = true, head, now
	}
	if at != w.last || at == head {
		w.last, w.since = at, now
	}
	if at >= w.begun {
		w.begun = 0
	}
	switch {
	case at > head:
		w.why = fmt.Errorf("FEED stands at %d and the log ends at %d: NATS holds the feed of another log; wipe it", at, head)
	case now.Sub(w.since) >= stuckAfter:
		w.why = fmt.Errorf("stuck at %d of %d for %s", at, head, now.Sub(w.since).Round(time.Second))
		if w.restart != nil && now.Sub(w.tried) >= stuckAfter {
			w.tried = now
			w.restart()
		}
	case w.begun > 0:
		w.why = fmt.Errorf("reading the log: at %d of %d", at, w.begun)
	case at >= head, now.Sub(w.since) < 2*watchEvery:
		w.why = nil
	}
}

func (w *watch) check(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.why
}

// watchLoop watches a loop over a feed of its own.
func (p *Program) watchLoop(loop *feed.Loop, restart func()) {
	p.watch(loop.Name, func(context.Context) (uint64, error) { return loop.Position(), nil }, restart)
}

// watchShared watches what all replicas of a service have dealt with together.
func (p *Program) watchShared(loop *feed.Shared) {
	p.watch(loop.Name, loop.Checkpoint, loop.Restart)
}

// watchFeed watches the end of FEED, which the relays move on.
func (p *Program) watchFeed() {
	p.watch(Relay, func(ctx context.Context) (uint64, error) { return feed.End(ctx, p.js) }, nil)
}

func (p *Program) watch(name string, at func(context.Context) (uint64, error), restart func()) {
	w := &watch{name: name, head: p.log.Head, at: at, restart: restart, why: errors.New("not begun")}
	p.watching = append(p.watching, w)
	p.board.Set(name, w.check)
}

// watchOver looks at everything now and then until the end.
func (p *Program) watchOver() {
	name := p.service
	if name == "" {
		name = "umpire"
	}
	p.work.Go(func() error {
		for {
			for _, w := range p.watching {
				w.look(p.working, time.Now())
			}
			_, ok := p.board.Report(p.working)
			metrics.Ready.WithLabelValues(name).Set(metrics.Flag(ok))
			if !feed.Pause(p.working, watchEvery) {
				return p.working.Err()
			}
		}
	})
	go func() { p.failed <- p.work.Wait() }()
}
