package logcopy_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
	"umpire/pkg/eventlog/logcopy"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
)

// benchmarkSource is a log in memory of so many commits of three events, each with a face of 400 bytes, in streams of 40
// commits of which 16 grow at a time, as matches do.
func benchmarkSource(b *testing.B, n int) *memlog.Log {
	b.Helper()
	log := memlog.New()
	chains := make([]*eventlogtest.Chain, 16)
	heads := make([]int64, len(chains))
	for i := range n {
		at := i % len(chains)
		if i/len(chains)%40 == 0 {
			chains[at] = eventlogtest.NewChain(fmt.Sprintf("match-%d", i), "bench")
			heads[at] = eventlog.NoStream
		}
		var events []event.Event
		for range 3 {
			events = append(events, chains[at].Faced(1, 400)...)
		}
		_, err := log.Append(b.Context(), chains[at].Stream, heads[at], events...)
		require.NoError(b, err)
		heads[at] += 3
	}
	return log
}

func benchmarkFile(b *testing.B) eventlog.Log {
	b.Helper()
	log, err := sqlitelog.Open(filepath.Join(b.TempDir(), "umpire.db"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close()) })
	return log
}

// benchmarkDouble is a double of EventStoreDB that syncs each append, as a server does.
func benchmarkDouble(b *testing.B) eventlog.Log {
	b.Helper()
	server, err := esdbtest.Start("127.0.0.1:0", esdbtest.Durable(filepath.Join(b.TempDir(), "esdb")), esdbtest.MaxAppend(2<<20))
	require.NoError(b, err)
	b.Cleanup(server.Stop)
	log, err := esdblog.Open(b.Context(), server.URL())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close()) })
	return log
}

// BenchmarkCopy copies 10,000 commits, verification included, and tells how many a second each phase deals with.
func BenchmarkCopy(b *testing.B) {
	const n = 10_000
	source := benchmarkSource(b, n)
	for name, open := range map[string]func(*testing.B) eventlog.Log{
		"to=memory": func(*testing.B) eventlog.Log { return memlog.New() }, "to=sqlite": benchmarkFile, "to=esdb": benchmarkDouble,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				target := open(b)
				w := newWatch()
				_, err := logcopy.Copy(b.Context(), source, target, logcopy.Options{Progress: w.tell})
				require.NoError(b, err)
				w.report(b)
				w = newWatch()
				_, err = logcopy.Copy(b.Context(), source, target, logcopy.Options{Progress: w.tell})
				require.NoError(b, err)
				b.ReportMetric(w.rate(logcopy.Comparing), "comparing/s")
			}
		})
	}
}

// watch takes the time of each phase.
type watch struct {
	began map[logcopy.Phase]time.Time
	ended map[logcopy.Phase]time.Time
	done  map[logcopy.Phase]uint64
}

func newWatch() *watch {
	return &watch{map[logcopy.Phase]time.Time{}, map[logcopy.Phase]time.Time{}, map[logcopy.Phase]uint64{}}
}

func (w *watch) tell(phase logcopy.Phase, done, _ uint64) {
	now := time.Now()
	if _, known := w.began[phase]; !known {
		w.began[phase] = now
	}
	w.ended[phase], w.done[phase] = now, done
}

func (w *watch) rate(phase logcopy.Phase) float64 {
	return float64(w.done[phase]) / w.ended[phase].Sub(w.began[phase]).Seconds()
}

func (w *watch) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(w.rate(logcopy.Copying), "copying/s")
	b.ReportMetric(w.rate(logcopy.Verifying), "verifying/s")
}
