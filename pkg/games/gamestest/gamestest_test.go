package gamestest

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// game is the auction as its test would state it.
func game(f faults) Game {
	return Game{
		Rules: auction{f}.rules(),
		Setup: func(pick Pick) map[string]any {
			players := Players(3, pick)
			purses := map[string]any{}
			for i := range players {
				purses[ID(players, i)] = pick(12)
			}
			return map[string]any{"game": "dark-auction", "players": players, "purses": purses}
		},
		Reshuffle: func(setup map[string]any, pick Pick) map[string]any {
			purses := Object(setup, "purses")
			for _, who := range sortedKeys(purses) {
				purses[who] = pick(12)
			}
			return setup
		},
		Knows:  knows,
		Hidden: []string{"bid"},
	}
}

// knows is what an audience may know of an auction: who won each round, what was given and judged; a player his own
// bids and coins; all but the seed, who sees all.
func knows(h *History, audience string) any {
	var learned []string
	coins := map[string]int{}
	for who := range Object(h.Setup, "purses") {
		coins[who] = Whole(Object(h.Setup, "purses"), who)
	}
	own := func() {
		for _, who := range h.Players() {
			if who == audience || audience == match.HostID && h.HostSeesAll() {
				learned = append(learned, fmt.Sprintf("%s has %d", who, coins[who]))
			}
		}
	}
	own()
	round, phase, winner := 1, "bid", ""
	bids := map[string]int{}
	var old []string
	for i := range h.Steps {
		step := &h.Steps[i]
		if step.Kind == Submit && phase == "bid" {
			bids[step.Who] = step.Whole("coins")
			if step.Who == audience || audience == match.HostID && h.HostSeesAll() {
				learned = append(learned, fmt.Sprintf("%s bids %v", step.Who, step.Submission))
			}
		}
		if !step.Resolved {
			continue
		}
		switch phase {
		case "bid":
			old = append(old, fmt.Sprint(bids))
			winner = settled(h, round, bids, coins)
			learned = append(learned, "won by "+winner)
			bids, phase = map[string]int{}, "give"
		case "give":
			if to := step.Text("player"); step.Kind == Submit {
				coins[to]++
				learned = append(learned, "given to "+to)
			}
			phase = "judge"
			if round%2 == 1 {
				phase, round = "bid", round+1
			}
		default:
			learned = append(learned, fmt.Sprint(step.Texts("right")))
			phase, round = "bid", round+1
		}
		own()
	}
	if round == 5 && h.OpensAtEnd() {
		learned = append(learned, old...)
	}
	return learned
}

func settled(h *History, round int, bids, coins map[string]int) string {
	best := -1
	var tied []string
	for _, who := range h.Players() {
		bid, made := bids[who]
		if !made {
			bid = h.Draw(fmt.Sprintf("bid/%d/%s", round, who), 2)
		}
		bid = min(bid, coins[who])
		switch {
		case bid > best:
			best, tied = bid, []string{who}
		case bid == best:
			tied = append(tied, who)
		}
	}
	winner := tied[0]
	if len(tied) > 1 {
		winner = tied[h.Draw(fmt.Sprintf("tie/%d", round), len(tied))]
	}
	coins[winner] -= best
	return winner
}

func TestASoundGamePasses(t *testing.T) {
	s := &suite{Game: game(faults{}), seeds: seeds(t)}
	s.seeds = s.seeds[:min(len(s.seeds), 150)]
	s.run(t)
}

func TestAMatchWithoutEndIsFound(t *testing.T) {
	g := game(faults{endless: true})
	_, err := g.play(1, playing{direct: true, bare: true})
	assert.ErrorContains(t, err, "does not end")
}

// found plays matches of a faulty game until a part of the suite finds the fault, but no more than so many.
func found(t *testing.T, f faults, most uint64) error {
	t.Helper()
	g := game(f)
	s := &suite{Game: g, seeds: []uint64{1}}
	for seed := range most {
		c := &checks{shown: map[*match.Match]map[string][]byte{}, fold: &fold{}}
		err := c.match(&g, seed)
		if err != nil {
			return err
		}
		p := &prober{
			suite: s, pick: chance(seed, forChecks), tried: map[match.Code]int{}, pool: map[string][]map[string]any{},
		}
		if _, err := g.play(seed, playing{each: p.probe}); err != nil {
			return err
		}
		if err := s.twins(&window{}, seed, counts{}); err != nil {
			return err
		}
	}
	return nil
}

func TestFaultsAreFound(t *testing.T) {
	require.NoError(t, found(t, faults{}, 3))
	for _, c := range []struct {
		name string
		made faults
		says string
	}{
		{"a secret in the view", faults{leakyTable: true}, "can tell twins apart by the view"},
		{"a secret in the number of faces", faults{leakyFaces: true}, ""},
		{"a secret in the type of an event", faults{leakyType: true}, "can tell twins apart by the feed"},
		{"clones that share memory", faults{sharedState: true}, "the live match shows"},
		{"a submission read laxly", faults{lax: true}, `"coins":2.0`},
		{"a refusal that quotes", faults{tellingTale: true}, "tells what was submitted"},
		{"a public part that differs", faults{twoFaced: true}, "is not the same for"},
		{"a bot that errs", faults{idleBot: true}, "refused"},
		{"a view that JSON changes", faults{unreadable: true}, "is another when it has been read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, found(t, c.made, 30), c.says)
		})
	}
}

// One that tells too much leaves no twins to compare; one that tells too little makes honest views fail.
func TestAKnowsThatIsWrong(t *testing.T) {
	much := game(faults{})
	much.Knows = func(h *History, _ string) any { return h }
	made := counts{}
	s := &suite{Game: much, seeds: []uint64{1}}
	for seed := range uint64(10) {
		require.NoError(t, s.twins(&window{}, seed, made))
	}
	for _, key := range slices.Sorted(maps.Keys(made)) {
		assert.Zero(t, made[key][1], key)
	}
	s.Knows = func(*History, string) any { return nil }
	var err error
	for seed := range uint64(10) {
		if err = s.twins(&window{}, seed, made); err != nil {
			break
		}
	}
	assert.ErrorContains(t, err, "can tell twins apart")
}

func TestASeedPlaysTheSameMatch(t *testing.T) {
	g := game(faults{})
	one, err := g.play(7, playing{})
	require.NoError(t, err)
	two, err := g.play(7, playing{direct: true, bare: true})
	require.NoError(t, err)
	assert.Equal(t, one.history, two.history)
	assert.Equal(t, []uint64{7}, func() []uint64 { t.Setenv("GAMESTEST_SEED", "7"); return seeds(t) }())
}

func TestDrawIsTheRulebooks(t *testing.T) {
	counting := make([]byte, 32)
	for i := range counting {
		counting[i] = byte(i)
	}
	all, err := hex.DecodeString("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")
	require.NoError(t, err)
	for _, c := range []struct {
		seed  []byte
		label string
		n     int
		want  int
	}{
		{counting, "starter", 2, 1}, {counting, "gun/3/p-1", 4, 2}, {all, "start/elara", 30, 8}, {all, "candidate", 8, 6},
	} {
		h := History{Seed: c.seed}
		assert.Equal(t, c.want, h.Draw(c.label, c.n), c.label)
	}
}
