package esdblog

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// toLeader marks a call as one that only the cluster's leader may answer.
func toLeader(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "requires-leader", "true")
}

// receive reads and hands over each event of ours, until take returns false or the server has told all.
func (l *Log) receive(ctx context.Context, r *streams.ReadReq, take func(*piece) (bool, error)) error {
	return l.events(ctx, r, func(e *streams.ReadResp_ReadEvent) (bool, error) {
		p, err := readPiece(e)
		if err != nil {
			return false, err
		}
		return take(p)
	})
}

// events reads and hands over each event, whosever it is. A server that falls silent is a fault.
func (l *Log) events(ctx context.Context, r *streams.ReadReq, take func(*streams.ReadResp_ReadEvent) (bool, error)) (err error) {
	n, err := l.link.get(ctx)
	if err != nil {
		return err
	}
	defer func() { l.link.failed(n, err) }()
	ctx, cancel := context.WithCancelCause(toLeader(ctx))
	defer cancel(context.Canceled)
	silence := time.AfterFunc(l.options.patience, func() { cancel(errSilent) })
	defer silence.Stop()
	stream, err := n.streams.Read(ctx, r)
	if err != nil {
		return silent(ctx, explain(err, nil))
	}
	for {
		silence.Reset(l.options.patience)
		m, err := stream.Recv()
		silence.Stop() // what the taker does takes its time
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return silent(ctx, explain(err, stream.Trailer()))
		}
		switch {
		case m.GetStreamNotFound() != nil:
			return nil
		case m.GetEvent() == nil:
			continue // the server may tell of more than was asked
		}
		if more, err := take(m.GetEvent()); err != nil || !more {
			return err
		}
	}
}

var errSilent = errors.New("the server is silent")

// silent tells the end of patience from other ends.
func silent(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}

// holds says whether there is an event at a position.
func (l *Log) holds(ctx context.Context, position uint64) (bool, error) {
	for failed := 0; ; failed++ {
		there := false
		err := l.events(ctx, readAt(position), func(e *streams.ReadResp_ReadEvent) (bool, error) {
			there = e.GetCommitPosition() == position || e.GetEvent().GetCommitPosition() == position
			return false, nil
		})
		if err == nil {
			return there, nil
		}
		if exception(err) != "" || failed == 2 && !refused(err) {
			return false, err
		}
		if failed == 2 { // no fault on the way: the server can't read there
			return false, nil
		}
		if !(&tries{failed: failed}).wait(ctx) {
			return false, err
		}
	}
}

// refused says whether it is the server that doesn't do what it was asked, in whatever words, and not the connection.
func refused(err error) bool {
	switch status.Code(root(err)) {
	case codes.Unknown, codes.InvalidArgument, codes.OutOfRange, codes.NotFound, codes.Internal, codes.FailedPrecondition:
		return !errors.Is(err, errSilent)
	default:
		return false
	}
}
