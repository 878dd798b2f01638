package esdblog

import (
	"context"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
)

// following starts a follower, and returns what it yields and how it ended.
func following(ctx context.Context, log eventlog.Log, after uint64) (<-chan eventlog.Commit, <-chan error) {
	commits, ended := make(chan eventlog.Commit, 1024), make(chan error, 1)
	go func() {
		for c, err := range log.Follow(ctx, after) {
			if err != nil {
				ended <- err
				return
			}
			commits <- c
		}
		ended <- nil
	}()
	return commits, ended
}

// next returns what a follower yields next.
func next(t *testing.T, commits <-chan eventlog.Commit) eventlog.Commit {
	t.Helper()
	select {
	case c := <-commits:
		return c
	case <-time.After(20 * time.Second):
		require.FailNow(t, "nothing came")
		return eventlog.Commit{}
	}
}

// TestSubscriptionsThatBreak has each fault hit a subscription between two commits and within one: what is yielded has
// neither gap nor repeat.
func TestSubscriptionsThatBreak(t *testing.T) {
	for name, fault := range map[string]esdbtest.Fault{
		"with an error": esdbtest.DropLoudly, "without a word": esdbtest.DropSilently, "by sending again": esdbtest.Repeat,
	} {
		t.Run(name, func(t *testing.T) {
			s := double(t)
			log := opened(t, s.URL(), brisk)
			ctx, cancel := context.WithCancel(t.Context())
			commits, ended := following(ctx, log, 0)
			chain, expected := eventlogtest.NewChain("match-1", "own"), eventlog.NoStream
			for i := range 4 {
				s.Inject(fault, 1)
				want := must(t, log, "match-1", expected, chain.Next(1+i)...)
				require.Equal(t, want, next(t, commits))
				expected = int64(want.Last())
			}
			require.GreaterOrEqual(t, s.Fired(fault), 3)
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			require.Empty(t, commits)
		})
	}
}

// TestSubscriptionBrokenWithinACommit breaks a subscription at each event of a large commit.
func TestSubscriptionBrokenWithinACommit(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	chain := eventlogtest.NewChain("match-1", "own")
	want := []eventlog.Commit{
		must(t, log, "match-1", eventlog.NoStream, chain.Next(1)...), must(t, log, "match-1", 0, chain.Next(5)...),
	}
	s.Hostile(7, map[esdbtest.Fault]float64{esdbtest.DropLoudly: 0.3, esdbtest.Repeat: 0.3})
	for range 10 {
		var seen []eventlog.Commit
		for c, err := range log.Follow(t.Context(), 0) {
			require.NoError(t, err)
			if seen = append(seen, c); len(seen) == 2 {
				break
			}
		}
		require.Equal(t, want, seen)
	}
	require.NotZero(t, s.Fired(esdbtest.DropLoudly))
}

func TestFollowOutlivesAnOutage(t *testing.T) {
	s := double(t, esdbtest.Durable(t.TempDir()+"/esdb"))
	log := opened(t, s.URL(), brisk)
	ctx, cancel := context.WithCancel(t.Context())
	commits, ended := following(ctx, log, 0)
	chain := eventlogtest.NewChain("match-1", "own")
	first := must(t, log, "match-1", eventlog.NoStream, chain.Next(2)...)
	require.Equal(t, first, next(t, commits))
	s.Halt()
	_, err := log.Head(t.Context())
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	require.NoError(t, s.Resume())
	other := opened(t, s.URL(), brisk) // which connects afresh
	second := must(t, other, "match-1", 1, chain.Next(2)...)
	require.Equal(t, second, next(t, commits))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestReadsThatAreCut has every read break off once, and one never get on.
func TestReadsThatAreCut(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	chain := eventlogtest.NewChain("match-1", "own")
	var want []eventlog.Commit
	for i := range 20 {
		want = append(want, must(t, log, "match-1", int64(3*i)-1, chain.Next(3)...))
	}
	s.Hostile(3, map[esdbtest.Fault]float64{esdbtest.CutRead: 0.1})
	require.Equal(t, want, everything(t, log, "match-1"))
	require.NotZero(t, s.Fired(esdbtest.CutRead))
	s.Hostile(3, map[esdbtest.Fault]float64{esdbtest.CutRead: 1})
	for c, err := range log.Read(t.Context(), "match-1", 0) {
		require.ErrorIs(t, err, eventlog.ErrUnavailable, "%v", c)
	}
}

// TestFollowFromAnywhere takes positions that are no event's, which a server can't begin at.
func TestFollowFromAnywhere(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	chain := eventlogtest.NewChain("match-1", "own")
	one, two := must(t, log, "match-1", eventlog.NoStream, chain.Next(3)...), must(t, log, "match-1", 2, chain.Next(1)...)
	for after, want := range map[uint64]eventlog.Commit{
		0: one, 1: one, one.Position - 1: one, one.Position: two, one.Position + 1: two, two.Position - 1: two,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		commits, ended := following(ctx, log, after)
		require.Equal(t, want, next(t, commits), "after %d", after)
		cancel()
		require.Error(t, <-ended)
	}
}

// TestHeadIsTheNewestOfOurs has others write meanwhile: a head that they moved would have consumers wait for ever.
func TestHeadIsTheNewestOfOurs(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	head, err := log.Head(t.Context())
	require.NoError(t, err)
	require.Zero(t, head, "the server's own events are none of the log's")
	c := must(t, log, "match-1", eventlog.NoStream, eventlogtest.NewChain("match-1", "own").Next(3)...)
	client := official(t, s)
	for range 20 {
		_, err := client.AppendToStream(t.Context(), "order-1", esdb.AppendToStreamOptions{ExpectedRevision: esdb.Any{}},
			esdb.EventData{EventID: uuid.New(), EventType: "ordered", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`)})
		require.NoError(t, err)
	}
	for _, l := range []*Log{log, opened(t, s.URL(), brisk)} {
		head, err := l.Head(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.Position, head)
	}
}

// TestWhatIsNotOurs has somebody else write into a stream: it is told, and nothing is taken for a history.
func TestWhatIsNotOurs(t *testing.T) {
	good := `{"commit":"00000000-0000-0000-0000-000000000000","n":1,"i":0}`
	for name, e := range map[string]esdb.EventData{
		"no metadata":     {Data: []byte(`{}`)},
		"no event":        {Data: []byte(`{}`), Metadata: []byte(good)},
		"several events":  {Data: []byte(`{},{}`), Metadata: []byte(good)},
		"a wrong place":   {Data: []byte(`{}`), Metadata: []byte(`{"commit":"","n":2,"i":2}`)},
		"before the rest": {Data: []byte(`{}`), Metadata: []byte(`{"commit":"","n":9,"i":5}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := double(t)
			log, client := opened(t, s.URL(), brisk), official(t, s)
			e.EventID, e.EventType, e.ContentType = uuid.New(), "x", esdb.ContentTypeJson
			_, err := client.AppendToStream(t.Context(), "match-1", esdb.AppendToStreamOptions{}, e)
			require.NoError(t, err)
			for _, err := range log.Read(t.Context(), "match-1", 0) {
				require.ErrorIs(t, err, eventlog.ErrCorrupt)
			}
			for _, err := range log.Follow(t.Context(), 0) {
				require.ErrorIs(t, err, eventlog.ErrCorrupt)
			}
			_, err = log.Append(t.Context(), "match-1", 0, eventlogtest.NewChain("match-1", "own").Next(1)...)
			require.ErrorIs(t, err, eventlog.ErrCorrupt)
		})
	}
}

// TestOtherToolsSeeTheEvents reads with the official client what the log has written.
func TestOtherToolsSeeTheEvents(t *testing.T) {
	s := double(t)
	log, client := opened(t, s.URL(), brisk), official(t, s)
	c := must(t, log, "match-1", eventlog.NoStream, eventlogtest.NewChain("match-1", "own").Next(3)...)
	stream, err := client.ReadStream(t.Context(), "match-1", esdb.ReadStreamOptions{}, 10)
	require.NoError(t, err)
	defer stream.Close()
	for i := range c.Events {
		e, err := stream.Recv()
		require.NoError(t, err)
		require.Equal(t, c.Events[i].Type, e.Event.EventType)
		require.Equal(t, "application/json", e.Event.ContentType)
		require.Equal(t, c.First+uint64(i), e.Event.EventNumber)
		require.JSONEq(t, string(c.Events[i].AppendStored(nil)), string(e.Event.Data))
	}
	sub, err := client.SubscribeToAll(t.Context(), esdb.SubscribeToAllOptions{
		From: esdb.Start{}, Filter: &esdb.SubscriptionFilter{Type: esdb.StreamFilterType, Prefixes: []string{"match-"}},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Close()) }()
	for got := 0; got < len(c.Events); {
		if e := sub.Recv(); e.EventAppeared != nil {
			got++
		} else {
			require.Nil(t, e.SubscriptionDropped)
		}
	}
}
