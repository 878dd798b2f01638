package queue_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
)

// TestABusyServiceSaysSo: when as many requests are under way as a service takes, the next is answered at once.
func TestABusyServiceSaysSo(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	const most = 4096 // more than a service takes
	var begun atomic.Int64
	free := make(chan struct{})
	stop, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503, Body: []byte("busy")},
		queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
			begun.Add(1)
			<-free
			return queue.Reply{Status: 200, Body: []byte("done")}
		}})
	require.NoError(t, err)
	answers := make(chan *nats.Msg, most)
	inbox := nats.NewInbox()
	sub, err := nc.ChanSubscribe(inbox, answers)
	require.NoError(t, err)
	for range most {
		require.NoError(t, nc.PublishRequest(queue.Submit, inbox, nil))
	}
	busy := <-answers
	assert.Equal(t, "503", busy.Header.Get(queue.HeaderStatus))
	assert.Equal(t, "busy", string(busy.Data))
	reply, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, queue.Reply{Status: 503, Body: []byte("busy")}, reply)

	close(free)
	served := 0
	for range most - 1 {
		if (<-answers).Header.Get(queue.HeaderStatus) == "" {
			served++
		}
	}
	assert.EqualValues(t, begun.Load(), served, "whoever was taken in was answered")
	assert.Greater(t, served, 100)
	reply, err = queue.Request(soon(t), nc, queue.Submit, nil, nil)
	require.NoError(t, err)
	assert.Equal(t, "done", string(reply.Body), "it takes requests again")
	require.NoError(t, sub.Unsubscribe())
	require.NoError(t, stop())
}

// TestOneSlowRequestStopsNoOther: requests to one endpoint are worked on side by side.
func TestOneSlowRequestStopsNoOther(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	met := make(chan struct{})
	stop, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: func(ctx context.Context, _ nats.Header, _ []byte) queue.Reply {
			select { // each waits for the other
			case met <- struct{}{}:
			case <-met:
			case <-ctx.Done():
			}
			return queue.Reply{Status: 200}
		}})
	require.NoError(t, err)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			_, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
			assert.NoError(t, err)
		})
	}
	both.Wait()
	require.NoError(t, stop())
}

// TestStopLetsRequestsFinish: whoever is being answered when a service stops gets the answer.
func TestStopLetsRequestsFinish(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	var taken atomic.Bool
	begun, free := make(chan struct{}), make(chan struct{})
	stop, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
			if taken.CompareAndSwap(false, true) {
				close(begun)
				<-free
			}
			return queue.Reply{Status: 200, Body: []byte("done")}
		}})
	require.NoError(t, err)
	answered := make(chan queue.Reply, 1)
	go func() {
		reply, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
		assert.NoError(t, err)
		answered <- reply
	}()
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	require.Eventually(t, func() bool {
		_, err := queue.Request(soon(t), nc, queue.Submit, nil, nil)
		return err != nil // queue.ErrNoService: nothing new is taken in
	}, patience, tick)
	select {
	case err := <-stopped:
		assert.Fail(t, "it stopped while a request was under way", "%v", err)
	default:
	}
	close(free)
	require.NoError(t, <-stopped)
	assert.Equal(t, "done", string((<-answered).Body))
	require.NoError(t, stop(), "to stop twice is harmless")
}

// TestNothingBeginsAfterStop floods a service while it stops: its handlers use what is closed next.
func TestNothingBeginsAfterStop(t *testing.T) {
	t.Parallel()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	client := connect(t, e, "client")
	for range 5 {
		nc := connect(t, e, "service")
		var stopped, late atomic.Bool
		stop, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503},
			queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
				if stopped.Load() {
					late.Store(true)
				}
				return queue.Reply{Status: 200}
			}})
		require.NoError(t, err)
		require.NoError(t, nc.Flush())
		for range 2000 {
			require.NoError(t, client.PublishRequest(queue.Submit, "nobody", nil))
		}
		require.NoError(t, client.Flush())
		require.NoError(t, stop())
		stopped.Store(true)
		require.NoError(t, nc.Drain()) // all that the connection has got is dealt with
		require.Eventually(t, nc.IsClosed, patience, tick)
		assert.False(t, late.Load(), "a request was taken in by a service that had stopped")
	}
}

// TestAServiceThatCantBeServed leaves nothing behind.
func TestAServiceThatCantBeServed(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	handle := func(context.Context, nats.Header, []byte) queue.Reply { return queue.Reply{Status: 200} }
	_, err := queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: handle}, queue.Endpoint{Subject: "umpire.no name", Handle: handle})
	require.ErrorContains(t, err, "umpire.no name")
	_, err = queue.Request(soon(t), nc, queue.Submit, nil, nil)
	require.ErrorIs(t, err, queue.ErrNoService)
	ping, err := micro.ControlSubject(micro.PingVerb, "umpire-test", "")
	require.NoError(t, err)
	_, err = queue.Request(soon(t), nc, ping, nil, nil)
	require.ErrorIs(t, err, queue.ErrNoService, "nobody says that it is there")
	nc.Close()
	_, err = queue.Serve(t.Context(), nc, "test", "a test", queue.Reply{Status: 503})
	require.Error(t, err)
}

// TestServicesAreFound: `nats micro ls` shows what runs.
func TestServicesAreFound(t *testing.T) {
	t.Parallel()
	nc := embedded(t)
	stop, err := queue.Serve(t.Context(), nc, "submission", "takes submissions", queue.Reply{Status: 503},
		queue.Endpoint{Subject: queue.Submit, Handle: func(context.Context, nats.Header, []byte) queue.Reply {
			return queue.Reply{Status: 200}
		}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, stop()) }()
	info, err := micro.ControlSubject(micro.InfoVerb, "", "")
	require.NoError(t, err)
	reply, err := queue.Request(soon(t), nc, info, nil, nil)
	require.NoError(t, err)
	for _, want := range []string{`"umpire-submission"`, `"takes submissions"`, `"umpire.submit"`} {
		assert.Contains(t, string(reply.Body), want)
	}
}
