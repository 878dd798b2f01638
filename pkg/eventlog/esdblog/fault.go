package esdblog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"umpire/pkg/eventlog"
)

// fault is a failed call as the server explained it.
type fault struct {
	err       error
	exception string // EventStoreDB's name for it, empty for one that is gRPC's alone
	leader    string // the address to turn to, where the server is not the leader and knows who is
}

// explain makes a fault of what a call returned. nil stays nil.
func explain(err error, trailer metadata.MD) error {
	if err == nil {
		return nil
	}
	first := func(key string) string {
		if values := trailer.Get(key); len(values) > 0 {
			return values[0]
		}
		return ""
	}
	f := &fault{err: err, exception: first("exception")}
	host, port := first("leader-endpoint-host"), first("leader-endpoint-port")
	if f.exception == "not-leader" && host != "" && port != "" {
		f.leader = net.JoinHostPort(host, port)
	}
	return f
}

// Error implements error.
func (f *fault) Error() string {
	if f.exception != "" {
		return fmt.Sprintf("%v (%s)", f.err, f.exception)
	}
	return f.err.Error()
}

// Unwrap gives the error of gRPC's.
func (f *fault) Unwrap() error { return f.err }

// exception returns EventStoreDB's name for a failure.
func exception(err error) string {
	var f *fault
	if errors.As(err, &f) {
		return f.exception
	}
	return ""
}

// hopeless says whether trying again would bring the same.
func hopeless(err error) bool {
	switch {
	case errors.Is(err, eventlog.ErrCorrupt), errors.Is(err, eventlog.ErrTooLarge), errors.Is(err, eventlog.ErrInvalid),
		errors.Is(err, eventlog.ErrClosed):
		return true
	}
	switch exception(err) {
	case "access-denied", "stream-deleted", "maximum-append-size-exceeded":
		return true
	}
	switch status.Code(root(err)) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument, codes.Unimplemented:
		return true
	default:
		return false
	}
}

// root returns the error of gRPC's in a fault, for status.Code looks at the outermost alone.
func root(err error) error {
	var f *fault
	if errors.As(err, &f) {
		return f.err
	}
	return err
}

// fail tells which kind of error of the port a failure is. ctx is the operation's.
func (l *Log) fail(ctx context.Context, doing string, err error) error {
	var conflict *eventlog.Conflict
	switch {
	case l.open.Err() != nil:
		return eventlog.ErrClosed
	case ctx.Err() != nil:
		return fmt.Errorf("esdblog: %s: %w", doing, ctx.Err())
	case errors.As(err, &conflict), errors.Is(err, eventlog.ErrCorrupt), errors.Is(err, eventlog.ErrTooLarge),
		errors.Is(err, eventlog.ErrInvalid):
		return err
	case exception(err) == "stream-deleted":
		return fmt.Errorf("%w: %s: %w", eventlog.ErrCorrupt, doing, err)
	default:
		return fmt.Errorf("%w: %s: %w", eventlog.ErrUnavailable, doing, err)
	}
}

// joined adds a second error, where there is one.
func joined(first, second error) error {
	if second == nil {
		return first
	}
	return errors.Join(first, second)
}

// tries counts how often something has failed without getting on, and waits longer each time.
type tries struct{ failed int }

const (
	mostTries = 7 // together some 0.6 s of waiting: a restarted server is met again, an absent one soon told of
	firstWait = 10 * time.Millisecond
	longest   = 2 * time.Second
)

// again waits and says whether to try once more.
func (t *tries) again(ctx context.Context, err error) bool {
	if hopeless(err) || t.failed+1 >= mostTries {
		return false
	}
	return t.wait(ctx)
}

// wait waits, and says whether ctx is still going on.
func (t *tries) wait(ctx context.Context) bool {
	wait := min(firstWait<<min(t.failed, 20), longest)
	t.failed++
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reset begins to count anew.
func (t *tries) reset() { t.failed = 0 }
