package match_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// outage gives an outage's time back and returns how many clocks got some.
func (p *play) outage(from, to time.Duration) int {
	p.t.Helper()
	drafts := p.m.Give(match.Outage{From: epoch.Add(from), To: epoch.Add(to)}, p.now)
	for i := range drafts {
		assert.Equal(p.t, "clock-extended.v1", drafts[i].Type)
		assert.Equal(p.t, event.Umpire, drafts[i].By)
		assert.Contains(p.t, string(drafts[i].Public), `"reason":"outage"`)
	}
	p.take(drafts)
	return len(drafts)
}

// Nobody is punished for our outage: the clocks that ran in it get back what it took of them, once.
func TestAnOutageIsGivenBack(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), turnOf(1, match.Repeat), hostPhase()}}, 3, "")
	p.until(5 * second)
	p.say("a", 1)
	p.skip(50 * second) // the deadlines passed while nobody could submit
	assert.Equal(t, 2, p.outage(10*second, 50*second))
	assert.Equal(t, 70*second, p.deadline("a"))
	assert.Equal(t, 70*second, p.deadline("b"))
	assert.Zero(t, p.outage(10*second, 50*second), "once")
	assert.Zero(t, p.outage(20*second, 30*second))
	assert.Equal(t, 2, p.outage(40*second, 55*second), "of one that overlaps, the rest")
	assert.Equal(t, 75*second, p.deadline("b"))
	p.skip(60 * second)
	p.say("b", 1)
	p.skip(62 * second)
	assert.Equal(t, 1, p.outage(52*second, 62*second), "only since the clock ran")
	assert.Equal(t, 92*second, p.deadline("b"))
	drafts, err := p.m.Submit("b", 0, false, parse(t, number(1)), p.now)
	require.NoError(t, err)
	p.fold(drafts)
	assert.Zero(t, p.outage(62*second, 70*second), "a turn's clock stopped with its submission")
	p.take(p.m.Resolve(p.now))
	assert.Zero(t, p.outage(62*second, 80*second), "the host has no clock")
	p.say(match.HostID, 1)
	assert.Zero(t, p.outage(62*second, 90*second), "the match is over")
}

// Timers may learn of an outage's end before its beginning: what is told in whatever pieces and order, be the match paused
// or not, is given as a whole, and no second of it twice.
func TestAnOutageInPieces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := newPlay(t, plan{phases: []match.Await{turnOf(1, match.Once)}}, 2, `"clock":{"move":"1h"},`)
		due := p.deadline("b")
		const end = 60 // seconds
		var lost, paused [end]bool
		resting := false
		for now := range end {
			p.skip(time.Duration(now) * time.Second)
			switch rapid.IntRange(0, 9).Draw(r, "what happens") {
			case 0:
				if resting = !resting; resting {
					p.pause()
				} else {
					p.resume()
				}
			case 1, 2:
				from := rapid.IntRange(0, now).Draw(r, "from")
				to := rapid.IntRange(from, now).Draw(r, "to")
				for s := from; s < to; s++ {
					lost[s] = true
				}
				for range 2 { // once
					p.outage(time.Duration(from)*time.Second, time.Duration(to)*time.Second)
				}
			}
			paused[now] = resting
		}
		p.skip(end * time.Second)
		if resting {
			p.resume()
		}
		for s := range end {
			if lost[s] || paused[s] {
				due += time.Second
			}
		}
		require.Equal(t, due, p.deadline("b"))
	})
}

func TestAnOutageAndAPause(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(1, match.Reserve)}, bank: 60 * second}, 2, "")
	p.until(10 * second)
	p.pause()
	p.until(40 * second)
	assert.Equal(t, 1, p.outage(5*second, 20*second), "paused time was not charged")
	p.resume()
	assert.Equal(t, 65*second, p.reserveFrom("b"), "20 s were left, and 5 were given")
	p.until(50 * second)
	assert.Equal(t, 1, p.outage(30*second, 45*second), "since it was resumed")
	assert.Equal(t, 70*second, p.reserveFrom("b"))
	assert.Equal(t, 130*second, p.deadline("b"))
	p.pause()
	p.until(60 * second)
	p.resume()
	assert.Equal(t, 80*second, p.reserveFrom("b"))
	assert.Equal(t, 1, p.outage(46*second, 58*second), "a pause behind its beginning swallows no more than itself")
	assert.Equal(t, 84*second, p.reserveFrom("b"))
	p = newPlay(t, plan{phases: []match.Await{turnOf(1, match.Once)}}, 2, "")
	assert.Zero(t, p.outage(-20*second, -10*second), "before the phase")
	assert.Zero(t, p.outage(10*second, 10*second), "of no length")
	p = createPlay(t, plan{}.game(2), setupText(2, ""))
	assert.Zero(t, p.outage(0, 10*second), "before the start")
}
