package demo

import (
	"fmt"
	"strings"
)

// names are whom the demo seats.
var names = []string{
	"Ada", "Bao", "Chidi", "Dilan", "Emre", "Farah", "Goran", "Hana", "Ines", "Jun", "Kofi", "Lena", "Mina", "Noor",
	"Olu", "Priya", "Quim", "Rosa", "Sami", "Tove", "Uma", "Vito", "Wanda", "Xenia", "Yara", "Zeno",
}

// people returns n different players.
func people(n int, pick func(int) int) []map[string]string {
	left := append([]string{}, names...)
	players := make([]map[string]string, n)
	for i := range players {
		at := pick(len(left))
		players[i] = map[string]string{"id": strings.ToLower(left[at]), "name": left[at]}
		left = append(left[:at], left[at+1:]...)
	}
	return players
}

// Setup returns a set-up of a game; pick(n) gives 0..n-1.
func Setup(game string, pick func(int) int) map[string]any {
	seats := 2
	if game == "paint-clash" {
		seats = 8
	}
	players := people(seats, pick)
	setup := map[string]any{"game": game, "players": players}
	switch game {
	case "glass-full", "primal-pileup":
		setup["roles"] = map[string]string{"dmo": players[pick(2)]["id"]}
	case "nothing-but-the-truth":
		setup["statements"] = statements()
		setup["options"] = map[string]any{"clock": map[string]string{"move": "2m"}}
	case "paint-clash":
		garnets := map[string]int{}
		for _, p := range players {
			garnets[p["id"]] = 1 + pick(9)
		}
		setup["garnets"] = garnets
		setup["options"] = map[string]any{"clock": map[string]string{"move": "2m"}, "close": "when-all-in"}
	default:
		panic(fmt.Sprintf("demo: no set-up for %q", game))
	}
	return setup
}
