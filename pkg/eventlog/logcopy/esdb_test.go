package logcopy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/memlog"
)

// openDouble opens a log at a double of EventStoreDB.
func openDouble(t *testing.T, o ...esdbtest.Option) (*esdbtest.Server, eventlog.Log) {
	t.Helper()
	server, err := esdbtest.Start("127.0.0.1:0", append(o, esdbtest.MaxAppend(2<<20))...)
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	log, err := esdblog.Open(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return server, log
}

// TestThroughEventStoreDB copies SQLite to EventStoreDB and back; there, positions have gaps and other streams between.
func TestThroughEventStoreDB(t *testing.T) {
	list := commits(120)
	file, back := openSQLite(t), openSQLite(t)
	fill(t, file, list)
	_, server := openDouble(t)
	_, err := logcopy.Copy(t.Context(), file, &cut{server, 50, true, errCut}, logcopy.Options{})
	require.ErrorIs(t, err, errCut)
	report := copied(t, file, server)
	assert.Equal(t, logcopy.Report{Commits: 120, Events: count(list), Streams: 3, Skipped: 51, Verified: true}, report)

	var totals []uint64
	_, err = logcopy.Copy(t.Context(), server, back, logcopy.Options{Progress: func(phase logcopy.Phase, done, total uint64) {
		require.LessOrEqual(t, done, total, phase)
		if done == 120 {
			totals = append(totals, total)
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, []uint64{120, 120}, totals, "an estimate is right in the end")
	assert.Equal(t, content(t, file), content(t, back))

	_, elsewhere := openDouble(t)
	copied(t, server, elsewhere)
	_, err = logcopy.Copy(t.Context(), filled(t, list[1:]), elsewhere, logcopy.Options{})
	require.ErrorIs(t, err, logcopy.ErrTarget)
}

// TestAmongFaults copies to and from a server that cuts connections and loses answers.
func TestAmongFaults(t *testing.T) {
	list := commits(60)
	server, log := openDouble(t)
	server.Inject(esdbtest.LostAnswer, 3)
	server.Inject(esdbtest.CutRead, 2)
	copied(t, filled(t, list), log)
	assert.Equal(t, 3, server.Fired(esdbtest.LostAnswer))
	server.Inject(esdbtest.DropLoudly, 2)
	copied(t, log, memlog.New())
	assert.Equal(t, 2, server.Fired(esdbtest.DropLoudly))
}
