package paintclash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// steps by name, as the rulebook gives them: neighbours of (R, c) are E (R, c+1), SE (R+1, c+1), SW (R+1, c),
// W (R, c-1), NW (R-1, c-1), NE (R-1, c).
var byHand = map[string][2]int{"E": {0, 1}, "SE": {1, 1}, "SW": {1, 0}, "W": {0, -1}, "NW": {-1, -1}, "NE": {-1, 0}}

// onBoard is the rulebook's formula: columns max(1, R - 7) .. min(17, R + 9).
func onBoard(row, column int) bool {
	return row >= 0 && row <= 16 && column >= max(1, row-7) && column <= min(17, row+9)
}

func nameOf(row, column int) string { return fmt.Sprintf("%c%d", 'A'+row, column) }

// dumbNeighbours are a cell's neighbours by the names alone.
func dumbNeighbours(name string) []string {
	row, column := int(name[0]-'A'), 0
	_, _ = fmt.Sscanf(name[1:], "%d", &column)
	var list []string
	for _, step := range byHand {
		if r, c := row+step[0], column+step[1]; onBoard(r, c) {
			list = append(list, nameOf(r, c))
		}
	}
	slices.Sort(list)
	return list
}

// dumbDistances are the steps from a cell to every other, by breadth-first search over neighbours.
func dumbDistances(from string) map[string]int {
	far := map[string]int{from: 0}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, n := range dumbNeighbours(queue[0]) {
			if _, seen := far[n]; !seen {
				far[n] = far[queue[0]] + 1
				queue = append(queue, n)
			}
		}
	}
	return far
}

// "This game takes place on a hexagonal grid with side length 9".
func TestTheBoardHas217Cells(t *testing.T) {
	var names []string
	for row := range 26 {
		for column := range 30 {
			name := nameOf(row, column)
			if found := board.find(name); onBoard(row, column) {
				require.NotEqual(t, nowhere, found, name)
				require.Equal(t, name, board.names[found])
				names = append(names, name)
			} else {
				require.Equal(t, nowhere, found, name)
			}
		}
	}
	require.Len(t, names, 217)
	require.Equal(t, names, board.names[:], "sorted by row, then column")
	width := map[byte]int{}
	for _, name := range names {
		width[name[0]]++
	}
	for row := range 9 {
		require.Equal(t, 9+row, width['A'+byte(row)])
		require.Equal(t, 9+row, width['Q'-byte(row)])
	}
	for _, name := range names {
		list := make([]string, 0, 6)
		for _, n := range board.neighbours[board.find(name)] {
			list = append(list, board.names[n])
		}
		slices.Sort(list)
		require.Equal(t, dumbNeighbours(name), list, name)
	}
}

// "the top right cell is A9, and the the top leftmost pink cell in the diagram is O7".
func TestA9IsTopRightAndO7LeftmostOfRowO(t *testing.T) {
	assert.Equal(t, "A9", board.names[8])
	assert.Equal(t, place{row: 0, column: 9}, board.places[board.find("A9")])
	assert.Equal(t, nowhere, board.from(board.find("A9"), offset{1, 0}))
	zone := board.zone(pink)
	assert.Equal(t, "O7", board.names[zone[0]])
	assert.Equal(t, nowhere, board.from(board.find("O7"), offset{-1, 0}))
}

func TestNoSuchCell(t *testing.T) {
	for _, name := range []string{
		"", "A", "1", "A0", "A01", "A10", "J1", "Q8", "O6", "R9", "a1", "@1", "A1 ", " A1", "A-1", "A+1", "A1.0", "I18",
		"I170", "I99999999999999999999", "Ä1", "A１", "AA1", "A1A", "A/", "A:", "A;1",
	} {
		assert.Equal(t, nowhere, board.find(name), "%q", name)
	}
}

// "The green team must start in one of the cells colored green ..., and similar for the pink team."
func TestZones(t *testing.T) {
	for team, letters := range map[color]string{green: "ABC", pink: "OPQ"} {
		var want []string
		for _, name := range board.names {
			if strings.ContainsRune(letters, rune(name[0])) {
				want = append(want, name)
			}
		}
		var got []string
		for _, c := range board.zone(team) {
			got = append(got, board.names[c])
		}
		require.Len(t, got, 30)
		require.Equal(t, want, got)
	}
}

// **Ruling**: "away" counts steps in any directions, bends included.
func TestDistanceIsTheNumberOfSteps(t *testing.T) {
	for _, from := range board.names {
		far := dumbDistances(from)
		require.Len(t, far, cells)
		a := board.find(from)
		for to, steps := range far {
			b := board.find(to)
			require.Equal(t, steps, board.distance(a, b), "%s %s", from, to)
			require.Equal(t, steps == 1 || steps == 2, slices.Contains(board.walks[a], b), "%s %s", from, to)
		}
	}
}

// dumbSwims tries every way of up to four steps over painted cells.
func dumbSwims(at string, left int, painted map[string]bool, reached map[string]bool) {
	if !painted[at] {
		return
	}
	reached[at] = true
	if left > 0 {
		for _, n := range dumbNeighbours(at) {
			dumbSwims(n, left-1, painted, reached)
		}
	}
}

func TestSquidReachIsEveryWayOfFourSteps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	swam := 0
	for range 150 {
		painted := map[string]bool{}
		density := 40 + random.IntN(60)
		for _, name := range board.names {
			painted[name] = random.IntN(100) < density
		}
		from := board.names[random.IntN(cells)]
		want := map[string]bool{}
		dumbSwims(from, 4, painted, want)
		delete(want, from) // "players move to a different cell"
		own := [cells]bool{}
		for c := range own {
			own[c] = painted[board.names[c]]
		}
		var list []string
		for _, name := range board.names {
			if want[name] {
				list = append(list, name)
			}
		}
		require.Equal(t, list, append([]string(nil), board.list(board.swims(board.find(from), &own))...), "from %s", from)
		swam += len(want)
	}
	require.Greater(t, swam, 1000)
}
