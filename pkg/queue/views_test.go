package queue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
)

func TestGenerations(t *testing.T) {
	t.Parallel()
	for n, name := range map[int]string{1: "VIEWS", 2: "VIEWS-2", 17: "VIEWS-17"} {
		assert.Equal(t, name, queue.Generation(n))
		assert.Equal(t, n, queue.GenerationOf(name))
	}
	for _, name := range []string{"", "VIEWS-", "VIEWS-1", "VIEWS-02", "VIEWS-+2", "VIEWS--2", "VIEWS-x", "VIEWS2", "UMPIRE", "views"} {
		assert.Zero(t, queue.GenerationOf(name), name)
	}
}

func TestThePointer(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	first, err := queue.ReadPointer(t.Context(), js)
	require.NoError(t, err)
	assert.Equal(t, queue.Pointer{Current: "VIEWS"}, first)
	first.Building, first.Position = "VIEWS-2", 7
	saved, err := first.Save(t.Context(), js)
	require.NoError(t, err)
	_, err = first.Save(t.Context(), js)
	require.ErrorIs(t, err, queue.ErrMoved, "it was written meanwhile")
	read, err := queue.ReadPointer(t.Context(), js)
	require.NoError(t, err)
	assert.Equal(t, saved, read)

	kv, err := js.KeyValue(t.Context(), "UMPIRE")
	require.NoError(t, err)
	entry, err := kv.Get(t.Context(), "views")
	require.NoError(t, err)
	assert.JSONEq(t, `{"current":"VIEWS","building":"VIEWS-2","position":7}`, string(entry.Value()))
	for _, damaged := range []string{"", "no JSON", "{}", `{"current":"OTHER"}`} {
		_, err = kv.Put(t.Context(), "views", []byte(damaged))
		require.NoError(t, err)
		_, err = queue.ReadPointer(t.Context(), js)
		require.ErrorContains(t, err, "names no bucket of views", "%q", damaged)
	}
	require.NoError(t, js.DeleteKeyValue(t.Context(), "UMPIRE"))
	_, err = saved.Save(t.Context(), js)
	require.ErrorIs(t, err, queue.ErrMoved, "the broker has lost it")
}

// TestPointersRace: of many who write over the same pointer, one does.
func TestPointersRace(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	p := queue.Pointer{Current: "VIEWS"}
	for range 3 {
		var won atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				mine := p
				mine.Position = uint64(i)
				_, err := mine.Save(t.Context(), js)
				if err == nil {
					won.Add(1)
				} else {
					assert.ErrorIs(t, err, queue.ErrMoved)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, won.Load())
		var err error
		p, err = queue.ReadPointer(t.Context(), js)
		require.NoError(t, err)
	}
}

func shownAt(n int64) []byte { return fmt.Appendf(nil, `{"revision":%d}`, n) }

func TestRevisionOf(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 7, queue.RevisionOf(shownAt(7)))
	assert.EqualValues(t, 0, queue.RevisionOf(shownAt(0)))
	for _, damaged := range []string{"", "{}", "[]", `{"revision":"7"}`, `{"revision":7`} {
		assert.EqualValues(t, -1, queue.RevisionOf([]byte(damaged)), damaged)
	}
}

func TestPutView(t *testing.T) {
	t.Parallel()
	js := jets(t, embedded(t))
	views, err := queue.MakeViews(t.Context(), js, "VIEWS", true)
	require.NoError(t, err)
	put := func(n int64, view string, only, did bool, stands int64) {
		t.Helper()
		p, err := queue.PutView(t.Context(), views.KV, "m", n, []byte(view), only)
		require.NoError(t, err)
		assert.Equal(t, did, p.Did)
		assert.Equal(t, stands, p.Revision)
		entry, err := views.KV.Get(t.Context(), "m")
		require.NoError(t, err)
		assert.Equal(t, p.Seq, entry.Revision())
	}
	put(5, `{"revision":5}`, false, true, 5)
	put(4, `{"revision":4}`, false, false, 5)
	put(5, `{"revision":5}`, false, false, 5)
	put(5, `{"revision":5,"new":1}`, true, false, 5)
	put(5, `{"revision":5,"new":1}`, false, true, 5)
	put(6, `{"revision":6}`, true, true, 6)
	require.NoError(t, views.KV.Delete(t.Context(), "m"))
	put(1, `{"revision":1}`, true, true, 1)
}

// changing is a switch from VIEWS to VIEWS-2 that is under way, of which the pointer tells.
func changing(t *testing.T, js jetstream.JetStream) (old, next *queue.Views) {
	t.Helper()
	old, err := queue.MakeViews(t.Context(), js, "VIEWS", true)
	require.NoError(t, err)
	next, err = queue.MakeViews(t.Context(), js, "VIEWS-2", false)
	require.NoError(t, err)
	_, err = queue.Pointer{Current: "VIEWS", Building: "VIEWS-2", Closing: true}.Save(t.Context(), js)
	require.NoError(t, err)
	return old, next
}

func put(t *testing.T, v *queue.Views, id string, view []byte) {
	t.Helper()
	_, err := v.KV.Put(t.Context(), id, view)
	require.NoError(t, err)
}

func get(t *testing.T, v *queue.Views, id string) string {
	t.Helper()
	entry, err := v.KV.Get(t.Context(), id)
	if err != nil {
		require.ErrorIs(t, err, jetstream.ErrKeyNotFound)
		return ""
	}
	return string(entry.Value())
}

// TestSwitch takes over what is newer, sends none of it again, and lets the new bucket speak.
func TestSwitch(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	js := jets(t, nc)
	old, next := changing(t, js)
	for id, views := range map[string][2][]byte{
		"newer": {shownAt(5), shownAt(4)}, "same": {shownAt(5), []byte(`{"revision":5,"of":"new"}`)}, "missing": {shownAt(5), nil},
		"damaged": {[]byte("?"), nil}, "forged": {shownAt(5), shownAt(4)}, "gone": {shownAt(5), nil},
	} {
		put(t, old, id, views[0])
		if views[1] != nil {
			put(t, next, id, views[1])
		}
	}
	require.NoError(t, old.KV.Delete(t.Context(), "gone"))
	sub, err := nc.SubscribeSync("view.*")
	require.NoError(t, err)
	change := queue.Switch{JS: js, Recall: func(_ context.Context, id string, revision int64, stored []byte) ([]byte, error) {
		if id == "forged" {
			return nil, nil
		}
		assert.EqualValues(t, 5, revision)
		return stored, nil
	}}
	p, err := change.Finish(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "VIEWS-2", p.Current)
	assert.Empty(t, p.Building)
	assert.False(t, p.Closing)
	for id, want := range map[string]string{
		"newer": `{"revision":5}`, "same": `{"revision":5,"of":"new"}`, "missing": `{"revision":5}`, "damaged": "",
		"forged": `{"revision":4}`, "gone": "",
	} {
		assert.Equal(t, want, get(t, next, id), id)
	}
	_, err = old.KV.Put(t.Context(), "late", shownAt(9))
	assert.True(t, queue.Sealed(err), "%v", err)
	put(t, next, "newer", shownAt(6))
	msg, err := sub.NextMsgWithContext(soon(t))
	require.NoError(t, err)
	assert.Equal(t, `{"revision":6}`, string(msg.Data), "nothing was sent before it")

	again, err := change.Finish(t.Context())
	require.NoError(t, err)
	assert.Equal(t, p, again, "there is nothing left to do")
	require.NoError(t, queue.DropViews(t.Context(), js, "VIEWS"))
	require.NoError(t, queue.DropViews(t.Context(), js, "VIEWS"))
}

// TestSwitchWithoutABucket: what was deleted can't be taken over, and does not keep the switch from ending.
func TestSwitchWithoutABucket(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"VIEWS", "VIEWS-2"} {
		js := jets(t, embedded(t))
		old, _ := changing(t, js)
		put(t, old, "m", shownAt(5))
		require.NoError(t, queue.DropViews(t.Context(), js, gone))
		p, err := (&queue.Switch{JS: js}).Finish(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "VIEWS-2", p.Current)
		next, err := queue.OpenViews(t.Context(), js, "VIEWS-2")
		require.NoError(t, err)
		if gone == "VIEWS-2" {
			assert.JSONEq(t, `{"revision":5}`, get(t, next, "m"))
		}
	}
}

// TestASealOutlivesTheServer, and asks for no room.
func TestASealOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := queue.StartEmbedded(dir)
	require.NoError(t, err)
	js := jets(t, connect(t, e, "test"))
	old, _ := changing(t, js)
	put(t, old, "m", shownAt(5))
	_, err = (&queue.Switch{JS: js}).Finish(t.Context())
	require.NoError(t, err)
	e.Stop()
	e, err = queue.StartEmbedded(dir)
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	js = jets(t, connect(t, e, "again"))
	old, err = queue.OpenViews(t.Context(), js, "VIEWS")
	require.NoError(t, err)
	assert.True(t, old.Sealed)
	_, err = old.KV.Put(t.Context(), "m", shownAt(6))
	assert.True(t, queue.Sealed(err), "%v", err)
	assert.EqualValues(t, -1, streamOf(t, js, "KV_VIEWS").MaxBytes)
	require.NoError(t, queue.Prepare(t.Context(), js))
	next, err := queue.OpenViews(t.Context(), js, "VIEWS-2")
	require.NoError(t, err)
	put(t, next, "m", shownAt(6))
}

// TestSwitchesAtOnce, while others put views into the old bucket until it is sealed, and then into the new one.
func TestSwitchesAtOnce(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	js := jets(t, nc)
	old, next := changing(t, js)
	got := map[string][]int64{}
	sub, err := nc.SubscribeSync("view.*")
	require.NoError(t, err)
	const matches, revisions = 8, 60
	var all sync.WaitGroup
	begin := make(chan struct{})
	midway := sync.OnceFunc(func() { close(begin) })
	for i := range matches {
		all.Go(func() {
			id, bucket := fmt.Sprintf("m%d", i), old
			for n := int64(0); n < revisions; {
				if n == revisions/3 && i == 0 {
					midway()
				}
				_, err := queue.PutView(t.Context(), bucket.KV, id, n, shownAt(n), false)
				if queue.Sealed(err) {
					p, err := (&queue.Switch{JS: js}).Finish(t.Context())
					if err != nil || p.Current != "VIEWS-2" {
						t.Errorf("the switch ends at %v, %v", p, err)
						return
					}
					bucket = next
					continue
				}
				if !assert.NoError(t, err) {
					return
				}
				n++
			}
		})
	}
	all.Go(func() {
		<-begin
		_, err := (&queue.Switch{JS: js}).Finish(t.Context())
		assert.NoError(t, err)
	})
	all.Wait()
	for range matches * revisions {
		msg, err := sub.NextMsgWithContext(soon(t))
		require.NoError(t, err)
		got[msg.Subject] = append(got[msg.Subject], queue.RevisionOf(msg.Data))
	}
	var want []int64
	for n := range int64(revisions) {
		want = append(want, n)
	}
	for i := range matches {
		assert.Equal(t, want, got[queue.ViewSubject(fmt.Sprintf("m%d", i))], "each once, in order")
	}
}
