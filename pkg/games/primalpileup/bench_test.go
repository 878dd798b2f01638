package primalpileup

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// BenchmarkPlay plays random matches whole, and builds every audience's view after each step.
func BenchmarkPlay(b *testing.B) {
	games := match.Catalog{Game()}
	v, err := event.Parse([]byte(`{"game": "primal-pileup", "players": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}],
		"roles": {"dmo": "a"}, "options": {"start": "now", "hostSees": "all"}}`))
	require.NoError(b, err)
	setup, err := match.ParseSetup(games, v)
	require.NoError(b, err)
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	pick := rand.New(rand.NewPCG(1, 1)).IntN
	audiences := []string{match.Public, match.HostID, "a", "b"}
	moves, views := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		drafts, _, err := match.Create("m", setup, make([]byte, 32), false, now)
		require.NoError(b, err)
		m := apply(b, games, nil, drafts)
		m = apply(b, games, m, m.Resolve(now))
		for !m.Over() {
			who := m.Seats().ID(m.Awaiting()[0])
			submission, err := event.Canonical(games.Bot(m.View(who), pick))
			require.NoError(b, err)
			v, err := event.ParseLoose(submission)
			require.NoError(b, err)
			drafts, err := m.Submit(who, 0, false, v, now)
			require.NoError(b, err)
			m = apply(b, games, m, drafts)
			m = apply(b, games, m, m.Resolve(now))
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
		d := &drafts[i]
		f := event.Fact{Type: d.Type, At: d.At, By: d.By, Public: d.Public}
		for _, face := range d.Faces {
			f.Faces = append(f.Faces, event.Face{To: face.To, Data: face.Data})
		}
		var err error
		if m == nil {
			m, err = match.Replay(games, f)
		} else {
			f.Revision = uint64(m.Revision() + 1)
			err = m.ApplyDraft(f, d)
		}
		require.NoError(b, err)
	}
	return m
}
