package match_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

func TestViewOfEachAudience(t *testing.T) {
	for _, hostSees := range []string{"needed", "all"} {
		p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 3, `"hostSees":"`+hostSees+`",`)
		p.say("a", 4)
		for _, id := range []string{"", "x", "A", "hosts"} {
			assert.Nil(t, p.m.View(id))
		}
		public := p.m.View(match.Public)
		assert.Equal(t, "plan", public.Game)
		assert.Equal(t, "A Plan", public.Title)
		assert.Equal(t, "test", public.Match)
		assert.Equal(t, p.m.Revision(), public.Revision)
		assert.Nil(t, public.Table.(*planTable).You)
		assert.Nil(t, public.Table.(*planTable).Host)
		own := p.m.View("a").Table.(*planTable)
		assert.Equal(t, 4, *own.You.Says)
		assert.Equal(t, "you are a", own.You.Hints)
		assert.Nil(t, own.Host)
		other := p.m.View("b").Table.(*planTable)
		assert.Nil(t, other.You.Says)
		host := p.m.View(match.HostID).Table.(*planTable)
		assert.Nil(t, host.You)
		if hostSees == "all" {
			assert.Equal(t, &planHost{Secret: "hush", Says: map[string]int{"a": 4}}, host.Host)
		} else {
			assert.Equal(t, &planHost{Says: map[string]int{}}, host.Host)
		}
	}
}

func TestViewAsJSON(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Reserve, 0, 1)}, bank: 1500 * time.Millisecond}, 3, "")
	p.say("b", 4)
	phase := func() string {
		raw, err := json.Marshal(p.m.View("a"))
		require.NoError(t, err)
		back, err := p.games.ReadView(raw)
		require.NoError(t, err)
		again, err := json.Marshal(back)
		require.NoError(t, err)
		assert.Equal(t, string(raw), string(again), "read and written, it is the same")
		assert.IsType(t, &planTable{}, back.Table)
		var v struct{ Phase json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &v))
		return string(v.Phase)
	}
	assert.JSONEq(t, `{"no":1,"name":"talk","awaiting":["a"],"submitted":["b"],"clocks":{
		"a":{"deadline":"2000-01-01T00:00:31.5Z","reserveFrom":"2000-01-01T00:00:30Z"},
		"b":{"deadline":"2000-01-01T00:00:31.5Z","reserveFrom":"2000-01-01T00:00:30Z"},"c":null}}`, phase())
	p.pause()
	assert.JSONEq(t, `{"no":1,"name":"talk","awaiting":["a"],"submitted":["b"],"clocks":{
		"a":{"deadline":null,"reserveFrom":null},"b":{"deadline":null,"reserveFrom":null},"c":null}}`, phase())
	p.resume()
	p.say("a", 1)
	assert.Equal(t, "null", phase())
	raw, err := json.Marshal(p.m.View(match.Public))
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"status":"ended"`)
}

func TestReadViewRefuses(t *testing.T) {
	games := planCatalog()
	for _, text := range []string{`{`, `[]`, `{"game":"chess"}`, `{}`, `{"game":1}`, `{"game":"plan","revision":"zq-zq"}`} {
		_, err := games.ReadView([]byte(text))
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "zq")
	}
	_, err := games.ReadView([]byte(`{"game":"plan","phase":{"clocks":{"a":{"deadline":"soon"}}}}`))
	require.Error(t, err)
	_, err = games.ReadView([]byte(`{"game":"plan","phase":{"clocks":{"a":{"deadline":null,"reserveFrom":1}}}}`))
	require.Error(t, err)
}

func TestAwaits(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), hostPhase()}}, 2, "")
	assert.True(t, p.m.View("a").Awaits("a"))
	assert.False(t, p.m.View("a").Awaits("x"))
	p.say("a", 1)
	assert.False(t, p.m.View("a").Awaits("a"))
	p.pause()
	assert.False(t, p.m.View("b").Awaits("b"), "not while it is paused")
	p.resume()
	p.say("b", 1)
	assert.True(t, p.m.View(match.HostID).Awaits(match.HostID))
	p.say(match.HostID, 1)
	assert.False(t, p.m.View(match.HostID).Awaits(match.HostID))
}

// A bot sees a view and nothing else.
func TestBot(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 2, "")
	raw, err := json.Marshal(p.m.View("a"))
	require.NoError(t, err)
	v, err := p.games.ReadView(raw)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"type": "say", "number": 7}, p.games.Bot(v, func(int) int { return 7 }))
}

// A match that others may read is not changed by what is folded into its clones.
func TestClone(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{
		talkOf(match.Repeat, 0, 1), talkOf(match.Repeat, 0, 1), talkOf(match.Repeat, 0, 1), turnOf(0, match.Reserve),
	}, bank: time.Minute}, 2, "")
	type kept struct {
		m    *match.Match
		view string
	}
	var all []kept
	keep := func() {
		raw, err := json.Marshal(p.m.View(match.HostID))
		require.NoError(t, err)
		all = append(all, kept{p.m, string(raw)})
	}
	keep()
	for i := range 3 {
		p.say("a", i)
		keep()
		p.until(time.Duration(30*(i+1)) * second)
		keep()
		p.extend("b", second)
		p.pause()
		keep()
		p.resume()
		p.say("b", i)
		keep()
	}
	for i, k := range all { // another way from each
		branch := &play{t: t, games: p.games, m: k.m, now: p.now, facts: make([]event.Fact, k.m.Revision()+1)}
		branch.fold(k.m.Expire(k.m.At().Add(time.Hour)))
		branch.fold(branch.m.Resolve(branch.now))
		raw, err := json.Marshal(k.m.View(match.HostID))
		require.NoError(t, err)
		assert.Equal(t, k.view, string(raw), "state %d", i)
	}
}
