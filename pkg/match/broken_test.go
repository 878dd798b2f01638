package match_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// started returns the events of a match with an open phase, and the match.
func started(t *testing.T) *play {
	t.Helper()
	return newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), turnOf(0, match.Once)}}, 2, "")
}

// next is a fact that would follow.
func (p *play) next(kind, public string, faces ...string) event.Fact {
	f := event.Fact{Revision: uint64(len(p.facts)), Type: kind, At: p.now, By: event.Umpire, Public: json.RawMessage(public)}
	for _, data := range faces {
		f.Faces = append(f.Faces, event.Face{Data: json.RawMessage(data)})
	}
	return f
}

func TestUnknownEvents(t *testing.T) {
	p := started(t)
	for _, kind := range []string{
		"phase-opened.v2", "match-teleported.v1", "plan.resolved.v2", "plan.resolved.v10", "chess.moved.v1", "phase-opened", "a.b.c.d", "",
	} {
		err := p.m.Clone().Apply(p.next(kind, `{}`))
		require.ErrorIs(t, err, match.ErrUnknownEvent, kind)
	}
	created := p.facts[0]
	created.Type = "match-created.v2"
	_, err := match.Replay(p.games, created)
	require.ErrorIs(t, err, match.ErrUnknownEvent, "a newer program created it")
	_, err = match.Replay(match.Catalog{}, p.facts[0])
	require.ErrorIs(t, err, match.ErrUnknownEvent, "rules that this program does not have")
	require.ErrorContains(t, err, "plan@1")
}

func TestBrokenStreams(t *testing.T) {
	p := started(t)
	for name, fact := range map[string]event.Fact{
		"a fact that the rules don't know":  p.next("plan.exploded.v1", `{}`),
		"a payload of another kind":         p.next("plan.resolved.v1", `[]`, `{}`),
		"a payload of another type":         p.next("plan.resolved.v1", `{"draw":"seven"}`, `{}`),
		"a payload that is no JSON":         p.next("deadline-passed.v1", `{`),
		"a submission with no face":         p.next("submission-accepted.v1", `{"phase":1,"player":"a"}`),
		"a submission that can't be read":   p.next("submission-accepted.v1", `{"phase":1,"player":"a"}`, `{"type":"shout"}`),
		"a submission that is no JSON":      p.next("submission-accepted.v1", `{"phase":1,"player":"a"}`, `{`),
		"an extension by no duration":       p.next("clock-extended.v1", `{"player":"a","by":"a while"}`),
		"a second creation with no seed":    p.next("match-created.v1", `{"game":"plan@1"}`),
		"a creation with a seed not in hex": p.next("match-created.v1", `{"game":"plan@1"}`, `{"seed":"x"}`, `{}`),
	} {
		m := p.m.Clone()
		err := m.Apply(fact)
		require.Error(t, err, name)
		if fact.Type == "match-created.v1" {
			continue // it finds no rules, or no face
		}
		require.ErrorIs(t, err, match.ErrBroken, name)
	}
	for name, revision := range map[string]uint64{"a gap": uint64(len(p.facts) + 1), "a repeat": uint64(len(p.facts) - 1), "the first again": 0} {
		fact := p.next("match-paused.v1", `{"why":""}`)
		fact.Revision = revision
		require.ErrorIs(t, p.m.Clone().Apply(fact), match.ErrBroken, name)
	}
	for name, first := range map[string]event.Fact{
		"begins with something else": p.facts[1],
		"begins with the start":      {Type: "match-started.v1", Public: json.RawMessage(`{}`)},
		"begins later":               {Type: "match-created.v1", Revision: 1, Public: p.facts[0].Public, Faces: p.facts[0].Faces},
		"a creation with no face":    {Type: "match-created.v1", Public: p.facts[0].Public},
		"a creation of nothing":      {Type: "match-created.v1", Public: json.RawMessage(`[]`), Faces: p.facts[0].Faces},
		"a seed not in hex": {Type: "match-created.v1", Public: p.facts[0].Public, Faces: []event.Face{
			{Data: json.RawMessage(`{"seed":"x"}`)}, p.facts[0].Faces[1],
		}},
	} {
		m, err := match.Replay(p.games, first)
		require.ErrorIs(t, err, match.ErrBroken, name)
		assert.Nil(t, m, name)
	}
}

// An error tells where a stream is broken and quotes nothing of what stands there, which may be sealed.
func TestBrokenTellsNoSecret(t *testing.T) {
	p := started(t)
	for _, fact := range []event.Fact{
		p.next("plan.resolved.v1", `{"draw":987654321987654321987}`, `{}`),
		p.next("plan.resolved.v1", `{"draw":1234.5}`, `{}`),
		p.next("plan.resolved.v1", `{"said":{"a":"zq-zq"}}`, `{}`),
		p.next("submission-accepted.v1", `{"phase":1,"player":"a"}`, `{"type":"zq-zq"}`),
		p.next("submission-accepted.v1", `{"phase":1,"player":"a"}`, `{"zq-zq":1,"zq-zq":1}`),
	} {
		err := p.m.Clone().Apply(fact)
		require.ErrorIs(t, err, match.ErrBroken)
		for _, secret := range []string{"zq", "98765", "1234"} {
			assert.NotContains(t, err.Error(), secret)
		}
	}
	broken := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	games := match.Catalog{plan{broken: "evolve"}.game(2)}
	m, err := match.Replay(games, broken.facts[0])
	require.NoError(t, err)
	for _, fact := range broken.facts[1:] {
		require.NoError(t, m.Apply(fact))
	}
	err = m.Apply(broken.next("plan.resolved.v1", `{}`, `{}`))
	require.ErrorIs(t, err, match.ErrBroken)
	require.ErrorContains(t, err, "plan.resolved.v1")
	assert.NotContains(t, err.Error(), "rule", "nor what a rule says in its panic")
}

// What opens when a match has ended: the seed always; what the game opens, unless the match was to open never; of
// submissions only those that counted.
func TestWhatOpens(t *testing.T) {
	for _, c := range []struct {
		open   string
		opened []string
	}{
		{"at-end", []string{"seed", number(2), number(3), "secret", "secret", number(5), "secret"}},
		{"never", []string{"seed"}},
		{"after-series", []string{"seed"}},
	} {
		p := newPlay(t, plan{phases: []match.Await{
			talkOf(match.Once, 0, 1), turnOf(0, match.Once), talkOf(match.Once, 0, 1),
		}}, 2, `"open":"`+c.open+`",`)
		p.say("a", 1)
		p.say("a", 2) // replaces it
		p.say("b", 3)
		p.say("a", 4) // a turn's submission does not open
		p.say("b", 5)
		drafts := p.m.Expire(epoch.Add(time.Hour))
		p.fold(drafts)
		p.now = epoch.Add(time.Hour)
		drafts = p.m.Resolve(p.now)
		last := drafts[len(drafts)-1]
		require.Equal(t, "match-ended.v1", last.Type)
		var opened []string
		for _, ref := range last.Opens {
			opened = append(opened, p.opened(drafts, ref))
		}
		slices.Sort(opened)
		slices.Sort(c.opened)
		assert.Equal(t, c.opened, opened, c.open)
		p.take(drafts)
	}
}

// opened names the face that a draft opens.
func (p *play) opened(drafts []match.Draft, ref match.Ref) string {
	p.t.Helper()
	var data json.RawMessage
	if ref.Revision < uint64(len(p.facts)) {
		data = p.facts[ref.Revision].Faces[ref.Face].Data
	} else {
		data = drafts[ref.Revision-uint64(len(p.facts))].Faces[ref.Face].Data
	}
	var named map[string]any
	require.NoError(p.t, json.Unmarshal(data, &named))
	for _, name := range []string{"seed", "secret"} {
		if _, is := named[name]; is {
			return name
		}
	}
	submission, err := json.Marshal(named["number"])
	require.NoError(p.t, err)
	return `{"type":"say","number":` + string(submission) + `}`
}

// A match that penalties end in mid-phase opens what had been submitted in that phase too.
func TestWhatOpensInMidPhase(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1)}}, 2, "")
	p.say("a", 7)
	submitted := uint64(p.m.Revision())
	p.skip(time.Hour)
	for range 5 {
		p.fold(p.m.Expire(p.now))
	}
	drafts := p.m.Resolve(p.now)
	last := drafts[len(drafts)-1]
	require.Equal(t, "match-ended.v1", last.Type)
	assert.Equal(t, []match.Ref{{Revision: 0, Face: 0}, {Revision: submitted, Face: 0}}, last.Opens)
	p.take(drafts)
	assert.Equal(t, match.Ref{Revision: 0, Face: 1}, match.SetupFace(0))
}

// What a game states at the beginning stands before its first phase, once.
func TestWhatAGameOpensWith(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once), turnOf(1, match.Once)}, opens: true}, 2, "")
	p.say("a", 1)
	p.say("b", 1)
	var types []string
	for _, fact := range p.facts {
		types = append(types, fact.Type)
	}
	assert.Equal(t, []string{
		"match-created.v1", "match-started.v1", "plan.opened.v1", "phase-opened.v1", "submission-accepted.v1",
		"plan.resolved.v1", "phase-opened.v1", "submission-accepted.v1", "plan.resolved.v1", "match-ended.v1",
	}, types)
	assert.Equal(t, -1, p.table().Draws[0])
	created := createPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}, opens: true}.game(2), setupText(2, `"start":"2001-01-01T00:00:00Z"`))
	created.fold(created.m.Expire(epoch.Add(9000 * time.Hour)))
	assert.Equal(t, []match.Ref{match.SetupFace(0)}, created.m.Resolve(epoch)[0].Opens)
	p = newPlay(t, plan{opens: true}, 2, "") // a game without a phase is over at once
	assert.True(t, p.m.Over())
	assert.Equal(t, []int{-1}, p.table().Draws)
}
