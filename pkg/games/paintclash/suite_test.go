package paintclash_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"umpire/pkg/games/gamestest"
	"umpire/pkg/games/paintclash"
	"umpire/pkg/match"
)

func TestSuite(t *testing.T) {
	gamestest.Run(t, gamestest.Game{
		Rules:     paintclash.Game(),
		Setup:     randomSetup,
		Reshuffle: reshuffled,
		Illegal:   illegal,
		Optional:  []string{"direction"},
		Knows:     knows,
		Hidden:    []string{"team", "start", "round", "nominate"},
	})
}

// BenchmarkPlay plays whole random matches and builds the views of all audiences after each step.
func BenchmarkPlay(b *testing.B) {
	gamestest.Bench(b, paintclash.Game(), func(pick gamestest.Pick) map[string]any {
		setup := randomSetup(pick)
		delete(setup, "options") // the standard armory
		return setup
	})
}

// armories are what random matches are played with; nil is the standard one. With the last, ties are frequent.
var armories = []any{
	nil,
	nil,
	[]any{
		[]any{at(0, 0), at(1, 0), at(0, 1), at(-1, 1), at(-1, 0), at(0, -1), at(1, -1)},
		[]any{at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(-1, 2)},
		[]any{at(0, 0), at(-1, 0), at(-1, 0)},
		[]any{at(0, 0), at(2, 0), at(0, 2), at(-2, 2), at(-2, 0), at(0, -2), at(2, -2)},
		[]any{at(1, 0), at(0, 0)},
		[]any{at(0, 0), at(16, -16), at(-3, 0), at(0, 3)},
	},
	[]any{
		[]any{at(0, 0)}, []any{at(0, 0)}, []any{at(0, 0)}, []any{at(0, 0), at(2, 0)}, []any{at(0, 0)}, []any{at(0, 0), at(0, 2)},
	},
}

func at(q, r int) []any { return []any{float64(q), float64(r)} }

func randomSetup(pick gamestest.Pick) map[string]any {
	setup := map[string]any{"game": "paint-clash", "players": gamestest.Players(8, pick), "options": map[string]any{}}
	if armory := armories[pick(len(armories))]; armory != nil {
		setup["options"] = map[string]any{"armory": armory}
	}
	return reshuffled(setup, pick)
}

// reshuffled gives the players other garnets, mostly few, so that bids are equal now and then.
func reshuffled(setup map[string]any, pick gamestest.Pick) map[string]any {
	most := []int{1, 2, 6, 100}[pick(4)]
	garnets := map[string]any{}
	for i := range 8 {
		garnets[gamestest.ID(setup["players"].([]any), i)] = pick(most + 1)
	}
	setup["garnets"] = garnets
	return setup
}

// seen is what a player's view shows, as far as mistakes are made from it.
type seen struct {
	Teams     map[string][]string
	Positions map[string]string
	You       struct {
		Team    string
		Garnets int
		Guns    []int
	}
}

// illegal returns bids that he can't pay, cells out of his zone or too far away, guns that are used, and players of the
// wrong team.
func illegal(v *match.View, pick gamestest.Pick) []gamestest.Wrong {
	raw, err := json.Marshal(v.Table)
	if err != nil {
		panic(err)
	}
	var t seen
	if err := json.Unmarshal(raw, &t); err != nil {
		panic(err)
	}
	wrong := func(code match.Code, submission map[string]any) gamestest.Wrong {
		return gamestest.Wrong{Submission: submission, Code: code}
	}
	shoot := func(mode, to string, gun int) map[string]any {
		return map[string]any{
			"type": "round", "move": map[string]any{"mode": mode, "to": to}, "shot": map[string]any{"gun": gun, "direction": "E"},
		}
	}
	switch v.Phase.Name {
	case "team":
		return []gamestest.Wrong{
			wrong(match.IllegalMove, map[string]any{"type": "team", "color": "green", "bid": t.You.Garnets + 1 + pick(9)}),
			wrong(match.MalformedMove, map[string]any{"type": "team", "color": "blue", "bid": 0}),
		}
	case "start":
		return []gamestest.Wrong{
			wrong(match.IllegalMove, map[string]any{"type": "start", "cell": fmt.Sprintf("%c9", 'D'+pick(11))}),
			wrong(match.IllegalMove, map[string]any{"type": "start", "cell": map[string]string{"green": "Q9", "pink": "A9"}[t.You.Team]}),
			wrong(match.MalformedMove, map[string]any{"type": "start", "cell": "Q8"}),
		}
	case "round":
		here := t.Positions[v.Audience]
		list := []gamestest.Wrong{
			wrong(match.IllegalMove, shoot("walk", here, t.You.Guns[0])),
			wrong(match.IllegalMove, shoot("squid", here, t.You.Guns[0])),
			wrong(match.MalformedMove, shoot("swim", here, t.You.Guns[0])),
			wrong(match.MalformedMove, shoot("walk", here, 7)),
		}
		near := neighbour(here)
		for gun := 1; gun <= 6; gun++ {
			if !slices.Contains(t.You.Guns, gun) {
				list = append(list, wrong(match.IllegalMove, shoot("walk", near, gun)))
			}
		}
		if here[0] < 'F' || here[0] > 'L' { // far from the middle
			list = append(list, wrong(match.IllegalMove, shoot("walk", "I9", t.You.Guns[0])))
		}
		return list
	}
	list := []gamestest.Wrong{wrong(match.MalformedMove, map[string]any{"type": v.Phase.Name, "player": "host"})}
	for team, ids := range t.Teams {
		for _, id := range ids {
			mine := team == t.You.Team
			if v.Phase.Name == "nominate" && mine || v.Phase.Name == "choose-opponent" && (!mine || id == v.Audience) {
				list = append(list, wrong(match.IllegalMove, map[string]any{"type": v.Phase.Name, "player": id}))
			}
		}
	}
	return list
}

// neighbour is a cell beside one: the next of its row, or the one before.
func neighbour(name string) string {
	row, column := split(name)
	if onBoard(row, column+1) {
		return cellName(row, column+1)
	}
	return cellName(row, column-1)
}
