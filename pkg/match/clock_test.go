package match_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

const second = time.Second

// Once: one deadline, then the default is taken for whoever is missing.
func TestOnce(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2), turnOf(2, match.Once)}}, 3, "")
	assert.Equal(t, "talk", p.phase().Name)
	assert.Equal(t, 1, p.phase().No)
	for _, who := range ids("a", "b", "c") {
		assert.Equal(t, 30*second, p.deadline(who))
		assert.Equal(t, none, p.reserveFrom(who))
	}
	p.waits(ids("a", "b", "c"), ids())
	p.until(10 * second)
	p.say("c", 3)
	p.say("a", 1)
	p.waits(ids("b"), ids("a", "c"))
	p.until(30*second - 1)
	assert.Equal(t, 1, p.phase().No)
	p.until(30 * second)
	assert.Equal(t, 2, p.phase().No, "resolved at the deadline")
	assert.Equal(t, []map[string]int{{"a": 1, "c": 3}}, p.table().Said)
	assert.Equal(t, 60*second, p.deadline("c"))
	assert.Equal(t, none, p.deadline("a"), "who is not in the phase")
	p.until(time.Hour)
	v := p.m.View(match.Public)
	assert.Equal(t, match.Ended, v.Status)
	assert.Nil(t, v.Phase)
	assert.JSONEq(t, `{"phases":2}`, string(v.Result))
	_, ok := p.m.Deadline()
	assert.False(t, ok)
}

// Equal deadlines fall together, in one event; each player's clock is his own.
func TestOnceWithClocksOfTheirOwn(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2)}}, 3, "")
	p.extend("b", 20*second)
	before := len(p.facts)
	p.until(30 * second)
	assert.Len(t, p.facts, before+1)
	assert.JSONEq(t, `{"phase":1,"deadline":"2000-01-01T00:00:30Z","players":["a","c"]}`, string(p.facts[before].Public))
	p.waits(ids("b"), ids())
	p.refused(match.NotAwaited, "a", number(1))
	assert.Equal(t, 30*second, p.deadline("a"), "what has run out shows its past deadline")
	p.say("b", 2)
	assert.Equal(t, []map[string]int{{"b": 2}}, p.lastSaid())
}

// lastSaid is what was said in the phases so far, after the end too.
func (p *play) lastSaid() []map[string]int { return p.table().Said }

// Repeat: at each deadline a penalty falls and the clock starts anew from that deadline, not from when it was noticed.
func TestRepeat(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(1, match.Repeat), turnOf(0, match.Repeat)}}, 2, "")
	p.until(29 * second)
	assert.Equal(t, 0, p.table().Missed["b"])
	p.until(30 * second)
	assert.Equal(t, 1, p.table().Missed["b"])
	assert.Equal(t, 60*second, p.deadline("b"))
	p.waits(ids("b"), ids())
	p.skip(70 * second) // noticed late
	p.take(p.m.Expire(p.now))
	assert.Equal(t, 2, p.table().Missed["b"])
	assert.Equal(t, 90*second, p.deadline("b"), "from the deadline")
	p.say("b", 5)
	assert.Equal(t, 2, p.phase().No)
	assert.Equal(t, 100*second, p.deadline("a"))
	p.until(10 * time.Minute)
	assert.Equal(t, 5, p.table().Missed["a"])
	assert.Equal(t, match.Ended, p.m.Status(), "the penalties ended it")
}

// A timer that is late by more than one clock states one deadline at a time; the resolver may answer several at once.
func TestRepeatWithALateResolver(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(1, match.Repeat)}}, 2, "")
	p.skip(100 * second)
	for range 3 {
		p.fold(p.m.Expire(p.now))
	}
	assert.Nil(t, p.m.Expire(p.now))
	assert.Equal(t, 120*second, p.deadline("b"))
	assert.Equal(t, 0, p.table().Missed["b"], "the resolver has not answered")
	p.take(p.m.Resolve(p.now))
	assert.Equal(t, 3, p.table().Missed["b"])
	assert.Nil(t, p.m.Resolve(p.now))
	p.skip(400 * second)
	for range 10 { // more than end the match
		p.fold(p.m.Expire(p.now))
	}
	p.take(p.m.Resolve(p.now))
	assert.Equal(t, 5, p.table().Missed["b"], "what fell after the end counts no more")
	assert.Equal(t, match.Ended, p.m.Status())
}

// In a Repeat phase of several, a penalty falls for those who are still awaited.
func TestRepeatOfSeveral(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1, 2)}}, 3, "")
	p.say("b", 1)
	p.until(35 * second)
	assert.Equal(t, map[string]int{"a": 1, "b": 0, "c": 1}, p.table().Missed)
	p.until(60 * second)
	assert.Equal(t, map[string]int{"a": 2, "b": 0, "c": 2}, p.table().Missed)
	p.say("a", 1)
	p.say("c", 1)
	assert.Equal(t, match.Ended, p.m.Status())
}

// A deadline at which nobody was still awaited is stated, and nothing follows from it.
func TestRepeatOfWhoHasSubmitted(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1)}}, 2, "")
	p.extend("b", 10*second)
	p.say("a", 1)
	before := len(p.facts)
	p.until(35 * second)
	require.Len(t, p.facts, before+1)
	assert.JSONEq(t, `{"phase":1,"deadline":"2000-01-01T00:00:30Z","players":[]}`, string(p.facts[before].Public))
	assert.Equal(t, 60*second, p.deadline("a"))
	assert.Equal(t, map[string]int{"a": 0, "b": 0}, p.table().Missed)
}

// Clocks that start anew never run out, so at-deadline does not wait for them.
func TestRepeatAtDeadline(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Repeat, 0, 1)}}, 2, `"close":"at-deadline",`)
	p.say("a", 1)
	p.until(40 * second)
	p.waits(ids("b"), ids("a"))
	p.say("b", 1)
	assert.True(t, p.m.Over())
}

// Reserve: a move time, then a bank that lasts the match; a turn that takes t uses max(0, t - move) of it.
func TestReserve(t *testing.T) {
	phases := []match.Await{}
	for range 6 {
		phases = append(phases, turnOf(0, match.Reserve), turnOf(1, match.Reserve))
	}
	p := newPlay(t, plan{phases: phases, bank: 100 * second}, 2, "")
	at := time.Duration(0)
	bank := []time.Duration{100 * second, 100 * second}
	for i, took := range []time.Duration{
		0, 30 * second, 30*second + time.Millisecond, 29 * second, 45 * second, 31 * second, 100 * second, 40 * second,
	} {
		who := []string{"a", "b"}[i%2]
		require.Equal(t, at+30*second+bank[i%2], p.deadline(who))
		require.Equal(t, at+30*second, p.reserveFrom(who))
		at += took
		p.until(at)
		p.say(who, 1)
		bank[i%2] -= max(0, took-30*second)
		for seat := range bank {
			require.Equal(t, int(bank[seat]/time.Millisecond), p.table().Banks[seat])
		}
	}
	// a: 100 s less 0, 0.001, 15 and 70 s
	assert.Equal(t, at+30*second+bank[0], p.deadline("a"))
	p.until(at + 30*second + bank[0] - 1)
	assert.Equal(t, 9, p.phase().No)
	p.until(at + 30*second + bank[0])
	assert.Equal(t, 10, p.phase().No)
	assert.Empty(t, p.table().Said[8])
	assert.Zero(t, p.table().Banks[0], "gone")
	p.say("b", 1)
	assert.Equal(t, p.reserveFrom("a"), p.deadline("a"), "the move time alone is left")
}

// In a Reserve phase of several, each has his own bank.
func TestReserveOfSeveral(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Reserve, 0, 1), talkOf(match.Reserve, 0, 1)}, bank: 10 * second}, 2, "")
	p.until(34 * second)
	p.say("b", 1)
	p.until(40 * second) // a's is gone
	assert.Equal(t, []int{0, 6000}, p.table().Banks)
	assert.Equal(t, 70*second, p.deadline("a"))
	assert.Equal(t, 76*second, p.deadline("b"))
	p.until(72 * second)
	p.waits(ids("b"), ids())
	p.say("b", 2)
	assert.Equal(t, match.Ended, p.m.Status())
	assert.Equal(t, []int{0, 4000}, p.table().Banks)
}

// Who replaces his submission gets no time back and loses none: the bank is what his last one left.
func TestReserveAndAReplacement(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Reserve, 0, 1)}, bank: 10 * second}, 2, "")
	p.until(33 * second)
	p.say("a", 1)
	p.until(35 * second)
	p.say("a", 2)
	p.say("b", 1)
	assert.Equal(t, []int{5000, 5000}, p.table().Banks)
}

// A submission after the deadline of a bank, with a late timer, counts and leaves nothing of the bank.
func TestReserveAndALateTimer(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Reserve), turnOf(0, match.Reserve)}, bank: 10 * second}, 2, "")
	p.skip(45 * second)
	p.say("a", 1)
	assert.Equal(t, map[string]int{"a": 1}, p.table().Said[0])
	assert.Equal(t, 75*second, p.reserveFrom("a"))
	assert.Equal(t, 75*second, p.deadline("a"))
}

// A match that only waits for its referee has no deadline.
func TestNoDeadlineWhileTheRefereeIsAwaited(t *testing.T) {
	p := createPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), turnOf(0, match.Once)}}.game(2), setupText(2, ""))
	p.claim(0, 0, "")
	drafts, err := p.m.Claim(1, 0, nil, p.now)
	require.NoError(t, err)
	p.fold(drafts)
	_, ok := p.m.Deadline()
	assert.False(t, ok, "no phase is open yet")
	p.take(p.m.Resolve(p.now))
	for _, who := range ids("a", "b") {
		drafts, err = p.m.Submit(who, 0, false, parse(t, number(1)), p.now)
		require.NoError(t, err)
		p.fold(drafts)
	}
	_, ok = p.m.Deadline()
	assert.False(t, ok, "all are in")
	assert.Nil(t, p.m.Expire(epoch.Add(time.Hour)))
	p.take(p.m.Resolve(p.now))
	assert.Equal(t, 2, p.phase().No)
}

// None: it waits, and so it is for the host.
func TestNone(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.None), hostPhase(), talkOf(match.None, 0, 1)}}, 2, "")
	assert.Equal(t, none, p.deadline("a"))
	_, ok := p.m.Deadline()
	assert.False(t, ok)
	assert.Nil(t, p.m.Expire(epoch.Add(24*time.Hour)))
	p.until(24 * time.Hour)
	p.extendRefused(match.NotAwaited, "a", second)
	p.say("a", 1)
	assert.Equal(t, "judge", p.phase().Name)
	p.waits(ids("host"), ids())
	assert.Equal(t, []int{match.HostSeat}, p.m.Awaiting())
	assert.Equal(t, map[string]*match.ClockView{"a": nil, "b": nil}, p.phase().Clocks)
	p.refused(match.NotAwaited, "a", number(1))
	assert.Equal(t, event.Player, p.facts[len(p.facts)-3].By)
	p.say("host", 7)
	assert.Equal(t, event.Host, p.facts[len(p.facts)-3].By)
	assert.Equal(t, "submission-accepted.v1", p.facts[len(p.facts)-3].Type)
	assert.Equal(t, map[string]int{"host": 7}, p.table().Said[1])
	p.say("b", 1)
	p.waits(ids("a"), ids("b"))
	p.say("a", 1)
	assert.Equal(t, match.Ended, p.m.Status())
}

// A submission that stands in the log before the deadline's event counts; one that stands after it does not.
func TestTheLogDecidesWhatIsLate(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1)}}, 2, "")
	p.skip(40 * second)
	p.say("a", 1) // the timer is late
	drafts := p.m.Expire(p.now)
	require.Len(t, drafts, 1)
	assert.JSONEq(t, `{"phase":1,"deadline":"2000-01-01T00:00:30Z","players":["b"]}`, string(drafts[0].Public))
	p.fold(drafts)
	p.refused(match.NotAwaited, "b", number(1))
	p.take(p.m.Resolve(p.now))
	assert.Equal(t, []map[string]int{{"a": 1}}, p.table().Said)
}

// In a turn no deadline can fall between the submission and its resolution.
func TestATurnsClockStopsWithItsSubmission(t *testing.T) {
	for _, kind := range []match.ClockKind{match.Once, match.Repeat, match.Reserve} {
		p := newPlay(t, plan{phases: []match.Await{turnOf(0, kind)}, bank: second}, 2, "")
		drafts, err := p.m.Submit("a", 0, false, parse(t, number(1)), p.now)
		require.NoError(t, err)
		p.fold(drafts)
		p.skip(time.Hour)
		_, ok := p.m.Deadline()
		assert.False(t, ok)
		assert.Nil(t, p.m.Expire(p.now))
		p.take(p.m.Resolve(p.now))
		assert.Equal(t, []int{1000, 1000}, p.table().Banks)
		assert.Equal(t, match.Ended, p.m.Status())
	}
}

// An event is never earlier than the one before it, whatever the clocks of those who append say.
func TestTimeNeverGoesBack(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once), turnOf(1, match.Once)}}, 2, "")
	p.until(10 * second)
	p.say("a", 1)
	p.skip(5 * second)
	p.say("b", 1)
	for i := range p.facts[1:] {
		assert.False(t, p.facts[i+1].At.Before(p.facts[i].At))
	}
	assert.Equal(t, epoch.Add(10*second), p.m.At())
}

// options.clock sets both times; the move time is that of every phase with a clock.
func TestTimesOfTheMatch(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once), turnOf(1, match.Reserve)}, bank: time.Hour}, 2,
		`"clock":{"move":"1m30.5s","reserve":"0s"},`)
	assert.Equal(t, 90*second+500*time.Millisecond, p.deadline("a"))
	p.say("a", 1)
	assert.Equal(t, p.deadline("b"), p.reserveFrom("b"))
	p = newPlay(t, plan{phases: []match.Await{turnOf(1, match.Reserve)}, bank: time.Hour}, 2, "")
	assert.Equal(t, time.Hour+30*second, p.deadline("b"), "the game's own")
}
