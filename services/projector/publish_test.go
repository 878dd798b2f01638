package projector_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/projector"
)

// heard collects what is published on a subject.
func (w *world) heard(subject string) *nats.Subscription {
	w.t.Helper()
	sub, err := w.nc.SubscribeSync(subject)
	require.NoError(w.t, err)
	require.NoError(w.t, w.nc.Flush())
	return sub
}

// next is the next message, which must come soon.
func (w *world) next(sub *nats.Subscription) *nats.Msg {
	w.t.Helper()
	msg, err := sub.NextMsg(patience)
	require.NoError(w.t, err)
	return msg
}

// revision is that of a view.
func revision(t *testing.T, view []byte) int64 {
	t.Helper()
	var head struct {
		Revision int64 `json:"revision"`
	}
	require.NoError(t, json.Unmarshal(view, &head))
	return head.Revision
}

// stands waits until the bucket holds a match's view at that revision.
func (w *world) stands(id string, want int64) []byte {
	w.t.Helper()
	var entry jetstream.KeyValueEntry
	require.Eventually(w.t, func() bool {
		var err error
		entry, err = w.kv.Get(w.t.Context(), id)
		return err == nil && revision(w.t, entry.Value()) == want
	}, patience, tick)
	return entry.Value()
}

// TestWhatIsPublished: a tick for each commit and views with rising revisions, the last of which is the match's.
func TestWhatIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.publish(w.publisher)
	ticks, views := w.heard(queue.AllTicks), w.heard(queue.ViewSubject("*"))
	ids := []string{"a", "b", "c"}
	for i, id := range ids {
		w.played(id, `{"start":"when-claimed","listed":`+strconv.FormatBool(i > 0)+`}`)
	}
	// As live: each commit is handled when it is the newest of its match that the projector knows.
	commits := w.Commits(0)
	for i := range commits {
		require.NoError(t, w.Handle(t.Context(), &commits[i]))
	}
	last := map[string]int64{}
	for _, id := range ids {
		last[id] = w.Now(id).Revision()
		assert.JSONEq(t, toJSON(t, w.Now(id).View(match.Public)), string(w.stands(id, last[id])), "unlisted matches too")
	}
	seen := map[string]int64{}
	for seen["a"] < last["a"] || seen["b"] < last["b"] || seen["c"] < last["c"] {
		msg := w.next(ticks)
		n, err := strconv.ParseInt(string(msg.Data), 10, 64)
		require.NoError(t, err)
		id := queue.MatchOfTick(msg.Subject)
		assert.GreaterOrEqual(t, n, seen[id])
		seen[id] = n
	}
	assert.Equal(t, last, seen)
	seen = map[string]int64{}
	for seen["a"] < last["a"] || seen["b"] < last["b"] || seen["c"] < last["c"] {
		msg := w.next(views)
		id := strings.TrimPrefix(msg.Subject, "view.")
		n := revision(t, msg.Data)
		assert.GreaterOrEqual(t, n, seen[id])
		seen[id] = n
	}
	assert.Empty(t, w.Logged.String())
}

// TestLiveTicks: whoever waits for a revision hears of each as it comes.
func TestLiveTicks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ticks := w.heard(queue.TickSubject("m"))
	w.create("m", `{"start":"when-claimed"}`)
	position := uint64(0)
	for want := range int64(6) {
		for _, c := range w.Commits(position) {
			require.NoError(t, w.Handle(t.Context(), &c))
			position = c.Position
		}
		assert.Equal(t, strconv.FormatInt(want, 10), string(w.next(ticks).Data))
		w.decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Reissue(event.Host, "ada", "", noon) })
	}
}

// TestHandlePassesOver what is no match's, and says what it can't read.
func TestHandlePassesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ticks := w.heard(queue.AllTicks)
	require.NoError(t, w.Handle(t.Context(), &eventlog.Commit{Stream: "umpire-probes", Events: make([]event.Event, 1)}))
	c, err := w.Log.Append(t.Context(), "match-odd", eventlog.NoStream, event.Event{Type: "match-dreamt.v1", Public: []byte("{}")})
	require.NoError(t, err)
	require.ErrorIs(t, w.Handle(t.Context(), &c), match.ErrBroken)
	require.NoError(t, w.nc.Flush())
	pending, _, err := ticks.Pending()
	require.NoError(t, err)
	assert.Zero(t, pending)
}

// shownAt is a view of that revision, or what stands for one.
func shownAt(n int64) []byte { return fmt.Appendf(nil, `{"revision":%d}`, n) }

// TestAnOlderViewNeverReplacesANewer, wherever the newer one is: waiting, in the bucket, or put there by another process.
func TestAnOlderViewNeverReplacesANewer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	views := w.heard(queue.ViewSubject("*"))
	p := w.publisher
	p.PublishView("waiting", 5, shownAt(5))
	p.PublishView("waiting", 4, shownAt(4))
	p.PublishView("put", 7, shownAt(7))
	w.publish(p)
	w.stands("put", 7)
	w.stands("waiting", 5)
	p.PublishView("put", 6, shownAt(6))
	p.PublishView("end", 1, shownAt(1))
	w.stands("end", 1) // it was put behind the older one
	assert.EqualValues(t, 7, revision(t, w.stands("put", 7)))

	other := projector.NewQueuePublisher(w.nc, w.js, w.Logged.Logger()) // of a process that lags behind
	other.PublishView("put", 3, shownAt(3))
	other.PublishView("end", 2, shownAt(2))
	w.publish(other)
	w.stands("end", 2)
	assert.EqualValues(t, 7, revision(t, w.stands("put", 7)))
	p.PublishView("end", 3, shownAt(3))
	p.PublishView("put", 8, shownAt(8))
	w.stands("end", 3)
	w.stands("put", 8)
	last := map[string]int64{}
	for last["put"] < 8 || last["end"] < 3 {
		msg := w.next(views)
		assert.Greater(t, revision(t, msg.Data), last[strings.TrimPrefix(msg.Subject, "view.")], "%s is never older than before", msg.Subject)
		last[strings.TrimPrefix(msg.Subject, "view.")] = revision(t, msg.Data)
	}
	assert.Empty(t, w.Logged.String())
}

// TestPublishersRace: many processes that publish the same matches at once leave the newest.
func TestPublishersRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const newest, processes = 60, 3
	views := w.heard(queue.ViewSubject("m"))
	var all sync.WaitGroup
	for range processes {
		p := projector.NewQueuePublisher(w.nc, w.js, w.Logged.Logger())
		w.publish(p)
		all.Go(func() {
			for n := range int64(newest) {
				p.PublishView("m", n+1, shownAt(n+1))
				if err := w.nc.Flush(); err != nil { // a little time for it to be put
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	w.stands("m", newest)
	last := int64(0)
	for last < newest {
		n := revision(t, w.next(views).Data)
		assert.Greater(t, n, last)
		last = n
	}
}
