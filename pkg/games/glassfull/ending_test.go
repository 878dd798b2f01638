package glassfull_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "A player tries to add an amount of water which causes the tank to overflow (have >20 cups of water), in which case
// this player loses the bout." Ruling: nothing goes in, though the add stands among its player's moves.
func TestOverflow(t *testing.T) {
	for _, c := range []struct{ level, add int }{{20, 1}, {20, 3}, {19, 2}, {18, 3}} {
		s := begun(t, "sensei").adds("sensei", 2, 2, 2, 2, 2, 2, 2, 2, 2)
		s.submit("herbert", cups(max(c.level-18, 1)))
		if c.level == 18 { // Herbert took the level to 19: a sponge takes it back
			s.submit("sensei", spongeIt)
		}
		who := *s.see(match.Public).Table.Turn
		require.Equal(t, c.level, s.level())
		s.submit(who, cups(c.add))
		v := s.see(match.HostID)
		assert.Equal(t, []ended{{1, opponent(who), "overflow"}}, v.Table.Bouts)
		assert.Equal(t, 1, v.Table.Wins[opponent(who)])
		assert.Zero(t, v.Table.Wins[who])
		moves := v.Table.Host.Moves[who]
		assert.Equal(t, did(1, "add", c.add), moves[len(moves)-1], "what overflowed stands in bout 1")
		assert.Equal(t, both(0, 0), v.Table.Strikes)
		assert.Equal(t, []string{who}, v.Phase.Awaiting, "who lost picks")
	}
	s := begun(t, "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 2) // to the brim is no overflow
	assert.Equal(t, 20, s.level())
	assert.Empty(t, s.see(match.Public).Table.Bouts)
}

// TestOverflowAtTheEnd: in the last bout the table stays as it last was: level, sponges and cups added too.
func TestOverflowAtTheEnd(t *testing.T) {
	s := begun(t, "sensei").loses("sensei").pick("sensei", "sensei")
	s.adds("sensei", 3, 3, 3, 3, 3, 3).submit("sensei", cups(3))
	v := s.see(match.HostID)
	assert.Equal(t, "ended", v.Status)
	assert.Equal(t, 18, *v.Table.Host.Level)
	assert.Equal(t, both(9, 9), v.Table.Host.Added)
	assert.Equal(t, both(1, 1), v.Table.Host.Sponges)
	assert.Equal(t, both(1, 1), v.Table.Sponges)
	assert.Equal(t, []string{"0-5", "6-10", "11-15", "16-20"}, v.Table.Marks)
	assert.Equal(t, 2, v.Table.Bout)
	assert.Equal(t, "sensei", *v.Table.Starter)
	assert.Nil(t, v.Table.Turn, "nobody's turn")
	moves := v.Table.Host.Moves["sensei"]
	assert.Equal(t, did(2, "add", 3), moves[len(moves)-1])
}

// "A player calls to 'Challenge' ..., in which case, if the tank is at exactly its maximum capacity (20 cups of water),
// this player will win the bout."
func TestChallengeAt20(t *testing.T) {
	s := begun(t, "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 2).submit("herbert", challenge)
	v := s.see(match.HostID)
	assert.Equal(t, []ended{{1, "herbert", "challenge"}}, v.Table.Bouts)
	assert.Equal(t, both(0, 1), v.Table.Wins)
	assert.Equal(t, both(0, 0), v.Table.Strikes)
	assert.Equal(t, both(0, 0), v.Table.Calls)
	assert.Equal(t, []string{"sensei"}, v.Phase.Awaiting)
	moves := v.Table.Host.Moves["herbert"]
	assert.Equal(t, did(1, "challenge", 0), moves[len(moves)-1])
}

// "If a player calls to 'Challenge' when the tank is not full, they will gain a strike." Ruling, to "instead of taking
// an action": a failed challenge uses up the turn. The call is public.
func TestAFailedChallengeUsesUpTheTurn(t *testing.T) {
	for _, s := range []*script{
		begun(t, "sensei"), // of an empty tank
		begun(t, "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 1).submit("herbert", spongeIt), // 18 cups
		begun(t, "sensei").adds("sensei", 3, 3, 3, 3, 3, 2, 1, 1).submit("sensei", spongeIt).submit("herbert", cups(1)),
	} {
		level := s.level()
		who := *s.see(match.Public).Table.Turn
		if level == 19 || level == 18 || level == 0 {
			s.submit(who, challenge)
		} else {
			t.Fatalf("the script has led to %d cups", level)
		}
		v := s.see(match.HostID)
		assert.Equal(t, 1, v.Table.Strikes[who])
		assert.Equal(t, 1, v.Table.Calls[who])
		assert.Zero(t, v.Table.Strikes[opponent(who)])
		assert.Zero(t, v.Table.Calls[opponent(who)])
		assert.Equal(t, opponent(who), *v.Table.Turn)
		assert.Empty(t, v.Table.Bouts)
		assert.Equal(t, level, s.level())
		assert.Equal(t, did(1, "challenge", 0), v.Table.Host.Moves[who][len(v.Table.Host.Moves[who])-1])
	}
}

// Ruling, to "3 bouts": the match ends when a player has won two; the third is played only at 1-1.
func TestTwoBoutsEndTheMatch(t *testing.T) {
	s := begun(t, "sensei").loses("sensei").pick("sensei", "sensei").loses("sensei")
	v := s.see(match.Public)
	assert.Equal(t, "ended", v.Status)
	assert.Nil(t, v.Phase)
	require.NotNil(t, v.Result)
	assert.Equal(t, "herbert", v.Result.Winner)
	assert.Equal(t, "sensei", v.Result.Loser)
	assert.Equal(t, "bouts", v.Result.By)
	assert.Equal(t, both(0, 2), v.Result.Score)
	assert.Equal(t, []ended{{1, "herbert", "overflow"}, {2, "herbert", "overflow"}}, v.Table.Bouts)
	s.refused(match.MatchOver, "sensei", cups(1))

	s = begun(t, "herbert").loses("herbert").pick("herbert", "sensei").loses("sensei")
	assert.Equal(t, "running", s.see(match.Public).Status, "at 1-1 there is a third bout")
	s.pick("sensei", "herbert").loses("herbert")
	v = s.see(match.Public)
	require.NotNil(t, v.Result)
	assert.Equal(t, "sensei", v.Result.Winner)
	assert.Equal(t, both(2, 1), v.Result.Score)
	assert.Equal(t, 3, v.Table.Bout)
}

// Ruling, to "without knowing the exact volume": amounts, sponge use and the level stay hidden until the match ends;
// the end of a bout shows only who won it and how.
func TestTheEndOfABoutShowsWhoAndHow(t *testing.T) {
	ways := []*script{
		begun(t, "sensei").adds("sensei", 3, 3, 3, 3, 3, 3).submit("sensei", cups(3)),
		begun(t, "sensei").adds("sensei", 2, 3, 3, 3, 3, 3, 2).submit("herbert", cups(2)),
		begun(t, "sensei").adds("sensei", 2, 3, 3, 3, 3, 3).submit("sensei", spongeIt).submit("herbert", cups(2)).submit("sensei", cups(3)),
	}
	one, two := ways[0].see(match.Public), ways[2].see(match.Public)
	one.Phase, two.Phase = nil, nil // the clocks of a longer match
	assert.Equal(t, one, two)
	for _, s := range ways {
		v := s.see(match.Public)
		loser := v.Phase.Awaiting[0]
		assert.Equal(t, []ended{{1, opponent(loser), "overflow"}}, v.Table.Bouts)
		assert.Nil(t, v.Table.Host)
		for _, move := range s.see(opponent(loser)).Table.You.Moves {
			assert.NotEqual(t, did(1, "add", 4), move)
		}
	}
}

// Ruling, to "If a player receives five strikes, they lose the Death Match": at once, from either cause; strikes carry
// over between bouts.
func TestFiveStrikesFromEitherCause(t *testing.T) {
	s := begun(t, "sensei") // Sensei: two strikes by challenges, then bout 2, two by time, one by a challenge
	s.submit("sensei", challenge).submit("herbert", cups(2)).submit("sensei", challenge)
	s.adds("herbert", 2, 2, 2, 2, 2, 2, 2, 2, 2).submit("sensei", cups(3))
	v := s.see(match.Public)
	assert.Equal(t, both(2, 0), v.Table.Strikes)
	assert.Equal(t, 2, v.Table.Bout)
	s.pick("sensei", "sensei").wait(65 * time.Second)
	v = s.see(match.Public)
	assert.Equal(t, both(4, 0), v.Table.Strikes)
	assert.Equal(t, "running", v.Status)
	assert.Nil(t, v.Result)
	s.submit("sensei", challenge)
	v = s.see(match.Public)
	assert.Equal(t, both(5, 0), v.Table.Strikes)
	require.NotNil(t, v.Result)
	assert.Equal(t, "herbert", v.Result.Winner)
	assert.Equal(t, "sensei", v.Result.Loser)
	assert.Equal(t, "strikes", v.Result.By)
	assert.Equal(t, both(0, 1), v.Result.Score)
	assert.Nil(t, v.Table.Turn)
	assert.Equal(t, both(1, 0), v.Table.Calls, "of bout 2")

	s = begun(t, "herbert").wait(5 * 31 * time.Second) // by time alone
	v = s.see(match.Public)
	require.NotNil(t, v.Result)
	assert.Equal(t, "sensei", v.Result.Winner)
	assert.Equal(t, both(0, 5), v.Table.Strikes)
	assert.Equal(t, both(0, 0), v.Result.Score)
}

// Five strikes lose even who has won a bout, and the score says so.
func TestFiveStrikesLoseAgainstTheScore(t *testing.T) {
	s := begun(t, "sensei").loses("sensei").pick("sensei", "herbert").wait(200 * time.Second)
	v := s.see(match.Public)
	require.NotNil(t, v.Result)
	assert.Equal(t, "strikes", v.Result.By)
	assert.Equal(t, "herbert", v.Result.Loser)
	assert.Equal(t, both(0, 1), v.Result.Score)
}

// "What opens at the end: moves and level", unless the match was created to open never; the seed opens always.
func TestWhatOpensAtTheEnd(t *testing.T) {
	for open, want := range map[string][]string{
		"at-end": {
			`{"seed"`, `{"cups":3,"type":"add"}`, `{"level":3}`, `{"cups":null,"type":"sponge"}`, `{"level":19}`,
			`{"cups":1,"type":"add"}`, `{"cups":null,"type":"challenge"}`,
		},
		"never": {`{"seed"`},
	} {
		s := newScript(t)
		s.lines[0] = strings.Replace(s.lines[0], "at-end", open, 1)
		s.pick("herbert", "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 1).submit("herbert", spongeIt)
		s.submit("sensei", cups(2)).submit("herbert", cups(1)) // 20 cups, one too many
		s.pick("herbert", "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 2).submit("herbert", challenge)
		s.pick("sensei", "sensei").adds("sensei", 3, 3, 3, 3, 3, 3, 2)
		for _, events := range s.output(s.lines, match.Public) {
			assert.NotContains(t, events, `"opens":[{`, "while the match runs")
		}
		s.submit("herbert", challenge)
		events := s.output(s.lines, match.Public)
		var last struct {
			Opens []struct{ Data json.RawMessage }
		}
		require.NoError(t, json.Unmarshal([]byte(events[len(events)-1]), &last))
		opened := map[string]bool{}
		for _, o := range last.Opens {
			opened[string(o.Data)] = true
		}
		for _, data := range want {
			found := false
			for o := range opened {
				found = found || strings.HasPrefix(o, data)
			}
			assert.True(t, found, "%s does not open with %q", data, open)
		}
		if open == "never" {
			assert.Len(t, last.Opens, 1)
		}
	}
}
