package sqlitelog

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// shell opens the file as another program would.
func shell(t *testing.T, path string) *conn {
	t.Helper()
	c, err := connect(path, "rw", "busy_timeout = 5000")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.close()) })
	return c
}

// queued tells when Append asks for the second time whether its context has ended: by then the writer has the append.
type queued struct {
	context.Context
	asked atomic.Int32
	yes   chan struct{}
}

func (q *queued) Done() <-chan struct{} {
	if q.asked.Add(1) == 2 {
		close(q.yes)
	}
	return q.Context.Done()
}

func TestAppendWhoseContextEndsMayBeRepeated(t *testing.T) {
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	first := written(t, log, "match-1", 1)
	other := shell(t, log.path)
	require.NoError(t, other.exec("BEGIN IMMEDIATE")) // which holds the writer up
	events := eventlogtest.NewChain("match-1", "late").Next(2)
	ctx, cancel := context.WithCancel(t.Context())
	q := &queued{Context: ctx, yes: make(chan struct{})}
	failed := make(chan error)
	go func() {
		_, err := log.Append(q, "match-1", 0, events...)
		failed <- err
	}()
	<-q.yes
	cancel()
	err := <-failed
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	require.NoError(t, other.exec("ROLLBACK"))
	again, err := log.Append(t.Context(), "match-1", 0, events...)
	require.NoError(t, err)
	all, err := replay(t, log)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, append(first, again), all)
}

// TestOneGroup puts appends of all kinds into one transaction: each gets its own answer.
func TestOneGroup(t *testing.T) {
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	stood := written(t, log, "match-1", 2)
	other := shell(t, log.path)
	require.NoError(t, other.exec("BEGIN IMMEDIATE"))
	type call struct {
		stream   string
		expected int64
		events   []event.Event
		want     any
	}
	fresh := eventlogtest.NewChain("match-2", "own").Next(4)
	next := eventlogtest.NewChain("match-1", "next").Next(1)
	calls := []call{
		{"match-2", eventlog.NoStream, fresh[:2], uint64(0)},
		{"match-2", eventlog.NoStream, fresh[:2], uint64(0)},
		{"match-2", 1, fresh[2:], uint64(2)},
		{"match-2", 1, fresh[3:], int64(3)},
		{"match-1", 1, next, uint64(2)},
		{"match-1", 0, fresh[:1], int64(2)},
		{"match-1", 2, stood[0].Events, uint64(0)},
		{"match-1", 2, append(append([]event.Event{}, stood[1].Events...), fresh[0]), eventlog.ErrInvalid},
		{"match-3", 7, fresh[:1], eventlog.NoStream},
		{"match-4", eventlog.NoStream, fresh[:1], uint64(0)},
	}
	commits, errs, done := make([]eventlog.Commit, len(calls)), make([]error, len(calls)), make(chan struct{})
	for i, c := range calls { // one behind the other into the queue, all before the writer gets on
		q := &queued{Context: t.Context(), yes: make(chan struct{})}
		go func() {
			commits[i], errs[i] = log.Append(q, c.stream, c.expected, c.events...)
			done <- struct{}{}
		}()
		<-q.yes
	}
	require.NoError(t, other.exec("ROLLBACK"))
	for range calls {
		<-done
	}
	for i, c := range calls {
		switch want := c.want.(type) {
		case uint64:
			require.NoError(t, errs[i], "call %d", i)
			require.Equal(t, want, commits[i].First)
		case int64:
			var conflict *eventlog.Conflict
			require.ErrorAs(t, errs[i], &conflict, "call %d", i)
			require.Equal(t, want, conflict.Actual)
		case error:
			require.ErrorIs(t, errs[i], want, "call %d", i)
		}
	}
	all, err := replay(t, log)
	require.NoError(t, err)
	require.Len(t, all, 6)
	requireHistory(t, all)
}

// TestSomebodyElseWrites has another program write to the file, which it should not: the log notices, and goes on.
func TestSomebodyElseWrites(t *testing.T) {
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), usual)
	written(t, log, "match-1", 2)
	other := shell(t, log.path)
	require.NoError(t, other.exec(`INSERT INTO commits SELECT 3, 'match-1', 2, 2, x'00', events FROM commits WHERE position = 1`))
	events := eventlogtest.NewChain("match-1", "more").Next(1)
	_, err := log.Append(t.Context(), "match-1", 1, events...)
	var conflict *eventlog.Conflict
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, int64(2), conflict.Actual)
	_, err = log.Append(t.Context(), "match-1", 2, events...)
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	require.ErrorContains(t, err, "something else writes")
	c, err := log.Append(t.Context(), "match-1", 2, events...)
	require.NoError(t, err)
	require.Equal(t, uint64(4), c.Position)
	all, err := replay(t, log)
	require.NoError(t, err)
	requireHistory(t, all)
}

// TestDurability checks what no test can try without pulling the plug.
func TestDurability(t *testing.T) {
	w := &writer{path: filepath.Join(t.TempDir(), "umpire.db"), heads: newHeads(1)}
	require.NoError(t, w.create())
	for pragma, want := range map[string]int64{"synchronous": 2, "wal_autocheckpoint": 4000, "busy_timeout": 5000} {
		got, err := one[int64](w.conn, "PRAGMA "+pragma)
		require.NoError(t, err)
		require.Equal(t, want, got, pragma)
	}
	mode, err := one[string](w.conn, "PRAGMA journal_mode")
	require.NoError(t, err)
	require.Equal(t, "wal", mode)
	require.NoError(t, w.disconnect())
}

func TestHeadsForgetButNeverLie(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h, truth := newHeads(rapid.IntRange(1, 6).Draw(r, "room")), map[string]int64{}
		for n := range int64(rapid.IntRange(0, 60).Draw(r, "steps")) {
			stream := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(r, "stream")
			if rapid.Bool().Draw(r, "set") {
				h.set(stream, n)
				truth[stream] = n
			}
			if got, known := h.get(stream); known {
				require.Equal(r, truth[stream], got)
			}
			require.LessOrEqual(r, len(h.young)+len(h.old), max(2*h.room, 2))
		}
	})
}

func TestTailHoldsTheNewestWithinItsLimits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		room, limit := rapid.IntRange(1, 8).Draw(r, "commits"), rapid.IntRange(10, 60).Draw(r, "bytes")
		head := rapid.Uint64Range(0, 20).Draw(r, "head")
		tail := newTail(room, limit, head)
		for range rapid.IntRange(1, 20).Draw(r, "groups") {
			var group []recent
			for range rapid.IntRange(0, 10).Draw(r, "group") {
				head++
				group = append(group, recent{eventlog.Commit{Position: head}, rapid.IntRange(1, 10).Draw(r, "size")})
			}
			_, more, _ := tail.after(head, nil)
			tail.publish(group)
			if len(group) > 0 && more != nil {
				<-more
			}
			require.Equal(r, head, tail.position())
			require.LessOrEqual(r, tail.bytes, limit)
			require.LessOrEqual(r, tail.head-tail.floor, uint64(room))
			from := rapid.Uint64Range(0, head).Draw(r, "from")
			batch, _, ok := tail.after(from, make([]eventlog.Commit, 0, 5))
			require.Equal(r, from >= tail.floor, ok)
			for i, c := range batch {
				require.Equal(r, from+uint64(i)+1, c.Position)
			}
			if ok {
				require.Len(r, batch, int(min(5, head-from)))
			}
		}
		_, more, _ := tail.after(head, nil)
		tail.skip(head + 5)
		<-more
		require.Equal(r, head+5, tail.position())
		_, _, ok := tail.after(head+4, nil)
		require.False(r, ok)
		require.Zero(r, tail.bytes)
	})
}
