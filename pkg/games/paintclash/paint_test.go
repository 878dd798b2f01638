package paintclash

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// dumbSplash looks at every cell: who of the eight covers it?
func dumbSplash(old map[string]string, shots []shot) map[string]string {
	fresh := map[string]string{}
	for _, name := range &board.names {
		by := map[string]bool{}
		for _, s := range shots {
			for _, o := range s.shape {
				if c := board.from(s.from, o); c != nowhere && board.names[c] == name {
					by[s.team.name()] = true
				}
			}
		}
		if old[name] == "" && len(by) == 1 {
			for team := range by {
				fresh[name] = team
			}
		}
	}
	return fresh
}

func TestSplashAgainstItsTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		old, oldNames := canvas{}, map[string]string{}
		for c := range old {
			if random.IntN(3) == 0 {
				old[c] = color(1 + random.IntN(2))
			}
			oldNames[board.names[c]] = old[c].name()
		}
		middle := board.find("I9")
		shots := make([]shot, players)
		for i := range shots {
			from := board.from(middle, offset{int8(random.IntN(7) - 3), int8(random.IntN(7) - 3)})
			if random.IntN(4) == 0 {
				from = cell(random.IntN(cells))
			}
			shots[i] = shot{team: color(1 + i%2), from: from, shape: standard.shape(1+random.IntN(guns), random.IntN(6))}
		}
		fresh := splash(&old, shots)
		want := dumbSplash(oldNames, shots)
		for c, is := range fresh {
			require.Equal(t, want[board.names[c]], is.name(), board.names[c])
		}
		listed := paintOf(&fresh)
		assert.Equal(t, score{len(listed.Green), len(listed.Pink)}, count(&fresh))
	}
}

// "The winning team is the team that colored more cells. In the case of a tie in total number of cells, the winning team
// is the one that was ahead at the end of Round 5. If this was still tied, we consider Round 4, then 3, etc."
func TestAhead(t *testing.T) {
	for name, c := range map[string]struct {
		greens, pinks [lastRound]int
		winner        color
		by            string
	}{
		"green has more":     {[6]int{1, 1, 1, 1, 1, 9}, [6]int{2, 2, 2, 2, 2, 8}, green, "cells"},
		"pink has more":      {[6]int{2, 2, 2, 2, 2, 8}, [6]int{1, 1, 1, 1, 1, 9}, pink, "cells"},
		"ahead after 5":      {[6]int{1, 1, 1, 1, 5, 9}, [6]int{2, 2, 2, 2, 4, 9}, green, "round-5"},
		"ahead after 4":      {[6]int{1, 1, 1, 3, 5, 9}, [6]int{0, 0, 0, 4, 5, 9}, pink, "round-4"},
		"ahead after 3":      {[6]int{1, 1, 3, 4, 5, 9}, [6]int{2, 2, 2, 4, 5, 9}, green, "round-3"},
		"ahead after 2":      {[6]int{1, 1, 3, 4, 5, 9}, [6]int{0, 2, 3, 4, 5, 9}, pink, "round-2"},
		"ahead after 1":      {[6]int{1, 2, 3, 4, 5, 9}, [6]int{0, 2, 3, 4, 5, 9}, green, "round-1"},
		"always tied":        {[6]int{1, 2, 3, 4, 5, 9}, [6]int{1, 2, 3, 4, 5, 9}, unpainted, "none"},
		"nothing is painted": {[6]int{}, [6]int{}, unpainted, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			scores := make([]score, lastRound)
			for i := range scores {
				scores[i] = score{Green: c.greens[i], Pink: c.pinks[i]}
			}
			winner, by := ahead(scores)
			assert.Equal(t, c.winner, winner)
			assert.Equal(t, c.by, by)
		})
	}
}

// "cells you cover with your gun will be painted your team's color. However, you cannot paint over already-painted
// cells; covering those cells will have no effect. In addition, if the same cell is covered by both teams, it will remain
// unpainted, regardless of how many players on each team attempt to paint it."
func TestPaint(t *testing.T) {
	p := started(t, crowd)
	p.submit("p1", roundOf("walk E5 1 SE")) // E5 F6 G7 H8 I9 J10
	for _, id := range []string{"p2", "p3", "p4"} {
		p.submit(id, roundOf("walk B9 1 E")) // B9 B10, and beyond the edge
	}
	p.submit("p5", roundOf("walk M12 1 NW")) // M12 L11 K10 J9 I8 H7
	for _, id := range []string{"p6", "p7", "p8"} {
		p.submit(id, roundOf("walk P9 1 W")) // P9 P8
	}
	public := p.table(match.Public)
	assert.Equal(t, paint{
		Green: []string{"B9", "B10", "E5", "F6", "G7", "H8", "I9", "J10"},
		Pink:  []string{"H7", "I8", "J9", "K10", "L11", "M12", "P8", "P9"},
	}, public.Paint)
	assert.Equal(t, []roundScore{{1, score{8, 8}}}, public.Scores)

	p.round(map[string]string{
		"p1": "walk G6 3",  // G6 and around: G5 G7 F5 F6 H6 H7
		"p2": "walk B10 3", // B10 B9 B11- A9 C10 C11 A10-
		"p5": "walk K11 6", // K11 K13 M13 M11 K9 I9 I11
		"p6": "walk O8 2 NE", "p7": "walk P10 4 E", "p8": "walk Q10 4 E",
		"p3": "walk A9 4 W", "p4": "walk A9 6",
	})
	public = p.table(match.Public)
	assert.Contains(t, public.Paint.Pink, "H7", "pink it stays, though green covers it")
	assert.NotContains(t, public.Paint.Green, "H7")
	assert.Contains(t, public.Paint.Green, "I9", "green it stays, though pink covers it")
	assert.NotContains(t, public.Paint.Pink, "I9")
	assert.Subset(t, public.Paint.Green, []string{"G6", "G5", "F5", "H6"})
}

// Covered by both teams, "regardless of how many players on each team attempt to paint it".
func TestCoveredByBothStaysUnpainted(t *testing.T) {
	for greens := 1; greens <= teamSize; greens++ {
		for pinks := 1; pinks <= teamSize; pinks++ {
			p := started(t, "C6 C6 C6 C6 O16 O16 O16 O16")
			does := map[string]string{}
			for i, id := range everybody {
				switch {
				case i < greens:
					does[id] = "walk E7 1 SE" // E7 F8 G9 H10 I11 J12
				case i < teamSize:
					does[id] = "walk C5 3"
				case i < teamSize+pinks:
					does[id] = "walk M15 1 NW" // M15 L14 K13 J12 I11 H10
				default:
					does[id] = "walk O17 3"
				}
			}
			p.round(does)
			public := p.table(match.Public)
			for _, name := range []string{"H10", "I11", "J12"} {
				assert.NotContains(t, public.Paint.Green, name, "%d against %d", greens, pinks)
				assert.NotContains(t, public.Paint.Pink, name, "%d against %d", greens, pinks)
			}
			assert.Subset(t, public.Paint.Green, []string{"E7", "F8", "G9"})
			assert.Subset(t, public.Paint.Pink, []string{"M15", "L14", "K13"})
		}
	}
}

// "Covering a player with paint has no effect."
func TestPaintDoesNothingToPlayers(t *testing.T) {
	p := started(t, "C4 C4 A9 A9 O14 Q9 Q9 Q9")
	p.round(map[string]string{"p1": "walk C5 3", "p2": "walk C6 1 E"})
	p.round(map[string]string{"p1": "walk D6 1 E", "p2": "walk C5 3"})
	public := p.table(match.Public)
	assert.Equal(t, "D6", public.Positions["p1"])
	assert.Equal(t, "C5", public.Positions["p2"])
}
