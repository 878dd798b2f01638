//go:build unix

package sqlitelog

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

// BenchmarkDisk is what the other figures stand beside: 4 KiB appended and synced, again and again, in the same folder.
func BenchmarkDisk(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	require.NoError(b, err)
	defer f.Close()
	page, worst := make([]byte, 4096), time.Duration(0)
	for b.Loop() {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "syncs/s")
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}

// benchmarkLog opens a log as Open does.
func benchmarkLog(b *testing.B) *Log {
	b.Helper()
	log, err := Open(filepath.Join(b.TempDir(), "umpire.db"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close()) })
	return log
}

// cpu returns the time that this process has had on all processors: what remains to compare by when others use them.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// template is one append of three events, each with a face of 400 bytes. A copy under other ids is another append.
type template []event.Event

func newTemplate() template { return eventlogtest.NewChain("match-bench", "bench").Faced(3, 400) }

func (t template) stamped(writer, n int) []event.Event {
	events := append([]event.Event(nil), t...)
	for i := range events {
		events[i].ID = event.ID{byte(writer >> 8), byte(writer), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), byte(i)}
	}
	return events
}

// BenchmarkAppend has each writer append to a stream of its own, as matches do.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			log, events := benchmarkLog(b), newTemplate()
			var left atomic.Int64
			left.Store(int64(b.N))
			latencies := make([]time.Duration, writers)
			var done sync.WaitGroup
			before := cpu(b)
			b.ResetTimer()
			for w := range writers {
				done.Go(func() {
					stream, expected := fmt.Sprintf("match-%d", w), eventlog.NoStream
					for n := 0; left.Add(-1) >= 0; n++ {
						began := time.Now()
						if _, err := log.Append(b.Context(), stream, expected, events.stamped(w, n)...); err != nil {
							b.Error(err)
							return
						}
						latencies[w] = max(latencies[w], time.Since(began))
						expected += 3
					}
				})
			}
			done.Wait()
			b.StopTimer()
			worst := time.Duration(0)
			for _, l := range latencies {
				worst = max(worst, l)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}

// filled returns a log of so many commits of three events in streams of 20 commits, and where it ends.
func filled(b *testing.B, commits int) *Log {
	b.Helper()
	log, events := benchmarkLog(b), newTemplate()
	var done sync.WaitGroup
	for w := range 64 {
		done.Go(func() {
			for n := range commits / 64 {
				stream := fmt.Sprintf("match-%d-%d", w, n/20)
				if _, err := log.Append(b.Context(), stream, int64(n%20)*3-1, events.stamped(w, n)...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	done.Wait()
	return log
}

// BenchmarkRead reads whole streams of 20 commits from the file.
func BenchmarkRead(b *testing.B) {
	log := filled(b, 64*100)
	events := 0
	b.ResetTimer()
	for n := 0; b.Loop(); n++ {
		for c, err := range log.Read(b.Context(), fmt.Sprintf("match-%d-%d", n%64, n/64%5), 0) {
			if err != nil {
				b.Fatal(err)
			}
			events += len(c.Events)
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFollow replays the log from its beginning: history from the file, its end from memory.
func BenchmarkFollow(b *testing.B) {
	const commits = 64 * 200
	log := filled(b, commits)
	events := 0
	b.ResetTimer()
	for b.Loop() {
		for c, err := range log.Follow(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			if events += len(c.Events); c.Position == commits {
				break
			}
		}
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFollowLive is what a follower that keeps up costs the log: 64 writers, and 8 followers that see it all.
func BenchmarkFollowLive(b *testing.B) {
	log, events := benchmarkLog(b), newTemplate()
	var writers, followers sync.WaitGroup
	var left, seen atomic.Int64
	left.Store(int64(b.N))
	b.ResetTimer()
	for range 8 {
		followers.Go(func() {
			for c, err := range log.Follow(b.Context(), 0) {
				if err != nil {
					b.Error(err)
					return
				}
				seen.Add(int64(len(c.Events)))
				if c.Position == uint64(b.N) {
					return
				}
			}
		})
	}
	for w := range 64 {
		writers.Go(func() {
			stream, expected := fmt.Sprintf("match-%d", w), eventlog.NoStream
			for n := 0; left.Add(-1) >= 0; n++ {
				if _, err := log.Append(b.Context(), stream, expected, events.stamped(w, n)...); err != nil {
					b.Error(err)
					return
				}
				expected += 3
			}
		})
	}
	writers.Wait()
	followers.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
	b.ReportMetric(float64(seen.Load())/b.Elapsed().Seconds(), "events/s")
}
