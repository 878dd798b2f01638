package glassfull_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"umpire/pkg/games/gamestest"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
)

func TestGame(t *testing.T) {
	gamestest.Run(t, gamestest.Game{
		Rules:   glassfull.Game(),
		Setup:   randomSetup,
		Illegal: illegal,
		Knows:   knows,
		Hidden:  []string{"add", "sponge"},
	})
}

func illegal(v *match.View, pick gamestest.Pick) []gamestest.Wrong {
	wrong := []gamestest.Wrong{
		{Submission: map[string]any{"type": "add", "cups": 0}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "add", "cups": 4 + pick(100)}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "sponge", "cups": 1}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "challenge", "player": v.Players[0].ID}, Code: match.MalformedMove},
		{Submission: map[string]any{"type": "pick-starter", "player": "host"}, Code: match.MalformedMove},
		{Submission: json.RawMessage(`{"type":"Add","cups":1}`), Code: match.MalformedMove},
	}
	if v.Phase.Name == "pick-starter" {
		return append(wrong, gamestest.Wrong{Submission: map[string]any{"type": "challenge"}, Code: match.IllegalMove})
	}
	return append(wrong, gamestest.Wrong{
		Submission: map[string]any{"type": "pick-starter", "player": v.Players[pick(2)].ID}, Code: match.IllegalMove,
	})
}

// tank is Glass Full once more, with nothing but what the sheet says: what everybody learns, what each submitted, and
// the water.
type tank struct {
	learned  []string
	level    int
	added    map[string]int
	received map[string]int
	wins     map[string]int
	strikes  map[string]int
	mover    string // who is to pick or to take a turn
	picking  bool
	secrets  []string
}

// knows is what an audience may have learned by the sheet: who picked whom, the marks after each turn, the sponges that
// were received, challenges, strikes and how bouts ended; a player his own turns besides; all of it who sees all.
func knows(h *gamestest.History, audience string) any {
	w := tank{
		added: map[string]int{}, received: map[string]int{}, wins: map[string]int{}, strikes: map[string]int{},
		mover: h.Role("dmo"), picking: true,
	}
	players := h.Players()
	other := map[string]string{players[0]: players[1], players[1]: players[0]}
	over := false
	for i := range h.Steps {
		step := &h.Steps[i]
		switch {
		case step.Kind == gamestest.Deadline:
			for _, who := range step.Missed {
				w.strike(who)
			}
		case step.Kind != gamestest.Submit:
			continue
		case audience == step.Who || audience == "host" && h.HostSeesAll():
			w.learned = append(w.learned, fmt.Sprintf("%s did %v", step.Who, step.Submission))
		default:
			w.secrets = append(w.secrets, fmt.Sprintf("%s did %v", step.Who, step.Submission))
		}
		if step.Kind == gamestest.Submit {
			w.submit(step, other)
		}
		for _, who := range players {
			over = over || w.strikes[who] == 5 || w.wins[who] == 2
		}
	}
	if over && h.OpensAtEnd() {
		w.learned = append(w.learned, w.secrets...)
	}
	return w.learned
}

func (w *tank) strike(who string) {
	w.strikes[who]++
	w.learned = append(w.learned, fmt.Sprintf("%s has %d strikes", who, w.strikes[who]))
}

func (w *tank) submit(step *gamestest.Step, other map[string]string) {
	who := step.Who
	switch step.Type() {
	case "pick-starter":
		w.learned = append(w.learned, "starter "+step.Text("player"))
		w.mover, w.picking = step.Text("player"), false
		return
	case "challenge":
		if w.level == 20 {
			w.end(who, other[who], "challenge")
			return
		}
		w.learned = append(w.learned, who+" calls in vain")
		w.strike(who)
	case "sponge":
		w.level--
	case "add":
		if w.level+step.Whole("cups") > 20 {
			w.end(other[who], who, "overflow")
			return
		}
		w.level += step.Whole("cups")
		w.added[who] += step.Whole("cups")
		w.received[who] = w.added[who] / 7
	}
	w.mover = other[who]
	mark := "0-5"
	switch {
	case w.level >= 16:
		mark = "16-20"
	case w.level >= 11:
		mark = "11-15"
	case w.level >= 6:
		mark = "6-10"
	}
	w.learned = append(w.learned, fmt.Sprintf("%s is done; %s; sponges %v", who, mark, w.received))
}

func (w *tank) end(winner, loser, by string) {
	w.wins[winner]++
	w.learned = append(w.learned, winner+" wins by "+by)
	w.level, w.added, w.received = 0, map[string]int{}, map[string]int{}
	w.mover, w.picking = loser, true
}

func randomSetup(pick gamestest.Pick) map[string]any {
	players := gamestest.Players(2, pick)
	return map[string]any{
		"game": "glass-full", "players": players, "roles": map[string]any{"dmo": gamestest.ID(players, pick(2))},
	}
}
