package view_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/view"
)

var (
	games = match.Catalog{glassfull.Game()}
	epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// played is a match in which a has added three cups and b, then, five strikes for b ended it.
func played(t *testing.T, hostSees string) (*journal.Journal, *match.Match) {
	t.Helper()
	vault, err := event.NewVault(make([]byte, 32))
	require.NoError(t, err)
	j := journal.New(memlog.New(), games, vault, rand.Reader)
	v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"a"},"options":{"start":"now","hostSees":"` + hostSees + `"},
		"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`))
	require.NoError(t, err)
	setup, err := match.ParseSetup(games, v)
	require.NoError(t, err)
	drafts, _, err := match.Create("one", setup, make([]byte, 32), false, epoch)
	require.NoError(t, err)
	m := take(t, j, nil, drafts)
	for _, step := range []struct{ who, what string }{
		{"a", `{"type":"pick-starter","player":"a"}`}, {"a", `{"type":"add","cups":3}`}, {"b", `{"type":"add","cups":1}`},
	} {
		v, err := event.Parse([]byte(step.what))
		require.NoError(t, err)
		drafts, err := m.Submit(step.who, 0, false, v, epoch)
		require.NoError(t, err)
		m = take(t, j, m, drafts)
	}
	for !m.Over() {
		m = take(t, j, m, m.Expire(epoch.Add(time.Hour)))
	}
	return j, m
}

func take(t *testing.T, j *journal.Journal, m *match.Match, drafts []match.Draft) *match.Match {
	t.Helper()
	for ; len(drafts) > 0; drafts = m.Resolve(epoch) {
		var err error
		m, err = j.Append(t.Context(), "one", m, event.ID{}, drafts)
		require.NoError(t, err)
	}
	return m
}

// feed is what an audience gets of a match.
func feed(t *testing.T, j *journal.Journal, a view.Audience) []view.Event {
	t.Helper()
	var all []view.Event
	for r, err := range j.Events(t.Context(), "one", 0) {
		require.NoError(t, err)
		e, err := view.EventFor(j.Keys("one"), &r, a)
		require.NoError(t, err)
		all = append(all, e)
	}
	return all
}

// seen lists the faces that are open in a feed, as revision.place.
func seen(all []view.Event) []string {
	var open []string
	for _, e := range all {
		for place, f := range e.Faces {
			if f.Opened != nil {
				open = append(open, fmt.Sprintf("%s.%d", e.Type, place))
			}
		}
	}
	return open
}

func TestWhoSeesWhichFace(t *testing.T) {
	const seed, submitted, done, level = "match-created.v1.0", "submission-accepted.v1.0", "glass-full.turn-taken.v1.0", "glass-full.turn-taken.v1.1"
	for _, c := range []struct {
		hostSees, id string
		auditor      bool
		want         []string
	}{
		{"needed", match.Public, false, nil},
		{"all", match.Public, false, nil},
		{"needed", match.HostID, false, nil},
		{"all", match.HostID, false, []string{submitted, submitted, done, submitted, done}},
		{"needed", "a", false, []string{submitted, submitted, done}},
		{"all", "a", false, []string{submitted, submitted, done}},
		{"all", "b", false, []string{submitted, done}},
		{"all", "c", false, nil},
		{"all", "", false, nil},
		{"needed", "auditor", true, []string{seed, submitted, submitted, done, level, submitted, done, level}},
		{"needed", match.Public, true, []string{seed, submitted, submitted, done, level, submitted, done, level}},
	} {
		j, m := played(t, c.hostSees)
		a := view.Of(m, c.id)
		assert.Equal(t, c.id, a.ID)
		assert.Equal(t, c.id == match.HostID && c.hostSees == "all", a.All)
		a.Auditor = c.auditor
		assert.Equal(t, c.want, seen(feed(t, j, a)), "%s, %s", c.hostSees, c.id)
	}
}

// What is not in a feed is not in its JSON either: of a face that is not seen there is the commitment and nothing else.
func TestFeedAsJSON(t *testing.T) {
	j, m := played(t, "needed")
	all := feed(t, j, view.Of(m, "b"))
	for _, e := range all {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		var back struct {
			Faces []map[string]json.RawMessage
			Opens []map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &back))
		for place, f := range back.Faces {
			want := 1
			if e.Faces[place].Opened != nil {
				want = 4
			}
			assert.Len(t, f, want, "%s: %v", e.Type, f)
			assert.NotContains(t, f, "box")
		}
		for _, o := range back.Opens {
			assert.Len(t, o, 5)
		}
		assert.NotContains(t, string(raw), "null,\"hash\"", "lists are empty, not null")
	}
	raw, err := json.Marshal(all[1])
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"faces":[]`)
	assert.Contains(t, string(raw), `"opens":[]`)
}

// Whatever is open in a feed can be checked against what was committed to, and every event against the one before it.
func TestFeedsVerify(t *testing.T) {
	j, m := played(t, "all")
	for _, id := range []string{"a", "b", match.HostID, match.Public} {
		all := feed(t, j, view.Of(m, id))
		prev := ""
		for n, e := range all {
			assert.Equal(t, uint64(n), e.Revision)
			assert.Equal(t, prev, e.Prev)
			prev = e.Hash
			for _, f := range e.Faces {
				if f.Opened != nil {
					assert.Equal(t, f.Commitment, committed(t, f.Opened))
				}
			}
			for _, o := range e.Opens {
				assert.Equal(t, all[o.Revision].Faces[o.Face].Commitment, committed(t, &o.Opened))
			}
		}
		last := all[len(all)-1]
		assert.Equal(t, "match-ended.v1", last.Type)
		assert.Len(t, last.Opens, 5, "the seed, two turns and the level after each")
		assert.Equal(t, []string{}, last.Opens[0].To)
		assert.Equal(t, m.Hash(), prev)
	}
}

func committed(t *testing.T, o *view.Opened) string {
	t.Helper()
	f := event.Face{To: o.To, Data: o.Data}
	_, err := fmt.Sscanf(o.Salt, "%x", &f.Salt)
	require.NoError(t, err)
	return f.Commitment()
}

// With the keys of another match nothing opens, and the error says where.
func TestTheWrongKeys(t *testing.T) {
	j, m := played(t, "all")
	for r, err := range j.Events(t.Context(), "one", 0) {
		require.NoError(t, err)
		_, err = view.EventFor(j.Keys("another"), &r, view.Of(m, "a"))
		require.ErrorIs(t, err, event.ErrBox)
		require.ErrorContains(t, err, "revision 0, face 0")
		_, err = view.EventFor(j.Keys("another"), &r, view.Of(m, match.Public))
		require.NoError(t, err, "the public part needs no key")
		break
	}
}
