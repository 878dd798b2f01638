package paintclash

import (
	"cmp"
	"fmt"
	"slices"

	"umpire/pkg/match"
)

// wish is the team that a player chose or that was drawn for him, with what he bids for it.
type wish struct {
	color color
	bid   int64
	owned int64 // at the start of the match
}

// rank orders wishes for one team, the better first: "the four players who bid the most Garnets"; "the player who wins
// the tie is the one who had more Garnets at the start of the Main Match".
func rank(a, b wish) int { return cmp.Or(cmp.Compare(b.bid, a.bid), cmp.Compare(b.owned, a.owned)) }

// split settles the teams: by seat, which team, and what is paid; and who was drawn among equals, in order.
//
// "If 4 people bid for each team, then the teams are automatically selected", and nobody pays. "Otherwise, the four
// players who bid the most Garnets on the team that had more than 4 players choose it get on that team, spending that
// many Garnets. The other four players spend no Garnets and get on the other team."
func split(wishes [players]wish, draw match.Draw) (sides [players]color, pays [players]int64, drawn []int) {
	crowded, rivals := green, wishing(wishes, green)
	if len(rivals) < teamSize {
		crowded, rivals = pink, wishing(wishes, pink)
	}
	stay, drawn := best(wishes, rivals, draw)
	for seat, w := range wishes {
		sides[seat] = crowded.other()
		if slices.Contains(stay, seat) {
			sides[seat] = crowded
			if len(rivals) > teamSize {
				pays[seat] = w.bid
			}
		}
	}
	return sides, pays, drawn
}

// wishing returns the seats that want a team, in seating order.
func wishing(wishes [players]wish, c color) []int {
	seats := []int{}
	for seat, w := range wishes {
		if w.color == c {
			seats = append(seats, seat)
		}
	}
	return seats
}

// best returns the four of the rivals that stay. Equals for whom there is room go in together; otherwise the places left
// are drawn one at a time among them in seating order.
func best(wishes [players]wish, rivals []int, draw match.Draw) (stay, drawn []int) {
	ranked := slices.Clone(rivals)
	slices.SortStableFunc(ranked, func(a, b int) int { return rank(wishes[a], wishes[b]) })
	for len(stay) < teamSize {
		equals := 1
		for equals < len(ranked) && rank(wishes[ranked[0]], wishes[ranked[equals]]) == 0 {
			equals++
		}
		if len(stay)+equals <= teamSize {
			stay, ranked = append(stay, ranked[:equals]...), ranked[equals:]
			continue
		}
		for left := ranked[:equals]; len(stay) < teamSize; {
			i := int(draw(fmt.Sprintf("team-tie/%d", len(drawn)+1), uint64(len(left)))) //nolint:gosec // below 8
			stay, drawn = append(stay, left[i]), append(drawn, left[i])
			left = slices.Delete(left, i, i+1)
		}
	}
	return stay, drawn
}

// teamsOf lists the players of each team in seating order.
func teamsOf(seats match.Seats, sides [players]color) teams {
	list := teams{Green: []string{}, Pink: []string{}}
	for seat, side := range sides {
		if side == green {
			list.Green = append(list.Green, seats.ID(seat))
		} else {
			list.Pink = append(list.Pink, seats.ID(seat))
		}
	}
	return list
}
