package paintclash_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"umpire/pkg/games/gamestest"
)

// split, cellName and onBoard are the board by its names: rows A to Q, row R (A = 0) with the columns max(1, R - 7) to
// min(17, R + 9).
func split(name string) (row, column int) {
	column, err := strconv.Atoi(name[1:])
	if err != nil {
		panic(err)
	}
	return int(name[0] - 'A'), column
}

func cellName(row, column int) string { return string(rune('A'+row)) + strconv.Itoa(column) }

func onBoard(row, column int) bool {
	return row >= 0 && row < 17 && column >= max(1, row-7) && column <= min(17, row+9)
}

// fight is Paint Clash once more, with nothing but what the sheet and the rulebook say, played from what happened.
type fight struct {
	h        *gamestest.History
	audience string
	learned  []string
	hidden   []string // what opens at the end
	phase    string
	round    int
	armory   [][][2]int
	sent     map[string]map[string]any // of the open phase
	owned    map[string]int
	team     map[string]string
	at       map[string]string
	paint    map[string]string
	used     map[string]map[int]bool
	leads    []string // after each round: "green", "pink" or ""
	winner   string
	named    string
}

// knows is what an audience may have learned: of others, who is in which team, where everybody stands and what is
// painted when a phase is over, who has won, the candidate and whether he was drawn, the opponent. Of oneself all. Of
// team-mates who have won, whom they name, at once. A host who sees all: all. At the end, where matches open: shots and
// modes.
func knows(h *gamestest.History, audience string) any {
	f := &fight{
		h: h, audience: audience, phase: "team", sent: map[string]map[string]any{}, owned: map[string]int{},
		team: map[string]string{}, at: map[string]string{}, paint: map[string]string{}, used: map[string]map[int]bool{},
	}
	for _, id := range h.Players() {
		f.owned[id] = gamestest.Whole(gamestest.Object(h.Setup, "garnets"), id)
		f.used[id] = map[int]bool{}
		f.own(id, "%s owns %d", id, f.owned[id])
	}
	for i := range h.Steps {
		step := &h.Steps[i]
		if step.Kind == gamestest.Submit {
			f.sent[step.Who] = step.Submission
			sent := text(step.Submission)
			if f.winner != "" && f.phase == "nominate" && f.team[audience] == f.winner {
				f.learn("%s sent %s", step.Who, sent)
			} else {
				f.own(step.Who, "%s sent %s", step.Who, sent)
			}
		}
		if step.Resolved {
			f.resolve()
			f.sent = map[string]map[string]any{}
		}
	}
	return f.learned
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (f *fight) learn(format string, args ...any) {
	f.learned = append(f.learned, fmt.Sprintf(format, args...))
}

// own is for a player, and for a host who sees all.
func (f *fight) own(id, format string, args ...any) {
	if f.audience == id || f.audience == "host" && f.h.HostSeesAll() {
		f.learn(format, args...)
	}
}

func (f *fight) resolve() {
	switch f.phase {
	case "team":
		f.teams()
		f.phase = "start"
	case "start":
		f.starts()
		f.phase, f.round = "round", 1
		f.arm()
	case "round":
		f.shoot()
		if f.round++; f.round == 7 {
			f.count()
		}
	case "nominate":
		f.nominate()
		f.phase = "choose-opponent"
	case "choose-opponent":
		f.choose()
	}
}

func (f *fight) teams() {
	color, bid := map[string]string{}, map[string]int{}
	want := map[string][]string{}
	for _, id := range f.h.Players() {
		if s := f.sent[id]; s != nil {
			color[id], bid[id] = gamestest.Text(s, "color"), gamestest.Whole(s, "bid")
		} else {
			color[id] = []string{"green", "pink"}[f.h.Draw("team/"+id, 2)]
			f.own(id, "drawn color %s", color[id])
		}
		want[color[id]] = append(want[color[id]], id)
		f.team[id] = color[id]
	}
	crowded, other := "green", "pink"
	if len(want["pink"]) > 4 {
		crowded, other = other, crowded
	}
	pays := map[string]int{}
	if len(want[crowded]) > 4 {
		for _, id := range f.h.Players() {
			f.team[id] = other
		}
		left, k := want[crowded], 0
		for place := 4; place > 0; place-- {
			best := left[:0:0]
			for _, id := range left {
				if len(best) > 0 && (bid[id] > bid[best[0]] || bid[id] == bid[best[0]] && f.owned[id] > f.owned[best[0]]) {
					best = nil
				}
				if len(best) == 0 || bid[id] == bid[best[0]] && f.owned[id] == f.owned[best[0]] {
					best = append(best, id)
				}
			}
			in := best[0]
			if len(best) > place {
				k++
				in = best[f.h.Draw(fmt.Sprintf("team-tie/%d", k), len(best))]
			}
			f.team[in], pays[in] = crowded, bid[in]
			left = slices.DeleteFunc(slices.Clone(left), func(id string) bool { return id == in })
		}
	}
	f.learn("teams %v", f.team)
	for _, id := range f.h.Players() {
		f.own(id, "%s pays %d", id, pays[id])
	}
}

func (f *fight) starts() {
	for _, id := range f.h.Players() {
		if s := f.sent[id]; s != nil {
			f.at[id] = gamestest.Text(s, "cell")
			continue
		}
		first := 0
		if f.team[id] == "pink" {
			first = 14
		}
		var zone []string
		for row := first; row < first+3; row++ {
			for column := range 18 {
				if onBoard(row, column) {
					zone = append(zone, cellName(row, column))
				}
			}
		}
		f.at[id] = zone[f.h.Draw("start/"+id, len(zone))]
	}
	f.learn("positions %v", f.at)
}

var ways = []string{"E", "SE", "SW", "W", "NW", "NE"}

func (f *fight) shoot() {
	covers := map[string]map[string]bool{} // by cell: the teams
	for _, id := range f.h.Players() {
		mode, gun, way := "", 0, ""
		if s := f.sent[id]; s != nil {
			mode, f.at[id] = gamestest.Text(gamestest.Object(s, "move"), "mode"), gamestest.Text(gamestest.Object(s, "move"), "to")
			gun, way = gamestest.Whole(gamestest.Object(s, "shot"), "gun"), gamestest.Text(gamestest.Object(s, "shot"), "direction")
		} else {
			var left []int
			for gun := 1; gun <= 6; gun++ {
				if !f.used[id][gun] {
					left = append(left, gun)
				}
			}
			gun = left[f.h.Draw(fmt.Sprintf("gun/%d/%s", f.round, id), len(left))]
			way = ways[f.h.Draw(fmt.Sprintf("direction/%d/%s", f.round, id), 6)]
		}
		f.used[id][gun] = true
		shot := fmt.Sprintf("round %d: %s %q gun %d %q", f.round, id, mode, gun, way)
		f.own(id, "%s", shot)
		f.hidden = append(f.hidden, shot)
		for _, name := range f.covered(f.at[id], gun, way) {
			if covers[name] == nil {
				covers[name] = map[string]bool{}
			}
			covers[name][f.team[id]] = true
		}
	}
	painted, score := map[string]string{}, map[string]int{}
	for name, teams := range covers {
		if len(teams) == 1 && f.paint[name] == "" {
			for team := range teams {
				f.paint[name], painted[name] = team, team
			}
		}
	}
	for _, team := range f.paint {
		score[team]++
	}
	f.learn("positions %v, painted %v", f.at, painted)
	switch {
	case score["green"] > score["pink"]:
		f.leads = append(f.leads, "green")
	case score["pink"] > score["green"]:
		f.leads = append(f.leads, "pink")
	default:
		f.leads = append(f.leads, "")
	}
}

// standard is the rulebook's armory as it is written there.
const standard = `[[[0,0],[1,0],[2,0],[3,0],[4,0],[5,0]], [[0,0],[1,0],[2,-1],[2,0],[1,1]],
	[[0,0],[1,0],[0,1],[-1,1],[-1,0],[0,-1],[1,-1]], [[0,0],[4,0],[5,0],[4,1],[3,1],[3,0],[4,-1],[5,-1]],
	[[0,0],[1,-1],[2,-2],[3,-3],[0,1],[0,2],[0,3]], [[0,0],[2,0],[0,2],[-2,2],[-2,0],[0,-2],[2,-2]]]`

func (f *fight) arm() {
	raw := standard
	if given := gamestest.Object(f.h.Setup, "options")["armory"]; given != nil {
		raw = text(given)
	}
	if err := json.Unmarshal([]byte(raw), &f.armory); err != nil {
		panic(err)
	}
}

func (f *fight) covered(from string, gun int, way string) []string {
	row, column := split(from)
	var names []string
	for _, o := range f.armory[gun-1] {
		for range max(slices.Index(ways, way), 0) {
			o = [2]int{-o[1], o[0] + o[1]}
		}
		if r, c := row+o[1], column+o[0]+o[1]; onBoard(r, c) {
			names = append(names, cellName(r, c))
		}
	}
	return names
}

func (f *fight) count() {
	for _, lead := range f.leads {
		if lead != "" {
			f.winner = lead
		}
	}
	f.phase = "nominate"
	f.learn("the winner is %q", f.winner)
	if f.winner == "" {
		f.phase = "choose-opponent"
		f.named = f.h.Players()[f.h.Draw("candidate", 8)]
		f.learn("drawn candidate %s", f.named)
	}
}

func (f *fight) nominate() {
	votes := map[string]int{}
	for _, s := range f.sent {
		votes[gamestest.Text(s, "player")]++
	}
	var most []string
	for _, id := range f.h.Players() {
		if f.team[id] == f.winner {
			continue
		}
		if len(most) > 0 && votes[id] > votes[most[0]] {
			most = nil
		}
		if len(most) == 0 || votes[id] == votes[most[0]] {
			most = append(most, id)
		}
	}
	f.named = most[0]
	if len(most) > 1 {
		f.named = most[f.h.Draw("candidate-tie", len(most))]
	}
	f.learn("candidate %s, drawn %t", f.named, len(most) > 1)
}

func (f *fight) choose() {
	if s := f.sent[f.named]; s != nil {
		f.learn("opponent %s", gamestest.Text(s, "player"))
	} else {
		var mates []string
		for _, id := range f.h.Players() {
			if f.team[id] == f.team[f.named] && id != f.named {
				mates = append(mates, id)
			}
		}
		f.learn("drawn opponent %s", mates[f.h.Draw("opponent", 3)])
	}
	if f.h.OpensAtEnd() {
		f.learned = append(f.learned, f.hidden...)
	}
}
