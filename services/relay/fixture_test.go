package relay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/relay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 20 * time.Second
	tick     = 5 * time.Millisecond
)

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// broker is an embedded server and a connection to it.
type broker struct {
	*nats.Conn
	js     jetstream.JetStream
	server *queue.Embedded
}

func startBroker(t *testing.T, dir string) *broker {
	t.Helper()
	server, err := queue.StartEmbedded(dir)
	require.NoError(t, err)
	b := &broker{server: server}
	b.Conn, b.js = b.connect(t)
	require.NoError(t, queue.Prepare(t.Context(), b.js))
	t.Cleanup(b.stop)
	return b
}

func (b *broker) connect(t *testing.T) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	nc, err := b.server.Connect("test")
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return nc, js
}

// stop is harmless a second time.
func (b *broker) stop() {
	b.Close()
	b.server.Stop()
}

// world is a log with matches in it.
type world struct {
	t     *testing.T
	log   *memlog.Log
	vault *event.Vault
	own   *journal.Journal

	mu     sync.Mutex
	logged strings.Builder
}

func newWorld(t *testing.T) *world {
	t.Helper()
	vault, err := event.NewVault(bytes.Repeat([]byte{1}, event.MasterKeySize))
	require.NoError(t, err)
	w := &world{t: t, log: memlog.New(), vault: vault}
	w.own = journal.New(w.log, games.All(), vault, rand.Reader)
	return w
}

// Write takes what is logged.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.Write(p)
}

func (w *world) lines() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.String()
}

// relay runs a relay, with a connection of its own, until stop is called or the test ends.
func (w *world) relay(b *broker) (stop func()) {
	w.t.Helper()
	return w.relayFrom(b, w.log.Follow)
}

func (w *world) relayFrom(b *broker, follow feed.Feed) (stop func()) {
	w.t.Helper()
	nc, js := b.connect(w.t)
	log := slog.New(slog.NewTextHandler(w, nil))
	s := &relay.Service{Stream: relay.NewJetStream(nc, js, log), Feed: follow, Log: log}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(w.t, <-ended, context.Canceled)
	})
	w.t.Cleanup(stop)
	return stop
}

// seed is that of every match.
var seed = bytes.Repeat([]byte{0xc0, 0xff, 0xee, 0x77}, 8)

func (w *world) create(id string) {
	w.t.Helper()
	v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"ada"},"options":{"start":"now"},` +
		`"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`))
	require.NoError(w.t, err)
	setup, err := match.ParseSetup(games.All(), v)
	require.NoError(w.t, err)
	drafts, _, err := match.Create(id, setup, seed, false, noon)
	require.NoError(w.t, err)
	_, err = w.own.Append(w.t.Context(), id, nil, event.ID{}, drafts)
	require.NoError(w.t, err)
	w.resolve(id)
}

func (w *world) decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	m, err := w.own.Load(w.t.Context(), id)
	require.NoError(w.t, err)
	drafts, err := decision(m)
	require.NoError(w.t, err)
	if len(drafts) == 0 {
		return
	}
	_, err = w.own.Append(w.t.Context(), id, m, event.ID{}, drafts)
	require.NoError(w.t, err)
	w.resolve(id)
}

func (w *world) resolve(id string) {
	w.t.Helper()
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Resolve(noon), nil })
}

func (w *world) submit(id, player, move string) {
	w.t.Helper()
	v, err := event.Parse([]byte(move))
	require.NoError(w.t, err)
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Submit(player, 0, false, v, noon) })
}

// fill appends commits of one event to streams in turn.
func (w *world) fill(streams, each int) {
	w.t.Helper()
	for n := range streams * each {
		w.append(fmt.Sprintf("match-%d", n%streams), `{}`)
	}
}

// append appends an event of a probe's kind to a stream.
func (w *world) append(stream, public string) {
	w.t.Helper()
	head := eventlog.NoStream
	for c, err := range w.log.Read(w.t.Context(), stream, 0) {
		require.NoError(w.t, err)
		head = int64(c.Last())
	}
	e := event.Event{Type: "probe.v1", By: event.Umpire, Public: []byte(public)}
	_, err := rand.Read(e.ID[:])
	require.NoError(w.t, err)
	_, err = w.log.Append(w.t.Context(), stream, head, e)
	require.NoError(w.t, err)
}

// commits are the log's.
func (w *world) commits() (list []eventlog.Commit) {
	w.t.Helper()
	head, err := w.log.Head(w.t.Context())
	require.NoError(w.t, err)
	for c, err := range w.log.Follow(w.t.Context(), 0) {
		require.NoError(w.t, err)
		list = append(list, c)
		if c.Position == head {
			break
		}
	}
	return list
}

// caughtUp waits until the stream FEED ends with the log's newest commit.
func (w *world) caughtUp(b *broker) {
	w.t.Helper()
	head, err := w.log.Head(w.t.Context())
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		stream, err := b.js.Stream(w.t.Context(), queue.FeedStream)
		if err != nil || stream.CachedInfo().State.Msgs == 0 {
			return false
		}
		msg, err := stream.GetMsg(w.t.Context(), stream.CachedInfo().State.LastSeq)
		return err == nil && msg.Header.Get(queue.HeaderPosition) == strconv.FormatUint(head, 10)
	}, patience, tick, "%s", w.lines())
}

// messages are those of FEED.
func (w *world) messages(b *broker) (list []*jetstream.RawStreamMsg) {
	w.t.Helper()
	stream, err := b.js.Stream(w.t.Context(), queue.FeedStream)
	require.NoError(w.t, err)
	state := stream.CachedInfo().State
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := stream.GetMsg(w.t.Context(), seq)
		require.NoError(w.t, err)
		list = append(list, msg)
	}
	return list
}

// same demands that FEED is the log: each commit once, in order.
func (w *world) same(b *broker) {
	w.t.Helper()
	w.caughtUp(b)
	commits, messages := w.commits(), w.messages(b)
	require.Len(w.t, messages, len(commits))
	for i, msg := range messages {
		c := commits[i]
		require.Equal(w.t, strconv.FormatUint(c.Position, 10), msg.Header.Get(queue.HeaderPosition))
		previous := uint64(0)
		if i > 0 {
			previous = commits[i-1].Position
		}
		require.Equal(w.t, strconv.FormatUint(previous, 10), msg.Header.Get(queue.HeaderPrevious))
		require.Equal(w.t, strconv.FormatUint(c.First, 10), msg.Header.Get(queue.HeaderRevision))
		require.Equal(w.t, queue.FeedSubject(c.Stream), msg.Subject)
		events, err := eventlog.Unpack(string(msg.Data))
		require.NoError(w.t, err)
		require.Equal(w.t, c.Events, events)
	}
}
