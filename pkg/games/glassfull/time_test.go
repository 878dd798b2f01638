package glassfull_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"umpire/pkg/match"
)

// "Each player has 30 seconds to make a submission. If a player exceeds this time limit, they will receive a strike",
// and another after another 30 seconds, until he submits.
func TestAStrikeForEvery30Seconds(t *testing.T) {
	s := begun(t, "sensei") // at 1 s
	v := s.see(match.Public)
	assert.Equal(t, 31*time.Second, v.deadline("sensei"))
	assert.Zero(t, v.deadline("herbert"), "who does not move has no clock")
	s.until(31*time.Second - 1)
	v = s.see(match.Public)
	assert.Equal(t, both(0, 0), v.Table.Strikes)
	for n := 1; n <= 4; n++ {
		s.until(time.Duration(1+30*n) * time.Second)
		v = s.see(match.Public)
		assert.Equal(t, both(n, 0), v.Table.Strikes)
		assert.Equal(t, time.Duration(31+30*n)*time.Second, v.deadline("sensei"), "from the deadline on")
		assert.Equal(t, "sensei", *v.Table.Turn, "a strike does not use the turn up")
	}
	s.submit("sensei", cups(1)) // at 122 s
	v = s.see(match.Public)
	assert.Equal(t, both(4, 0), v.Table.Strikes)
	assert.Equal(t, 152*time.Second, v.deadline("herbert"), "the next clock is a whole one")
	s.wait(29 * time.Second)
	assert.Equal(t, both(4, 0), s.see(match.Public).Table.Strikes)
}

// The clock starts anew from the deadline, not from when it was noticed: one late step brings both strikes.
func TestStrikesAreCountedFromTheDeadline(t *testing.T) {
	s := begun(t, "sensei").wait(75 * time.Second) // at 76 s; deadlines at 31 and 61 s
	v := s.see(match.Public)
	assert.Equal(t, both(2, 0), v.Table.Strikes)
	assert.Equal(t, 91*time.Second, v.deadline("sensei"))
}

// Ruling, to "If a player exceeds this time limit": a submission at the very instant of its deadline is late.
func TestAtTheInstantIsLate(t *testing.T) {
	s := begun(t, "sensei").until(30*time.Second).submit("sensei", cups(1)) // at 31 s, the deadline
	assert.Equal(t, both(1, 0), s.see(match.Public).Table.Strikes)
	s = begun(t, "sensei").until(30*time.Second-1).submit("sensei", cups(1)) // a nanosecond before it
	assert.Equal(t, both(0, 0), s.see(match.Public).Table.Strikes)
}

// Ruling, to "to stop any game stalling": the 30 seconds and their strikes hold for pick-starter too.
func TestPickStarterHasStrikesToo(t *testing.T) {
	s := newScript(t)
	v := s.see(match.Public)
	assert.Equal(t, 30*time.Second, v.deadline("herbert"))
	s.until(60 * time.Second)
	v = s.see(match.Public)
	assert.Equal(t, both(0, 2), v.Table.Strikes)
	assert.Equal(t, "pick-starter", v.Phase.Name)
	s.until(150 * time.Second)
	v = s.see(match.Public)
	assert.Equal(t, "ended", v.Status)
	assert.Equal(t, "strikes", v.Result.By)
	assert.Nil(t, v.Table.Starter)
	assert.Equal(t, []string{"0-5"}, v.Table.Marks)
}

// A player whose fifth strike falls while more deadlines have passed has five and no more.
func TestTheFifthStrikeIsTheLast(t *testing.T) {
	v := begun(t, "sensei").wait(time.Hour).see(match.Public)
	assert.Equal(t, both(5, 0), v.Table.Strikes)
	assert.Equal(t, "ended", v.Status)
}
