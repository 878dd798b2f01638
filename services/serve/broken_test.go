package serve_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/sqlitelog"
	"umpire/services/problem"
	"umpire/services/serve"
)

// TestAnUnknownEventStopsOneMatch writes an event of some later version of umpire into the log: that match is refused in
// so many words, and the others go on.
func TestAnUnknownEventStopsOneMatch(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	program, operator := start(t, func(o *serve.Options) { o.Data = data })
	strange, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	good, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	require.NoError(t, program.Stop())

	log, err := sqlitelog.Open(filepath.Join(data, "umpire.db"))
	require.NoError(t, err)
	stream := "match-" + strange.Match
	last := lastEvent(t, log, stream)
	later := event.Event{
		ID: event.ID{1}, Type: "seat-sold.v7", At: time.Now().UTC(), By: event.Operator, Public: []byte(`{}`), Prev: last.Hash,
	}
	later.Hash = later.ComputeHash()
	_, err = log.Append(t.Context(), stream, 0, later)
	require.NoError(t, err)
	require.NoError(t, log.Close())

	_, operator = start(t, func(o *serve.Options) { o.Data = data })
	_, err = operator.View(t.Context(), strange.Match, "")
	assert.Equal(t, problem.Unavailable, code(t, err))
	require.ErrorContains(t, err, "newer version")
	_, err = operator.As("").Claim(t.Context(), strange.Players["ada"].Claim)
	assert.Equal(t, problem.Unavailable, code(t, err))
	ada := sit(t, operator, good, "ada")
	sit(t, operator, good, "bob")
	ada.turn()
}

func lastEvent(t *testing.T, log eventlog.Log, stream string) event.Event {
	t.Helper()
	var last event.Event
	for commit, err := range log.Read(t.Context(), stream, 0) {
		require.NoError(t, err)
		last = commit.Events[len(commit.Events)-1]
	}
	return last
}
