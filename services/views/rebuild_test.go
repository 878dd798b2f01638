package views_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
	"umpire/services/views"
)

// TestRebuild makes the next generation current, and leaves the one before it sealed until the next rebuild.
func TestRebuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(5)
	w.moves(10)
	w.project()
	w.settled()
	var done, total []uint64
	o := w.options()
	o.Progress = func(d, n uint64) { done, total = append(done, d), append(total, n) }
	r, err := views.Rebuild(t.Context(), o)
	require.NoError(t, err)
	assert.Equal(t, "VIEWS-2", r.Bucket)
	assert.EqualValues(t, 5, r.Matches)
	assert.False(t, r.Resumed)
	head, err := w.Log.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head, done[len(done)-1])
	assert.Equal(t, head, total[0])
	assert.IsIncreasing(t, done)
	assert.Equal(t, "VIEWS-2", w.current().Name)
	old, err := queue.OpenViews(t.Context(), w.js, "VIEWS")
	require.NoError(t, err)
	assert.True(t, old.Sealed)
	require.NoError(t, queue.Prepare(t.Context(), w.js), "a service that starts finds what it needs")
	w.moves(1)
	w.settled()
	assert.Empty(t, w.verified())

	r, err = views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.Equal(t, "VIEWS-3", r.Bucket)
	_, err = queue.OpenViews(t.Context(), w.js, "VIEWS")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	w.moves(1)
	w.settled()
}

// TestRebuildHeals whatever was wrong in the bucket.
func TestRebuildHeals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(6)
	w.moves(3)
	stop := w.project()
	w.settledQuietly()
	stop()
	w.damage()
	require.Len(t, w.verified(), 6)
	_, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.Empty(t, w.verified())
}

// TestRebuildBesideLiveTraffic: two projectors put views all the while, and somebody subscribes to them.
func TestRebuildBesideLiveTraffic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(12)
	w.moves(6)
	w.project()
	w.project()
	stop := w.play()
	for generation := 2; generation <= 3; generation++ {
		r, err := views.Rebuild(t.Context(), w.options())
		require.NoError(t, err)
		assert.Equal(t, queue.Generation(generation), r.Bucket)
		assert.Empty(t, w.verified(), "while it goes on")
	}
	stop()
	w.settled()
	assert.Empty(t, w.verified())
}

// TestRebuildAheadOfTheProjectors: what a rebuild shows first is sent too, and by whom it comes next is not sent again.
func TestRebuildAheadOfTheProjectors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(5)
	w.moves(5)
	_, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	w.settled()
	w.project()
	w.moves(1)
	w.settled()
}

var errKilled = errors.New("killed")

// killAt is a Step that fails at the nth time that a point is passed, and at all that comes after.
func killAt(point string, nth int64) func(string) error {
	var passed atomic.Int64
	var dead atomic.Bool
	return func(at string) error {
		if at == point && passed.Add(1) == nth {
			dead.Store(true)
		}
		if dead.Load() {
			return errKilled
		}
		return nil
	}
}

// TestRebuildThatDies at any point is gone on with: by the projectors once it had caught up, else by the next rebuild.
func TestRebuildThatDies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point     string
		nth       int64
		projector bool // the projectors alone end it
	}{
		{"begun", 1, false},
		{"open", 1, false},
		{"put", 1, false},
		{"put", 8, false},
		{"batch", 1, false},
		{"batch", 3, false},
		{"checkpoint", 1, false},
		{"checkpoint", 4, false},
		{"caught up", 1, false},
		{"closing", 1, true},
		{"sealed", 1, true},
		{"copied", 1, true},
		{"speaking", 1, true},
	} {
		for _, again := range []bool{false, true} {
			if !again && !c.projector {
				continue
			}
			t.Run(fmt.Sprintf("%s %d again %t", c.point, c.nth, again), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.subscribe()
				w.create(10)
				w.moves(8)
				w.project()
				stopProjector := w.project()
				stop := w.play()
				o := w.options()
				o.Step = killAt(c.point, c.nth)
				_, err := views.Rebuild(t.Context(), o)
				if err != nil || !c.projector { // else a projector has ended it meanwhile
					require.ErrorIs(t, err, errKilled)
				}
				stopProjector()
				if again {
					r, err := views.Rebuild(t.Context(), w.options())
					require.NoError(t, err)
					assert.Contains(t, []string{"VIEWS-2", "VIEWS-3"}, r.Bucket, "the projectors may have been quicker")
				}
				require.Eventually(t, func() bool { return w.pointer().Building == "" }, patience, tick)
				assert.NotEqual(t, "VIEWS", w.pointer().Current)
				stop()
				w.settled()
				assert.Empty(t, w.verified())
			})
		}
	}
}

// TestRebuildThatDiesWhileItCopies: the old bucket has views that the new one lacks, some of which were copied.
func TestRebuildThatDiesWhileItCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(30)
	stop := w.project()
	w.settled()
	o := w.options()
	kill := killAt("copying", 5)
	o.Step = func(at string) error {
		if at == "caught up" { // everything is played on, and shown, before the bucket is sealed
			w.moves(1)
			w.settled()
			stop()
		}
		return kill(at)
	}
	_, err := views.Rebuild(t.Context(), o)
	require.ErrorIs(t, err, errKilled)
	assert.True(t, w.pointer().Closing)
	w.project()
	require.Eventually(t, func() bool { return w.pointer().Current == "VIEWS-2" }, patience, tick)
	w.moves(1)
	w.settled()
	assert.Empty(t, w.verified())
}

// TestRebuildGoesOnFromItsCheckpoint and does not read again what was done.
func TestRebuildGoesOnFromItsCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(10)
	w.moves(19) // 200 commits, 10 batches
	o := w.options()
	o.Step = killAt("checkpoint", 7)
	_, err := views.Rebuild(t.Context(), o)
	require.ErrorIs(t, err, errKilled)
	position := w.pointer().Position
	assert.NotZero(t, position)
	r, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.True(t, r.Resumed)
	assert.Equal(t, 60, r.Commits)
	assert.Equal(t, "VIEWS-2", r.Bucket)
	assert.Empty(t, w.verified())
}

// TestRebuildOfABucketThatIsGone begins at the beginning: the checkpoint tells of what is not there.
func TestRebuildOfABucketThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(10)
	w.moves(19)
	o := w.options()
	o.Step = killAt("checkpoint", 7)
	_, err := views.Rebuild(t.Context(), o)
	require.ErrorIs(t, err, errKilled)
	require.NoError(t, w.js.DeleteKeyValue(t.Context(), "VIEWS-2"))
	r, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.Equal(t, 200, r.Commits)
	assert.Empty(t, w.verified())
}

// TestRebuildsAtOnce come to the same end.
func TestRebuildsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(10)
	w.moves(5)
	w.project()
	stop := w.play()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := views.Rebuild(t.Context(), w.options())
			assert.NoError(t, err)
		})
	}
	all.Wait()
	stop()
	w.settled()
	assert.Empty(t, w.verified())
}

// TestRebuildThatIsOvertaken between showing a view in the old bucket and putting it into the new one sends nothing again.
func TestRebuildThatIsOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	w.create(10)
	w.moves(5)
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	o := w.options()
	o.Step = func(at string) error {
		if at == "put" {
			once.Do(func() { close(reached) })
			<-goOn
		}
		return nil
	}
	slow := make(chan error, 1)
	go func() {
		_, err := views.Rebuild(t.Context(), o)
		slow <- err
	}()
	<-reached
	r, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.True(t, r.Resumed)
	w.project()
	w.moves(1)
	w.settled()
	close(goOn)
	require.NoError(t, <-slow)
	w.moves(1)
	w.settled()
	assert.Equal(t, r.Bucket, w.pointer().Current)
}

// TestRebuildWithoutAPointer: it was lost, and what it named with it is found no more; the sealed bucket it leaves as
// current is no use to anybody.
func TestRebuildWithoutAPointer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(5)
	w.moves(2)
	_, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	require.NoError(t, w.js.DeleteKeyValue(t.Context(), "UMPIRE"))
	w.project()
	r, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	assert.Equal(t, "VIEWS-3", r.Bucket)
	w.moves(1)
	w.settledQuietly()
	assert.Empty(t, w.verified())
	_, err = queue.OpenViews(t.Context(), w.js, "VIEWS-2")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}

// TestRebuildWhoseBucketsAreDeleted ends with an error, and a later one begins anew.
func TestRebuildWhoseBucketsAreDeleted(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{"VIEWS", "VIEWS-2", "UMPIRE"} {
		t.Run(bucket, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(10)
			w.moves(5)
			o := w.options()
			var once sync.Once
			o.Step = func(at string) error {
				if at == "batch" {
					once.Do(func() { assert.NoError(t, w.js.DeleteKeyValue(t.Context(), bucket)) })
				}
				return nil
			}
			_, err := views.Rebuild(t.Context(), o)
			require.ErrorIs(t, err, views.ErrLost)
			_, err = views.Rebuild(t.Context(), w.options())
			require.NoError(t, err)
			assert.Empty(t, w.verified())
		})
	}
}
