package paintclash

import "fmt"

// canvas is what each cell is painted.
type canvas [cells]color

// shot is a gun fired from where its player's move ended, its shape turned already.
type shot struct {
	team  color
	from  cell
	shape []offset
}

// splash returns what the shots of a round paint, all at once: "cells you cover with your gun will be painted your
// team's color. However, you cannot paint over already-painted cells; ... if the same cell is covered by both teams, it
// will remain unpainted, regardless of how many players on each team attempt to paint it." What lies beyond the edge of
// the board is lost.
func splash(old *canvas, shots []shot) canvas {
	var covered [pink + 1]canvas // by team
	for _, s := range shots {
		for _, o := range s.shape {
			if c := board.from(s.from, o); c != nowhere {
				covered[s.team][c] = s.team
			}
		}
	}
	fresh := canvas{}
	for c, was := range old {
		if was == unpainted && (covered[green][c] == unpainted || covered[pink][c] == unpainted) {
			fresh[c] = max(covered[green][c], covered[pink][c])
		}
	}
	return fresh
}

// count: "the number of cells painted each color is counted".
func count(c *canvas) score {
	n := [pink + 1]int{}
	for _, is := range c {
		n[is]++
	}
	return score{Green: n[green], Pink: n[pink]}
}

// ahead returns the winner by the scores after each round, and how that was decided: "the team that colored more cells.
// In the case of a tie in total number of cells, the winning team is the one that was ahead at the end of Round 5. If
// this was still tied, we consider Round 4, then 3, etc."
func ahead(scores []score) (winner color, decidedBy string) {
	for i := len(scores) - 1; i >= 0; i-- {
		decidedBy = fmt.Sprintf("round-%d", i+1)
		if i == lastRound-1 {
			decidedBy = "cells"
		}
		switch s := scores[i]; {
		case s.Green > s.Pink:
			return green, decidedBy
		case s.Pink > s.Green:
			return pink, decidedBy
		}
	}
	return unpainted, "none"
}

// paintOf lists the cells of each color, sorted.
func paintOf(c *canvas) paint {
	n := count(c)
	list := paint{Green: make([]string, 0, n.Green), Pink: make([]string, 0, n.Pink)}
	for at, is := range c {
		switch is {
		case green:
			list.Green = append(list.Green, board.names[at])
		case pink:
			list.Pink = append(list.Pink, board.names[at])
		}
	}
	return list
}
