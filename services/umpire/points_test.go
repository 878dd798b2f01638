package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog"
	"umpire/pkg/games"
	"umpire/pkg/queue"
	"umpire/services/demo"
)

// points are the places between two effects at which services die, as package fault names them.
var points = []string{
	"submission.appended", // a submission is in the log, and its player does not know
	"resolver.appended",   // a phase is resolved, and its commit not acknowledged
	"resolver.handled",    // the same, and nothing is left to do but the acknowledgement
	"timer.appended",      // a deadline is in the log, and the timer knows of it no more
	"projector.put",       // a view is in its bucket, and the projector knows of it no more
	"projector.handled",   // a view is in its bucket, and its commit not acknowledged
	"relay.read",          // a commit is in the log, and not in the feed
	"relay.published",     // a commit is in the feed, perhaps, and the relay does not know
	"relay.acknowledged",  // a commit is in the feed, and not shown on its public subject
}

// TestDeathBetweenEffects kills services at each of those points, again and again, while matches are played: nothing that
// was acknowledged is lost, nothing stands in the log twice, and the feed is the log, commit by commit.
func TestDeathBetweenEffects(t *testing.T) {
	s := newSystem(t, plan{replicas: 1})
	s.startAll(rand.New(rand.NewPCG(1, 1))) //nolint:gosec // any order will do
	s.awaitReady()
	c := &crowd{t: t, operator: s.operator, games: games.All(), streams: true, missing: 10, setup: func() map[string]any {
		setup := demo.Setup("glass-full", rand.IntN)
		setup["options"] = map[string]any{"clock": map[string]any{"move": "2s"}}
		return setup
	}}
	dying, noMore := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	for range 8 {
		playing.Go(func() { c.table(t.Context(), func() bool { return dying.Err() == nil }) })
	}
	for _, point := range points {
		service, _, _ := strings.Cut(point, ".")
		victim := s.byName[service+"-1"]
		victim.kill()
		victim.start(t, fmt.Sprintf("UMPIRE_DIE_AT=%s:%d", point, 1+rand.IntN(5)))
		select {
		case <-victim.ended():
		case <-time.After(time.Minute):
			require.Fail(t, "nobody came by", "%s\n%s", point, s.told(victim.name))
		}
		victim.start(t)
		s.awaitReady()
	}
	noMore()
	playing.Wait()
	s.awaitReady()
	j, vault := s.openJournal(t)
	checkLog(t, j, vault, c)
	checkFeed(t, s)
	t.Logf("%d deaths, %d matches, %d submissions acknowledged", len(points), len(c.matches), len(c.acks))
	s.verifyViews(t)
}

// verifyViews compares the bucket of views with the log, as an operator would.
func (s *system) verifyViews(t *testing.T) {
	t.Helper()
	o := s.tool(t, "views", "verify")
	assert.Equal(t, exitWell, o.status, "%s%s", o.out, o.err)
}

// checkFeed finds in FEED each commit of the log once, in the log's order.
func checkFeed(t *testing.T, s *system) {
	t.Helper()
	log, err := esdblog.Open(t.Context(), s.logURL())
	require.NoError(t, err)
	defer log.Close()
	nc, err := nats.Connect("nats://" + s.nats)
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	consumer, err := js.OrderedConsumer(t.Context(), queue.FeedStream, jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	head, err := log.Head(t.Context())
	require.NoError(t, err)
	for commit, err := range log.Follow(t.Context(), 0) {
		require.NoError(t, err)
		msg, err := consumer.Next()
		require.NoError(t, err, "position %d", commit.Position)
		requireInFeed(t, &commit, msg)
		if commit.Position >= head {
			return
		}
	}
}

func requireInFeed(t *testing.T, commit *eventlog.Commit, msg jetstream.Msg) {
	t.Helper()
	require.Equal(t, queue.FeedSubject(commit.Stream), msg.Subject())
	require.Equal(t, strconv.FormatUint(commit.Position, 10), msg.Headers().Get(queue.HeaderPosition))
	require.Equal(t, strconv.FormatUint(commit.First, 10), msg.Headers().Get(queue.HeaderRevision))
}
