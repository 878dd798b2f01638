package projector_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/projector"
)

// views is a generation as it stands.
func (w *world) views(bucket string) *queue.Views {
	w.t.Helper()
	v, err := queue.OpenViews(w.t.Context(), w.js, bucket)
	require.NoError(w.t, err)
	return v
}

// holds waits until a bucket, which may be made only now, has that many views.
func (w *world) holds(bucket string, want uint64) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		v, err := queue.OpenViews(w.t.Context(), w.js, bucket)
		return err == nil && v.Values == want
	}, patience, tick)
}

// seal closes a bucket as a switch does.
func (w *world) seal(bucket string) {
	w.t.Helper()
	stream, err := w.js.Stream(w.t.Context(), "KV_"+bucket)
	require.NoError(w.t, err)
	config := stream.CachedInfo().Config
	config.Sealed = true
	_, err = w.js.UpdateStream(w.t.Context(), config)
	require.NoError(w.t, err)
}

// TestSettle returns when the view, or a newer one, stands in the bucket, and not before.
func TestSettle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publisher
	require.NoError(t, p.Settle(t.Context(), "unknown", 7), "nothing is to be waited for")
	p.PublishView("m", 1, shownAt(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Settle(ctx, "m", 1), context.Canceled, "nobody puts it")
	p.PublishView("m", 3, shownAt(3))
	w.publish(p)
	require.NoError(t, p.Settle(t.Context(), "m", 1))
	entry, err := w.kv.Get(t.Context(), "m")
	require.NoError(t, err)
	assert.EqualValues(t, 3, revision(t, entry.Value()), "the newer one stands for it")
}

// TestSettleWhileManyArePut: whenever it returns, the bucket has what it was asked for, for every match at once.
func TestSettleWhileManyArePut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := projector.NewQueuePublisher(w.nc, w.js, w.Logged.Logger())
	w.publish(w.publisher)
	w.publish(other)
	var all sync.WaitGroup
	for i := range 40 {
		p := []*projector.QueuePublisher{w.publisher, other}[i%2]
		all.Go(func() {
			id := fmt.Sprintf("m%d", i/2)
			for n := range int64(25) {
				p.PublishView(id, n, shownAt(n))
				if err := p.Settle(t.Context(), id, n); err != nil {
					t.Error(err)
					return
				}
				entry, err := w.kv.Get(t.Context(), id)
				if err != nil || queue.RevisionOf(entry.Value()) < n {
					t.Errorf("%s is settled at %d, and the bucket has %v, %v", id, n, entry, err)
				}
			}
		})
	}
	all.Wait()
	assert.Empty(t, w.Logged.String())
}

// wiped makes matches, shows them, and returns their ids once all of them stand in the bucket.
func (w *world) shownMatches(n int) (ids []string) {
	w.t.Helper()
	for i := range n {
		ids = append(ids, fmt.Sprintf("m%d", i))
		w.create(ids[i], `{"start":"when-claimed"}`)
	}
	w.handle(w.Service, w.Commits(0))
	for _, id := range ids {
		require.NoError(w.t, w.publisher.Settle(w.t.Context(), id, w.Now(id).Revision()))
	}
	return ids
}

// TestALostBucketIsFilledAgain though nothing happens that would tell of it.
func TestALostBucketIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*world) error{
		"deleted": func(w *world) error { return w.js.DeleteKeyValue(w.t.Context(), queue.ViewsBucket) },
		"made anew by another process": func(w *world) error {
			return errors.Join(w.js.DeleteKeyValue(w.t.Context(), queue.ViewsBucket), queue.Prepare(w.t.Context(), w.js))
		},
		"all of it": func(w *world) error {
			return errors.Join(w.js.DeleteKeyValue(w.t.Context(), queue.ViewsBucket), w.js.DeleteKeyValue(w.t.Context(), "UMPIRE"))
		},
		"emptied": func(w *world) error {
			stream, err := w.js.Stream(w.t.Context(), "KV_VIEWS")
			return errors.Join(err, stream.Purge(w.t.Context()))
		},
		"half emptied": func(w *world) error {
			stream, err := w.js.Stream(w.t.Context(), "KV_VIEWS")
			return errors.Join(err, stream.Purge(w.t.Context(), jetstream.WithPurgeSubject("$KV.VIEWS.m1")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			looked := make(chan struct{}, 1)
			w.publisher.Refill = func(ctx context.Context) error {
				defer func() { looked <- struct{}{} }()
				return w.ShowAll(ctx, w.Log)
			}
			w.publish(w.publisher)
			ids := w.shownMatches(3)
			w.holds(queue.ViewsBucket, 3)
			seen := w.views(queue.ViewsBucket)
			require.NoError(t, w.publisher.Look(t.Context()), "it has seen what there is")
			require.NoError(t, lose(w))
			<-looked
			require.NotEqual(t, seen, w.views(queue.ViewsBucket))
			w.holds(queue.ViewsBucket, 3)
			for _, id := range ids {
				assert.JSONEq(t, toJSON(t, w.Now(id).View(match.Public)), string(w.stands(id, w.Now(id).Revision())))
			}
		})
	}
}

// TestABucketLostWhileViewsArePut comes back with all of them, the newest of each.
func TestABucketLostWhileViewsArePut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var refills atomic.Int64
	w.publisher.Refill = func(ctx context.Context) error {
		if refills.Add(1) == 1 {
			return errors.New("the log is away")
		}
		return w.ShowAll(ctx, w.Log)
	}
	w.publish(w.publisher)
	w.shownMatches(5)
	views := w.heard(queue.ViewSubject("hot"))
	hot := int64(0)
	put := func() {
		hot++
		w.publisher.PublishView("hot", hot, shownAt(hot))
		require.NoError(t, w.publisher.Settle(t.Context(), "hot", hot))
	}
	put()
	require.NoError(t, w.js.DeleteKeyValue(t.Context(), queue.ViewsBucket))
	for range 20 {
		put()
	}
	w.holds(queue.ViewsBucket, 6)
	assert.GreaterOrEqual(t, refills.Load(), int64(2), "what failed is tried again")
	last := int64(0)
	for last < hot {
		n := revision(t, w.next(views).Data)
		assert.Greater(t, n, last)
		last = n
	}
}

// TestASealedBucket that nobody is about to replace takes nothing, which is logged once; once it is gone, views go on.
func TestASealedBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seal(queue.ViewsBucket)
	w.publish(w.publisher)
	w.publisher.PublishView("m", 1, shownAt(1))
	require.Eventually(t, func() bool { return strings.Contains(w.Logged.String(), "takes nothing") }, patience, tick)
	w.publisher.PublishView("m", 2, shownAt(2))
	w.publisher.PublishView("n", 2, shownAt(2))
	require.NoError(t, w.js.DeleteKeyValue(t.Context(), queue.ViewsBucket))
	w.stands("m", 2)
	w.stands("n", 2)
	assert.Equal(t, 1, w.Logged.Count("takes nothing"), w.Logged.String())
}

// TestASwitchThatWasLeft by who began it is ended by who puts a view, and by who only looks.
func TestASwitchThatWasLeft(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		t.Run(fmt.Sprintf("sealed %t", sealed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.publisher.Recall = w.Recall
			w.publish(w.publisher)
			ids := w.shownMatches(3)
			require.NoError(t, w.publisher.Look(t.Context()))
			_, err := queue.MakeViews(t.Context(), w.js, "VIEWS-2", false)
			require.NoError(t, err)
			_, err = queue.Pointer{Current: queue.ViewsBucket, Building: "VIEWS-2", Closing: true}.Save(t.Context(), w.js)
			require.NoError(t, err)
			views := w.heard(queue.ViewSubject("*"))
			if sealed {
				w.seal(queue.ViewsBucket)
				w.publisher.PublishView(ids[0], 100, shownAt(100))
				assert.EqualValues(t, 100, revision(t, w.next(views).Data), "it is sent by the new one, and nothing before it")
			}
			require.Eventually(t, func() bool {
				p, err := queue.ReadPointer(t.Context(), w.js)
				return err == nil && p.Current == "VIEWS-2" && !p.Closing && p.Building == ""
			}, patience, tick)
			w.holds("VIEWS-2", 3)
			assert.True(t, w.views(queue.ViewsBucket).Sealed)
			w.publisher.PublishView(ids[1], 100, shownAt(100))
			assert.EqualValues(t, 100, revision(t, w.next(views).Data))
			assert.Empty(t, w.Logged.String(), "a switch is no fault")
		})
	}
}

// TestRecall gives what the log has, and nothing else.
func TestRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.played("m", `{"start":"when-claimed"}`)
	now := w.Now("m")
	for revision, want := range map[int64]*match.Match{now.Revision(): now, 2: w.asOf("m", 2)} {
		view, err := w.Recall(t.Context(), "m", revision, []byte("forged"))
		require.NoError(t, err)
		assert.JSONEq(t, toJSON(t, want.View(match.Public)), string(view))
	}
	view, err := w.Recall(t.Context(), "m", now.Revision()+1, []byte("forged"))
	require.NoError(t, err)
	assert.Nil(t, view, "a revision that the log does not have")
	view, err = w.Recall(t.Context(), "nosuchmatch", 0, []byte("forged"))
	require.NoError(t, err)
	assert.Nil(t, view, "a match that the log does not have")
}

func (w *world) asOf(id string, revision uint64) *match.Match {
	w.t.Helper()
	m, err := w.Own.AsOf(w.t.Context(), id, revision)
	require.NoError(w.t, err)
	return m
}
