package esdblog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

func TestMemoriesForgetButNeverLie(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		room := rapid.IntRange(1, 12).Draw(r, "room")
		m, truth := newMemories(room), map[string][]eventlog.Commit{}
		for n := range rapid.IntRange(1, 60).Draw(r, "steps") {
			stream := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "stream")
			s := m.get(stream)
			if rapid.Bool().Draw(r, "written") {
				c := eventlog.Commit{Stream: stream, Events: make([]event.Event, rapid.IntRange(1, 3).Draw(r, "events"))}
				if before := truth[stream]; len(before) > 0 {
					c.First = before[len(before)-1].Last() + 1
				}
				c.Events[0].ID = event.ID{byte(n)}
				truth[stream] = append(truth[stream], c)
			}
			for _, c := range truth[stream][:rapid.IntRange(0, len(truth[stream])).Draw(r, "read")] {
				m.note(s, &c)
			}
			for _, c := range truth[stream] {
				v := m.find(s, c.Events[0].ID)
				require.Equal(r, int64(c.Last()) <= v.upTo, v.known, "what it is complete up to, it knows")
				if v.known {
					require.Equal(r, c.First, v.first)
				}
			}
			sum := 0
			for _, kept := range m.byName.Values() {
				sum += 1 + len(kept.ids)
			}
			require.Equal(r, sum, m.ids)
			require.True(r, m.ids <= room || m.byName.Len() == 1)
		}
	})
}

// TestForgottenStreams has more streams in use than are remembered.
func TestForgottenStreams(t *testing.T) {
	forgetful := brisk
	forgetful.rememberIDs = 5
	log := opened(t, double(t).URL(), forgetful)
	want := map[string][]eventlog.Commit{}
	chains := map[string]*eventlogtest.Chain{}
	for n := range int64(6) {
		for i := range 4 {
			stream := fmt.Sprintf("match-%d", i)
			if chains[stream] == nil {
				chains[stream] = eventlogtest.NewChain(stream, "own")
			}
			want[stream] = append(want[stream], must(t, log, stream, n-1, chains[stream].Next(1)...))
			again := want[stream][n/2]
			require.Equal(t, again, must(t, log, stream, n, again.Events...))
		}
	}
	for stream, commits := range want {
		require.Equal(t, commits, everything(t, log, stream))
	}
}
