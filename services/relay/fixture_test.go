package relay_test

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/games"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/relay"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 20 * time.Second
	tick     = 5 * time.Millisecond
)

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
	*servicestest.World
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{servicestest.New(t, games.All()), t}
}

// relay runs a relay, with a connection of its own, until stop is called or the test ends.
func (w *world) relay(b *broker) (stop func()) {
	w.t.Helper()
	return w.relayFrom(b, w.Log.Follow)
}

func (w *world) relayFrom(b *broker, follow feed.Feed) (stop func()) {
	w.t.Helper()
	nc, js := b.connect(w.t)
	log := w.Logged.Logger()
	s := &relay.Service{Stream: relay.NewJetStream(nc, js, log), Feed: follow, Log: log}
	return servicestest.Run(w.t, s.Run)
}

func (w *world) create(id string) {
	w.t.Helper()
	w.Make(id, servicestest.Duel(id, `{"start":"now"}`))
	w.Resolve(id)
}

func (w *world) submit(id, player, move string) {
	w.t.Helper()
	w.Move(id, player, move)
	w.Resolve(id)
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
	for c, err := range w.Log.Read(w.t.Context(), stream, 0) {
		require.NoError(w.t, err)
		head = int64(c.Last())
	}
	e := event.Event{Type: "probe.v1", By: event.Umpire, Public: []byte(public)}
	_, err := rand.Read(e.ID[:])
	require.NoError(w.t, err)
	_, err = w.Log.Append(w.t.Context(), stream, head, e)
	require.NoError(w.t, err)
}

// caughtUp waits until the stream FEED ends with the log's newest commit.
func (w *world) caughtUp(b *broker) {
	w.t.Helper()
	head, err := w.Log.Head(w.t.Context())
	require.NoError(w.t, err)
	require.Eventually(w.t, func() bool {
		stream, err := b.js.Stream(w.t.Context(), queue.FeedStream)
		if err != nil || stream.CachedInfo().State.Msgs == 0 {
			return false
		}
		msg, err := stream.GetMsg(w.t.Context(), stream.CachedInfo().State.LastSeq)
		return err == nil && msg.Header.Get(queue.HeaderPosition) == strconv.FormatUint(head, 10)
	}, patience, tick, "%s", w.Logged.String())
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
	commits, messages := w.Commits(0), w.messages(b)
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
