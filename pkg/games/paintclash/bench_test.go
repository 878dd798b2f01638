package paintclash

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// BenchmarkPlay plays random matches whole, and builds every audience's view after each step.
func BenchmarkPlay(b *testing.B) {
	games := match.Catalog{Game()}
	raw, err := json.Marshal(setup(option("start", "now")))
	require.NoError(b, err)
	v, err := event.Parse(raw)
	require.NoError(b, err)
	parsed, err := match.ParseSetup(games, v)
	require.NoError(b, err)
	pick := rand.New(rand.NewPCG(1, 1)).IntN
	audiences := append([]string{match.Public, match.HostID}, everybody...)
	moves, views := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		drafts, _, err := match.Create("m", parsed, make([]byte, 32), false, epoch)
		require.NoError(b, err)
		m := apply(b, games, nil, drafts)
		m = apply(b, games, m, m.Resolve(epoch))
		for !m.Over() {
			who := m.Seats().ID(m.Awaiting()[0])
			submission, err := event.Canonical(games.Bot(m.View(who), pick))
			require.NoError(b, err)
			v, err := event.ParseLoose(submission)
			require.NoError(b, err)
			drafts, err := m.Submit(who, 0, false, v, epoch)
			require.NoError(b, err)
			m = apply(b, games, m, drafts)
			m = apply(b, games, m, m.Resolve(epoch))
			for _, audience := range audiences {
				require.NotNil(b, m.View(audience))
			}
			moves++
			views += len(audiences)
		}
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(views)/b.Elapsed().Seconds(), "views/s")
	b.ReportMetric(float64(moves)/float64(b.N), "moves/match")
}

// apply folds drafts into a copy of a match, as whoever has appended them does.
func apply(b *testing.B, games match.Catalog, m *match.Match, drafts []match.Draft) *match.Match {
	b.Helper()
	if m != nil {
		m = m.Clone()
	}
	for i := range drafts {
		var err error
		if m == nil {
			m, err = match.Replay(games, factOf(&drafts[i], 0))
		} else {
			err = m.ApplyDraft(factOf(&drafts[i], uint64(m.Revision()+1)), &drafts[i])
		}
		require.NoError(b, err)
	}
	return m
}
