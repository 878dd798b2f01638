package gamestest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// Bench plays random matches of bots whole, and builds every audience's view after each step. It keeps no log: what it
// measures is the rules and the machine, on one core. setup returns a set-up without options.
func Bench(b *testing.B, rules *match.Game, setup func(pick Pick) map[string]any) {
	b.Helper()
	games := match.Catalog{rules}
	pick := rand.New(rand.NewPCG(1, 1)).IntN
	asked := setup(pick)
	asked["options"] = map[string]any{"start": match.StartNow, "close": match.CloseWhenAllIn, "hostSees": match.HostSeesAll}
	parsed, err := match.ParseSetup(games, valueOf(b, asked))
	if err != nil {
		b.Fatal(err)
	}
	moves, views := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		m, v := benchMatch(b, games, parsed, pick)
		moves += m
		views += v
	}
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(views)/b.Elapsed().Seconds(), "views/s")
	b.ReportMetric(float64(moves)/float64(b.N), "moves/match")
}

// benchMatch plays one match to its end, at one instant: nobody is ever late.
func benchMatch(b *testing.B, games match.Catalog, setup *match.Setup, pick Pick) (moves, views int) {
	b.Helper()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	drafts, _, err := match.Create("m", setup, make([]byte, 32), false, now)
	if err != nil {
		b.Fatal(err)
	}
	m := benchApply(b, games, nil, drafts)
	audiences := []string{match.Public, match.HostID}
	for _, p := range m.Seats() {
		audiences = append(audiences, p.ID)
	}
	for m = benchApply(b, games, m, m.Resolve(now)); !m.Over(); moves++ {
		awaiting := m.Awaiting()
		who := m.Seats().ID(awaiting[pick(len(awaiting))])
		drafts, err := m.Submit(who, 0, false, valueOf(b, games.Bot(m.View(who), pick)), now)
		if err != nil {
			b.Fatal(err)
		}
		m = benchApply(b, games, m, drafts)
		m = benchApply(b, games, m, m.Resolve(now))
		for _, audience := range audiences {
			m.View(audience)
			views++
		}
	}
	return moves, views
}

// benchApply folds drafts into a copy of a match, as whoever has appended them does.
func benchApply(b *testing.B, games match.Catalog, m *match.Match, drafts []match.Draft) *match.Match {
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
		if err != nil {
			b.Fatal(err)
		}
	}
	return m
}

func valueOf(b *testing.B, v any) event.Value {
	b.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	parsed, err := event.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	return parsed
}
