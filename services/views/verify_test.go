package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/views"
)

// settledQuietly waits until the current bucket holds every match's last view.
func (w *world) settledQuietly() {
	w.t.Helper()
	current := w.current()
	for _, id := range w.ids {
		m := w.Now(id)
		require.Eventually(w.t, func() bool { return string(view(w.t, current, id)) == want(w.t, m) }, patience, tick)
	}
}

// damage plants one difference of every kind but the unreadable; it needs six matches.
func (w *world) damage() {
	w.t.Helper()
	kv := w.current().KV
	put := func(id, view string) {
		_, err := kv.Put(w.t.Context(), id, []byte(view))
		require.NoError(w.t, err)
	}
	require.NoError(w.t, kv.Delete(w.t.Context(), "m0"))
	earlier, err := w.Own.AsOf(w.t.Context(), "m1", 1)
	require.NoError(w.t, err)
	put("m1", want(w.t, earlier))
	put("m2", strings.Replace(want(w.t, w.Now("m2")), "Table m2", "Table of a thief", 1))
	put("m3", strings.Replace(want(w.t, w.Now("m3")), fmt.Sprintf(`"revision":%d`, w.Now("m3").Revision()), `"revision":1000`, 1))
	put("m4", "no view at all")
	put("nosuchmatch", strings.Replace(want(w.t, w.Now("m5")), `"m5"`, `"nosuchmatch"`, 1))
}

func revision(n int64) *int64 { return &n }

// TestVerifyFinds each kind of difference, and tells nothing of what the views show.
func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(6)
	w.moves(3)
	stop := w.project()
	w.settledQuietly()
	assert.Empty(t, w.verified())
	stop()
	w.damage()
	last := func(id string) *int64 { return revision(w.Now(id).Revision()) }
	assert.Equal(t, []views.Difference{
		{Match: "m0", Kind: views.Missing, Log: last("m0")},
		{Match: "m1", Kind: views.Older, Bucket: revision(1), Log: last("m1")},
		{Match: "m2", Kind: views.Differing, Bucket: last("m2"), Log: last("m2")},
		{Match: "m3", Kind: views.Newer, Bucket: revision(1000), Log: last("m3")},
		{Match: "m4", Kind: views.Differing, Bucket: revision(-1), Log: last("m4")},
		{Match: "nosuchmatch", Kind: views.Extra, Bucket: last("m5")},
	}, w.verified())
}

// TestVerifyComparesAtTheRevisionOfTheBucket: an old view that is wrong as well is more than late.
func TestVerifyComparesAtTheRevisionOfTheBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(1)
	w.moves(3)
	earlier, err := w.Own.AsOf(t.Context(), "m0", 1)
	require.NoError(t, err)
	_, err = w.current().KV.Put(t.Context(), "m0", []byte(strings.Replace(want(t, earlier), "Table", "Chair", 1)))
	require.NoError(t, err)
	found := w.verified()
	require.Len(t, found, 1)
	assert.Equal(t, views.Differing, found[0].Kind)
}

// TestVerifyOfAMatchThatCantBeFolded says so; a rebuild leaves it the view that it had.
func TestVerifyOfAMatchThatCantBeFolded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(2)
	stop := w.project()
	w.settledQuietly()
	was := string(view(t, w.current(), "m1"))
	stop()
	m := w.Now("m1")
	broken := event.Event{Type: "match-dreamt.v1", Public: []byte("{}"), At: noon, By: event.Host, Prev: m.Hash()}
	_, err := w.Log.Append(t.Context(), "match-m1", m.Revision(), broken)
	require.NoError(t, err)
	_, err = w.Own.Refresh(t.Context(), "m1")
	require.ErrorIs(t, err, match.ErrUnknownEvent)
	for range 2 {
		v, err := views.Verify(t.Context(), w.options())
		require.NoError(t, err)
		assert.Equal(t, []views.Difference{{Match: "m1", Kind: views.Unreadable, Bucket: revision(m.Revision())}}, v.Differences)
		r, err := views.Rebuild(t.Context(), w.options())
		require.NoError(t, err)
		assert.EqualValues(t, 1, r.Unreadable)
		assert.Equal(t, was, string(view(t, w.current(), "m1")))
	}
}

// TestVerifyWaitsForABucketThatLags, and takes what goes on meanwhile for no difference.
func TestVerifyWaitsForABucketThatLags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(20)
	w.moves(5)
	done := make(chan []views.Difference, 1)
	o := w.options()
	began := make(chan struct{}, 1000)
	o.Progress = func(uint64, uint64) { began <- struct{}{} }
	go func() {
		v, err := views.Verify(t.Context(), o)
		assert.NoError(t, err)
		done <- v.Differences
	}()
	<-began // it has met matches without a view
	w.project()
	stop := w.play()
	assert.Empty(t, <-done)
	stop()
}

// TestVerifyOfAnEmptyLog finds nothing.
func TestVerifyOfAnEmptyLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	assert.Empty(t, w.verified())
	_, err := views.Rebuild(t.Context(), w.options())
	require.NoError(t, err)
	_, err = w.current().KV.Put(t.Context(), "ofanotherlog", []byte(`{"revision":1}`))
	require.NoError(t, err)
	_, err = views.Rebuild(t.Context(), w.options())
	require.ErrorIs(t, err, views.ErrEmpty)
	require.NoError(t, w.current().KV.Purge(t.Context(), "ofanotherlog"))
	assert.Equal(t, "VIEWS-2", w.current().Name, "nothing was done")
	_, err = w.Log.Append(t.Context(), "umpire-probes", eventlog.NoStream, event.Event{Type: "probe.v1", Public: []byte("{}")})
	require.NoError(t, err)
	assert.Empty(t, w.verified())
}
