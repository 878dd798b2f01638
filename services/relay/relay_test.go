package relay_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/view"
	"umpire/services/servicestest"
)

// TestTheFeedIsTheLog relays history and then what comes, of every kind of stream.
func TestTheFeedIsTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	w.fill(20, 30) // more than wait for their acknowledgement at once
	w.relay(b)
	w.same(b)
	w.create("live")
	w.append("umpire-probes", `{}`)
	w.append("tournament-cup", `{}`)
	w.submit("live", "ada", `{"type":"pick-starter","player":"bob"}`)
	w.same(b)
	assert.Empty(t, w.Logged.String())
}

// TestNoSecretInTheFeed looks for what players and nobody may know in every message.
func TestNoSecretInTheFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	public, err := b.SubscribeSync(queue.PublicSubject("m"))
	require.NoError(t, err)
	require.NoError(t, b.Flush())
	w.create("m")
	w.submit("m", "ada", `{"type":"pick-starter","player":"bob"}`)
	w.submit("m", "bob", `{"type":"add","cups":3}`)
	w.submit("m", "ada", `{"type":"add","cups":2}`)
	w.relay(b)
	w.same(b)
	secrets := []string{`"cups"`, `"level"`, `"seed":`, hex.EncodeToString(servicestest.Seed), string(servicestest.Seed[:8]), `"salt"`, `"to":`, `"data":`}
	sealed := 0
	for r, err := range w.Own.Events(t.Context(), "m", 0) {
		require.NoError(t, err)
		for i := range r.Faces {
			face, err := w.Own.Keys("m").Open(r.ID, i, r.Faces[i])
			require.NoError(t, err)
			secrets = append(secrets, hex.EncodeToString(face.Salt), string(face.Data))
			sealed++
		}
	}
	require.Equal(t, 8, sealed, "the seed, three submissions, two faces of each turn")
	boxes := 0
	for _, msg := range w.messages(b) {
		told := string(msg.Data) + msg.Subject
		for name, values := range msg.Header {
			told += name + strings.Join(values, "")
		}
		for _, secret := range secrets {
			require.NotContains(t, told, secret)
		}
		boxes += strings.Count(told, `"box"`)
	}
	assert.Equal(t, sealed, boxes, "the sealed faces go along")
	for range w.messages(b) {
		// Each commit has one event or two; what is left is read below.
		msg, err := public.NextMsg(patience)
		require.NoError(t, err)
		for _, secret := range append(secrets, `"box"`) {
			require.NotContains(t, string(msg.Data), secret)
		}
	}
}

// readPublic reads n events of a match's public subject and demands that no more come.
func readPublic(t *testing.T, sub *nats.Subscription, n int) (list []view.Event) {
	t.Helper()
	for range n {
		msg, err := sub.NextMsg(patience)
		require.NoError(t, err)
		var e view.Event
		require.NoError(t, json.Unmarshal(msg.Data, &e))
		list = append(list, e)
	}
	return list
}

// TestPublicSubjects: one message an event, as the public feed has it; what a match's end opens lies open.
func TestPublicSubjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	subs := map[string]*nats.Subscription{}
	for _, id := range []string{"m", "other"} {
		sub, err := b.SubscribeSync(queue.PublicSubject(id))
		require.NoError(t, err)
		subs[id] = sub
	}
	all, err := b.SubscribeSync("public.>")
	require.NoError(t, err)
	require.NoError(t, b.Flush())
	w.relay(b)
	w.create("m")
	w.create("other")
	w.append("umpire-probes", `{}`)
	w.submit("m", "ada", `{"type":"pick-starter","player":"bob"}`)
	for _, player := range []string{"bob", "ada", "bob", "ada", "bob"} { // five strikes by challenges: one loses
		w.submit("m", player, `{"type":"challenge"}`)
	}
	for range 4 {
		m, err := w.Own.Load(t.Context(), "m")
		require.NoError(t, err)
		if m.Over() {
			break
		}
		w.submit("m", m.Seats().ID(m.Awaiting()[0]), `{"type":"challenge"}`)
	}
	w.same(b)
	count := 0
	for id, sub := range subs {
		m, err := w.Own.Load(t.Context(), id)
		require.NoError(t, err)
		events := readPublic(t, sub, int(m.Revision())+1)
		count += len(events)
		for r, err := range w.Own.Events(t.Context(), id, 0) {
			require.NoError(t, err)
			want, err := view.EventFor(nil, &r, view.Audience{ID: match.Public})
			require.NoError(t, err)
			got, err := json.Marshal(events[r.Revision])
			require.NoError(t, err)
			wanted, err := json.Marshal(want)
			require.NoError(t, err)
			assert.JSONEq(t, string(wanted), string(got))
			for _, f := range events[r.Revision].Faces {
				assert.Nil(t, f.Opened)
			}
		}
		if id == "m" {
			last := events[len(events)-1]
			require.Equal(t, "match-ended.v1", last.Type)
			require.Len(t, last.Opens, 1)
			assert.JSONEq(t, `{"seed":"`+hex.EncodeToString(servicestest.Seed)+`"}`, string(last.Opens[0].Data))
		}
	}
	readPublic(t, all, count)
	require.NoError(t, b.Flush())
	pending, _, err := all.Pending()
	require.NoError(t, err)
	assert.Zero(t, pending, "nothing of streams that are no match's, and nothing twice")
}

// TestTwoRelays: whichever is slower is refused and goes on behind the other; who listens hears each event once.
func TestTwoRelays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	all, err := b.SubscribeSync("public.>")
	require.NoError(t, err)
	require.NoError(t, all.SetPendingLimits(-1, -1))
	require.NoError(t, b.Flush())
	w.fill(5, 60)
	w.relay(b)
	w.relay(b)
	w.fill(5, 20)
	w.same(b)
	w.fill(5, 20)
	w.same(b)
	heard := map[string]int{}
	for range w.Commits(0) {
		msg, err := all.NextMsg(patience)
		require.NoError(t, err)
		var e view.Event
		require.NoError(t, json.Unmarshal(msg.Data, &e))
		heard[fmt.Sprint(msg.Subject, e.Revision)]++
	}
	assert.Len(t, heard, len(w.Commits(0)), "none twice")
	pending, _, err := all.Pending()
	require.NoError(t, err)
	assert.Zero(t, pending)
}

// TestItGoesOnWhereTheStreamStands after the relay was stopped, and after the broker was too.
func TestItGoesOnWhereTheStreamStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	b := startBroker(t, dir)
	w.fill(4, 10)
	stop := w.relay(b)
	w.same(b)
	stop()
	w.fill(4, 10)
	assert.Len(t, w.messages(b), 40)
	stop = w.relay(b)
	w.same(b)
	stop()
	b.stop()
	w.fill(4, 10)
	b = startBroker(t, dir)
	w.relay(b)
	w.same(b)
	assert.Empty(t, w.Logged.String())
}

// TestAWipedStreamIsFilledAgain: purged while no relay runs, deleted while one does, or gone with the broker's disk.
func TestAWipedStreamIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, wipe := range map[string]func(t *testing.T, w *world, b *broker, stop func()) *broker{
		"purged": func(t *testing.T, w *world, b *broker, stop func()) *broker {
			t.Helper()
			stop()
			stream, err := b.js.Stream(t.Context(), queue.FeedStream)
			require.NoError(t, err)
			require.NoError(t, stream.Purge(t.Context()))
			w.relay(b)
			return b
		},
		"deleted": func(t *testing.T, _ *world, b *broker, _ func()) *broker {
			t.Helper()
			require.NoError(t, b.js.DeleteStream(t.Context(), queue.FeedStream))
			return b
		},
		"a new disk": func(t *testing.T, w *world, b *broker, stop func()) *broker {
			t.Helper()
			stop()
			b.stop()
			b = startBroker(t, t.TempDir())
			w.relay(b)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b := startBroker(t, t.TempDir())
			w.fill(4, 10)
			stop := w.relay(b)
			w.same(b)
			b = wipe(t, w, b, stop)
			w.fill(4, 10)
			w.same(b)
		})
	}
}

// TestAStreamWipedWhileTheLogIsQuiet is filled again by a relay that has published nothing since it began.
func TestAStreamWipedWhileTheLogIsQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	w.fill(4, 10)
	stop := w.relay(b)
	w.same(b)
	stop()
	begun := make(chan uint64, 1)
	w.relayFrom(b, func(ctx context.Context, after uint64) iter.Seq2[eventlog.Commit, error] {
		select {
		case begun <- after:
		default:
		}
		return w.Log.Follow(ctx, after)
	})
	require.EqualValues(t, 40, <-begun)
	require.NoError(t, b.js.DeleteStream(t.Context(), queue.FeedStream))
	w.same(b)
}

// TestStrangersInTheStream: what is no commit at its end, or was deleted there, doesn't stop the relay.
func TestStrangersInTheStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	w.fill(4, 10)
	stop := w.relay(b)
	w.same(b)
	for range 3 {
		_, err := b.js.Publish(t.Context(), queue.FeedSubject("match-x"), []byte("what is this?"))
		require.NoError(t, err)
	}
	w.fill(4, 10)
	w.caughtUp(b)
	stop()
	stream, err := b.js.Stream(t.Context(), queue.FeedStream)
	require.NoError(t, err)
	require.NoError(t, stream.DeleteMsg(t.Context(), stream.CachedInfo().State.LastSeq))
	w.relay(b)
	w.caughtUp(b)
	for seq := uint64(41); seq < 44; seq++ {
		require.NoError(t, stream.DeleteMsg(t.Context(), seq))
	}
	info, err := stream.Info(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, len(w.Commits(0)), info.State.Msgs, "the rest is the log")
}

// TestTheLargestCommit that a log takes fits into a message.
func TestTheLargestCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	w.relay(b)
	large := func(n byte, padding int) event.Event {
		return event.Event{ID: event.ID{n}, Type: "probe.v1", By: event.Umpire, Public: []byte(`{"x":"` + strings.Repeat("x", padding) + `"}`)}
	}
	empty, err := eventlog.Pack("match-m", eventlog.NoStream, []event.Event{large(1, 0)})
	require.NoError(t, err)
	padding := eventlog.MaxEventBytes - len(empty.Stored(0))
	_, err = eventlog.Pack("match-m", eventlog.NoStream, []event.Event{large(1, padding+1)})
	require.ErrorIs(t, err, eventlog.ErrTooLarge)
	_, err = w.Log.Append(t.Context(), "match-m", eventlog.NoStream, large(1, padding), large(2, padding))
	require.NoError(t, err)
	w.append("match-other", `{}`)
	w.same(b)
}

// TestItEndsWhileTheBrokerIsAway: what waits for an acknowledgement that can't come keeps no program from stopping.
func TestItEndsWhileTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := startBroker(t, t.TempDir())
	w.fill(4, 10)
	stop := w.relay(b)
	w.same(b)
	b.server.Stop()
	w.fill(4, 10)
	ended := make(chan struct{})
	go func() {
		stop()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience / 4):
		assert.Fail(t, "it waits for the broker")
	}
}
