// Package esdblog keeps a log in EventStoreDB, a server or a cluster of them.
//
// One event of umpire is one of EventStoreDB's: its type is the event's, its data are the event as stored, its revision
// is the revision, so that every tool of EventStoreDB shows a match as it is. Its metadata say which commit it belongs
// to, how many events that has, and which of them it is: {"commit":"<id of the first event>","n":3,"i":0}. An append is
// one write of the server's, all of it or nothing. A commit's position is the commit position of its last event in $all.
// Streams begin with match-, tournament- or umpire-, and streams so named must be nobody else's.
//
// Three things are not as one might expect:
//
//   - The events' ids at the server are random, made anew for each attempt; umpire's ids stand in the data. Were they
//     the server's ids, it would answer the repeat of a write with "success" and not say that it wrote nothing, though
//     what stands may be another replica's commit of the same name with other salts. With fresh ids the answer tells
//     the truth, and duty 4 is kept here: before a write, all ids that stand in the stream are known.
//   - The client's configuration, its connection strings and its protocol are used; esdb.Client itself is not. It takes
//     the connection from one goroutine without regard to a caller's context, can end for good in an outage while
//     callers wait, never closes the connection that it replaces, panics when it is closed under a call, and does not
//     send what asks for the leader, so that a follower of the cluster may answer a read with old news. gRPC's own
//     connection has none of these faults, reconnects by itself and heeds contexts. The settings maxDiscoverAttempts
//     and discoveryInterval therefore have no effect: each operation tries a few times, for about a second, and then
//     is ErrUnavailable; Follow tries for ever.
//   - All calls go to the leader, for a log must read what it has written.
//
// The server takes 1 MiB in one append by default, its metadata and the types of events included. A commit may have that
// much data alone, so the server needs EVENTSTORE_MAX_APPEND_SIZE=2097152 (--max-append-size); with less, the largest
// commits are ErrTooLarge. Versions before 22.6 do not tell positions when a stream is read: Read then looks through
// $all, which is slow.
package esdblog

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"umpire/pkg/eventlog"
)

// The limits of patience and memory.
const (
	quiet       = 5 * time.Second  // of a subscription that brings nothing: then it is asked whether there is something
	patience    = 10 * time.Second // for one message of the server's, unless the URL has a defaultDeadline
	rememberIDs = 1 << 20          // of commits, over all streams; some 60 bytes each
)

// prefixes are what the names of umpire's streams begin with: Follow asks the server for these alone.
var prefixes = []string{"match-", "tournament-", "umpire-"}

// options are what tests change.
type options struct {
	quiet, patience time.Duration
	rememberIDs     int
}

// Log is a log in EventStoreDB.
type Log struct {
	link    *link
	streams *memories
	options options

	open  context.Context // ends with Close
	close context.CancelFunc
	once  sync.Once

	newest  atomic.Uint64 // the highest position of a commit that this log has seen
	answers atomic.Int32  // what is known of the positions that the server answers appends with
}

// Open returns the log at a connection string of EventStoreDB's: esdb://host:2113, esdb://a,b,c for the nodes of a
// cluster, esdb+discover://name for a cluster behind one DNS name, with ?tls=false, tlsCaFile, tlsVerifyCert,
// userCertFile, userKeyFile, keepAliveInterval, keepAliveTimeout, gossipTimeout and defaultDeadline as its client takes
// them. It fails with ErrUnavailable where the server can't be reached now. The user must be allowed to read $all.
func Open(ctx context.Context, url string) (*Log, error) {
	return open(ctx, url, options{quiet: quiet, patience: patience, rememberIDs: rememberIDs})
}

func open(ctx context.Context, url string, o options) (*Log, error) {
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	if config.DefaultDeadline != nil {
		o.patience = *config.DefaultDeadline
	}
	k, err := newLink(config)
	if err != nil {
		return nil, err
	}
	l := &Log{link: k, streams: newMemories(o.rememberIDs), options: o}
	l.open, l.close = context.WithCancel(context.Background()) //nolint:gosec // Close ends it
	if _, err := l.Head(ctx); err != nil {
		return nil, fmt.Errorf("esdblog: opening the log: %w", joined(err, l.Close()))
	}
	return l, nil
}

// Head implements eventlog.Log.
func (l *Log) Head(ctx context.Context) (uint64, error) {
	ctx, stop := l.begin(ctx)
	defer stop()
	for t := (tries{}); ; {
		err := l.ended(ctx)
		if err != nil {
			return 0, l.fail(ctx, "its head", err)
		}
		var head uint64
		if head, err = l.head(ctx); err == nil {
			return head, nil
		}
		if !t.again(ctx, err) {
			return 0, l.fail(ctx, "its head", err)
		}
	}
}

// head asks the server where the newest commit ends.
func (l *Log) head(ctx context.Context) (uint64, error) {
	// The newest event of ours is its commit's last, for a write is visible as a whole or not at all. Should it be seen
	// in part, the commit before ends among so many.
	for _, count := range []uint64{1, eventlog.MaxEvents} {
		var found uint64
		met := false
		err := l.receive(ctx, readHead(count), func(p *piece) (bool, error) {
			met = true
			if p.mark.last() {
				found = p.position
			}
			return found == 0, nil
		})
		if err != nil {
			return 0, err
		}
		if found != 0 || !met {
			l.saw(found)
			break
		}
	}
	return l.newest.Load(), nil // a read that another overtook doesn't make the head go back
}

// saw remembers a commit's position.
func (l *Log) saw(position uint64) {
	for {
		newest := l.newest.Load()
		if position <= newest || l.newest.CompareAndSwap(newest, position) {
			return
		}
	}
}

// Close implements eventlog.Log. An append under way ends with ErrClosed, and may stand.
func (l *Log) Close() error {
	var err error
	l.once.Do(func() {
		l.close()
		err = l.link.close()
	})
	return err
}

// begin returns a context that ends with the caller's and with the log.
func (l *Log) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.open, func() { cancel(eventlog.ErrClosed) })
	return ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// ended returns why nothing more may be done: the log is closed, or the caller's context has ended.
func (l *Log) ended(ctx context.Context) error {
	if l.open.Err() != nil {
		return eventlog.ErrClosed
	}
	return ctx.Err()
}

// ours says whether a stream may be one of umpire's.
func ours(stream string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(stream, p) {
			return true
		}
	}
	return false
}

var _ eventlog.Log = (*Log)(nil)
