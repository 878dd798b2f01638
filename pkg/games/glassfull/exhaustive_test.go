package glassfull_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// water is a state of a bout in which nobody has called: by player, 0 and 1.
type water struct {
	level        int
	added, spent [2]int
	turn         int
}

// after is the state that an action leads to, by the sheet; how is how the bout ends with it, or "no" where it can't be
// done. It is a dumb twin of the rules.
func (w water) after(action int) (next water, how string) {
	me := w.turn
	next = w
	next.turn = 1 - me
	switch {
	case action == spend && w.added[me]/7 == w.spent[me]:
		return w, "no"
	case action == spend:
		next.spent[me]++
		next.level--
	case w.level+action > 20:
		return w, "overflow"
	default:
		next.added[me] += action
		next.level += action
	}
	return next, ""
}

const spend = 0 // an action; others are cups

// TestEveryStateOfABout walks through all states that a bout can come to by adding and sponging, whoever does what, and
// compares what the rules make of each action in each of them with the dumb twin. In each, calling is tried too.
func TestEveryStateOfABout(t *testing.T) {
	ids := []string{"a", "b"}
	actions := map[int]event.Value{spend: parsed(t, spongeIt)}
	for n := 1; n <= 3; n++ {
		actions[n] = parsed(t, cups(n))
	}
	m := newMatch(t)
	first := water{}
	reached := map[water]*match.Match{first: submits(t, m, "a", parsed(t, `{"type": "pick-starter", "player": "a"}`))}
	queue := []water{first}
	overflows, full := 0, 0
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		m := reached[w]
		if w.level == 20 {
			full++
		}
		calls(t, w, m)
		for action, submission := range actions {
			next, how := w.after(action)
			if how == "no" {
				_, err := m.Submit(ids[w.turn], 0, false, submission, m.At())
				require.Error(t, err)
				continue
			}
			if _, done := reached[next]; done && how == "" {
				continue
			}
			after := submits(t, m, ids[w.turn], submission)
			if how == "overflow" {
				overflows++
				assert.Equal(t, []ended{{1, ids[1-w.turn], how}}, tableOf(t, after, match.Public).Table.Bouts)
				continue
			}
			require.Equal(t, next, waterOf(t, after))
			reached[next] = after
			queue = append(queue, next)
		}
	}
	assert.Len(t, reached, 551, "states")
	assert.Equal(t, 82, full, "of them full to the brim")
	assert.Equal(t, 469, overflows)
}

// calls tries to call.
func calls(t *testing.T, w water, m *match.Match) {
	t.Helper()
	ids := []string{"a", "b"}
	after := tableOf(t, submits(t, m, ids[w.turn], parsed(t, challenge)), match.Public)
	if w.level == 20 {
		require.Equal(t, []ended{{1, ids[w.turn], "challenge"}}, after.Table.Bouts)
		return
	}
	require.Empty(t, after.Table.Bouts)
	require.Equal(t, 1, after.Table.Strikes[ids[w.turn]])
}

// waterOf reads the state from the views: the host's for the water, the players' for what is theirs.
func waterOf(t *testing.T, m *match.Match) water {
	t.Helper()
	host := tableOf(t, m, match.HostID).Table
	w := water{level: *host.Host.Level}
	for seat, id := range []string{"a", "b"} {
		own := tableOf(t, m, id).Table.You
		w.added[seat] = own.Added
		w.spent[seat] = own.Added/7 - own.Sponges
		require.Equal(t, own.Added/7, host.Sponges[id])
		if *host.Turn == id {
			w.turn = seat
		}
	}
	return w
}
