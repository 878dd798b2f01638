package glassfull_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/games/gamestest"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
)

// BenchmarkPlay plays whole random matches and builds the views of all audiences after each step.
func BenchmarkPlay(b *testing.B) { gamestest.Bench(b, glassfull.Game(), randomSetup) }

// turnTaken is a match in mid-bout, a submission to it, and what it brings.
func turnTaken(b *testing.B) (m, submitted *match.Match, submission event.Value, facts []match.Draft) {
	b.Helper()
	m = submits(b, newMatch(b), "a", parsed(b, `{"type": "pick-starter", "player": "a"}`))
	for i := range 4 {
		m = submits(b, m, []string{"a", "b"}[i%2], parsed(b, cups(2)))
	}
	submission = parsed(b, cups(3))
	drafts, err := m.Submit("a", 0, false, submission, m.At())
	require.NoError(b, err)
	submitted = fold(b, m, drafts)
	facts = submitted.Resolve(m.At())
	return m, submitted, submission, facts
}

func BenchmarkSubmit(b *testing.B) {
	m, _, submission, _ := turnTaken(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Submit("a", 0, false, submission, m.At()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	_, m, _, _ := turnTaken(b)
	b.ReportAllocs()
	for b.Loop() {
		m.Resolve(m.At())
	}
}

// BenchmarkEvolve folds the two events that follow from a turn, made in this process, into a copy.
func BenchmarkEvolve(b *testing.B) {
	_, m, _, drafts := turnTaken(b)
	b.ReportAllocs()
	for b.Loop() {
		fold(b, m, drafts)
	}
}

// BenchmarkReplay folds them as they are read from a log.
func BenchmarkReplay(b *testing.B) {
	_, m, _, drafts := turnTaken(b)
	facts := make([]event.Fact, len(drafts))
	for i, d := range drafts {
		facts[i] = event.Fact{Revision: uint64(m.Revision()) + 1 + uint64(i), Type: d.Type, At: d.At, By: d.By, Public: d.Public}
		for _, f := range d.Faces {
			facts[i].Faces = append(facts[i].Faces, event.Face{To: f.To, Data: f.Data})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		next := m.Clone()
		for i := range facts {
			if err := next.Apply(facts[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkView(b *testing.B) {
	m, _, _, _ := turnTaken(b)
	for _, audience := range []string{match.Public, "a", match.HostID} {
		b.Run(audience, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.View(audience)
			}
		})
	}
}
