package projector_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/problem"
	"umpire/services/projector"
)

// list asks for one page.
func list(t *testing.T, s *projector.Service, q projector.ListQuestion) *projector.List {
	t.Helper()
	answer, err := s.Matches(t.Context(), &q)
	require.NoError(t, err)
	page, ok := answer.(*projector.List)
	require.True(t, ok)
	return page
}

// walk asks for page after page and returns the ids.
func walk(t *testing.T, s *projector.Service, q projector.ListQuestion) (ids []string) {
	t.Helper()
	for {
		page := list(t, s, q)
		for _, m := range page.Matches {
			ids = append(ids, m.Match)
		}
		if page.Cursor == "" {
			return ids
		}
		require.Len(t, page.Matches, q.Limit, "a page that is not the last is full")
		require.NotEqual(t, q.Cursor, page.Cursor)
		q.Cursor = page.Cursor
	}
}

func TestTheList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	assert.JSONEq(t, `{"matches":[]}`, toJSON(t, list(t, w.Service, projector.ListQuestion{})))
	w.create("waits", `{"start":"when-claimed"}`)
	w.create("runs", `{"start":"now"}`)
	w.create("hidden", `{"start":"now","listed":false}`)
	w.create("rests", `{"start":"now"}`)
	w.create("gone", `{"start":"now"}`)
	w.decide("rests", func(m *match.Match) ([]match.Draft, error) { return m.Pause(event.Host, "", noon) })
	w.decide("gone", func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", noon) })
	w.handle(w.Service, w.Commits(0))
	for status, want := range map[string][]string{
		"": {"gone", "rests", "runs", "waits"}, "waiting": {"waits"}, "running": {"runs"}, "paused": {"rests"}, "void": {"gone"}, "ended": nil,
	} {
		for _, limit := range []int{1, 2, 4, 200} {
			assert.Equal(t, want, walk(t, w.Service, projector.ListQuestion{Status: status, Limit: limit}), "%q by %d", status, limit)
			assert.Equal(t, want, walk(t, w.Service, projector.ListQuestion{Status: status, Limit: limit, Game: "glass-full"}))
		}
	}
	assert.Empty(t, walk(t, w.Service, projector.ListQuestion{Game: "chess", Limit: 1}))
	newest := list(t, w.Service, projector.ListQuestion{Limit: 1}).Matches[0]
	m := w.Now("gone")
	assert.Equal(t, projector.Summary{
		Match: "gone", Game: "glass-full", Title: "Table gone", Status: match.Void, Revision: m.Revision(), Players: m.Seats(), Updated: m.At(),
	}, newest)
	assert.NotContains(t, toJSON(t, newest), "seed")
}

func TestQuestionsForTheListRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, q := range map[string]projector.ListQuestion{
		"less than one": {Limit: -1}, "too many": {Limit: 201}, "an unknown status": {Status: "asleep"},
		"a word": {Cursor: "!"}, "a negative cursor": {Cursor: "-1"}, "an endless cursor": {Cursor: "zzzzzzzzzzzzzzzzzzzzzzz"},
	} {
		_, err := w.Matches(t.Context(), &q)
		assert.Equal(t, problem.Code(match.MalformedMove), code(t, err), name)
	}
}

// TestTheListWhileMatchesCome: pages that are read while workers deal with matches side by side never name a match
// twice, and what was listed when the reading began is all there.
func TestTheListWhileMatchesCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const many, workers = 120, 6
	for i := range many {
		w.create(fmt.Sprintf("m%03d", i), `{"start":"now"}`)
	}
	commits := w.Commits(0)
	w.handle(w.Service, commits[:len(commits)/2])
	var coming sync.WaitGroup
	for worker := range workers {
		var own []eventlog.Commit
		for i, c := range commits {
			if i/2%workers == worker { // each match is one worker's: two commits each
				own = append(own, c)
			}
		}
		coming.Go(func() {
			for i := range own {
				assert.NoError(t, w.Handle(t.Context(), &own[i]))
			}
		})
	}
	done := make(chan struct{})
	go func() { coming.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		before := walk(t, w.Service, projector.ListQuestion{Limit: 200})
		now := walk(t, w.Service, projector.ListQuestion{Limit: 7})
		require.True(t, slices.IsSortedFunc(now, func(a, b string) int { return strings.Compare(b, a) }), "newest first: %v", now)
		require.Len(t, slices.Compact(slices.Clone(now)), len(now), "none twice")
		for _, id := range before[:len(before)/2+1] {
			require.Contains(t, now, id)
		}
	}
	all := walk(t, w.Service, projector.ListQuestion{Limit: 11})
	require.Len(t, all, many)
	assert.Equal(t, "m119", all[0])
	w.handle(w.Service, commits)
	assert.Equal(t, all, walk(t, w.Service, projector.ListQuestion{Limit: 200}), "told twice, listed once")
}
