package projector

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/queue"
	"umpire/services/feed"
)

// errSealed means that the bucket's generation is over, and another about to take its place.
var errSealed = errors.New("the bucket of views is sealed")

// lookEvery is how often the publisher looks whether the bucket is still there, and still the current one.
const lookEvery = time.Second

// shelf is the bucket that views are put into, as far as the publisher knows.
type shelf struct {
	js jetstream.JetStream // nil: there is one bucket, and no other

	looking sync.Mutex // one looks at a time

	mu     sync.Mutex
	views  *queue.Views
	doubt  bool // a put failed: look before the next one
	fewer  bool // the last look found fewer views than the one before
	missed bool // views were lost, and not all are back yet
}

// current returns the current generation's bucket; look finds out which it is, where that is not known.
func (s *shelf) current(ctx context.Context, look func(context.Context) error) (*queue.Views, error) {
	if views := s.known(); views != nil {
		return views, nil
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	if views := s.known(); views != nil { // another putter has looked
		return views, nil
	}
	if err := look(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views, nil
}

func (s *shelf) known() *queue.Views {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubt {
		return nil
	}
	return s.views
}

// distrust makes the next put look first, unless another bucket was found meanwhile.
func (s *shelf) distrust(views *queue.Views) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubt = s.doubt || s.views == views && s.js != nil
}

// found notes what a look has found.
func (s *shelf) found(views *queue.Views, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed = s.missed || made || s.lost(views)
	s.doubt = false
	s.views = views
}

// lost reports whether a bucket has not all the views any more that it, or the generation before it, was seen with. That
// it has fewer is believed when it was seen twice: while the server replaces a view, there may be one less.
func (s *shelf) lost(now *queue.Views) bool {
	was, again := s.views, s.fewer
	s.fewer = false
	if was == nil {
		return false
	}
	if was.Name != now.Name {
		return queue.GenerationOf(now.Name) < queue.GenerationOf(was.Name)
	}
	if !was.Created.Equal(now.Created) || now.Last < was.Last {
		return true
	}
	if now.Values >= was.Values || again {
		return now.Values < was.Values
	}
	s.fewer = true
	now.Values = was.Values
	return false
}

// look finds the current generation: it ends a switch that somebody has left unfinished, and makes the bucket again where
// it was lost. The caller has s.looking.
func (p *QueuePublisher) look(ctx context.Context) error {
	js := p.shelf.js
	change := queue.Switch{JS: js, Recall: p.Recall}
	pointer, err := change.Finish(ctx)
	if err != nil {
		return err
	}
	views, err := queue.OpenViews(ctx, js, pointer.Current)
	made := false
	if errors.Is(err, jetstream.ErrStreamNotFound) && feed.Pause(ctx, queue.Deleting) {
		made = true
		views, err = queue.MakeViews(ctx, js, pointer.Current, true)
	}
	if err != nil {
		return err
	}
	if views.Sealed { // between the two looks; or the pointer was lost
		return fmt.Errorf("%w: %s", errSealed, views.Name)
	}
	p.shelf.found(views, made)
	return nil
}

// watch looks after the bucket until the context ends: also while nothing is put, it may be lost.
func (p *QueuePublisher) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if p.watchOnce(ctx) && p.Refill != nil {
			p.log.Warn("the bucket of views was lost; all views are made again")
			if err := p.Refill(ctx); err != nil {
				p.shelf.owe()
				if ctx.Err() == nil {
					p.log.Warn("not all views are back yet", "error", err)
				}
			}
		}
		feed.Pause(ctx, lookEvery)
	}
}

// watchOnce looks, and reports whether views were lost.
func (p *QueuePublisher) watchOnce(ctx context.Context) (missed bool) {
	if err := p.Look(ctx); err != nil { // the broker is away: who has a view to put says so
		return false
	}
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	missed, p.shelf.missed = p.shelf.missed, false
	return missed
}

// owe notes that views are still missing.
func (s *shelf) owe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missed = true
}

// Look finds the current generation's bucket now. Run does so by itself, every second.
func (p *QueuePublisher) Look(ctx context.Context) error {
	p.shelf.looking.Lock()
	defer p.shelf.looking.Unlock()
	return p.look(ctx)
}
