package esdblog

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
)

// must appends what must succeed.
func must(tb testing.TB, log eventlog.Log, stream string, expected int64, events ...event.Event) eventlog.Commit {
	tb.Helper()
	c, err := log.Append(tb.Context(), stream, expected, events...)
	require.NoError(tb, err)
	return c
}

// everything reads a stream.
func everything(tb testing.TB, log eventlog.Log, stream string) []eventlog.Commit {
	tb.Helper()
	var commits []eventlog.Commit
	for c, err := range log.Read(tb.Context(), stream, 0) {
		require.NoError(tb, err)
		commits = append(commits, c)
	}
	return commits
}

// official connects the official client to a server.
func official(tb testing.TB, s *esdbtest.Server) *esdb.Client {
	tb.Helper()
	config, err := esdb.ParseConnectionString(s.URL())
	require.NoError(tb, err)
	config.Logger = esdb.NoopLogging()
	client, err := esdb.NewClient(config)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	return client
}

// TestServerStoresAnIDTwice has a command come again, once the stream has moved on, with the revision that is then
// right: the server would write it a second time.
func TestServerStoresAnIDTwice(t *testing.T) {
	s := double(t)
	client := official(t, s)
	twice := esdb.EventData{EventID: uuid.New(), EventType: "x", ContentType: esdb.ContentTypeJson, Data: []byte(`{}`)}
	for _, expected := range []esdb.ExpectedRevision{esdb.NoStream{}, esdb.Revision(0)} {
		_, err := client.AppendToStream(t.Context(), "other-1", esdb.AppendToStreamOptions{ExpectedRevision: expected}, twice)
		require.NoError(t, err)
	}
	stands, err := client.ReadStream(t.Context(), "other-1", esdb.ReadStreamOptions{}, 10)
	require.NoError(t, err)
	defer stands.Close()
	for range 2 { // this is what the double imitates
		e, err := stands.Recv()
		require.NoError(t, err)
		require.Equal(t, twice.EventID, e.Event.EventID)
	}

	chain := eventlogtest.NewChain("match-1", "own")
	events := chain.Next(3)
	first := must(t, opened(t, s.URL(), brisk), "match-1", eventlog.NoStream, events[0])
	must(t, opened(t, s.URL(), brisk), "match-1", 0, events[1])
	forgetful := brisk
	forgetful.rememberIDs = 1
	for _, o := range []options{brisk, forgetful} { // days later, from a process that has never seen the stream
		require.Equal(t, first, must(t, opened(t, s.URL(), o), "match-1", 1, events[0]))
	}
	require.Len(t, everything(t, opened(t, s.URL(), brisk), "match-1"), 2)
}

// TestServerWritesTwice has one append land twice, as no expectation can prevent: both are read, and the first is the
// commit.
func TestServerWritesTwice(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	events := eventlogtest.NewChain("match-1", "own").Next(3)
	s.Inject(esdbtest.WriteTwice, 1)
	first := must(t, log, "match-1", eventlog.NoStream, events[:2]...)
	require.Equal(t, 1, s.Fired(esdbtest.WriteTwice))
	for _, l := range []*Log{log, opened(t, s.URL(), brisk)} {
		require.Equal(t, first, must(t, l, "match-1", 1, events[:2]...))
		require.Equal(t, first, must(t, l, "match-1", 3, events[:2]...))
	}
	require.Equal(t, uint64(4), must(t, log, "match-1", 3, events[2]).First)
}

// TestAnswersThatAreNotTrue has an append succeed and be told otherwise, and the other way round.
func TestAnswersThatAreNotTrue(t *testing.T) {
	for name, fault := range map[string]esdbtest.Fault{
		"it stands, and the answer is that the revision was wrong":    esdbtest.FalseConflict,
		"it stands, and no answer comes":                              esdbtest.LostAnswer,
		"it doesn't stand, and the answer is that the other one does": esdbtest.SpuriousConflict,
		"the server is busy":                                          esdbtest.Unavailable,
	} {
		t.Run(name, func(t *testing.T) {
			s := double(t)
			log := opened(t, s.URL(), brisk)
			chain := eventlogtest.NewChain("match-1", "own")
			expected := eventlog.NoStream
			for range 5 {
				s.Inject(fault, 2)
				events := chain.Next(2)
				require.Equal(t, events[1].Hash, must(t, log, "match-1", expected, events...).Events[1].Hash)
				expected += 2
			}
			require.GreaterOrEqual(t, s.Fired(fault), 5)
			require.Len(t, everything(t, log, "match-1"), 5)
		})
	}
}

// TestOneNameTwoContents has two replicas decide the same at once, with other salts: both must tell of the one that
// stands. A server that took the second for a repeat of the first would tell each that its own stands.
func TestOneNameTwoContents(t *testing.T) {
	s := double(t)
	one, two := opened(t, s.URL(), brisk), opened(t, s.URL(), brisk)
	events := eventlogtest.NewChain("match-1", "own").Next(2)
	altered := append([]event.Event{}, events...)
	for i := range altered {
		altered[i].At = altered[i].At.Add(time.Hour)
		altered[i].Hash = altered[i].ComputeHash()
	}
	first := must(t, one, "match-1", eventlog.NoStream, events...)
	require.Equal(t, first, must(t, two, "match-1", eventlog.NoStream, altered...))
	s.Inject(esdbtest.LostAnswer, 1) // and where the first one doesn't know that it was first
	more, other := eventlogtest.NewChain("match-2", "own").Next(2), opened(t, s.URL(), brisk)
	done := must(t, one, "match-2", eventlog.NoStream, more...)
	require.Equal(t, done, must(t, other, "match-2", eventlog.NoStream, more...))
}

func TestAppendIsUnavailableWhileTheServerIs(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	events := eventlogtest.NewChain("match-1", "own").Next(3)
	must(t, log, "match-1", eventlog.NoStream, events[0])
	s.Halt()
	began := time.Now()
	_, err := log.Append(t.Context(), "match-1", 0, events[1])
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	_, err = log.Head(t.Context())
	require.ErrorIs(t, err, eventlog.ErrUnavailable)
	for _, err := range log.Read(t.Context(), "match-1", 0) {
		require.ErrorIs(t, err, eventlog.ErrUnavailable)
	}
	require.Less(t, time.Since(began), 20*time.Second)
	require.NoError(t, s.Resume())
	require.Eventually(t, func() bool { // as soon as gRPC has connected again
		_, err := log.Append(t.Context(), "match-1", 0, events[1])
		return err == nil
	}, 20*time.Second, time.Millisecond)
	require.Len(t, everything(t, log, "match-1"), 2)
}

// TestOutageOfManyCallers is what kills the official client: more than a second without the server, under load. None
// may outlast its context, and the same log must work afterwards.
func TestOutageOfManyCallers(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	s.Halt()
	ended := make(chan error)
	ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
	defer cancel()
	for i := range 32 {
		stream := "match-" + big.NewInt(int64(i)).String()
		go func() {
			for {
				_, err := log.Append(ctx, stream, eventlog.NoStream, eventlogtest.NewChain(stream, "own").Next(1)...)
				if ctx.Err() != nil {
					ended <- err
					return
				}
			}
		}()
	}
	<-ctx.Done()
	soon := time.After(5 * time.Second)
	for range 32 {
		select {
		case err := <-ended:
			require.True(t, errors.Is(err, context.DeadlineExceeded) || errors.Is(err, eventlog.ErrUnavailable), "%v", err)
		case <-soon:
			t.Fatal("a caller hangs past its context")
		}
	}
	require.NoError(t, s.Resume())
	require.Eventually(t, func() bool {
		_, err := log.Append(t.Context(), "match-1", eventlog.NoStream, eventlogtest.NewChain("match-1", "own").Next(1)...)
		return err == nil
	}, 20*time.Second, time.Millisecond)
}

func TestServerThatHangs(t *testing.T) {
	s := double(t)
	hasty := brisk
	hasty.patience = 50 * time.Millisecond
	log := opened(t, s.URL(), hasty)
	events := eventlogtest.NewChain("match-1", "own").Next(2)
	s.Inject(esdbtest.Hang, 1) // within the log's patience it is tried again
	must(t, log, "match-1", eventlog.NoStream, events[0])
	s.Inject(esdbtest.Hang, 1)
	require.Len(t, everything(t, log, "match-1"), 1)
	require.Equal(t, 2, s.Fired(esdbtest.Hang))

	calm := opened(t, s.URL()+"&defaultDeadline=60000", hasty) // a caller's own patience may be less
	s.Inject(esdbtest.Hang, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := calm.Append(ctx, "match-2", eventlog.NoStream, events[1])
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestCloseEndsAppendsUnderWay(t *testing.T) {
	s := double(t)
	log := opened(t, s.URL(), brisk)
	s.Inject(esdbtest.Hang, 1)
	failed := make(chan error)
	go func() {
		_, err := log.Append(t.Context(), "match-1", eventlog.NoStream, eventlogtest.NewChain("match-1", "own").Next(1)...)
		failed <- err
	}()
	require.Eventually(t, func() bool { return s.Fired(esdbtest.Hang) == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, log.Close())
	require.ErrorIs(t, <-failed, eventlog.ErrClosed)
}

// TestServerTakesLess is a server with its usual limit: what it can't take is refused, and told how to mend.
func TestServerTakesLess(t *testing.T) {
	s := double(t, esdbtest.MaxAppend(esdbtest.DefaultMaxAppend))
	log := opened(t, s.URL(), brisk)
	chain := eventlogtest.NewChain("match-1", "own")
	half := []event.Event{chain.Sized(eventlog.MaxEventBytes), chain.Sized(eventlog.MaxEventBytes)}
	_, err := log.Append(t.Context(), "match-1", eventlog.NoStream, half...)
	require.ErrorIs(t, err, eventlog.ErrTooLarge)
	require.ErrorContains(t, err, "EVENTSTORE_MAX_APPEND_SIZE")
	require.Empty(t, everything(t, log, "match-1"))
	must(t, log, "match-1", eventlog.NoStream, half[0])
}

func TestStreamsThatNobodyWouldFollow(t *testing.T) {
	log := opened(t, double(t).URL(), brisk)
	for _, name := range []string{"order-1", "matches-1", "a-match-1"} {
		_, err := log.Append(t.Context(), name, eventlog.NoStream, eventlogtest.NewChain(name, "own").Next(1)...)
		require.ErrorIs(t, err, eventlog.ErrInvalid)
		require.Empty(t, everything(t, log, name))
	}
	for _, name := range []string{"tournament-1", "umpire-probes"} {
		must(t, log, name, eventlog.NoStream, eventlogtest.NewChain(name, "own").Next(1)...)
	}
}

// TestServersOfAllKinds has the positions come from wherever the server tells them.
func TestServersOfAllKinds(t *testing.T) {
	for name, o := range map[string][]esdbtest.Option{
		"as known": nil, "an old one": {esdbtest.NoStreamPositions()}, "one that answers otherwise": {esdbtest.FirstPosition()},
		"one that does both": {esdbtest.NoStreamPositions(), esdbtest.FirstPosition()},
	} {
		t.Run(name, func(t *testing.T) {
			s := double(t, o...)
			log := opened(t, s.URL(), brisk)
			chain, other := eventlogtest.NewChain("match-1", "own"), eventlogtest.NewChain("match-10", "own")
			var want []eventlog.Commit
			expected := eventlog.NoStream
			for i := range 6 {
				must(t, log, "match-10", int64(i)-1, other.Next(1)...) // a name that the filter by prefix takes too
				c := must(t, log, "match-1", expected, chain.Next(1+i%3)...)
				want, expected = append(want, c), int64(c.Last())
			}
			require.Equal(t, want, everything(t, log, "match-1"))
			require.Equal(t, want[4], must(t, opened(t, s.URL(), brisk), "match-1", expected, want[4].Events...))
			var seen []eventlog.Commit
			for c, err := range log.Follow(t.Context(), 0) {
				require.NoError(t, err)
				if c.Stream == "match-1" {
					seen = append(seen, c)
				}
				if len(seen) == len(want) {
					break
				}
			}
			require.Equal(t, want, seen)
		})
	}
}
