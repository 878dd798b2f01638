package match_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// Paused time is no time: each clock has exactly what it had left, for the bank too.
func TestPauseAndResume(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{
		talkOf(match.Once, 0, 1), turnOf(0, match.Repeat), turnOf(1, match.Reserve),
	}, bank: 60 * second}, 2, "")
	p.until(10 * second)
	p.pause()
	v := p.m.View(match.Public)
	assert.Equal(t, match.Paused, v.Status)
	assert.Equal(t, null, p.deadline("a"))
	assert.Equal(t, null, p.deadline("b"))
	p.waits(ids("a", "b"), ids())
	assert.Empty(t, p.m.Awaiting())
	p.refused(match.MatchPaused, "a", number(1))
	_, ok := p.m.Deadline()
	assert.False(t, ok)
	p.until(time.Hour)
	p.resume()
	assert.Equal(t, time.Hour+20*second, p.deadline("a"))
	p.until(time.Hour + 20*second - 1)
	assert.Equal(t, 1, p.phase().No)
	p.until(time.Hour + 20*second)
	assert.Equal(t, 2, p.phase().No)

	at := time.Hour + 20*second
	p.until(at + 35*second) // one strike
	p.pause()
	p.until(at + 100*second)
	p.resume()
	assert.Equal(t, at+125*second, p.deadline("a"), "25 s were left")
	assert.Equal(t, 1, p.table().Missed["a"])
	p.say("a", 1)

	at += 100 * second
	p.until(at + 5*second) // within the move time
	p.pause()
	assert.Equal(t, null, p.deadline("b"))
	assert.Equal(t, null, p.reserveFrom("b"))
	p.until(at + 50*second)
	p.resume()
	assert.Equal(t, at+75*second, p.reserveFrom("b"))
	assert.Equal(t, at+135*second, p.deadline("b"))
	p.until(at + 95*second) // 20 s into the bank
	p.pause()
	p.until(at + 1000*second)
	p.resume()
	assert.Equal(t, at+980*second, p.reserveFrom("b"), "it began 20 s before now")
	assert.Equal(t, at+1040*second, p.deadline("b"))
	p.until(at + 1005*second)
	p.say("b", 1)
	assert.Equal(t, []int{60_000, 35_000}, p.table().Banks)
}

// A clock that had run out before a pause goes on showing its past deadline, and has no time left after it.
func TestAPauseLeavesWhatHasRunOut(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2)}}, 3, "")
	p.extend("b", 60*second)
	p.until(40 * second)
	p.pause()
	assert.Equal(t, 30*second, p.deadline("a"))
	assert.Equal(t, null, p.deadline("b"))
	p.extendRefused(match.NotAwaited, "a", second)
	p.until(100 * second)
	p.resume()
	assert.Equal(t, 30*second, p.deadline("a"))
	assert.Equal(t, 150*second, p.deadline("b"))
	p.refused(match.NotAwaited, "a", number(1))
}

// A deadline that was due but not stated before a pause is due at once when the match goes on: it had nothing left.
func TestAPauseGivesNoTimeToWhoIsLate(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 2, "")
	p.skip(31 * second) // the timer is late
	p.pause()
	assert.Nil(t, p.m.Expire(p.now.Add(time.Hour)), "a paused match has no deadline")
	p.skip(100 * second)
	p.resume()
	due, ok := p.m.Deadline()
	require.True(t, ok)
	assert.Equal(t, 99*second, due.Sub(epoch), "a second ago, as when it was paused")
	assert.NotNil(t, p.m.Expire(p.now))
}

// Who has submitted in a simultaneous phase keeps his clock, shown, paused and running out like any other.
func TestTheClockOfWhoHasSubmitted(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2)}}, 3, "")
	p.extend("c", 60*second)
	p.until(10 * second)
	p.say("a", 1)
	assert.Equal(t, 30*second, p.deadline("a"))
	p.pause()
	assert.Equal(t, null, p.deadline("a"))
	p.until(20 * second)
	p.resume()
	assert.Equal(t, 40*second, p.deadline("a"))
	p.say("a", 2) // replaces it
	before := len(p.facts)
	p.until(40 * second)
	assert.Len(t, p.facts, before+1)
	assert.JSONEq(t, `{"phase":1,"deadline":"2000-01-01T00:00:40Z","players":["b"]}`, string(p.facts[before].Public))
	p.refused(match.NotAwaited, "a", number(3))
	p.waits(ids("c"), ids("a"))
	p.say("c", 4)
	assert.Equal(t, []map[string]int{{"a": 2, "c": 4}}, p.table().Said)
}

// Extend adds to one player's clock, while paused too; with Reserve to the move time, with Repeat to the present deadline.
func TestExtend(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{
		talkOf(match.Once, 0, 1), turnOf(0, match.Repeat), turnOf(1, match.Reserve), turnOf(1, match.Reserve),
	}, bank: 60 * second}, 2, "")
	p.until(29 * second)
	p.extend("a", 7*second)
	p.extend("a", 3*second)
	assert.Equal(t, 40*second, p.deadline("a"))
	assert.Equal(t, 30*second, p.deadline("b"))
	p.pause()
	p.extend("b", 9*second)
	assert.Equal(t, null, p.deadline("b"))
	p.until(30 * second)
	p.resume()
	assert.Equal(t, 41*second, p.deadline("a"))
	assert.Equal(t, 40*second, p.deadline("b"))
	p.say("a", 1)
	p.say("b", 1)

	p.until(65 * second) // one deadline, at 60 s, was missed
	p.extend("a", 10*second)
	assert.Equal(t, 100*second, p.deadline("a"))
	p.until(100 * second)
	assert.Equal(t, 2, p.table().Missed["a"])
	assert.Equal(t, 130*second, p.deadline("a"), "from the deadline as it was extended")
	p.say("a", 1)

	p.extend("b", 20*second)
	assert.Equal(t, 150*second, p.reserveFrom("b"))
	assert.Equal(t, 210*second, p.deadline("b"))
	p.until(160 * second)
	p.extend("b", 4*second) // the bank that has run for 10 s is given 4 back
	assert.Equal(t, 154*second, p.reserveFrom("b"))
	p.say("b", 1)
	assert.Equal(t, 54_000, p.table().Banks[1])
	p.extend("b", 8760*time.Hour)
	p.say("b", 1)
	assert.Equal(t, 54_000, p.table().Banks[1], "an extension is of a turn, not of the bank")
}

// An extension of a running turn that is longer than what the bank has lost leaves the bank whole, and no more.
func TestAnExtensionDoesNotFillTheBank(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(1, match.Reserve)}, bank: 60 * second}, 2, "")
	p.until(50 * second)
	p.extend("b", 300*second)
	p.say("b", 1)
	assert.Equal(t, []int{60_000, 60_000}, p.table().Banks)
}

func TestExtendRefusals(t *testing.T) {
	phases := []match.Await{talkOf(match.Once, 0, 1), turnOf(0, match.Once)}
	for _, close := range []string{match.CloseWhenAllIn, match.CloseAtDeadline} {
		p := newPlay(t, plan{phases: phases}, 3, `"close":"`+close+`",`)
		for _, by := range []time.Duration{second, 0} {
			p.extendRefused(match.UnknownPlayer, "x", by)
			p.extendRefused(match.UnknownPlayer, match.HostID, by)
			p.extendRefused(match.UnknownPlayer, match.Public, by)
			p.extendRefused(match.NotAwaited, "c", by)
		}
		for _, by := range []time.Duration{0, -second, 8760*time.Hour + 1} {
			p.extendRefused(match.MalformedMove, "a", by)
		}
		p.extend("b", 1)
		assert.Equal(t, 30*second+1, p.deadline("b"))
		p.say("a", 1)
		if close == match.CloseAtDeadline {
			p.extend("a", second)
			assert.Equal(t, 31*second, p.deadline("a"))
		} else {
			p.extendRefused(match.NotAwaited, "a", second)
			p.extendRefused(match.NotAwaited, "a", 0)
		}
		p.until(30*second + 1) // b is late
		if close == match.CloseAtDeadline {
			p.extendRefused(match.NotAwaited, "b", second)
			p.until(31 * second)
		}
		drafts, err := p.m.Submit("a", 0, false, parse(t, number(1)), p.now)
		require.NoError(t, err)
		p.fold(drafts)
		p.extendRefused(match.NotAwaited, "a", second) // at-deadline does not hold a turn
		p.take(p.m.Resolve(p.now))
		require.True(t, p.m.Over())
		p.extendRefused(match.UnknownPlayer, "x", 0)
		p.extendRefused(match.MatchOver, "a", 0)
	}
	p := createPlay(t, plan{phases: phases}.game(3), setupText(3, ""))
	p.extendRefused(match.NotAwaited, "a", second) // the match has not begun
	p.extendRefused(match.UnknownPlayer, "x", second)
}

func TestPauseAndResumeRefusals(t *testing.T) {
	p := createPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}.game(2), setupText(2, ""))
	control := func(code match.Code, do func(event.Role, string, time.Time) ([]match.Draft, error)) {
		t.Helper()
		drafts, err := do(event.Host, "", p.now)
		assert.Nil(t, drafts)
		requireCode(t, code, err)
	}
	control(match.ConflictState, p.m.Pause)
	control(match.ConflictState, p.m.Resume)
	p.claim(0, 0, "")
	p.claim(1, 0, "")
	control(match.ConflictState, p.m.Resume)
	p.pause()
	control(match.MatchPaused, p.m.Pause)
	p.resume()
	p.say("a", 1)
	control(match.MatchOver, p.m.Pause)
	control(match.MatchOver, p.m.Resume)
	control(match.MatchOver, p.m.VoidMatch)
}

// The reason of a control is public, so it is held to what a name is held to, but for its length; none is none.
func TestReasons(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	for _, why := range []string{" ", "a\nb", "\u202e", strings.Repeat("x", 501)} {
		for _, do := range []func() ([]match.Draft, error){
			func() ([]match.Draft, error) { return p.m.Pause(event.Host, why, p.now) },
			func() ([]match.Draft, error) { return p.m.Extend(event.Host, "a", second, why, p.now) },
			func() ([]match.Draft, error) { return p.m.VoidMatch(event.Host, why, p.now) },
			func() ([]match.Draft, error) { return p.m.Reissue(event.Host, "a", why, p.now) },
		} {
			_, err := do()
			requireCode(t, match.MalformedMove, err)
		}
	}
	for _, why := range []string{"", strings.Repeat("é", 500)} {
		drafts, err := p.m.Pause(event.Umpire, why, p.now)
		require.NoError(t, err)
		require.Len(t, drafts, 1)
		assert.Equal(t, event.Umpire, drafts[0].By)
		assert.JSONEq(t, `{"why":"`+why+`"}`, string(drafts[0].Public))
	}
	p.extend("a", 90*second)
	extended := string(p.facts[len(p.facts)-1].Public)
	for _, member := range []string{`"by":"1m30s"`, `"player":"a"`, `"why":"slow link"`} {
		assert.Contains(t, extended, member)
	}
}

// The host may pause before the first phase has been opened, or before a complete phase has been resolved: the referee
// says nothing until the match goes on.
func TestAPauseBeforeTheRefereeSpeaks(t *testing.T) {
	p := createPlay(t, plan{phases: []match.Await{turnOf(0, match.Once), turnOf(1, match.Once)}}.game(2), setupText(2, ""))
	p.claim(0, 0, "")
	drafts, err := p.m.Claim(1, 0, nil, p.now)
	require.NoError(t, err)
	p.fold(drafts)
	require.Equal(t, match.Running, p.m.Status())
	p.pause()
	assert.Nil(t, p.m.View(match.Public).Phase)
	assert.Nil(t, p.m.Resolve(p.now))
	p.until(time.Hour)
	p.resume()
	assert.Equal(t, time.Hour+30*second, p.deadline("a"))

	drafts, err = p.m.Submit("a", 0, false, parse(t, number(1)), p.now)
	require.NoError(t, err)
	p.fold(drafts)
	p.pause()
	assert.Equal(t, 1, p.m.PhaseNo())
	p.until(2 * time.Hour)
	p.resume()
	assert.Equal(t, 2, p.m.PhaseNo())
	assert.Equal(t, 2*time.Hour+30*second, p.deadline("b"))
}

// A match that is void has no result, shows no seed, and nothing of it opens.
func TestVoid(t *testing.T) {
	for _, before := range []func(*play){
		func(*play) {},
		func(p *play) { p.pause() },
	} {
		p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 2, "")
		p.say("a", 1)
		before(p)
		drafts, err := p.m.VoidMatch(event.Host, "a false start", p.now)
		require.NoError(t, err)
		require.Len(t, drafts, 1)
		assert.Empty(t, drafts[0].Opens)
		p.take(drafts)
		v := p.m.View(match.Public)
		assert.Equal(t, match.Void, v.Status)
		assert.True(t, p.m.Over())
		assert.Nil(t, v.Phase)
		assert.Nil(t, v.Seed)
		assert.Nil(t, v.Result)
		p.refused(match.MatchOver, "a", number(1))
		_, ok := p.m.Deadline()
		assert.False(t, ok)
		_, err = p.m.VoidMatch(event.Host, "", p.now)
		requireCode(t, match.MatchOver, err)
	}
	p := createPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}.game(2), setupText(2, ""))
	drafts, err := p.m.VoidMatch(event.Operator, "", p.now)
	require.NoError(t, err)
	p.take(drafts)
	assert.Equal(t, match.Void, p.m.Status(), "before it began, too")
	_, err = p.m.Claim(0, 0, nil, p.now)
	requireCode(t, match.MatchOver, err)
}

func TestPauseBroken(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}, broken: "resolve"}, 2, "")
	drafts, err := p.m.Submit("a", 0, false, parse(t, number(1)), p.now)
	require.NoError(t, err)
	p.fold(drafts)
	assert.Panics(t, func() { p.m.Resolve(p.now) })
	assert.Equal(t, 1, p.m.PhaseNo(), "the match is as it was")
	drafts, err = p.m.PauseBroken(p.now)
	require.NoError(t, err)
	require.Len(t, drafts, 1)
	assert.Equal(t, event.Umpire, drafts[0].By)
	assert.Equal(t, "match-paused.v1", drafts[0].Type)
	assert.NotContains(t, string(drafts[0].Public), "hush")
	p.fold(drafts)
	assert.Equal(t, match.Paused, p.m.Status())
	_, err = p.m.PauseBroken(p.now)
	requireCode(t, match.MatchPaused, err)
}
