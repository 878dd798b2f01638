package glassfull_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
)

// created is when the matches of these tests begin.
var created = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// fold folds drafts into a copy of a match (nil: none yet) without any log.
func fold(tb testing.TB, m *match.Match, drafts []match.Draft) *match.Match {
	tb.Helper()
	revision := uint64(0)
	if m != nil {
		m, revision = m.Clone(), uint64(m.Revision()+1)
	}
	for i := range drafts {
		d := &drafts[i]
		fact := event.Fact{Revision: revision + uint64(i), Type: d.Type, At: d.At, By: d.By, Public: d.Public}
		for _, f := range d.Faces {
			fact.Faces = append(fact.Faces, event.Face{To: f.To, Data: f.Data})
		}
		var err error
		if m == nil {
			m, err = match.Replay(match.Catalog{glassfull.Game()}, fact)
		} else {
			err = m.ApplyDraft(fact, d)
		}
		require.NoError(tb, err)
	}
	return m
}

// newMatch returns a match between a and b that has begun; a is the DMO.
func newMatch(tb testing.TB) *match.Match {
	tb.Helper()
	v, err := event.Parse([]byte(`{"game": "glass-full", "roles": {"dmo": "a"}, "options": {"start": "now", "hostSees": "all"},
		"players": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]}`))
	require.NoError(tb, err)
	setup, err := match.ParseSetup(match.Catalog{glassfull.Game()}, v)
	require.NoError(tb, err)
	drafts, _, err := match.Create("m", setup, make([]byte, 32), false, created)
	require.NoError(tb, err)
	m := fold(tb, nil, drafts)
	return fold(tb, m, m.Resolve(created))
}

// submits returns the match after a submission and what follows from it.
func submits(tb testing.TB, m *match.Match, who string, submission event.Value) *match.Match {
	tb.Helper()
	drafts, err := m.Submit(who, 0, false, submission, m.At())
	require.NoError(tb, err)
	m = fold(tb, m, drafts)
	return fold(tb, m, m.Resolve(m.At()))
}

func parsed(tb testing.TB, text string) event.Value {
	tb.Helper()
	v, err := event.Parse([]byte(text))
	require.NoError(tb, err)
	return v
}

// tableOf returns the table of the host, who sees all, or of another.
func tableOf(tb testing.TB, m *match.Match, audience string) seen {
	tb.Helper()
	raw, err := json.Marshal(m.View(audience))
	require.NoError(tb, err)
	var v seen
	require.NoError(tb, json.Unmarshal(raw, &v))
	return v
}
