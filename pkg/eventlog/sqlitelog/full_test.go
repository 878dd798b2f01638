package sqlitelog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// TestFullDisk lets the file grow no further, as a full disk would.
func TestFullDisk(t *testing.T) {
	var pages atomic.Int64
	pages.Store(100)
	o := usual
	o.maxPages = pages.Load
	log := opened(t, filepath.Join(t.TempDir(), "umpire.db"), o)
	fill(t.Context(), t, log, func() { pages.Store(1 << 20) })
}

// TestTheFileVanishes takes the file away after a fault, and puts an older one in its place: the log must not begin anew.
func TestTheFileVanishes(t *testing.T) {
	var pages atomic.Int64
	pages.Store(1 << 20)
	o := usual
	o.maxPages = pages.Load
	path := closedLog(t, 3)
	older, err := os.ReadFile(path)
	require.NoError(t, err)
	pages.Store(100)
	log := opened(t, path, o)
	chain := eventlogtest.NewChain("match-3", "own")
	for n := int64(0); err == nil; n++ {
		_, err = log.Append(t.Context(), "match-3", n-1, chain.Sized(20_000))
	}
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	pages.Store(1 << 20)
	for _, end := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(path+end))
	}
	events := eventlogtest.NewChain("match-4", "own").Next(1)
	_, err = log.Append(t.Context(), "match-4", eventlog.NoStream, events...)
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	require.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, older, 0o600))
	_, err = log.Append(t.Context(), "match-4", eventlog.NoStream, events...)
	require.ErrorIs(t, err, eventlog.ErrCorrupt)
	require.ErrorContains(t, err, "it ends at position 6 and had ")
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, older, now)
}

// fill appends until the log can't, and again when there is room: what was refused leaves nothing behind, what was
// acknowledged can be read all the time, and the log comes back by itself.
func fill(ctx context.Context, t require.TestingT, log *Log, makeRoom func()) {
	chain, expected := eventlogtest.NewChain("match-1", "own"), eventlog.NoStream
	events := chain.Faced(3, 400)
	var stand []eventlog.Commit
	try := func() error {
		c, err := log.Append(ctx, "match-1", expected, events...)
		if err == nil {
			stand, expected, events = append(stand, c), int64(c.Last()), chain.Faced(3, 400)
			return nil
		}
		require.ErrorIs(t, err, eventlog.ErrUnavailable)
		require.NotContains(t, err.Error(), "something else", "the log remembers what was rolled back")
		return err
	}
	check := func() {
		var streamed, followed []eventlog.Commit
		for c, err := range log.Read(ctx, "match-1", 0) {
			require.NoError(t, err)
			streamed = append(streamed, c)
		}
		for c, err := range log.Follow(ctx, 0) {
			require.NoError(t, err)
			if followed = append(followed, c); len(followed) == len(stand) {
				break
			}
		}
		require.Equal(t, stand, streamed)
		require.Equal(t, stand, followed)
		head, err := log.Head(ctx)
		require.NoError(t, err)
		require.Equal(t, stand[len(stand)-1].Position, head)
	}
	for try() == nil {
	}
	for refused := 0; refused < 5; {
		check()
		_, err := log.Append(ctx, "match-2", 7, events...) // the others in a group don't matter
		var conflict *eventlog.Conflict
		require.True(t, errors.Is(err, eventlog.ErrUnavailable) || errors.As(err, &conflict))
		if try() != nil {
			refused++
		}
	}
	makeRoom()
	for range 20 {
		require.NoError(t, try())
	}
	check()
}
