package projector_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/pkg/view"
	"umpire/services/problem"
	"umpire/services/projector"
)

// seen returns the audience of the view and the feed that a bearer gets, or the code of the refusal, which are the same.
func (w *world) seen(id, bearer string, q projector.Question) string {
	w.t.Helper()
	answer, err := w.View(w.t.Context(), bearer, id, &q)
	_, feedErr := w.Events(w.t.Context(), bearer, id, &q)
	require.Equal(w.t, code(w.t, err), code(w.t, feedErr), "view and feed are for the same")
	if err != nil {
		return string(code(w.t, err))
	}
	shown, ok := answer.(*match.View)
	require.True(w.t, ok)
	require.Equal(w.t, toJSON(w.t, w.Now(id).View(shown.Audience)), toJSON(w.t, shown))
	return shown.Audience
}

func TestWhoSeesWhat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.played("m", `{"start":"when-claimed"}`)
	others := w.played("other", `{"start":"when-claimed"}`)
	tokens["stranger"] = others["ada"]
	tokens["nonsense"] = "e30.e30.e30"
	tokens["eve"] = w.sign(token.Token{Role: token.Seat, Match: "m", Seat: "eve"})
	tokens["nobody"] = w.sign(token.Token{Role: token.Seat, Match: "m", Seat: "public"})
	tokens["unclaimed"] = w.sign(token.Token{Role: token.Seat, Match: "m", Seat: "ada", Issue: 1})
	for bearer, want := range map[string]map[string]string{ // by the audience asked for
		"public":    {"": "public", "public": "public", "ada": "forbidden", "host": "forbidden", "eve": "forbidden"},
		"operator":  {"": "public", "public": "public", "ada": "forbidden", "host": "forbidden"},
		"ada":       {"": "ada", "ada": "ada", "public": "public", "bob": "forbidden", "host": "forbidden", "eve": "forbidden"},
		"bob":       {"": "bob", "bob": "bob", "public": "public", "ada": "forbidden", "host": "forbidden"},
		"host":      {"": "host", "host": "host", "public": "public", "ada": "forbidden"},
		"stranger":  {"": "forbidden", "public": "forbidden", "ada": "forbidden"},
		"nonsense":  {"": "unauthorized", "public": "unauthorized"},
		"eve":       {"": "unauthorized", "eve": "unauthorized"},
		"nobody":    {"": "unauthorized", "public": "unauthorized"},
		"unclaimed": {"": "unauthorized", "ada": "unauthorized", "public": "unauthorized"},
	} {
		for asked, want := range want {
			assert.Equal(t, want, w.seen("m", tokens[bearer], projector.Question{Audience: asked}), "%s asks for %q", bearer, asked)
		}
	}
	for _, bearer := range []string{"public", "operator"} {
		assert.Equal(t, "not-found", w.seen("nosuchmatch", tokens[bearer], projector.Question{}))
	}
}

// TestAReissuedSeat: the old token shows nothing any more, the new one does, in a process that has not heard of it too.
func TestAReissuedSeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.played("m", `{"start":"when-claimed"}`)
	behind := w.projector()
	_, err := behind.View(t.Context(), tokens["ada"], "m", &projector.Question{})
	require.NoError(t, err)
	w.decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Reissue(event.Host, "ada", "lost", noon) })
	w.handle(w.Service, w.Commits(0))
	assert.Equal(t, "unauthorized", w.seen("m", tokens["ada"], projector.Question{}))
	assert.Equal(t, "unauthorized", w.seen("m", tokens["ada"], projector.Question{Audience: "public"}))
	fresh := w.claim("m", "ada")
	answer, err := behind.View(t.Context(), fresh, "m", &projector.Question{})
	require.NoError(t, err)
	assert.Equal(t, "ada", answer.(*match.View).Audience)
	_, err = behind.View(t.Context(), tokens["ada"], "m", &projector.Question{})
	assert.Equal(t, problem.Unauthorized, code(t, err))
}

// TestWhatAHostSees: his tasks' part, or everything where the set-up says so in public.
func TestWhatAHostSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for option, sees := range map[string]bool{"needed": false, "all": true} {
		tokens := w.played(option, `{"start":"when-claimed","hostSees":"`+option+`"}`)
		answer, err := w.View(t.Context(), tokens["host"], option, &projector.Question{})
		require.NoError(t, err)
		assert.Equal(t, sees, strings.Contains(toJSON(t, answer), `"level":5`), option)
		open := 0
		for _, e := range w.feed(option, tokens["host"], projector.Question{}) {
			for _, f := range e.Faces {
				if f.Opened != nil {
					open++
					assert.NotEmpty(t, f.To, "what is for nobody yet is not for a host who sees all either")
				}
			}
		}
		assert.Equal(t, map[bool]int{false: 0, true: 5}[sees], open, "%s: three submissions, two turns", option)
		first := w.feed(option, "", projector.Question{})[0]
		assert.Contains(t, string(first.Public), `"hostSees":"`+option+`"`)
	}
}

// feed reads a match's feed to its end, page by page.
func (w *world) feed(id, bearer string, q projector.Question) (all []view.Event) {
	w.t.Helper()
	for {
		answer, err := w.Events(w.t.Context(), bearer, id, &q)
		require.NoError(w.t, err)
		page, ok := answer.([]byte)
		require.True(w.t, ok)
		if len(page) == 0 {
			return all
		}
		require.LessOrEqual(w.t, len(page), 256<<10)
		for line := range bytes.Lines(page) {
			var e view.Event
			require.NoError(w.t, json.Unmarshal(line, &e))
			all = append(all, e)
		}
		q.After = &all[len(all)-1].Revision
	}
}

// TestFeeds reads the feed as each audience: a face with its salt and commitment to whom it is for, its commitment alone
// to all others.
func TestFeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.played("m", `{"start":"when-claimed"}`)
	for _, audience := range []string{"public", "ada", "bob", "host"} {
		feed := w.feed("m", tokens[audience], projector.Question{})
		require.Len(t, feed, int(w.Now("m").Revision())+1)
		opened := 0
		for r, err := range w.Own.Events(t.Context(), "m", 0) {
			require.NoError(t, err)
			e := feed[r.Revision]
			assert.Equal(t, r.Hash, e.Hash)
			assert.Equal(t, r.Prev, e.Prev)
			assert.JSONEq(t, string(r.Public), string(e.Public))
			require.Len(t, e.Faces, len(r.Faces))
			for i, shown := range e.Faces {
				assert.Equal(t, r.Faces[i].Commitment, shown.Commitment)
				face, err := w.Own.Keys("m").Open(r.ID, i, r.Faces[i])
				require.NoError(t, err)
				assert.Equal(t, face.For(audience), shown.Opened != nil, "revision %d, face %d, to %v as %s", r.Revision, i, face.To, audience)
				if shown.Opened == nil {
					continue
				}
				opened++
				salt, err := hex.DecodeString(shown.Salt)
				require.NoError(t, err)
				again := event.Face{To: shown.To, Salt: salt, Data: shown.Data}
				assert.True(t, again.Opens(shown.Commitment), "whoever sees it can check it")
			}
		}
		assert.Equal(t, map[string]int{"public": 0, "ada": 3, "bob": 2, "host": 0}[audience], opened, audience)
	}
	raw, err := w.Events(t.Context(), "", "m", &projector.Question{})
	require.NoError(t, err)
	for _, hidden := range []string{`"box"`, `"salt"`, `"data"`, `"cups"`, `"seed":`} {
		assert.NotContains(t, string(raw.([]byte)), hidden)
	}
}

// TestFeedPages reads a feed that is longer than a page, from different places.
func TestFeedPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("m", `{"start":"now"}`)
	long := strings.Repeat("ж", 498) + "<&" // which HTML needs no escape for here
	for range 100 {
		w.decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Pause(event.Host, long, noon) })
		w.decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Resume(event.Host, long, noon) })
	}
	all := w.feed("m", "", projector.Question{})
	require.Len(t, all, 203)
	first, err := w.Events(t.Context(), "", "m", &projector.Question{})
	require.NoError(t, err)
	assert.Greater(t, len(first.([]byte)), 200<<10, "a page is filled")
	assert.Contains(t, string(first.([]byte)), "ж<&")
	for i, e := range all {
		require.EqualValues(t, i, e.Revision)
	}
	for _, after := range []uint64{0, 100, 201} {
		assert.True(t, reflect.DeepEqual(all[after+1:], w.feed("m", "", projector.Question{After: &after})), "behind %d", after)
	}
	for _, after := range []uint64{202, 203, 1 << 40, math.MaxInt64, math.MaxUint64} {
		assert.Zero(t, len(w.feed("m", "", projector.Question{After: &after})), "behind %d", after) //nolint:testifylint // it is long
	}
}

// TestAsOf: a match as it stood is the view that was shown then, for whoever may look now.
func TestAsOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("m", `{"start":"when-claimed"}`)
	shown := map[uint64]map[string]string{}
	note := func() {
		m := w.Now("m")
		shown[uint64(m.Revision())] = map[string]string{}
		for _, audience := range []string{"public", "ada", "host"} {
			shown[uint64(m.Revision())][audience] = toJSON(t, m.View(audience))
		}
	}
	note()
	tokens := map[string]string{}
	for _, seat := range []string{"host", "ada", "bob"} {
		tokens[seat] = w.claim("m", seat)
		note()
	}
	w.submit("m", "ada", `{"type":"pick-starter","player":"bob"}`)
	note()
	w.submit("m", "bob", `{"type":"add","cups":3}`)
	note()
	w.decide("m", func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", noon) })
	note()
	for revision, views := range shown {
		for audience, want := range views {
			answer, err := w.View(t.Context(), tokens[audience], "m", &projector.Question{Revision: &revision})
			require.NoError(t, err)
			assert.Equal(t, want, toJSON(t, answer), "revision %d as %s", revision, audience)
		}
	}
	for _, revision := range []uint64{uint64(w.Now("m").Revision()) + 1, 1 << 40, math.MaxUint64} {
		_, err := w.View(t.Context(), "", "m", &projector.Question{Revision: &revision})
		assert.Equal(t, problem.NotFound, code(t, err), revision)
	}
	zero := uint64(0)
	_, err := w.View(t.Context(), "", "m", &projector.Question{Revision: &zero, Audience: "ada"})
	assert.Equal(t, problem.Forbidden, code(t, err))
}

// TestNotOlderThan: a process that is behind reads the log where it is asked for something newer.
func TestNotOlderThan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create("m", `{"start":"now"}`)
	was := w.Now("m").Revision()
	behind := map[int64]*projector.Service{}
	for _, least := range []int64{0, was, was + 1, was + 3, 1 << 40} {
		behind[least] = w.projector()
		_, err := behind[least].View(t.Context(), "", "m", &projector.Question{})
		require.NoError(t, err)
	}
	w.submit("m", "ada", `{"type":"pick-starter","player":"bob"}`)
	require.Equal(t, was+3, w.Now("m").Revision())
	for least, s := range behind {
		want := was
		if least > was {
			want = was + 3
		}
		answer, err := s.View(t.Context(), "", "m", &projector.Question{MinRevision: least})
		require.NoError(t, err)
		assert.Equal(t, want, answer.(*match.View).Revision, "not older than %d", least)
	}
}
