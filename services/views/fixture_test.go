package views_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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
	"umpire/pkg/games"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/projector"
	"umpire/services/servicestest"
	"umpire/services/views"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 30 * time.Second
	tick     = 5 * time.Millisecond
)

var noon = servicestest.Noon

// world is a log with matches that are being played, a queue, and projectors.
type world struct {
	*servicestest.World
	t  testing.TB
	nc *nats.Conn
	js jetstream.JetStream

	mu   sync.Mutex
	ids  []string
	sent map[string][]int64 // the revisions of each match's views, as a subscriber got them
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{World: servicestest.New(tb, games.All()), t: tb, sent: map[string][]int64{}}
	w.nc, w.js = servicestest.Queue(tb)
	return w
}

// options are a rebuild's, in batches so small that there are many.
func (w *world) options() views.Options {
	return views.Options{Log: w.Log, Games: games.All(), Vault: w.Vault, JS: w.js, Batch: 20}
}

// project runs a projector of its own, with the publisher's work, until the test ends or it is stopped.
func (w *world) project() (stop func()) {
	w.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	publisher := projector.NewQueuePublisher(w.nc, w.js, quiet)
	showing := &projector.Service{Journal: w.NewJournal(w.Log), Publisher: publisher}
	publisher.Refill = func(ctx context.Context) error { return showing.ShowAll(ctx, w.Log) }
	publisher.Recall = showing.Recall
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.ErrorIs(w.t, publisher.Run(ctx), context.Canceled) })
	loop := &feed.Loop{Name: "projector", Feed: w.Log.Follow, Handle: showing.Handle, Workers: 8, Log: quiet}
	running.Go(func() { assert.ErrorIs(w.t, loop.Run(ctx), context.Canceled) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	w.t.Cleanup(stop)
	return stop
}

// subscribe notes which views are sent.
func (w *world) subscribe() {
	w.t.Helper()
	sub, err := w.nc.Subscribe(queue.ViewSubject("*"), func(msg *nats.Msg) {
		w.mu.Lock()
		defer w.mu.Unlock()
		id := strings.TrimPrefix(msg.Subject, "view.")
		w.sent[id] = append(w.sent[id], queue.RevisionOf(msg.Data))
	})
	require.NoError(w.t, err)
	require.NoError(w.t, sub.SetPendingLimits(-1, -1))
	require.NoError(w.t, w.nc.Flush())
}

// create makes matches of Glass Full.
func (w *world) create(n int) {
	w.t.Helper()
	for range n {
		w.mu.Lock()
		id := fmt.Sprintf("m%d", len(w.ids))
		w.ids = append(w.ids, id)
		w.mu.Unlock()
		w.Make(id, servicestest.Duel(id, `{"start":"when-claimed"}`))
	}
}

// move appends a commit to a match.
func (w *world) move(id string) error {
	m, err := w.Own.Load(context.Background(), id)
	if err != nil {
		return err
	}
	drafts, err := m.Reissue(event.Host, "ada", "", noon)
	if err != nil {
		return err
	}
	_, err = w.Own.Append(context.Background(), id, m, event.ID{}, drafts)
	return err
}

// moves appends commits to every match in turn.
func (w *world) moves(rounds int) {
	w.t.Helper()
	for range rounds {
		for _, id := range w.ids {
			require.NoError(w.t, w.move(id))
		}
	}
}

// play appends commits to all matches, many at once and new matches too, until it is stopped.
func (w *world) play() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var playing sync.WaitGroup
	const players = 4
	for i := range players {
		playing.Go(func() {
			for n := i; ctx.Err() == nil; n += players {
				w.mu.Lock()
				id := w.ids[n%len(w.ids)]
				w.mu.Unlock()
				if n%len(w.ids)%players != i { // each match has one player, so that no two conflict
					continue
				}
				if err := w.move(id); err != nil {
					w.t.Errorf("playing %s: %v", id, err)
					return
				}
				feed.Pause(ctx, 20*time.Millisecond)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); playing.Wait() })
	w.t.Cleanup(stop)
	return stop
}

// pointer is where the pointer points.
func (w *world) pointer() queue.Pointer {
	w.t.Helper()
	p, err := queue.ReadPointer(w.t.Context(), w.js)
	require.NoError(w.t, err)
	return p
}

// current is the current generation's bucket.
func (w *world) current() *queue.Views {
	w.t.Helper()
	v, err := queue.OpenViews(w.t.Context(), w.js, w.pointer().Current)
	require.NoError(w.t, err)
	return v
}

// view is a match's view in a bucket, nil for none.
func view(tb testing.TB, v *queue.Views, id string) []byte {
	tb.Helper()
	entry, err := v.KV.Get(tb.Context(), id)
	if err != nil {
		require.ErrorIs(tb, err, jetstream.ErrKeyNotFound)
		return nil
	}
	return entry.Value()
}

// want is the view that a match should have.
func want(tb testing.TB, m *match.Match) string {
	tb.Helper()
	data, err := json.Marshal(m.View(match.Public))
	require.NoError(tb, err)
	return string(data)
}

// settled waits until the current bucket holds every match's last view, and who subscribes has got it; then it checks
// that he got none twice, nor an older one after a newer.
func (w *world) settled() {
	w.t.Helper()
	current := w.current()
	for _, id := range w.ids {
		m := w.Now(id)
		require.Eventually(w.t, func() bool { return string(view(w.t, current, id)) == want(w.t, m) }, patience, tick,
			"the view of %s in %s", id, current.Name)
		require.Eventually(w.t, func() bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			sent := w.sent[id]
			return len(sent) > 0 && sent[len(sent)-1] == m.Revision()
		}, patience, tick, "the last view of %s is sent", id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, sent := range w.sent {
		for i := 1; i < len(sent); i++ {
			assert.Greater(w.t, sent[i], sent[i-1], "%s: sent %v", id, sent)
		}
	}
}

// verified is what a verification finds.
func (w *world) verified() []views.Difference {
	w.t.Helper()
	v, err := views.Verify(w.t.Context(), w.options())
	require.NoError(w.t, err)
	assert.Len(w.t, w.ids, v.Matches)
	return v.Differences
}
