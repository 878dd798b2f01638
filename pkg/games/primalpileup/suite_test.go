package primalpileup_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"umpire/pkg/games/gamestest"
	"umpire/pkg/games/primalpileup"
	"umpire/pkg/match"
)

func TestGame(t *testing.T) {
	gamestest.Run(t, gamestest.Game{
		Rules:   primalpileup.Game(),
		Setup:   randomSetup,
		Illegal: illegal,
		Knows:   knows,
		Hidden:  []string{"play"},
	})
}

// illegal returns plays of what is not in hand, of nothing, of a card twice, and of what is no card.
func illegal(v *match.View, pick gamestest.Pick) []gamestest.Wrong {
	raw, err := json.Marshal(v.Table)
	if err != nil {
		panic(err)
	}
	var table struct{ You struct{ Hand []string } }
	if err := json.Unmarshal(raw, &table); err != nil {
		panic(err)
	}
	hand := table.You.Hand
	play := func(code match.Code, cards ...string) gamestest.Wrong {
		return gamestest.Wrong{Submission: map[string]any{"type": "play", "cards": cards}, Code: code}
	}
	wrongs := []gamestest.Wrong{play(match.IllegalMove, []string{}...), play(match.MalformedMove, "F11")}
	if v.Phase.Name != "turn" {
		return append(wrongs, play(match.IllegalMove, hand[0]))
	}
	for _, element := range []string{"F", "W", "G"} {
		card := element + strconv.Itoa(1+pick(10))
		if !slices.Contains(hand, card) {
			wrongs = append(wrongs, play(match.IllegalMove, card), play(match.IllegalMove, slices.Concat(hand, []string{card})...))
		}
		wrongs = append(wrongs, play(match.MalformedMove, slices.Concat(hand, []string{element + "0"})...))
	}
	if len(hand) > 0 {
		twice := hand[pick(len(hand))]
		wrongs = append(wrongs, play(match.IllegalMove, twice, twice), play(match.IllegalMove, slices.Concat(hand, []string{twice})...))
	}
	return wrongs
}

// knows is what the sheet lets somebody know, in words: of a round that goes on the elements, whether somebody has
// passed and who is ahead; of one's own cards all; when a round ends, all of it.
func knows(h *gamestest.History, audience string) any {
	learned := []string{}
	learn := func(format string, args ...any) { learned = append(learned, fmt.Sprintf(format, args...)) }
	players := h.Players()
	first, passed := "", false
	zones := map[string][]string{}
	for i, step := range h.Steps {
		if !step.Resolved {
			continue
		}
		who := step.Who
		if step.Kind == gamestest.Deadline {
			who = step.Missed[0]
		}
		if first == "" {
			// "The DMO decides who goes first in Round 1."
			if first = step.Text("player"); first == "" {
				first = players[h.Draw("starter", 2)]
			}
			learn("%s goes first", first)
			continue
		}
		cards := step.Texts("cards")
		zones[who] = append(zones[who], cards...)
		ends := passed
		passed = passed || len(cards) == 0
		// "The cards' element(s) will be revealed to the other player, but not the number."
		elements := ""
		for _, card := range cards {
			elements += card[:1]
		}
		letters := []byte(elements)
		slices.Sort(letters)
		learn("%s plays %s", who, letters)
		if audience == who || audience == "host" && h.HostSeesAll() {
			learn("namely %s", sorted(cards))
		}
		// "Following each player's turn, players will learn who would have won the round, had it ended there."
		other := players[0]
		if other == first {
			other = players[1]
		}
		leader := first
		if sum(zones[other], zones[first]) > sum(zones[first], zones[other]) {
			leader = other
		}
		learn("%s is ahead", leader)
		if ends {
			// "When a round ends, all card values are revealed."
			for _, earlier := range h.Steps[:i+1] {
				learn("%s had played %s", earlier.Who, sorted(earlier.Texts("cards")))
			}
			first, passed = leader, false
			zones = map[string][]string{}
		}
	}
	return learned
}

// sum is what is left of cards against those of the opponent, one by one.
func sum(own, opposing []string) int {
	total := 0
	for _, mine := range own {
		gone := false
		for _, his := range opposing {
			beats := his[:1]+mine[:1] == "FG" || his[:1]+mine[:1] == "GW" || his[:1]+mine[:1] == "WF"
			gone = gone || beats && number(his) >= number(mine)
		}
		if !gone {
			total += number(mine)
		}
	}
	return total
}

func number(card string) int {
	n, err := strconv.Atoi(card[1:])
	if err != nil {
		panic(err)
	}
	return n
}

func sorted(cards []string) []string {
	slices.Sort(cards)
	return cards
}

func randomSetup(pick gamestest.Pick) map[string]any {
	dmo, players := pick(2), gamestest.Players(2, pick)
	return map[string]any{
		"game": "primal-pileup", "players": players, "roles": map[string]any{"dmo": gamestest.ID(players, dmo)},
	}
}

// BenchmarkPlay plays whole random matches and builds the views of all audiences after each step.
func BenchmarkPlay(b *testing.B) { gamestest.Bench(b, primalpileup.Game(), randomSetup) }
