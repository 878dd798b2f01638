package feed_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/relay"
	"umpire/services/servicestest"
)

// How long a test waits for a fact, and how often it looks.
const (
	patience = 30 * time.Second
	tick     = 5 * time.Millisecond
)

var silent = slog.New(slog.DiscardHandler)

// broker is a server on a port of its own, so that connections come back to it after it was started again.
type broker struct {
	t      *testing.T
	dir    string
	port   int
	server *server.Server
}

func newBroker(t *testing.T) *broker {
	t.Helper()
	b := &broker{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	b.start()
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start() {
	b.t.Helper()
	var err error
	b.server, err = server.NewServer(&server.Options{
		ServerName: "umpire", JetStream: true, StoreDir: b.dir, NoSigs: true, NoLog: true,
		Host: "127.0.0.1", Port: b.port, MaxPayload: eventlog.MaxBytes + 64<<10,
	})
	require.NoError(b.t, err)
	b.server.Start()
	require.True(b.t, b.server.ReadyForConnections(patience))
	address, ok := b.server.Addr().(*net.TCPAddr)
	require.True(b.t, ok)
	b.port = address.Port
}

// stop is harmless a second time.
func (b *broker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

// restart keeps the disk, or loses it.
func (b *broker) restart(disk bool, meanwhile func()) {
	b.t.Helper()
	b.stop()
	if !disk {
		require.NoError(b.t, os.RemoveAll(b.dir))
	}
	meanwhile()
	b.start()
}

func (b *broker) connect() (*nats.Conn, jetstream.JetStream) {
	b.t.Helper()
	nc, err := nats.Connect("nats://127.0.0.1:"+strconv.Itoa(b.port), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	require.NoError(b.t, err)
	b.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(b.t, err)
	return nc, js
}

// world is a log, and a broker with FEED.
type world struct {
	*broker
	log   *memlog.Log
	conn  *nats.Conn
	js    jetstream.JetStream
	heads map[string]int64
	count int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{broker: newBroker(t), log: memlog.New(), heads: map[string]int64{}}
	w.conn, w.js = w.connect()
	require.NoError(t, queue.Prepare(t.Context(), w.js))
	return w
}

// append appends commits of one event to streams in turn, of which one is no match's.
func (w *world) append(n int) {
	w.t.Helper()
	for range n {
		name := fmt.Sprintf("match-%d", w.count%7)
		if w.count%7 == 6 {
			name = "umpire-probes"
		}
		w.write(name)
	}
}

func (w *world) write(name string) eventlog.Commit {
	w.t.Helper()
	head, known := w.heads[name]
	if !known {
		head = eventlog.NoStream
	}
	w.count++
	e := event.Event{Type: "test.v1", By: event.Umpire, Public: []byte("{}")}
	binary.BigEndian.PutUint32(e.ID[:], uint32(w.count)) //nolint:gosec // a small count
	c, err := w.log.Append(w.t.Context(), name, head, e)
	require.NoError(w.t, err)
	w.heads[name] = int64(c.Last()) //nolint:gosec // a small count
	return c
}

// commits are those of the log behind a position.
func (w *world) commits(after uint64) []eventlog.Commit {
	w.t.Helper()
	return servicestest.Commits(w.t, w.log, after)
}

func (w *world) head() uint64 {
	w.t.Helper()
	head, err := w.log.Head(w.t.Context())
	require.NoError(w.t, err)
	return head
}

// relay runs a relay until stop is called or the test ends.
func (w *world) relay() (stop func()) {
	w.t.Helper()
	nc, js := w.connect()
	s := &relay.Service{Stream: relay.NewJetStream(nc, js, silent), Feed: w.log.Follow, Log: silent}
	return servicestest.Run(w.t, func(ctx context.Context) error {
		defer nc.Close()
		return s.Run(ctx)
	})
}

// copyAll relays what the log holds.
func (w *world) copyAll() {
	w.t.Helper()
	stop := w.relay()
	defer stop()
	w.caughtUp()
}

// caughtUp waits until FEED ends with the log's newest commit.
func (w *world) caughtUp() {
	w.t.Helper()
	head := w.head()
	require.Eventually(w.t, func() bool {
		end, err := feed.End(w.t.Context(), w.js)
		return err == nil && end == head
	}, patience, tick)
}

func (w *world) stream() jetstream.Stream {
	w.t.Helper()
	stream, err := w.js.Stream(w.t.Context(), queue.FeedStream)
	require.NoError(w.t, err)
	return stream
}

// purge drops FEED's messages before a sequence; 0: all of them.
func (w *world) purge(before uint64) {
	w.t.Helper()
	var options []jetstream.StreamPurgeOpt
	if before > 0 {
		options = append(options, jetstream.WithPurgeSequence(before))
	}
	require.NoError(w.t, w.stream().Purge(w.t.Context(), options...))
}

func (w *world) wipe() {
	w.t.Helper()
	require.NoError(w.t, w.js.DeleteStream(w.t.Context(), queue.FeedStream))
}

// garbage is put into FEED.
func (w *world) garbage(header nats.Header) {
	w.t.Helper()
	_, err := w.js.PublishMsg(w.t.Context(), &nats.Msg{Subject: "feed.match.x", Header: header, Data: []byte("what is this?")})
	require.NoError(w.t, err)
}

// reader follows a feed as a loop does, and keeps what it yields.
type reader struct {
	mu     sync.Mutex
	seen   []eventlog.Commit
	breaks []error
	stop   func()
}

// read follows a feed until stop is called or the test ends; each commit is first shown to look, where there is one.
func read(t *testing.T, follow feed.Feed, after uint64, look func(*eventlog.Commit)) *reader {
	t.Helper()
	r := &reader{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for at := after; feed.Pause(ctx, tick); {
			for c, err := range follow(ctx, at) {
				if err != nil {
					r.broke(ctx, err)
					break
				}
				if look != nil {
					look(&c)
				}
				r.saw(c)
				at = c.Position
			}
		}
	}()
	r.stop = sync.OnceFunc(func() { cancel(); <-ended })
	t.Cleanup(r.stop)
	return r
}

func (r *reader) saw(c eventlog.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, c)
}

// broke notes an error; the end of the context is none.
func (r *reader) broke(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil {
		r.breaks = append(r.breaks, err)
	}
}

func (r *reader) broken() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.breaks
}

func (r *reader) commits() []eventlog.Commit {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// has waits until as many commits were read as are wanted, and demands that they are those.
func (r *reader) has(t require.TestingT, want []eventlog.Commit) {
	require.Eventually(t, func() bool { return len(r.commits()) >= len(want) }, patience, tick,
		"wanted are %d commits; the feed broke by %v", len(want), r.broken())
	require.Equal(t, told(want), told(r.commits()))
}

// told is what commits are, in few words.
func told(commits []eventlog.Commit) []string {
	list := make([]string, len(commits))
	for i, c := range commits {
		list[i] = fmt.Sprintf("%d %s/%d", c.Position, c.Stream, c.First)
		for j := range c.Events {
			list[i] += " " + string(c.Events[j].AppendStored(nil))
		}
	}
	return list
}
