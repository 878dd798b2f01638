package nothingbutthetruth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"umpire/pkg/games/gamestest"
	"umpire/pkg/match"
)

func TestGame(t *testing.T) {
	t.Parallel()
	r := rules()
	r.Bot = moody
	gamestest.Run(t, gamestest.Game{
		Rules:     r.Game(),
		Setup:     randomSetup,
		Reshuffle: reshuffle,
		Illegal:   illegal,
		Optional:  []string{"anchor"},
		Knows:     knows,
		Hidden:    []string{"order", "place", "bid", "answer"},
	})
}

func randomSetup(pick gamestest.Pick) map[string]any {
	return map[string]any{
		"game": "nothing-but-the-truth", "players": gamestest.Players(2, pick), "statements": randomStatements(pick),
	}
}

// BenchmarkPlay plays whole random matches and builds the views of all audiences after each step.
func BenchmarkPlay(b *testing.B) { gamestest.Bench(b, Game(), randomSetup) }

// moody is the bot, but in some matches both buy nothing, so that they end in a tie, and in others they buy all they
// can, so that the board gets full. The first player's id says which.
func moody(v *match.View, t *table, pick func(int) int) any {
	if t.You != nil && t.You.Hints.Place != nil {
		h := t.You.Hints.Place
		switch v.Players[0].ID[0] % 8 {
		case 0, 1, 2, 3:
			return map[string]any{"type": place, "cells": []string{}}
		case 4:
			return map[string]any{"type": place, "cells": shuffled(h.Cells, pick)[:h.Most]}
		}
	}
	return bot(v, t, pick)
}

func randomStatements(pick gamestest.Pick) []any {
	var list []any
	for cycle := 1; cycle <= 13; cycle++ {
		list = append(list, randomCycle(cycle, pick)...)
	}
	return list
}

func randomCycle(cycle int, pick gamestest.Pick) []any {
	truths := 1 + pick(14) // neither 0000 nor 1111
	var four []any
	for i := range 4 {
		text := fmt.Sprintf("%d%c, claim %d", cycle, 'A'+i, 100+pick(900))
		four = append(four, map[string]any{"text": text, "truth": truths>>i&1 == 1})
	}
	return four
}

// reshuffle gives one cycle other statements; of the first, whose texts are public, other truths.
func reshuffle(setup map[string]any, pick gamestest.Pick) map[string]any {
	list, _ := setup["statements"].([]any)
	cycle := 1 + pick(13)
	for i, s := range randomCycle(cycle, pick) {
		was, is := list[(cycle-1)*4+i].(map[string]any), s.(map[string]any)
		was["truth"] = is["truth"]
		if cycle > 1 {
			was["text"] = is["text"]
		}
	}
	return setup
}

func illegal(v *match.View, pick gamestest.Pick) []gamestest.Wrong {
	wrong := []gamestest.Wrong{
		{Submission: map[string]any{"type": "order", "order": []string{"A", "B", "C", "C"}}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "place", "cells": []string{"F7"}}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "shift", "direction": "in"}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "ask", "question": " "}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "judge", "right": []string{"host"}}, Code: match.MalformedMove},
		{Submission: json.RawMessage(`{"type":"bid","coins":-1}`), Code: match.MalformedMove},
	}
	t := v.Table.(*table)
	for kind, submission := range map[string]map[string]any{
		order:   {"order": []string{"A", "B", "C", "D"}},
		place:   {"cells": []string{"C3", "C3"}},
		bid:     {"coins": t.Coins[v.Audience] + 1 + pick(3)},
		shift:   {"direction": "up", "anchor": slices.Concat(t.free(), []string{"A1"})[0]},
		ask:     {"question": "?"},
		answer:  {"text": ""},
		judge:   {"right": []string{v.Players[0].ID, v.Players[0].ID}},
		decline: {},
	} {
		submission["type"] = kind
		legal := kind == v.Phase.Name && (kind == order || kind == ask || kind == answer) ||
			kind == decline && v.Phase.Name == shift || kind == shift && len(t.free()) == 0
		if !legal {
			wrong = append(wrong, gamestest.Wrong{Submission: submission, Code: match.IllegalMove})
		}
	}
	return wrong
}

// sheet is the game once more, with nothing but what the sheet says.
type sheet struct {
	h        *gamestest.History
	audience string
	learned  []any
	opening  []any // orders and bids
	phase    string
	cycle    int
	now      map[string]map[string]any // this phase's submissions
	coins    map[string]int
	stones   map[string]string // by cell: whose
	winner   string            // of the bids
}

// knows is what an audience may have learned by the sheet: "Submit" means a private submission, so a player his own;
// everybody what is revealed: statements, then truths and coins, the board, who shifts for how much, the shift, the
// questions and who was right. The host knows the statements, and the answers once they are in, or all.
func knows(h *gamestest.History, audience string) any {
	w := &sheet{
		h: h, audience: audience, phase: order, cycle: 1, now: map[string]map[string]any{}, coins: map[string]int{},
		stones: map[string]string{},
	}
	if audience == "host" {
		w.learn(h.Setup["statements"])
	}
	for i := range h.Steps {
		step := &h.Steps[i]
		if step.Kind == gamestest.Submit {
			w.now[step.Who] = step.Submission
			if audience == step.Who || audience == "host" && h.HostSeesAll() {
				w.learn(step.Who, "did", step.Submission)
			}
		}
		if step.Resolved {
			w.resolve()
			w.now = map[string]map[string]any{}
		}
	}
	return w.learned
}

func (w *sheet) learn(facts ...any) { w.learned = append(w.learned, facts) }

func (w *sheet) statement(letter string) map[string]any {
	all, _ := w.h.Setup["statements"].([]any)
	s, _ := all[(w.cycle-1)*4+strings.Index("ABCD", letter)].(map[string]any)
	return s
}

func (w *sheet) resolve() {
	one, two := w.h.Players()[0], w.h.Players()[1]
	switch w.phase {
	case order:
		w.pay(one)
		w.pay(two)
		w.phase = place
	case place:
		w.put(one, two)
		w.phase = bid
		if len(w.stones) == 36 {
			w.count(one, two)
		}
	case bid:
		bids := map[string]int{one: gamestest.Whole(w.now[one], "coins"), two: gamestest.Whole(w.now[two], "coins")}
		w.opening = append(w.opening, w.now)
		w.phase, w.winner = shift, one
		switch {
		case bids[one] == bids[two]:
			w.learn("a tie")
			w.next(one, two)
			return
		case bids[one] < bids[two]:
			w.winner = two
		}
		w.coins[w.winner] -= bids[w.winner]
		w.learn(w.winner, "shifts for", bids[w.winner])
	case shift:
		made := w.now[w.winner]
		w.learn(w.winner, "shifts", made["direction"], made["anchor"])
		if direction := gamestest.Text(made, "direction"); direction != "" {
			w.gravity(direction, gamestest.Text(made, "anchor"))
		}
		w.next(one, two)
	case ask:
		w.learn("asked", w.now["host"]["question"])
		w.phase = answer
	case answer:
		if w.audience == "host" {
			w.learn("answers", w.now[one]["text"], w.now[two]["text"])
		}
		w.phase = judge
	case judge:
		right := gamestest.Texts(w.now["host"], "right")
		slices.Sort(right)
		w.learn("right", right)
		w.phase = ask
		if len(right) == 1 {
			w.end()
		}
	}
}

// pay: "the binary number created when True statements are interpreted as 1 and False as 0".
func (w *sheet) pay(who string) {
	letters := gamestest.Texts(w.now[who], "order")
	if len(letters) == 0 {
		letters = []string{"A", "B", "C", "D"}
	}
	for i, letter := range letters {
		if w.statement(letter)["truth"] == true {
			w.coins[who] += 8 >> i
		}
		w.learn(w.cycle, i, "is", w.statement(string("ABCD"[i]))["truth"])
	}
	w.learn(who, "has", w.coins[who])
	w.opening = append(w.opening, w.now[who])
}

// put: "Any spaces submitted by both players will remain empty".
func (w *sheet) put(one, two string) {
	price := map[string]int{one: max(4, 8-len(w.groups(one))), two: max(4, 8-len(w.groups(two)))}
	for _, who := range []string{one, two} {
		for _, cell := range gamestest.Texts(w.now[who], "cells") {
			other := map[string]string{one: two, two: one}[who]
			if !slices.Contains(gamestest.Texts(w.now[other], "cells"), cell) {
				w.stones[cell] = who
				w.coins[who] -= price[who]
			}
		}
	}
	w.learn("the board is", maps.Clone(w.stones))
}

func (w *sheet) next(one, two string) {
	if w.cycle == 13 {
		w.count(one, two)
		return
	}
	w.cycle++
	w.phase = order
	for _, letter := range []string{"A", "B", "C", "D"} {
		w.learn(w.cycle, letter, w.statement(letter)["text"])
	}
}

// count compares the groups: "If still tied, trivia questions".
func (w *sheet) count(one, two string) {
	w.phase = ask
	if !slices.Equal(w.groups(one), w.groups(two)) {
		w.end()
	}
}

func (w *sheet) end() {
	w.phase = "over"
	if w.h.OpensAtEnd() {
		w.learned = append(w.learned, w.opening...)
	}
}

func beside(cell string, rows, columns int) string {
	return string([]byte{byte(int(cell[0]) + rows), byte(int(cell[1]) + columns)})
}

// groups are the sizes of somebody's groups, the largest first.
func (w *sheet) groups(who string) []int {
	seen := map[string]bool{}
	var visit func(cell string) int
	visit = func(cell string) int {
		if seen[cell] || w.stones[cell] != who {
			return 0
		}
		seen[cell] = true
		return 1 + visit(beside(cell, 1, 0)) + visit(beside(cell, -1, 0)) + visit(beside(cell, 0, 1)) + visit(beside(cell, 0, -1))
	}
	var sizes []int
	for cell := range w.stones {
		if size := visit(cell); size > 0 {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes
}

// gravity moves each stone by one cell for as long as any can move.
func (w *sheet) gravity(direction, anchor string) {
	step := map[string][2]int{"up": {-1, 0}, "down": {1, 0}, "left": {0, -1}, "right": {0, 1}}[direction]
	for moved := true; moved; {
		moved = false
		for cell, who := range w.stones {
			to := beside(cell, step[0], step[1])
			if _, taken := w.stones[to]; cell != anchor && !taken && to[0] >= 'A' && to[0] <= 'F' && to[1] >= '1' && to[1] <= '6' {
				delete(w.stones, cell)
				w.stones[to] = who
				moved = true
				break
			}
		}
	}
}
