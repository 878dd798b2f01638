package esdblog

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"umpire/pkg/eventlog"
)

// Follow implements eventlog.Log. It subscribes at the server, and after any fault again, behind the last event that
// came, for as long as it takes. It ends with an error where its context ends, the log is closed, the server
// refuses it for good, or what comes can't be read.
func (l *Log) Follow(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) {
		ctx, stop := l.begin(ctx)
		defer stop()
		f := &follower{log: l, start: after, pieces: map[string][]*piece{}, yield: yield}
		f.seen.Store(after)
		for t := (tries{}); ; {
			before := f.start
			err := l.ended(ctx)
			if err == nil {
				err = f.follow(ctx)
			}
			if errors.Is(err, errEnough) {
				return
			}
			if f.start > before { // it has got on
				t.reset()
			}
			if ctx.Err() != nil || hopeless(err) || !t.wait(ctx) {
				yield(eventlog.Commit{}, l.fail(ctx, "following the log", err))
				return
			}
		}
	}
}

// follower is one Follow.
type follower struct {
	log     *Log
	start   uint64 // where to subscribe: behind an event of the server's, or 0
	checked bool   // whether there is an event at start
	seen    atomic.Uint64
	pieces  map[string][]*piece // of commits that have not come to their end; they outlast a subscription
	yield   func(eventlog.Commit, error) bool
}

// follow yields what one subscription brings. It returns why that ended.
func (f *follower) follow(ctx context.Context) error {
	if err := f.check(ctx); err != nil {
		return err
	}
	n, err := f.log.link.get(ctx)
	if err != nil {
		return err
	}
	defer func() { f.log.link.failed(n, err) }()
	ctx, cancel := context.WithCancelCause(toLeader(ctx))
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(context.Canceled)
	var beat atomic.Uint64
	watching.Go(func() { f.watch(ctx, &beat, cancel) })
	stream, err := n.streams.Read(ctx, subscription(f.start))
	if err != nil {
		return silent(ctx, explain(err, nil))
	}
	for {
		beat.Add(1) // odd: waiting for the server
		m, err := stream.Recv()
		beat.Add(1)
		if err != nil { // the end of a subscription is never the end of the log
			return silent(ctx, explain(err, stream.Trailer()))
		}
		if m.GetEvent() == nil {
			continue // a confirmation, a checkpoint: only that it lives
		}
		if err := f.take(ctx, m.GetEvent()); err != nil {
			return err
		}
	}
}

// check sees to it that the subscription begins behind an event. The server begins a subscription by skipping the event
// at the position it is given, which must be there: where none is, it would fail, or skip another. Then all is read from
// the beginning and what lies before is left out. Positions that the log gave are those of events, so that this is for
// a position made up, or of a log that was restored from an older copy.
func (f *follower) check(ctx context.Context) error {
	if f.checked || f.start == 0 {
		return nil
	}
	there, err := f.log.holds(ctx, f.start)
	if err != nil {
		return err
	}
	if !there {
		f.start = 0
	}
	f.checked = true
	return nil
}

// take puts an event to its commit, and yields that when it is whole.
func (f *follower) take(ctx context.Context, e *streams.ReadResp_ReadEvent) error {
	p, err := readPiece(e)
	if err != nil {
		return err
	}
	if p.position <= f.seen.Load() { // sent again, or before the place to begin at
		f.start, f.checked = max(f.start, p.position), true
		return nil
	}
	have := f.pieces[p.stream]
	if p.mark.I == len(have) && (p.mark.I == 0 || p.revision == have[0].revision+uint64(p.mark.I)) { //nolint:gosec // from 0 up
		have = append(have, p)
	} else {
		have = nil // its beginning lies before the place to begin at
	}
	f.pieces[p.stream] = have
	if p.mark.last() {
		if err := f.complete(ctx, p, have); err != nil {
			return err
		}
	}
	// The place of a checkpoint would do as well, but it need not be an event's that will be there for ever.
	f.start, f.checked = p.position, true
	f.seen.Store(p.position)
	return nil
}

// complete yields the commit of which the last event has come.
func (f *follower) complete(ctx context.Context, last *piece, have []*piece) (err error) {
	delete(f.pieces, last.stream)
	var c eventlog.Commit
	if len(have) == last.mark.N {
		c, err = assemble(have)
	} else if c, err = f.log.at(ctx, &tries{}, last.stream, last.first()); err == nil {
		c.Position = last.position
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	f.log.saw(c.Position)
	if !f.yield(c, nil) {
		return errEnough
	}
	return nil
}

// watch ends a subscription that has died without a word: it brings nothing for a while though the log has more.
func (f *follower) watch(ctx context.Context, beat *atomic.Uint64, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(f.log.options.quiet)
	defer ticker.Stop()
	before, suspected := uint64(0), false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := beat.Load()
		if now != before || now%2 == 0 { // it has brought something, or the caller is busy
			before, suspected = now, false
			continue
		}
		if suspected { // there was more one tick ago, time enough for it to come
			cancel(errSilent)
			return
		}
		bounded, done := context.WithTimeout(ctx, f.log.options.patience)
		head, err := f.log.head(bounded)
		done()
		suspected = err == nil && head > f.seen.Load()
	}
}
