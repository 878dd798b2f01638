package esdblog

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// brisk is less patient than the program, so that tests of silence are over soon.
var brisk = options{quiet: 100 * time.Millisecond, patience: 5 * time.Second, rememberIDs: 1 << 16}

// double starts a server for a test. Its largest append is what umpire needs.
func double(tb testing.TB, o ...esdbtest.Option) *esdbtest.Server {
	tb.Helper()
	s, err := esdbtest.Start("127.0.0.1:0", append([]esdbtest.Option{esdbtest.MaxAppend(2 << 20)}, o...)...)
	require.NoError(tb, err)
	tb.Cleanup(s.Stop)
	return s
}

// opened opens a log for a test.
func opened(tb testing.TB, url string, o options) *Log {
	tb.Helper()
	log, err := open(tb.Context(), url, o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, log.Close()) })
	return log
}

// harness opens logs on one server. Like a real one it is there before them, and its goroutines are none of theirs.
func harness(url string, o options) eventlogtest.Harness {
	open := func(t *testing.T) eventlog.Log {
		t.Helper()
		return opened(t, url, o)
	}
	return eventlogtest.Harness{Open: open, Reopen: func(t *testing.T, log eventlog.Log) eventlog.Log {
		t.Helper()
		require.NoError(t, log.Close())
		return open(t)
	}}
}

func TestContract(t *testing.T) { eventlogtest.Run(t, harness(double(t).URL(), brisk)) }

// TestContractAmongFaults has everything go wrong now and then.
func TestContractAmongFaults(t *testing.T) {
	s := double(t)
	s.Hostile(1, faults)
	eventlogtest.Run(t, harness(s.URL(), brisk))
	for fault := range faults {
		require.NotZero(t, s.Fired(fault), "fault %d never happened", fault)
	}
}

// faults are those that a log must live with, and how often they happen.
var faults = map[esdbtest.Fault]float64{
	esdbtest.Unavailable: 0.02, esdbtest.Delay: 0.01, esdbtest.LostAnswer: 0.03, esdbtest.FalseConflict: 0.03,
	esdbtest.SpuriousConflict: 0.03, esdbtest.CutRead: 0.01, esdbtest.DropLoudly: 0.01, esdbtest.DropSilently: 0.002,
	esdbtest.Repeat: 0.02,
}

// TestRealServer runs the contract on a server that is one: UMPIRE_TEST_ESDB=esdb://localhost:2113?tls=false, started
// with EVENTSTORE_MAX_APPEND_SIZE=2097152.
func TestRealServer(t *testing.T) {
	url := os.Getenv("UMPIRE_TEST_ESDB")
	if url == "" {
		t.Skip("UMPIRE_TEST_ESDB names no EventStoreDB server: how a real one behaves was not tried")
	}
	eventlogtest.Run(t, harness(url, options{quiet: quiet, patience: patience, rememberIDs: rememberIDs}))
}
