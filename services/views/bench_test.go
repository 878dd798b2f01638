//go:build unix

package views_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/demo"
	"umpire/services/views"
)

// How many events the benchmark's log holds, or a few more; the second with UMPIRE_LONG.
const (
	benchEvents     = 100_000
	longBenchEvents = 1_000_000
)

// BenchmarkRebuild makes the views of matches that bots have played, many at once.
func BenchmarkRebuild(b *testing.B) {
	want := int64(benchEvents)
	if os.Getenv("UMPIRE_LONG") != "" {
		want = longBenchEvents
	}
	for name, open := range map[string]func(b *testing.B) eventlog.Log{
		"memory": func(*testing.B) eventlog.Log { return memlog.New() },
		"sqlite": func(b *testing.B) eventlog.Log {
			b.Helper()
			log, err := sqlitelog.Open(filepath.Join(b.TempDir(), "umpire.db"))
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, log.Close()) })
			return log
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			w.Log = open(b)
			w.Own = journal.New(w.Log, games.All(), w.Vault, &entropy{})
			events := w.bots(want)
			o := w.options()
			o.Batch = 0
			before := cpu(b)
			for b.Loop() {
				_, err := views.Rebuild(b.Context(), o)
				require.NoError(b, err)
			}
			b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(events)/float64(b.N), "cpu-us/event")
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(len(w.ids)), "matches")
			b.ReportMetric(0, "ns/op")
			b.StopTimer()
			v, err := views.Verify(b.Context(), o)
			require.NoError(b, err)
			require.Empty(b, v.Differences)
		})
	}
}

// cpu returns the time that this process has had on all processors: what remains to compare by when others use them.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// entropy is quick and no secret.
type entropy struct {
	mu sync.Mutex
	n  byte
}

// Read implements io.Reader.
func (e *entropy) Read(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range p {
		e.n++
		p[i] = e.n
	}
	return len(p), nil
}

// bots plays matches, many at once, until there are that many events.
func (w *world) bots(want int64) int64 {
	w.t.Helper()
	var events, begun atomic.Int64
	var playing sync.WaitGroup
	for i := range 64 {
		playing.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for events.Load() < want {
				id := fmt.Sprintf("bots%d", begun.Add(1))
				n, err := w.bot(id, []string{"glass-full", "primal-pileup"}[i%2], rng)
				if err != nil {
					w.t.Errorf("%s: %v", id, err)
					return
				}
				events.Add(n)
				w.mu.Lock()
				w.ids = append(w.ids, id)
				w.mu.Unlock()
			}
		})
	}
	playing.Wait()
	return events.Load()
}

// bot plays one match to its end and returns how many events it has.
func (w *world) bot(id, game string, rng *rand.Rand) (int64, error) {
	setup := demo.Setup(game, rng.IntN)
	options, _ := setup["options"].(map[string]any)
	if options == nil {
		options = map[string]any{}
	}
	options["start"] = "now"
	setup["options"] = options
	v, err := valueOf(setup)
	if err != nil {
		return 0, err
	}
	parsed, err := match.ParseSetup(games.All(), v)
	if err != nil {
		return 0, err
	}
	drafts, _, err := match.Create(id, parsed, bytes.Repeat([]byte{byte(rng.IntN(256))}, 32), false, noon)
	if err != nil {
		return 0, err
	}
	m, err := w.Own.Append(w.t.Context(), id, nil, event.ID{}, drafts)
	for err == nil && !m.Over() {
		drafts := m.Resolve(noon)
		for _, p := range m.Seats() {
			shown := m.View(p.ID)
			if len(drafts) > 0 || !shown.Awaits(p.ID) {
				continue
			}
			if v, err = valueOf(games.All().Bot(shown, rng.IntN)); err == nil {
				drafts, err = m.Submit(p.ID, 0, false, v, noon)
			}
			if err != nil {
				return 0, err
			}
		}
		m, err = w.Own.Append(w.t.Context(), id, m, event.ID{}, drafts)
	}
	if err != nil {
		return 0, err
	}
	return m.Revision() + 1, nil
}

// valueOf is what a client would send.
func valueOf(v any) (event.Value, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return event.Value{}, err
	}
	return event.Parse(data)
}
