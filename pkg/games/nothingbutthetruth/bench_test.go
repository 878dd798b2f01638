package nothingbutthetruth

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// BenchmarkPlay plays whole random matches of bots and builds every audience's view after each step. It keeps no log:
// what it measures is the rules and the machine.
func BenchmarkPlay(b *testing.B) {
	moves, views := 0, 0
	pick := rand.New(rand.NewPCG(1, 2)).IntN
	for b.Loop() {
		m, v := playOut(b, pick)
		moves += m
		views += v
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(views)/b.Elapsed().Seconds(), "views/s")
}

// playOut plays a match to its end.
func playOut(b *testing.B, pick func(int) int) (moves, views int) {
	b.Helper()
	setup, err := setUpOf(prepared("TFTF"), `{}`)
	require.NoError(b, err)
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	drafts, _, err := match.Create("m", setup, make([]byte, 32), false, now)
	require.NoError(b, err)
	games := match.Catalog{setup.Game}
	m, err := match.Replay(games, factOf(0, &drafts[0]))
	require.NoError(b, err)
	m = applied(b, m, drafts[1:])
	for m = applied(b, m, m.Resolve(now)); !m.Over(); moves++ {
		shown := map[string]*match.View{}
		for _, audience := range []string{match.Public, theHost, sensei, herbert} {
			shown[audience] = m.View(audience)
			views++
		}
		awaiting := m.Seats().IDs(m.Awaiting())
		who := awaiting[pick(len(awaiting))]
		raw, err := json.Marshal(games.Bot(shown[who], pick))
		require.NoError(b, err)
		submission, err := event.Parse(raw)
		require.NoError(b, err)
		drafts, err := m.Submit(who, 0, false, submission, now)
		require.NoError(b, err)
		m = applied(b, m, drafts)
		m = applied(b, m, m.Resolve(now))
	}
	return moves, views
}

func factOf(revision int64, d *match.Draft) event.Fact {
	f := event.Fact{Revision: uint64(revision), Type: d.Type, At: d.At, By: d.By, Public: d.Public}
	for _, face := range d.Faces {
		f.Faces = append(f.Faces, event.Face{To: face.To, Data: face.Data})
	}
	return f
}

func applied(b *testing.B, m *match.Match, drafts []match.Draft) *match.Match {
	b.Helper()
	if drafts == nil {
		return m
	}
	m = m.Clone()
	for i := range drafts {
		require.NoError(b, m.ApplyDraft(factOf(m.Revision()+1, &drafts[i]), &drafts[i]))
	}
	return m
}
