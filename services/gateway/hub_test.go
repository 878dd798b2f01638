package gateway

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
)

// TestTheHub wakes who waits for a match, keeps nobody waiting, and forgets who has left.
func TestTheHub(t *testing.T) {
	t.Parallel()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	defer e.Stop()
	nc, err := e.Connect("test")
	require.NoError(t, err)
	defer nc.Close()
	h, err := newHub(nc)
	require.NoError(t, err)
	one, same, other := h.join("m"), h.join("m"), h.join("other")
	for range 100 { // nobody reads
		require.NoError(t, nc.Publish(queue.TickSubject("m"), []byte("1")))
	}
	require.NoError(t, nc.Publish(queue.TickSubject("nobody"), nil))
	<-one.woken
	<-same.woken
	assert.Empty(t, other.woken)
	h.leave("m", same)
	h.leave("m", same)
	assert.Len(t, h.readers["m"], 1)
	h.leave("m", one)
	h.leave("other", other)
	assert.Empty(t, h.readers)
	require.NoError(t, h.close())
	h.tick("m", 1)

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				r := h.join("m")
				h.tick("m", 1)
				<-r.woken
				h.leave("m", r)
			}
		})
	}
	all.Wait()
	assert.Empty(t, h.readers)
	nc.Close()
	_, err = newHub(nc)
	require.Error(t, err)
}
