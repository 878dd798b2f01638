package nothingbutthetruth

import (
	"slices"
	"strings"
)

// The board is 6x6: rows A-F from the top, columns 1-6 from the left. A cell is row*side + column, so that the order of
// cells is the rulebook's: by row, then by column.
const (
	side     = 6
	noAnchor = -1
)

const (
	rowNames    = "ABCDEF"
	columnNames = "123456"
)

// What doesn't depend on the stones is worked out once, by cell: its name, and the cells that share an edge with it.
var (
	cellNames = eachCell(nameOf)
	adjacent  = eachCell(neighbours)
)

func eachCell[T any](of func(cell int) T) (all [side * side]T) {
	for cell := range all {
		all[cell] = of(cell)
	}
	return all
}

func nameOf(cell int) string { return rowNames[cell/side:][:1] + columnNames[cell%side:][:1] }

func neighbours(cell int) []int {
	row, column := cell/side, cell%side
	next := make([]int, 0, 4)
	if row > 0 {
		next = append(next, cell-side)
	}
	if row < side-1 {
		next = append(next, cell+side)
	}
	if column > 0 {
		next = append(next, cell-1)
	}
	if column < side-1 {
		next = append(next, cell+1)
	}
	return next
}

// directions are those of a shift.
var directions = []string{"up", "down", "left", "right"}

// stone is what stands on a cell: nothing, or a seat's.
type stone uint8

// empty is a cell without a stone.
const empty stone = 0

func stoneOf(seat int) stone { return stone(seat + 1) }

// board is a value: a copy shares nothing with what it was copied from.
type board [side * side]stone

func parseCell(name string) (cell int, ok bool) {
	if len(name) != 2 {
		return 0, false
	}
	row, column := strings.IndexByte(rowNames, name[0]), strings.IndexByte(columnNames, name[1])
	if row < 0 || column < 0 {
		return 0, false
	}
	return row*side + column, true
}

// namesOf are the names of cells, never nil.
func namesOf(cells []int) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		list[i] = cellNames[cell]
	}
	return list
}

// cells are the sorted cells that hold such a stone.
func (b *board) cells(of stone) []int {
	cells := make([]int, 0, len(b))
	for cell, on := range b {
		if on == of {
			cells = append(cells, cell)
		}
	}
	return cells
}

func (b *board) full() bool { return !slices.Contains(b[:], empty) }

// groups are the sizes of a seat's groups from the largest down, never nil: "a cluster of stones fully connected by
// their edges (not diagonals)".
func (b *board) groups(seat int) []int {
	sizes := []int{}
	left := *b // stones not counted yet
	for start := range left {
		if left[start] != stoneOf(seat) {
			continue
		}
		size := 0
		left[start] = empty
		open := append(make([]int, 0, len(b)), start) // counted, their neighbours not looked at yet
		for ; len(open) > 0; size++ {
			cell := open[len(open)-1]
			open = open[:len(open)-1]
			for _, next := range adjacent[cell] {
				if left[next] == stoneOf(seat) {
					left[next] = empty
					open = append(open, next)
				}
			}
		}
		sizes = append(sizes, size)
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes
}

// price is what a stone costs a seat: "Stones cost 8 coins, minus 1 for every group of stones the player currently has
// on the board. Stone cost cannot drop below 4 coins."
func (b *board) price(seat int) int { return max(leastPrice, fullPrice-len(b.groups(seat))) }

// shifted is the board after a shift: "Stones will then move in the specified direction as much as possible, until they
// hit a wall or another stone. The anchor will not move, and simply acts as a wall."
func (b *board) shifted(direction string, anchor int) board {
	var after board
	for line := range side {
		free := 0 // how far from the wall the next stone comes to rest
		for distance := range side {
			from := cellAt(direction, line, distance)
			switch {
			case b[from] == empty:
			case from == anchor:
				after[from] = b[from]
				free = distance + 1
			default:
				after[cellAt(direction, line, free)] = b[from]
				free++
			}
		}
	}
	return after
}

// cellAt is the cell of a line along a direction that is so far from the wall in that direction.
func cellAt(direction string, line, distance int) int {
	switch direction {
	case "up":
		return distance*side + line
	case "down":
		return (side-1-distance)*side + line
	case "left":
		return line*side + distance
	case "right":
		return line*side + side - 1 - distance
	}
	panic("nothingbutthetruth: no direction of a shift: " + direction)
}

// ahead is the seat whose groups win, or nobody: "The winner is the player with the single largest group of stones. If
// tied, next largest groups are compared and so on." A missing group counts 0, and every group more than that, so the
// comparison is the lexical one.
func (b *board) ahead() int {
	switch slices.Compare(b.groups(0), b.groups(1)) {
	case 1:
		return 0
	case -1:
		return 1
	}
	return nobody
}
