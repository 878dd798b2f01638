package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/sqlitelog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/serve"
	"umpire/services/servicestest"
	"umpire/services/views"
)

// outsideServer starts a real NATS server for the test and returns its address.
func outsideServer(t *testing.T) string {
	t.Helper()
	dir, address := t.TempDir(), servicestest.Address(t)
	config := filepath.Join(dir, "nats.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, natsConfig, address, dir), 0o600))
	server := &process{name: "nats", make: func() *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), realNATS(), "-c", config)
	}}
	server.start(t)
	t.Cleanup(server.kill)
	return "nats://" + address
}

// someMatches writes a log with matches into a data folder, and its key.
func someMatches(t *testing.T, dir string, ids ...string) {
	t.Helper()
	key, _, err := serve.Init(dir, time.Now())
	require.NoError(t, err)
	log, err := sqlitelog.Open(filepath.Join(dir, "umpire.db"))
	require.NoError(t, err)
	vault, err := serve.OpenVault(t.Context(), key, log)
	require.NoError(t, err)
	j := journal.New(log, games.All(), vault, rand.Reader)
	for _, id := range ids {
		v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"ada"},"options":{"start":"when-claimed"},` +
			`"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`))
		require.NoError(t, err)
		setup, err := match.ParseSetup(games.All(), v)
		require.NoError(t, err)
		drafts, _, err := match.Create(id, setup, bytes.Repeat([]byte{2}, 32), false, time.Now())
		require.NoError(t, err)
		_, err = j.Append(t.Context(), id, nil, event.ID{}, drafts)
		require.NoError(t, err)
	}
	require.NoError(t, log.Close())
}

// TestViews: a rebuild makes what a verification then finds to be right, and later finds to be wrong.
func TestViews(t *testing.T) {
	t.Parallel()
	dir, server := t.TempDir(), outsideServer(t)
	someMatches(t, dir, "one", "two", "three")
	nc, err := nats.Connect(server, nats.RetryOnFailedConnect(true), nats.ReconnectWait(50*time.Millisecond))
	require.NoError(t, err)
	defer nc.Close()
	require.Eventually(t, nc.IsConnected, 20*time.Second, 10*time.Millisecond)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	flags := []string{"--data", dir, "--nats", server}

	o := runIn(t, "", append([]string{"views", "rebuild"}, flags...)...)
	require.Equal(t, exitWell, o.status, o.err)
	assert.Contains(t, o.out, "3 views made from 3 commits")
	assert.Contains(t, o.out, "VIEWS-2 is current now")
	o = runIn(t, "", append([]string{"views", "verify"}, flags...)...)
	require.Equal(t, exitWell, o.status, o.err)
	assert.Equal(t, "3 matches, 3 views in VIEWS-2; differences: 0\n", o.out)

	kv, err := js.KeyValue(t.Context(), "VIEWS-2")
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), "two", []byte(`{"revision":7,"secret":"of a thief"}`))
	require.NoError(t, err)
	o = runIn(t, "", append([]string{"views", "verify"}, flags...)...)
	assert.Equal(t, exitDifference, o.status)
	assert.Equal(t, "two: newer, revision in the bucket 7, in the log 0\n3 matches, 3 views in VIEWS-2; differences: 1\n", o.out)
	assert.NotContains(t, o.out+o.err, "thief")
	o = runIn(t, "", append([]string{"views", "verify", "--json"}, flags...)...)
	assert.Equal(t, exitDifference, o.status)
	var found views.Verified
	require.NoError(t, json.Unmarshal([]byte(o.out), &found))
	require.Len(t, found.Differences, 1)
	assert.Equal(t, views.Newer, found.Differences[0].Kind)

	o = runIn(t, "", append([]string{"views", "rebuild", "--json"}, flags...)...)
	require.Equal(t, exitWell, o.status, o.err)
	var made views.Rebuilt
	require.NoError(t, json.Unmarshal([]byte(o.out), &made))
	assert.Equal(t, "VIEWS-3", made.Bucket)
	o = runIn(t, "", append([]string{"views", "verify"}, flags...)...)
	assert.Equal(t, exitWell, o.status, o.err)
}

// TestViewsNeedAServerThatIsShared and say so.
func TestViewsNeedAServerThatIsShared(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"rebuild", "verify"} {
		for _, flags := range [][]string{nil, {"--nats", "embedded"}} {
			o := runIn(t, "", append([]string{"views", what, "--data", t.TempDir()}, flags...)...)
			assert.Equal(t, exitUsage, o.status)
			assert.Contains(t, o.err, "inside its process and can't be reached")
		}
	}
}
