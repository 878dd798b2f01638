package paintclash

import (
	"slices"
	"strconv"
)

// The board is "a hexagonal grid with side length 9", pointy-top, rows A (top) to Q. "The coordinates ... work by taking
// the row letter of the cell and matching it with the diagonal down-left column number that matches it."
const (
	side     = 9
	rows     = 2*side - 1
	cells    = 3*side*(side-1) + 1 // 217
	nowhere  = cell(-1)
	startRow = 3 // rows of a team's zone
)

// cell is a cell by its place in the order of rows, then columns: lists of cells that are sorted as numbers are sorted
// as the rulebook sorts them.
type cell int16

// offset is a step [q, r] in axial coordinates: E is [1,0], SE is [0,1].
type offset [2]int8

// directions are the six ways to turn to, clockwise from the one in which shapes are given.
var directions = []string{"E", "SE", "SW", "W", "NW", "NE"}

// steps lead to the neighbours, one in each of the directions.
var steps = [6]offset{{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}}

// place is where a cell lies: row from 0, column as in its name.
type place struct{ row, column int }

// grid is the board worked out once: where each cell lies, its name, its neighbours, the cells that can be walked to,
// and which cell lies at a place.
type grid struct {
	places     [cells]place
	names      [cells]string
	neighbours [cells][]cell
	walks      [cells][]cell    // sorted
	at         [rows][rows]cell // by row and column - 1
}

var board = layOut()

func layOut() *grid {
	g := &grid{}
	next := cell(0)
	for row := range rows {
		for column := 1; column <= rows; column++ {
			if column < max(1, row-side+2) || column > min(rows, row+side) {
				g.at[row][column-1] = nowhere
				continue
			}
			g.places[next] = place{row, column}
			g.names[next] = string(rune('A'+row)) + strconv.Itoa(column)
			g.at[row][column-1] = next
			next++
		}
	}
	for c := range g.neighbours {
		for _, step := range steps {
			if n := g.from(cell(c), step); n != nowhere {
				g.neighbours[c] = append(g.neighbours[c], n)
			}
		}
		for to := range cell(cells) {
			if g.walkable(cell(c), to) {
				g.walks[c] = append(g.walks[c], to)
			}
		}
	}
	return g
}

// from returns the cell that an offset leads to, nowhere beyond the edge. A step SE changes the column too: columns run
// down-left.
func (g *grid) from(c cell, o offset) cell {
	q, r := int(o[0]), int(o[1])
	row, column := g.places[c].row+r, g.places[c].column+q+r
	if row < 0 || row >= rows || column < 1 || column > rows {
		return nowhere
	}
	return g.at[row][column-1]
}

// find returns the cell of a name, nowhere where there is none.
func (g *grid) find(name string) cell {
	if len(name) < 2 || name[0] < 'A' || name[0] >= 'A'+rows || name[1] == '0' {
		return nowhere
	}
	column := 0
	for _, digit := range []byte(name[1:]) {
		if column = column*10 + int(digit) - '0'; digit < '0' || digit > '9' || column > rows {
			return nowhere
		}
	}
	return g.at[name[0]-'A'][column-1]
}

// list returns the names of cells.
func (g *grid) list(cells []cell) []string {
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i] = g.names[c]
	}
	return names
}

// distance is the number of steps between two cells, bends included: "up to two cells away in any direction".
func (g *grid) distance(a, b cell) int {
	down := g.places[b].row - g.places[a].row
	right := g.places[b].column - g.places[a].column
	if down < 0 != (right < 0) { // no step does both: SE and NW change row and column alike
		return abs(down) + abs(right)
	}
	return max(abs(down), abs(right))
}

func abs(n int) int { return max(n, -n) }

// zone returns the cells in which a team may start, sorted: "Green team must choose one in rows A, B, or C, while Pink
// team must choose one in rows O, P, or Q."
func (g *grid) zone(team color) []cell {
	zone := []cell{}
	for c := range cell(cells) {
		if g.inZone(c, team) {
			zone = append(zone, c)
		}
	}
	return zone
}

func (g *grid) inZone(c cell, team color) bool {
	if team == green {
		return g.places[c].row < startRow
	}
	return g.places[c].row >= rows-startRow
}

// walkable: "players move to a different cell ... you may move up to two cells away in any direction."
func (g *grid) walkable(from, to cell) bool { return from != to && g.distance(from, to) <= walkSteps }

// swims returns the cells that a squid can reach from a cell, sorted: "four cells away in any direction. However, when
// moving as a squid, all cells you traverse, including the ones you start and end on, must already be painted with your
// team's color." The cell itself is not among them.
func (g *grid) swims(from cell, own *[cells]bool) []cell {
	if !own[from] {
		return nil
	}
	seen := [cells]bool{}
	seen[from] = true
	reached := []cell{}
	front := []cell{from}
	for range squidSteps {
		var next []cell
		for _, c := range front {
			for _, n := range g.neighbours[c] {
				if own[n] && !seen[n] {
					seen[n] = true
					next = append(next, n)
				}
			}
		}
		reached = append(reached, next...)
		front = next
	}
	slices.Sort(reached)
	return reached
}
