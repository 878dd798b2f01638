package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Switch makes the generation that was built the current one. Any process may do it, several at once, and again after one
// has died anywhere in it: every step is one that does no harm when it is done twice.
//
// Nothing that view.* subscribers get is sent twice, lost, or sent in another order. For who builds a generation puts no
// view there that the current one has not had and sent; so when the current one is sealed, and what it has more was copied,
// all that the next one holds was sent, and nothing else was. Only then does the next one begin to republish. Projectors
// find the old one sealed, keep what they have, and put it into the new one.
type Switch struct {
	JS jetstream.JetStream
	// Recall returns what the next generation is to hold for a view that the current one holds: that match's view at
	// that revision by the log; nil for nothing, where the log knows no such revision. A nil Recall copies what stands.
	Recall func(ctx context.Context, match string, revision int64, stored []byte) ([]byte, error)
	// Step is called between any two effects; an error ends the switch there. It is for tests.
	Step func(point string) error

	from   string // the generation that was compared
	passed uint64 // and the sequence up to which
}

// Finish ends a switch that is under way, and returns the pointer as it then stands. Where none is, it does nothing.
func (s *Switch) Finish(ctx context.Context) (Pointer, error) {
	for {
		p, err := ReadPointer(ctx, s.JS)
		if err != nil || !p.Closing {
			return p, err
		}
		if err = s.finish(ctx, p); err == nil || errors.Is(err, ErrMoved) {
			continue
		}
		now, readErr := ReadPointer(ctx, s.JS)
		if readErr != nil || now == p { // else another has ended it meanwhile, and that is why we could not
			return p, fmt.Errorf("switching from %s to %s: %w", p.Current, p.Building, err)
		}
	}
}

func (s *Switch) finish(ctx context.Context, p Pointer) error {
	next, err := MakeViews(ctx, s.JS, p.Building, false)
	if err != nil {
		return err
	}
	old, err := s.seal(ctx, p.Current)
	if err != nil {
		return err
	}
	if err := s.step("sealed"); err != nil {
		return err
	}
	for old != nil { // else it was lost, and there is nothing to take over
		if err := s.Sync(ctx, old, next); err != nil {
			return err
		}
		// In a cluster, puts that were under way when the seal came are stored behind it.
		if old, err = OpenViews(ctx, s.JS, p.Current); err != nil || old.Last <= s.passed {
			break
		}
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	if err := s.step("copied"); err != nil {
		return err
	}
	if err := s.speak(ctx, p.Building); err != nil {
		return err
	}
	if err := s.step("speaking"); err != nil {
		return err
	}
	_, err = Pointer{Current: p.Building, seq: p.seq}.Save(ctx, s.JS)
	return err
}

func (s *Switch) step(point string) error {
	if s.Step == nil {
		return nil
	}
	return s.Step(point)
}

// seal closes a generation for good. When it returns, all that was ever put there has been sent to who subscribes to
// views; it returns nil for a generation that is not there any more.
func (s *Switch) seal(ctx context.Context, bucket string) (*Views, error) {
	stream, err := s.JS.Stream(ctx, streamOf(bucket))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if config := stream.CachedInfo().Config; !config.Sealed {
		config.Sealed = true
		config.MaxBytes = -1 // it does not grow, so no room need be kept for it
		// What the server makes of a sealed stream anyway: where another process seals it now, this changes nothing back.
		config.Discard, config.DenyDelete, config.DenyPurge, config.AllowRollup = jetstream.DiscardNew, true, true, false
		if _, err := s.JS.UpdateStream(ctx, config); err != nil {
			return nil, fmt.Errorf("sealing the bucket %s: %w", bucket, err)
		}
	}
	// The refusal of a put comes behind what the stream republished before it. It expects a sequence that no stream has,
	// so that a server which has not heard of the seal yet does not take it.
	for {
		knock := nats.NewMsg(keyOf(bucket, "sealed"))
		_, err := s.JS.PublishMsg(ctx, knock, jetstream.WithExpectLastSequence(math.MaxInt64))
		if Sealed(err) {
			return OpenViews(ctx, s.JS, bucket)
		}
		var refused *jetstream.APIError
		if !errors.As(err, &refused) {
			return nil, fmt.Errorf("sealing the bucket %s: %w", bucket, err)
		}
	}
}

// speak lets a generation republish what is put there from now on.
func (s *Switch) speak(ctx context.Context, bucket string) error {
	stream, err := s.JS.Stream(ctx, streamOf(bucket))
	if err != nil {
		return err
	}
	config := stream.CachedInfo().Config
	if config.RePublish != nil {
		return nil
	}
	config.RePublish = viewsConfig(bucket, true).RePublish
	if _, err := s.JS.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("making the bucket %s republish: %w", bucket, err)
	}
	return nil
}

// syncers is how many views are compared at once.
const syncers = 16

// Sync gives the next generation what the current one has newer. What was compared before is not compared again.
func (s *Switch) Sync(ctx context.Context, old, next *Views) error {
	if s.from != old.Name {
		s.from, s.passed = old.Name, 0
	}
	if old.Last <= s.passed {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stored := make(chan entry, syncers)
	var working sync.WaitGroup
	for range syncers {
		working.Go(func() {
			for e := range stored {
				if err := s.copy(ctx, next, e); err != nil {
					cancel(err)
				}
			}
		})
	}
	last, err := scan(ctx, s.JS, old.Name, s.passed, func(e entry) bool {
		select {
		case stored <- e:
			return true
		case <-ctx.Done():
			return false
		}
	})
	close(stored)
	working.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	s.passed = last
	return nil
}

// copy gives the next generation a view of the current one, unless it has it or a newer one.
func (s *Switch) copy(ctx context.Context, next *Views, e entry) error {
	revision := RevisionOf(e.view)
	if revision < 0 {
		return nil // damage is not taken over
	}
	was, err := next.KV.Get(ctx, e.match)
	if err == nil && RevisionOf(was.Value()) >= revision {
		return nil
	}
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("reading a view of %s: %w", next.Name, err)
	}
	view := e.view
	if s.Recall != nil {
		if view, err = s.Recall(ctx, e.match, revision, e.view); err != nil || view == nil {
			return err
		}
	}
	if _, err := PutView(ctx, next.KV, e.match, revision, view, true); err != nil {
		return fmt.Errorf("putting a view into %s: %w", next.Name, err)
	}
	return s.step("copying")
}

// entry is a view as it is stored.
type entry struct {
	match string
	view  []byte
}
