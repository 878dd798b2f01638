package esdblog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// Append implements eventlog.Log. It tries again after a fault, having looked whether the commit stands; an append of
// which nothing can be learnt within about a second is ErrUnavailable.
func (l *Log) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	caller := ctx
	ctx, stop := l.begin(ctx)
	defer stop()
	if err := l.ended(ctx); err != nil {
		return eventlog.Commit{}, l.fail(ctx, "nothing was appended to "+stream, err)
	}
	packed, err := eventlog.Pack(stream, expected, events)
	if err != nil {
		return eventlog.Commit{}, err
	}
	if !ours(stream) { // no follower would see it
		return eventlog.Commit{}, fmt.Errorf("%w: the name of a stream begins with one of %q, not as %q does",
			eventlog.ErrInvalid, prefixes, stream)
	}
	w := &write{log: l, stream: stream, expected: expected, packed: packed, memory: l.streams.get(stream)}
	w.arrived = l.streams.begun(w.memory)
	select { // of those in this process only one at a time has a chance
	case w.memory.turn <- struct{}{}:
		defer func() { <-w.memory.turn }()
	case <-ctx.Done():
		return eventlog.Commit{}, l.fail(ctx, "nothing was appended to "+stream, l.ended(ctx))
	}
	c, err := w.run(ctx)
	if err == nil {
		l.saw(c.Position)
		return c, nil
	}
	err = l.fail(ctx, "appending to "+stream, err)
	if w.unknown && caller.Err() != nil && !errors.Is(err, eventlog.ErrClosed) {
		err = fmt.Errorf("%w: whether the commit stands is unknown: %w", eventlog.ErrUnavailable, err)
	}
	return eventlog.Commit{}, err
}

// write is one append on its way.
type write struct {
	log      *Log
	stream   string
	expected int64
	packed   *eventlog.Packed
	memory   *memory
	arrived  uint64 // the newest look at the stream's end that had begun when the append arrived
	doubt    bool   // the stream must be read before anything is said or written
	unknown  bool   // an attempt was sent off whose answer did not come
	tries    tries  // of all that the append takes together
}

func (w *write) run(ctx context.Context) (eventlog.Commit, error) {
	for {
		c, err := w.attempt(ctx)
		var conflict *eventlog.Conflict
		if err == nil || errors.As(err, &conflict) || ctx.Err() != nil || !w.tries.again(ctx, err) {
			return c, err
		}
	}
}

// errRefused is the server's word that the stream stands elsewhere. It is not taken for granted: the server says so too
// after a write of ours that succeeded, and while another's write, which may yet fail, is on its way.
var errRefused = errors.New("the server says that the stream stands at another revision, and where that is doesn't show")

// attempt answers the append out of what stands in the stream, or writes.
func (w *write) attempt(ctx context.Context) (eventlog.Commit, error) {
	memories, id := w.log.streams, w.packed.Events[0].ID
	v := memories.find(w.memory, id)
	if !v.known && (w.doubt || v.upTo != w.expected && v.exact <= w.arrived) {
		if err := w.refresh(ctx, v.upTo); err != nil {
			return eventlog.Commit{}, err
		}
		v = memories.find(w.memory, id)
	}
	if v.known {
		standing, err := w.log.at(ctx, &w.tries, w.stream, v.first)
		if err != nil {
			return eventlog.Commit{}, err
		}
		return eventlog.Repeat(standing, w.packed.Events)
	}
	if v.upTo != w.expected {
		// An attempt whose answer was lost can't be written any more either: the stream has left its revision.
		return eventlog.Commit{}, &eventlog.Conflict{Stream: w.stream, Expected: w.expected, Actual: v.upTo}
	}
	// All that stands up to the expected revision is known and this commit is not among it. If the stream stands
	// elsewhere by now, the server refuses.
	return w.send(ctx)
}

// refresh reads what stands behind a revision, so that the memory is complete.
func (w *write) refresh(ctx context.Context, upTo int64) error {
	look := w.log.streams.begin(w.memory)
	err := w.log.scan(ctx, &w.tries, w.stream, uint64(upTo+1), func(c *eventlog.Commit) error { //nolint:gosec // from -1 up
		w.log.streams.note(w.memory, c)
		return nil
	})
	if err == nil {
		w.log.streams.done(w.memory, look)
	}
	return err
}

// send writes the commit at the expected revision.
func (w *write) send(ctx context.Context) (eventlog.Commit, error) {
	w.doubt = true
	look := w.log.streams.begin(w.memory)
	done, err := w.log.send(ctx, w)
	if err != nil {
		return eventlog.Commit{}, err
	}
	c := eventlog.Commit{Stream: w.stream, First: uint64(w.expected + 1), Events: w.packed.Events} //nolint:gosec // from -1 up
	if done.GetCurrentRevision() != c.Last() {
		return c, fmt.Errorf("the server has written up to revision %d, not %d", done.GetCurrentRevision(), c.Last())
	}
	w.doubt, w.unknown = false, false
	w.log.streams.note(w.memory, &c)
	w.log.streams.done(w.memory, look)
	c.Position = done.GetPosition().GetCommitPosition()
	return w.log.place(ctx, &w.tries, c)
}

// What is known of the position in the answer to an append of several events.
const (
	untried   = iota
	lasts     // it is the last event's, as all known servers have it
	different // it is another
)

// place gives a commit just written the position that all who read it will see. The position in the server's answer is
// the last event's; since nothing says so in writing, the first commit of several events is read back to see.
func (l *Log) place(ctx context.Context, t *tries, c eventlog.Commit) (eventlog.Commit, error) {
	told := c.Position != 0
	if told && (len(c.Events) == 1 || l.answers.Load() == lasts) {
		return c, nil
	}
	read, err := l.at(ctx, t, c.Stream, c.First)
	if err != nil {
		return c, err
	}
	if told && read.Position == c.Position {
		l.answers.Store(lasts)
	} else {
		l.answers.CompareAndSwap(untried, different)
	}
	c.Position = read.Position
	return c, nil
}

// send makes the call.
func (l *Log) send(ctx context.Context, w *write) (done *streams.AppendResp_Success, err error) {
	messages, err := proposals(w.stream, w.expected, w.packed)
	if err != nil {
		return nil, err
	}
	n, err := l.link.get(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { l.link.failed(n, err) }()
	ctx, cancel := context.WithTimeout(toLeader(ctx), l.options.patience)
	defer cancel()
	call, err := n.streams.Append(ctx)
	if err != nil {
		return nil, explain(err, nil)
	}
	w.unknown = true
	for _, m := range messages {
		if err := call.Send(m); errors.Is(err, io.EOF) {
			break // the server has answered already
		} else if err != nil {
			return nil, explain(err, call.Trailer())
		}
	}
	answer, err := call.CloseAndRecv()
	err = explain(err, call.Trailer())
	switch {
	case exception(err) == "wrong-expected-version", answer.GetWrongExpectedVersion() != nil:
		return nil, errRefused
	case exception(err) == "maximum-append-size-exceeded":
		return nil, fmt.Errorf("%w: raise the server's EVENTSTORE_MAX_APPEND_SIZE: %w", eventlog.ErrTooLarge, err)
	case err != nil:
		return nil, err
	case answer.GetSuccess() == nil:
		return nil, errors.New("the server's answer to an append is empty")
	}
	return answer.GetSuccess(), nil
}
