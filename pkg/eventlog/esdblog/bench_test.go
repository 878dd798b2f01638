package esdblog

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/eventlog/eventlogtest"
)

// BenchmarkAppend has each writer append commits of three events, each with a face of 400 bytes, to a stream of its own.
// The server is the double in this process, in memory or on disk: what is measured is the adapter, gRPC at both ends and
// the double, and says nothing of a real server.
func BenchmarkAppend(b *testing.B) {
	for _, where := range []string{"memory", "disk"} {
		for _, writers := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("double=%s/writers=%d", where, writers), func(b *testing.B) {
				var o []esdbtest.Option
				if where == "disk" {
					o = append(o, esdbtest.Durable(b.TempDir()+"/esdb"))
				}
				log := opened(b, double(b, o...).URL(), options{quiet: quiet, patience: patience, rememberIDs: rememberIDs})
				template := eventlogtest.NewChain("match-bench", "bench").Faced(3, 400)
				var left atomic.Int64
				left.Store(int64(b.N))
				var done sync.WaitGroup
				b.ResetTimer()
				for w := range writers {
					done.Go(func() {
						stream, expected := fmt.Sprintf("match-%d", w), eventlog.NoStream
						for n := 0; left.Add(-1) >= 0; n++ {
							events := append([]event.Event(nil), template...)
							for i := range events {
								events[i].ID = event.ID{byte(w), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), byte(i)}
							}
							if _, err := log.Append(b.Context(), stream, expected, events...); err != nil {
								b.Error(err)
								return
							}
							expected += 3
						}
					})
				}
				done.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			})
		}
	}
}
