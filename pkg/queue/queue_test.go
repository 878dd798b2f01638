package queue_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)

// embedded starts a server and returns a connection to it; both end with the test.
func embedded(t *testing.T) *nats.Conn {
	t.Helper()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	return connect(t, e, "test")
}

func connect(t *testing.T, e *queue.Embedded, name string) *nats.Conn {
	t.Helper()
	nc, err := e.Connect(name)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func jets(t *testing.T, nc *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}

// soon bounds what a test waits for.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestAnEmbeddedServerLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir := t.TempDir()
	e, err := queue.StartEmbedded(dir)
	require.NoError(t, err)
	nc, err := e.Connect("test")
	require.NoError(t, err)
	js := jets(t, nc)
	require.NoError(t, queue.Prepare(t.Context(), js))
	_, err = js.Publish(t.Context(), queue.FeedSubject("match-abc"), []byte("[]"))
	require.NoError(t, err)
	nc.Close()
	e.Stop()
	goleak.VerifyNone(t, before)

	again, err := queue.StartEmbedded(dir)
	require.NoError(t, err)
	defer again.Stop()
	js = jets(t, connect(t, again, "again"))
	stream, err := js.Stream(t.Context(), queue.FeedStream)
	require.NoError(t, err, "what was stored is found again")
	assert.EqualValues(t, 1, stream.CachedInfo().State.Msgs)
	_, err = os.Stat(filepath.Join(dir, "jetstream"))
	require.NoError(t, err, "it keeps its files where it was told")
}

// TestEmbeddedServersDontMeet: they listen nowhere, so any number run on one machine and none is reached from outside.
func TestEmbeddedServersDontMeet(t *testing.T) {
	t.Parallel()
	one, other := embedded(t), embedded(t)
	stop, err := queue.Serve(t.Context(), one, "test", "a test", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
			return queue.Reply{Status: 200}
		}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, stop()) }()
	_, err = queue.Request(soon(t), one, queue.Submit, nil, nil)
	require.NoError(t, err)
	_, err = queue.Request(soon(t), other, queue.Submit, nil, nil)
	require.ErrorIs(t, err, queue.ErrNoService)
}

func TestPrepareTwice(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	require.NoError(t, queue.Prepare(t.Context(), js))
	kv, err := js.KeyValue(t.Context(), queue.ViewsBucket)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "abc", []byte("1"))
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), queue.FeedSubject("match-abc"), []byte("[]"))
	require.NoError(t, err)

	require.NoError(t, queue.Prepare(t.Context(), js))
	entry, err := kv.Get(t.Context(), "abc")
	require.NoError(t, err)
	assert.Equal(t, "1", string(entry.Value()))
	stream, err := js.Stream(t.Context(), queue.FeedStream)
	require.NoError(t, err)
	assert.EqualValues(t, 1, stream.CachedInfo().State.Msgs, "what was there stays there")
	assert.Equal(t, jetstream.DiscardOld, stream.CachedInfo().Config.Discard, "the feed is a window")
}

// TestViewsAreRepublished: a core subscription gets each view that is put into the bucket.
func TestViewsAreRepublished(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	js := jets(t, nc)
	require.NoError(t, queue.Prepare(t.Context(), js))
	all, err := nc.SubscribeSync("view.*")
	require.NoError(t, err)
	one, err := nc.SubscribeSync(queue.ViewSubject("abc"))
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	kv, err := js.KeyValue(t.Context(), queue.ViewsBucket)
	require.NoError(t, err)
	for _, id := range []string{"abc", "def"} {
		_, err := kv.Put(t.Context(), id, []byte("view of "+id))
		require.NoError(t, err)
		msg, err := all.NextMsgWithContext(soon(t))
		require.NoError(t, err)
		assert.Equal(t, queue.ViewSubject(id), msg.Subject)
		assert.Equal(t, "view of "+id, string(msg.Data))
	}
	msg, err := one.NextMsgWithContext(soon(t))
	require.NoError(t, err)
	assert.Equal(t, "view of abc", string(msg.Data))
	pending, _, err := one.Pending()
	require.NoError(t, err)
	assert.Zero(t, pending, "it has its own match's only")
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]string{
		"match-abc": "feed.match.abc", "tournament-abc": "feed.tournament.abc", "umpire-probes": "feed.umpire.probes",
		"match-a-b": "feed.match.a-b",
	} {
		assert.Equal(t, want, queue.FeedSubject(stream))
	}
	assert.Equal(t, "public.abc", queue.PublicSubject("abc"))
	assert.Equal(t, "view.abc", queue.ViewSubject("abc"))
	assert.Equal(t, "tick.abc", queue.TickSubject("abc"))
	assert.Equal(t, "abc", queue.MatchOfTick(queue.TickSubject("abc")))

	nc := embedded(t)
	js := jets(t, nc)
	require.NoError(t, queue.Prepare(t.Context(), js))
	for _, stream := range []string{"match-abc", "tournament-abc", "umpire-probes"} {
		name, err := js.StreamNameBySubject(t.Context(), queue.FeedSubject(stream))
		require.NoError(t, err)
		assert.Equal(t, queue.FeedStream, name)
	}
	for _, subject := range []string{queue.PublicSubject("abc"), queue.TickSubject("abc"), queue.ViewSubject("abc"), queue.Submit} {
		_, err := js.StreamNameBySubject(t.Context(), subject)
		require.ErrorIs(t, err, jetstream.ErrStreamNotFound, "%s is stored nowhere", subject)
	}
	ticks, err := nc.SubscribeSync(queue.AllTicks)
	require.NoError(t, err)
	require.NoError(t, nc.Publish(queue.TickSubject("abc"), []byte("7")))
	msg, err := ticks.NextMsgWithContext(soon(t))
	require.NoError(t, err)
	assert.Equal(t, "abc", queue.MatchOfTick(msg.Subject))
}

func TestRequestAndReply(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	echo := func(_ context.Context, h nats.Header, body []byte) queue.Reply {
		return queue.Reply{Status: 200, Body: append([]byte(h.Get(queue.HeaderMatch)+" "), body...)}
	}
	refuse := func(_ context.Context, _ nats.Header, body []byte) queue.Reply {
		return queue.Reply{Status: 409, Body: body}
	}
	stop, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: echo}, queue.Endpoint{Subject: queue.Claim, Handle: refuse})
	require.NoError(t, err)
	defer func() { assert.NoError(t, stop()) }()

	h := nats.Header{}
	h.Set(queue.HeaderMatch, "abc")
	reply, err := queue.Request(soon(t), nc, queue.Submit, h, []byte("hello"))
	require.NoError(t, err)
	assert.Equal(t, queue.Reply{Status: 200, Body: []byte("abc hello")}, reply)
	reply, err = queue.Request(soon(t), nc, queue.Claim, nil, []byte("no"))
	require.NoError(t, err)
	assert.Equal(t, queue.Reply{Status: 409, Body: []byte("no")}, reply)
	_, err = queue.Request(soon(t), nc, queue.View, nil, nil)
	require.ErrorIs(t, err, queue.ErrNoService)
}

func TestRequestsThatGetNoAnswer(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	ctx, cancel := context.WithCancel(t.Context())
	silent, err := nc.Subscribe("umpire.silent", func(*nats.Msg) { cancel() })
	require.NoError(t, err)
	defer silent.Unsubscribe() //nolint:errcheck // the connection closes anyway
	_, err = queue.Request(ctx, nc, "umpire.silent", nil, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "umpire.silent")

	odd, err := nc.Subscribe("umpire.odd", func(m *nats.Msg) {
		reply := nats.NewMsg(m.Reply)
		reply.Header.Set(queue.HeaderStatus, "teapot")
		assert.NoError(t, nc.PublishMsg(reply))
	})
	require.NoError(t, err)
	defer odd.Unsubscribe() //nolint:errcheck // as above
	_, err = queue.Request(soon(t), nc, "umpire.odd", nil, nil)
	require.ErrorContains(t, err, "teapot")
	nc.Close()
	_, err = queue.Request(soon(t), nc, "umpire.odd", nil, nil)
	require.ErrorIs(t, err, nats.ErrConnectionClosed)
	assert.NotErrorIs(t, err, queue.ErrNoService)
}

// TestReplicasShareTheRequests: each request goes to one of the processes that serve a name.
func TestReplicasShareTheRequests(t *testing.T) {
	t.Parallel()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	const requests = 64
	var handled [2]atomic.Int64
	for i := range handled {
		stop, err := queue.Serve(t.Context(), connect(t, e, "replica"), "test", "a test", queue.Reply{Status: 503},
			queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
				handled[i].Add(1)
				return queue.Reply{Status: 200}
			}})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, stop()) })
	}
	nc := connect(t, e, "client")
	require.Eventually(t, func() bool {
		_, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
		return err == nil && handled[0].Load() > 0 && handled[1].Load() > 0
	}, patience, tick)
	before := handled[0].Load() + handled[1].Load()
	for range requests {
		_, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, before+requests, handled[0].Load()+handled[1].Load())
}
