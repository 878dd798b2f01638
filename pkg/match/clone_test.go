package match_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// branch returns a play that goes on from where this one stands; neither may notice the other.
func (p *play) branch() *play {
	return &play{t: p.t, games: p.games, m: p.m, now: p.now, facts: slices.Clone(p.facts)}
}

func TestClonesShareNoClaims(t *testing.T) {
	p := waiting(t, "")
	b := p.branch()
	b.claim(0, 0, "a")
	_, claimed := p.m.Issue(0)
	assert.False(t, claimed)
	p.claim(1, 0, "b")
	_, claimed = b.m.Issue(1)
	assert.False(t, claimed)
}

func TestClonesShareNoReceipts(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 2, "")
	b := p.branch()
	b.say("a", 1)
	assert.Zero(t, p.m.LastReceipt(0).Phase)
	assert.Equal(t, 1, b.m.LastReceipt(0).Phase)
}

func TestClonesShareNoSubmissions(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2)}}, 3, `"hostSees":"all",`)
	says := func(p *play) map[string]int { return p.m.View(match.HostID).Table.(*planTable).Host.Says }
	p.say("a", 1)
	p.say("c", 3)
	b := p.branch()
	b.say("a", 7)
	b.say("c", 8)
	assert.Equal(t, map[string]int{"a": 1, "c": 3}, says(p))
	p.say("c", 4)
	assert.Equal(t, map[string]int{"a": 7, "c": 8}, says(b))
	b.say("b", 2)
	assert.Equal(t, map[string]int{"a": 1, "c": 4}, says(p))
}

func TestClonesShareNoBanks(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Reserve), turnOf(1, match.Reserve)}, bank: 10 * second}, 2, "")
	b := p.branch()
	b.say("a", 1)
	b.until(time.Minute)
	assert.Equal(t, []int{10_000, 0}, b.table().Banks)
	p.say("a", 1)
	assert.Equal(t, []int{10_000, 10_000}, p.table().Banks)
}

// Lists that only grow may share memory with a clone's, but not the room behind them.
func TestClonesShareNoRoom(t *testing.T) {
	phases := []match.Await{}
	for range 6 {
		phases = append(phases, talkOf(match.Once, 0, 1))
	}
	p := newPlay(t, plan{phases: phases}, 2, "")
	for range 5 { // at each length of the list of what will open, another way is gone for a while
		b := p.branch()
		b.extend("a", second)
		b.say("a", 1)
		b.say("b", 1)
		c := p.branch()
		c.extend("a", second)
		c.extend("b", second)
		c.say("b", 1)
		c.say("a", 1)
		finish(t, b)
		finish(t, c)
		p.say("b", 2)
		p.say("a", 2)
		finish(t, b.branch())
	}
	finish(t, p)
}

// finish plays a match to its end and demands that it opens what a replay of the same events opens.
func finish(t *testing.T, p *play) {
	t.Helper()
	for !p.m.Over() {
		replayed, err := match.Replay(p.games, p.facts[0])
		require.NoError(t, err)
		for _, fact := range p.facts[1:] {
			require.NoError(t, replayed.Apply(fact))
		}
		submitted := func(m *match.Match) []match.Draft {
			drafts, err := m.Submit("b", 0, false, parse(t, number(5)), p.now)
			require.NoError(t, err)
			return drafts
		}
		one, two := p.branch(), p.branch()
		two.m = replayed
		for _, way := range []*play{one, two} {
			way.say("a", 5)
			way.fold(submitted(way.m))
		}
		was, is := two.m.Resolve(p.now), one.m.Resolve(p.now)
		require.Len(t, is, len(was))
		assert.Equal(t, was[len(was)-1].Opens, is[len(is)-1].Opens)
		p.m, p.facts = one.m, one.facts
		p.take(is)
	}
}

func TestClonesShareNoPauses(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	at := time.Duration(0)
	pause := func(p *play, from, to time.Duration) {
		p.until(from)
		p.pause()
		p.until(to)
		p.resume()
	}
	for range 3 {
		pause(p, at+second, at+2*second)
		at += 2 * second
	}
	one, two := p.branch(), p.branch()
	pause(one, at+second, at+2*second)
	pause(two, at+second, at+9*second)
	one.until(at + 10*second)
	before := one.deadline("a")
	assert.Equal(t, 1, one.outage(at, at+10*second))
	assert.Equal(t, before+9*second, one.deadline("a"), "all of the outage but the second that it was paused")
}

func TestClonesShareNoMissedDeadlines(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1)}}, 2, "")
	p.skip(time.Hour)
	for range 3 {
		p.fold(p.m.Expire(p.now))
	}
	late := func(who string) *play {
		b := p.branch()
		drafts, err := b.m.Submit(opponent(who), 0, false, parse(t, number(1)), b.now)
		require.NoError(t, err)
		b.fold(drafts)
		b.fold(b.m.Expire(b.now))
		return b
	}
	one, two := late("a"), late("b")
	for _, c := range []struct {
		p    *play
		want map[string]int
	}{{one, map[string]int{"a": 4, "b": 3}}, {two, map[string]int{"a": 3, "b": 4}}, {p, map[string]int{"a": 3, "b": 3}}} {
		c.p.take(c.p.m.Resolve(c.p.now))
		assert.Equal(t, c.want, c.p.table().Missed)
	}
}

func opponent(who string) string {
	if who == "a" {
		return "b"
	}
	return "a"
}

// What was handed out as an option or a seat is the match's own; its id and role stay what they were.
func TestASharedMatchIsNotChangedByDeciding(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1), turnOf(0, match.Reserve)}, bank: second}, 2, "")
	p.say("a", 1)
	before := p.m.Clone()
	for _, decide := range []func(){
		func() { p.m.Expire(epoch.Add(time.Hour)) },
		func() { p.m.Resolve(epoch) },
		func() { _, _ = p.m.Pause(event.Host, "", epoch) },
		func() { _, _ = p.m.Submit("b", 0, false, parse(t, number(1)), epoch) },
		func() { _, _ = p.m.Extend(event.Host, "b", second, "", epoch) },
		func() { p.m.Give(match.Outage{From: epoch, To: epoch.Add(second)}, epoch) },
	} {
		decide()
		assert.Equal(t, before.View(match.HostID), p.m.View(match.HostID))
		assert.Equal(t, before.LastReceipt(0), p.m.LastReceipt(0))
	}
}
