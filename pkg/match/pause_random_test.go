package match_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/match"
)

// act is something that happens in a match, after some time.
type act struct {
	after  time.Duration
	kind   string // "say", "extend", "wait" or "pause"
	who    string
	n      int
	length time.Duration // of a pause
	within bool          // an extension falls into the pause
}

func anyAct(t *rapid.T) act {
	return act{
		after:  time.Duration(rapid.SampledFrom([]int{0, 1, 999, 1000, 10_000, 29_999, 30_000, 45_000}).Draw(t, "after")) * time.Millisecond,
		kind:   rapid.SampledFrom([]string{"say", "say", "say", "extend", "wait", "pause", "pause"}).Draw(t, "kind"),
		who:    rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "who"),
		n:      rapid.IntRange(0, 9).Draw(t, "n"),
		length: time.Duration(rapid.IntRange(1, 100_000).Draw(t, "length")) * time.Millisecond,
		within: rapid.Bool().Draw(t, "within"),
	}
}

func anyPhases(t *rapid.T) []match.Await {
	kinds := rapid.SampledFrom([]match.ClockKind{match.Once, match.Once, match.Repeat, match.Reserve, match.Reserve, match.None})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) match.Await {
		kind := kinds.Draw(t, "clock")
		if rapid.Bool().Draw(t, "turn") {
			return turnOf(rapid.IntRange(0, 2).Draw(t, "seat"), kind)
		}
		return talkOf(kind, rapid.SampledFrom([][]int{{0, 1}, {0, 2}, {0, 1, 2}}).Draw(t, "seats")...)
	}), 1, 8).Draw(t, "phases")
}

// TestPausedTimeIsNoTime plays the same acts with their pauses and without: at every moment of played time the two
// matches stand alike, whatever the clocks.
func TestPausedTimeIsNoTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		phases := anyPhases(rt)
		options := rapid.SampledFrom([]string{"", `"close":"at-deadline",`}).Draw(rt, "close")
		acts := rapid.SliceOfN(rapid.Custom(anyAct), 1, 30).Draw(rt, "acts")
		game := plan{phases: phases, bank: 20 * time.Second}
		one, two := newPlay(t, game, 3, options), newPlay(t, game, 3, options)
		played, paused := time.Duration(0), time.Duration(0)
		for i, a := range acts {
			played += a.after
			one.until(played)
			two.until(played + paused)
			if one.act(a, false) {
				require.True(t, two.act(a, true))
				paused += two.now.Sub(epoch) - played - paused
			} else {
				require.False(t, two.act(a, true))
			}
			require.Equal(t, one.stands(0), two.stands(paused), "after act %d", i)
		}
	})
}

// act does something and reports whether it was accepted. Without pauses, one is nothing.
func (p *play) act(a act, pauses bool) bool {
	p.t.Helper()
	switch a.kind {
	case "say":
		drafts, err := p.m.Submit(a.who, 0, false, parse(p.t, number(a.n)), p.now)
		p.take(drafts)
		return err == nil
	case "extend":
		return p.tryExtend(a)
	case "pause":
		if p.m.Over() {
			return false
		}
		if !pauses {
			if a.within {
				p.tryExtend(a)
			}
			return true
		}
		p.pause()
		p.until(p.now.Sub(epoch) + a.length/2)
		if a.within {
			p.tryExtend(a)
		}
		p.until(p.now.Sub(epoch) + a.length/2)
		p.resume()
	}
	return true
}

func (p *play) tryExtend(a act) bool {
	p.t.Helper()
	drafts, err := p.m.Extend("host", a.who, time.Duration(a.n+1)*time.Second, "", p.now)
	p.take(drafts)
	refusal := new(match.Refusal)
	require.True(p.t, err == nil || errors.As(err, &refusal))
	return err == nil
}

// stands tells where a match stands, with times as they would be without the time that it was paused.
func (p *play) stands(paused time.Duration) string {
	p.t.Helper()
	v := p.m.View(match.Public)
	table, err := json.Marshal(v.Table)
	require.NoError(p.t, err)
	out := fmt.Sprintf("%s %s", v.Status, table)
	if v.Phase == nil {
		return out
	}
	out += fmt.Sprintf(" %d %q %q", v.Phase.No, v.Phase.Awaiting, v.Phase.Submitted)
	if due, ok := p.m.Deadline(); ok {
		out += fmt.Sprintf(" due %s", due.Sub(epoch)-paused)
	}
	for _, who := range v.Phase.Awaiting {
		if clock := v.Phase.Clocks[who]; clock != nil {
			out += fmt.Sprintf(" %s %s", who, clock.Deadline.Sub(epoch)-paused)
		}
	}
	return out
}
