package glassfull_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "The DMO (Heater) picks who starts Bout 1."
func TestTheDMOPicksWhoStartsBout1(t *testing.T) {
	for _, starter := range []string{"sensei", "herbert"} {
		s := newScript(t)
		v := s.see(match.Public)
		assert.Equal(t, "pick-starter", v.Phase.Name)
		assert.Equal(t, []string{"herbert"}, v.Phase.Awaiting)
		assert.Nil(t, v.Table.Starter)
		assert.Nil(t, v.Table.Turn)
		assert.Equal(t, 1, v.Table.Bout)
		assert.Equal(t, []any{"sensei", "herbert"}, s.see("herbert").Table.You.Hints["pick"])
		assert.Nil(t, s.see("sensei").Table.You.Hints)
		s.refused(match.NotAwaited, "sensei", fmt.Sprintf(`{"type": "pick-starter", "player": %q}`, starter))
		s.pick("herbert", starter)
		v = s.see(match.Public)
		assert.Equal(t, "turn", v.Phase.Name)
		assert.Equal(t, []string{starter}, v.Phase.Awaiting)
		assert.Equal(t, starter, *v.Table.Starter)
		assert.Equal(t, starter, *v.Table.Turn)
		s.refused(match.NotAwaited, opponent(starter), cups(1))
	}
}

// "The player who most recently lost a bout will pick the starting player in Bouts 2 & 3."
func TestTheLoserPicksTheNextStarter(t *testing.T) {
	s := begun(t, "sensei").loses("sensei")
	v := s.see(match.Public)
	assert.Equal(t, "pick-starter", v.Phase.Name)
	assert.Equal(t, []string{"sensei"}, v.Phase.Awaiting, "the loser of bout 1 picks, though he is not the DMO")
	assert.Equal(t, 2, v.Table.Bout)
	assert.Nil(t, v.Table.Starter)
	assert.Nil(t, v.Table.Turn)
	assert.Equal(t, []string{"0-5"}, v.Table.Marks)
	assert.Zero(t, s.level())
	s.pick("sensei", "herbert").loses("herbert")
	v = s.see(match.Public)
	assert.Equal(t, []string{"herbert"}, v.Phase.Awaiting)
	assert.Equal(t, 3, v.Table.Bout)
	assert.Equal(t, both(1, 1), v.Table.Wins)
}

// "On their turn, each player will privately submit to add 1-3 cups of water into the tank."
func TestAdd(t *testing.T) {
	for n := 1; n <= 3; n++ {
		s := begun(t, "sensei").submit("sensei", cups(n))
		assert.Equal(t, n, s.level())
		host := s.see(match.HostID)
		assert.Equal(t, both(n, 0), host.Table.Host.Added)
		assert.Equal(t, map[string][]made{"sensei": {did(1, "add", n)}, "herbert": {}}, host.Table.Host.Moves)
		assert.Equal(t, "herbert", *host.Table.Turn)
		own := s.see("sensei").Table.You
		assert.Equal(t, n, own.Added)
		assert.Equal(t, []made{did(1, "add", n)}, own.Moves)
		other := s.see("herbert").Table.You
		assert.Zero(t, other.Added)
		assert.Empty(t, other.Moves)
		assert.Equal(t, []any{1.0, 2.0, 3.0}, other.Hints["add"])
		assert.Equal(t, false, other.Hints["sponge"])
		assert.Equal(t, true, other.Hints["challenge"])
		assert.Nil(t, s.see(match.Public).Table.You)
		assert.Nil(t, s.see(match.Public).Table.Host)
	}
}

// What could never be right is malformed in either phase; a good submission of the other phase is illegal.
func TestMalformed(t *testing.T) {
	for _, what := range []string{
		`{"type": "add", "cups": 0}`, `{"type": "add", "cups": 4}`, `{"type": "add", "cups": -1}`,
		`{"type": "add", "cups": 2.0}`, `{"type": "add", "cups": 2e0}`, `{"type": "add", "cups": "2"}`,
		`{"type": "add", "cups": 1000000000000000000000000000001}`, `{"type": "add", "cups": null}`,
		`{"type": "add"}`, `{"type": "add", "Cups": 2}`, `{"type": "add", "cups": 2, "phase": 1}`, `{"cups": 2}`,
		`{"type": "add", "cups": 2, "cups": 2}`, `{"type": "Add", "cups": 2}`, `{"type": "sponge", "cups": 1}`,
		`{"type": "challenge", "cups": null}`, `{"type": "pick-starter"}`, `{"type": "pick-starter", "player": "host"}`,
		`{"type": "pick-starter", "player": "Sensei"}`, `{"type": "pick-starter", "player": 1}`,
		`{"type": "pick-starter", "player": "sensei", "cups": 1}`, `{"type": "pass"}`, `{"type": null}`, `{}`, `[]`,
		`"add"`, `null`, `{"type": "add\ud800", "cups": 2}`,
	} {
		newScript(t).refused(match.MalformedMove, "herbert", what)
		begun(t, "sensei").refused(match.MalformedMove, "sensei", what)
	}
	for _, what := range []string{cups(1), cups(3), spongeIt, challenge} {
		newScript(t).refused(match.IllegalMove, "herbert", what)
	}
	begun(t, "sensei").refused(match.IllegalMove, "sensei", `{"type": "pick-starter", "player": "sensei"}`)
}

// "When 11 cups of water have been poured in the jug, the '11-15' marking will be shown, along with the lower valued
// markings": each mark, at each level.
func TestMarks(t *testing.T) {
	all := []string{"0-5", "6-10", "11-15", "16-20"}
	s := begun(t, "sensei")
	who := "sensei"
	for level := range 21 {
		shown := 4
		switch {
		case level <= 5:
			shown = 1
		case level <= 10:
			shown = 2
		case level <= 15:
			shown = 3
		}
		require.Equal(t, level, s.level())
		for _, audience := range []string{match.Public, "sensei", "herbert", match.HostID} {
			assert.Equal(t, all[:shown], s.see(audience).Table.Marks, "at %d cups", level)
		}
		if level < 20 {
			s.adds(who, 1)
			who = opponent(who)
		}
	}
}

// Ruling, to "specific markings on the tank can be read": the marks are read from the water as it stands, so they go
// down when it does.
func TestMarksGoDownWithTheWater(t *testing.T) {
	for _, c := range []struct {
		upTo          []int // 11 and 16 cups, Sensei having added 7 at least; a level of 5 is not to be had back
		before, after []string
	}{
		{[]int{3, 1, 3, 2, 1, 1}, []string{"0-5", "6-10", "11-15"}, []string{"0-5", "6-10"}},
		{[]int{3, 3, 3, 3, 3, 1}, []string{"0-5", "6-10", "11-15", "16-20"}, []string{"0-5", "6-10", "11-15"}},
	} {
		s := begun(t, "sensei").adds("sensei", c.upTo...)
		assert.Equal(t, c.before, s.see(match.Public).Table.Marks)
		s.submit("sensei", spongeIt)
		for _, audience := range []string{match.Public, "sensei", "herbert", match.HostID} {
			assert.Equal(t, c.after, s.see(audience).Table.Marks)
		}
	}
}

// "For every 7 cups of water they add within a bout, the player will publicly receive one sponge."
func TestASpongeForEvery7Cups(t *testing.T) {
	s := begun(t, "sensei")
	for _, step := range []struct{ cups, added, received int }{
		{3, 3, 0}, {3, 6, 0}, {1, 7, 1}, {3, 10, 1}, {3, 13, 1}, {1, 14, 2}, {1, 15, 2},
	} {
		s.submit("sensei", cups(step.cups))
		for _, audience := range []string{match.Public, "sensei", "herbert", match.HostID} {
			assert.Equal(t, both(step.received, 0), s.see(audience).Table.Sponges, "after %d cups", step.added)
		}
		own := s.see("sensei").Table.You
		assert.Equal(t, step.added, own.Added)
		assert.Equal(t, step.received, own.Sponges)
		switch { // Herbert calls in vain, which adds nothing, as long as he may
		case step.added <= 10:
			s.submit("herbert", challenge)
		case step.added < 15:
			s.submit("herbert", cups(1))
		}
	}
	assert.Equal(t, both(15, 2), s.see(match.HostID).Table.Host.Added)
	assert.Equal(t, 17, s.level())
}

// "instead of adding water, the player may privately spend one sponge to remove one cup", and "the sponge stays on the
// graphic regardless of if you use the sponge or not".
func TestSponge(t *testing.T) {
	s := begun(t, "sensei")
	s.refused(match.IllegalMove, "sensei", spongeIt)
	s.adds("sensei", 3, 1, 3, 1, 1, 1) // 10 cups, Sensei 7
	before := s.see(match.Public)
	hints := s.see("sensei").Table.You.Hints
	assert.Equal(t, true, hints["sponge"])
	s.submit("sensei", spongeIt)
	assert.Equal(t, 9, s.level())
	own := s.see("sensei").Table.You
	assert.Zero(t, own.Sponges)
	assert.Equal(t, 7, own.Added, "what was added stays added")
	assert.Equal(t, did(1, "sponge", 0), own.Moves[3])
	assert.Equal(t, both(0, 0), s.see(match.HostID).Table.Host.Sponges)
	after := s.see(match.Public)
	assert.Equal(t, both(1, 0), after.Table.Sponges, "the sponge stays on the graphic")
	assert.Equal(t, before.Table.Marks, after.Table.Marks)
	assert.Equal(t, "herbert", *after.Table.Turn, "a sponge uses the turn up")
	s.refused(match.IllegalMove, "herbert", spongeIt)
	s.submit("herbert", cups(1))
	assert.Equal(t, false, s.see("sensei").Table.You.Hints["sponge"])
	s.refused(match.IllegalMove, "sensei", spongeIt)
}

// "Sponges do not carry over to future bouts", nor does what was added.
func TestSpongesDoNotCarryOver(t *testing.T) {
	s := begun(t, "sensei").submit("sensei", challenge)
	s.adds("herbert", 3, 3, 3, 3, 3, 3, 1) // 19 cups, Herbert 10, Sensei 9
	assert.Equal(t, both(1, 1), s.see(match.Public).Table.Sponges)
	assert.Equal(t, both(1, 0), s.see(match.Public).Table.Calls)
	s.submit("sensei", cups(3))
	v := s.see(match.HostID)
	assert.Equal(t, both(0, 0), v.Table.Sponges)
	assert.Equal(t, both(0, 0), v.Table.Calls)
	assert.Equal(t, both(0, 0), v.Table.Host.Sponges)
	assert.Equal(t, both(0, 0), v.Table.Host.Added)
	assert.Equal(t, both(1, 0), v.Table.Strikes, "strikes do")
	s.pick("sensei", "sensei").refused(match.IllegalMove, "sensei", spongeIt)
	s.adds("sensei", 3, 1, 3)
	assert.Equal(t, both(0, 0), s.see(match.Public).Table.Sponges, "6 cups of this bout")
	s.adds("herbert", 1, 1)
	assert.Equal(t, both(1, 0), s.see(match.Public).Table.Sponges, "7 cups of this bout")
	assert.Equal(t, []made{{1, "challenge", nil}}, s.see("sensei").Table.You.Moves[:1], "moves are of the match")
}
