package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games"
	"umpire/pkg/match"
	"umpire/services/demo"
	"umpire/services/views"
)

// liveMatches is how many are being played beside a rebuild.
const liveMatches = 100

// TestRebuildBesidePlay rebuilds the views of matches while bots play them, as an operator would, and verifies them while
// they go on.
func TestRebuildBesidePlay(t *testing.T) {
	s := newSystem(t, plan{replicas: 2})
	s.startAll(rand.New(rand.NewPCG(1, 1))) //nolint:gosec // any order will do
	s.awaitReady()
	c := &crowd{t: t, operator: s.operator, games: games.All(), streams: true, thinking: 2 * time.Second, setup: func() map[string]any {
		setup := demo.Setup("glass-full", rand.IntN)
		setup["options"] = map[string]any{"clock": map[string]any{"move": "1h"}} // no match ends by a clock
		return setup
	}}
	atTable, sendHome := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	for range liveMatches {
		playing.Go(func() { c.table(atTable, func() bool { return atTable.Err() == nil }) })
	}
	defer playing.Wait()
	defer sendHome()
	require.Eventually(t, func() bool { return c.acknowledged() >= 2*liveMatches }, time.Minute, 10*time.Millisecond)

	for _, bucket := range []string{"VIEWS-2", "VIEWS-3"} {
		before := c.acknowledged()
		o := s.tool(t, "views", "rebuild", "--json")
		require.Equal(t, exitWell, o.status, o.err)
		var done views.Rebuilt
		require.NoError(t, json.Unmarshal([]byte(o.out), &done))
		assert.Equal(t, bucket, done.Bucket)
		assert.GreaterOrEqual(t, done.Matches, int64(liveMatches))
		assert.Greater(t, c.acknowledged(), before, "matches went on meanwhile")

		o = s.tool(t, "views", "verify", "--json")
		require.Equal(t, exitWell, o.status, "%s%s", o.out, o.err)
		var found views.Verified
		require.NoError(t, json.Unmarshal([]byte(o.out), &found))
		assert.Equal(t, bucket, found.Bucket)
		assert.GreaterOrEqual(t, found.Views, int(done.Matches), "every view was looked at, also those that were replaced meanwhile")
		t.Logf("%d views made from %d commits in %s beside %d submissions; %d verified", done.Matches, done.Commits,
			done.Took.Round(time.Millisecond), c.acknowledged()-before, found.Views)
	}
	running, err := s.operator.List(t.Context(), "?status="+string(match.Running)+"&limit=200")
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(running.Matches), liveMatches-5, "a table whose match has just ended begins the next")
}
