package feed_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
	"umpire/services/feed"
)

func TestEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	end := func() uint64 {
		at, err := feed.End(t.Context(), w.js)
		require.NoError(t, err)
		return at
	}
	assert.Zero(t, end())
	w.append(9)
	w.copyAll()
	assert.EqualValues(t, 9, end())
	w.garbage(nil)
	w.garbage(nil)
	assert.EqualValues(t, 9, end(), "what is no commit has no place in the log")
	require.NoError(t, w.stream().DeleteMsg(t.Context(), 11))
	require.NoError(t, w.stream().DeleteMsg(t.Context(), 9))
	assert.EqualValues(t, 8, end())
	w.purge(0)
	assert.Zero(t, end())
	w.wipe()
	_, err := feed.End(t.Context(), w.js)
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}

// TestCheckpoint tells where the replicas stand together: at the feed's end where nothing is left to do.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.relay()
	handle, there, free := blocks(10)
	r := w.replica(handle, nil)
	w.asking(1)
	other := &feed.Shared{Name: "tester", JS: w.js}
	at := func() uint64 {
		one, err := r.Checkpoint(t.Context())
		require.NoError(t, err)
		two, err := other.Checkpoint(t.Context())
		require.NoError(t, err)
		assert.Equal(t, one, two, "it is that of all replicas")
		return one
	}
	assert.Zero(t, at())
	w.append(7)
	w.dealtWith(r)
	w.unacknowledged(0, 0)
	assert.EqualValues(t, 7, at(), "the newest is no match's")
	w.append(7)
	<-there
	w.unacknowledged(1, 4)
	assert.EqualValues(t, 9, at(), "the tenth is under way, and some behind it were dealt with")
	require.NoError(t, w.stream().DeleteMsg(t.Context(), 9))
	assert.EqualValues(t, 8, at())
	close(free)
	w.dealtWith(r)
	w.unacknowledged(0, 0)
	assert.EqualValues(t, 14, at())
	r.stop()
	require.NoError(t, w.js.DeleteConsumer(t.Context(), queue.FeedStream, durable))
	_, err := other.Checkpoint(t.Context())
	require.ErrorIs(t, err, jetstream.ErrConsumerNotFound)
	w.wipe()
	_, err = other.Checkpoint(t.Context())
	require.Error(t, err)
}
