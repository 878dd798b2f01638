package nothingbutthetruth

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// draw is a board from six rows of "b", "w" and ".".
func draw(t *testing.T, rows string) board {
	t.Helper()
	var b board
	cells := strings.ReplaceAll(strings.Join(strings.Fields(rows), ""), " ", "")
	require.Len(t, cells, len(b))
	for cell, on := range cells {
		b[cell] = stone(strings.IndexRune(".bw", on))
	}
	return b
}

// randomBoards calls f with boards of every density.
func randomBoards(f func(b board, pick func(int) int)) {
	pick := rand.New(rand.NewPCG(1, 2)).IntN
	for range 3000 {
		var b board
		for n := pick(len(b) + 1); n > 0; n-- {
			b[pick(len(b))] = stone(1 + pick(2))
		}
		f(b, pick)
	}
}

// dumbGroups gives every stone a number of its own and lets neighbours of one colour take the lower of theirs, until
// nothing changes.
func dumbGroups(b board, seat int) []int {
	label := [side][side]int{}
	for row := range side {
		for column := range side {
			label[row][column] = row*side + column
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range len(b) * len(b) {
			from, to := i/len(b), i%len(b)
			distance := max(from/side-to/side, to/side-from/side) + max(from%side-to%side, to%side-from%side)
			if distance != 1 || b[from] != stone(seat+1) || b[to] != stone(seat+1) {
				continue
			}
			if low := &label[to/side][to%side]; label[from/side][from%side] < *low {
				*low = label[from/side][from%side]
				changed = true
			}
		}
	}
	count := make([]int, len(b))
	for cell := range b {
		if b[cell] == stone(seat+1) {
			count[label[cell/side][cell%side]]++
		}
	}
	var sizes []int
	for size := len(b); size > 0; size-- {
		for _, n := range count {
			if n == size {
				sizes = append(sizes, size)
			}
		}
	}
	return sizes
}

// dumbShift moves any stone that can move by one step, until none can.
func dumbShift(b board, direction string, anchor int) board {
	step := map[string][2]int{"up": {-1, 0}, "down": {1, 0}, "left": {0, -1}, "right": {0, 1}}[direction]
	for moved := true; moved; {
		moved = false
		for cell := range b {
			row, column := cell/side+step[0], cell%side+step[1]
			if b[cell] == 0 || cell == anchor || row < 0 || row == side || column < 0 || column == side {
				continue
			}
			if b[row*side+column] == 0 {
				b[row*side+column], b[cell] = b[cell], 0
				moved = true
			}
		}
	}
	return b
}

// dumbAhead compares the sizes place by place, a missing one as 0.
func dumbAhead(b board) int {
	var sizes [2][36]int
	for seat := range sizes {
		copy(sizes[seat][:], dumbGroups(b, seat))
	}
	for i := range sizes[0] {
		if sizes[0][i] > sizes[1][i] {
			return 0
		}
		if sizes[0][i] < sizes[1][i] {
			return 1
		}
	}
	return nobody
}

func TestGroupsAgainstTheirTwin(t *testing.T) {
	t.Parallel()
	randomBoards(func(b board, _ func(int) int) {
		for seat := range 2 {
			require.ElementsMatch(t, dumbGroups(b, seat), b.groups(seat), "%v", b)
			require.True(t, slices.IsSortedFunc(b.groups(seat), func(x, y int) int { return y - x }), "%v", b)
		}
	})
}

func TestShiftAgainstItsTwin(t *testing.T) {
	t.Parallel()
	randomBoards(func(b board, pick func(int) int) {
		for _, direction := range directions {
			anchor := pick(len(b)+1) - 1
			if anchor >= 0 && b[anchor] == empty {
				anchor = noAnchor
			}
			require.Equal(t, dumbShift(b, direction, anchor), b.shifted(direction, anchor), "%s %d %v", direction, anchor, b)
		}
	})
}

func TestAheadAgainstItsTwin(t *testing.T) {
	t.Parallel()
	ties := 0
	randomBoards(func(b board, _ func(int) int) {
		want := dumbAhead(b)
		if want == nobody {
			ties++
		}
		require.Equal(t, want, b.ahead(), "%v", b)
	})
	assert.NotZero(t, ties)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		rows         string
		black, white []int
	}{
		{"none", "...... ...... ...... ...... ...... ......", []int{}, []int{}},
		{"edges join", "bb.... b..... ...... ...... ...... ....ww", []int{3}, []int{2}},
		{"not diagonals", "b.b... .b.... w....w .w..w. ..ww.. ......", []int{1, 1, 1}, []int{2, 1, 1, 1, 1}},
		{"the other colour parts", "bwb... bwb... ...... ...... ...... ......", []int{2, 2}, []int{2}},
		{"the edge of the board does not join", ".....b b..... ...... ...... ...... ......", []int{1, 1}, []int{}},
		{"a whole board", "bbbbbb bbbbbb bbbbbb bbbbbb bbbbbb bbbbbb", []int{36}, []int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := draw(t, c.rows)
			assert.Equal(t, c.black, b.groups(0))
			assert.Equal(t, c.white, b.groups(1))
		})
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	var b board
	apart := []string{"A1", "A3", "A5", "C2", "C4", "C6"}
	for groups, price := range []int{8, 7, 6, 5, 4, 4, 4} {
		require.Len(t, b.groups(0), groups)
		assert.Equal(t, price, b.price(0), "%d groups", groups)
		assert.Equal(t, 8, b.price(1), "the other's groups don't count")
		if groups < len(apart) {
			cell, _ := parseCell(apart[groups])
			b[cell] = stoneOf(0)
		}
	}
}

func TestAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rows string
		ahead      int
	}{
		{"no stones", "...... ...... ...... ...... ...... ......", nobody},
		{"the single largest group", "bbb... ...... wwww.. ...... ...... ......", 1},
		{"not the number of stones", "b.b.b. .b.b.b ww.... ...... ...... ......", 1},
		{"the next largest", "bbb.bb ...... www..w ...... ...... ......", 0},
		{"a missing group is less than any", "bbb... ...... www..w ...... ...... ......", 1},
		{"all equal", "bbb.bb ...... www... ...ww. ...... ......", nobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := draw(t, c.rows)
			assert.Equal(t, c.ahead, b.ahead())
		})
	}
}

func TestShift(t *testing.T) {
	t.Parallel()
	rows := "b.w... ...... .bw..w ...... w..... .....b"
	for _, c := range []struct{ name, direction, anchor, want string }{
		{"until they hit a wall or another stone", "down", "", "...... ...... ...... ...... b.w..w wbw..b"},
		{"up", "up", "", "bbw..w w.w..b ...... ...... ...... ......"},
		{"left", "left", "", "bw.... ...... bww... ...... w..... b....."},
		{"right", "right", "", "....bw ...... ...bww ...... .....w .....b"},
		{"the anchor acts as a wall", "down", "C3", "...... ..w... ..w... ...... b....w wb...b"},
		{"an anchor at the wall", "down", "F6", "...... ...... ...... ...... b.w..w wbw..b"},
		{"an anchor before others", "right", "C2", "....bw ...... .b..ww ...... .....w .....b"},
		{"an anchor behind others", "left", "C6", "bw.... ...... bw...w ...... w..... b....."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := draw(t, rows)
			anchor := noAnchor
			if c.anchor != "" {
				anchor, _ = parseCell(c.anchor)
			}
			assert.Equal(t, draw(t, c.want), b.shifted(c.direction, anchor))
			assert.Equal(t, draw(t, rows), b, "the board itself stays")
		})
	}
}

func TestBoardIs6x6(t *testing.T) {
	t.Parallel()
	cell := 0
	for _, row := range "ABCDEF" {
		for column := 1; column <= 6; column++ {
			name := fmt.Sprintf("%c%d", row, column)
			got, ok := parseCell(name)
			assert.True(t, ok, name)
			assert.Equal(t, cell, got, name)
			assert.Equal(t, name, cellNames[got])
			cell++
		}
	}
	assert.Len(t, board{}, cell)
	for _, name := range []string{"", "A", "1", "A0", "A7", "G1", "J1", "Q8", "a1", "1A", "A10", "A1 ", " A1", "Á1", "A١"} {
		_, ok := parseCell(name)
		assert.False(t, ok, name)
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	full := draw(t, "bbbbbb wwwwww bbbbbb wwwwww bbbbbb wwwwww")
	assert.True(t, full.full())
	for cell := range full {
		b := full
		b[cell] = empty
		assert.False(t, b.full(), "without %s", cellNames[cell])
	}
}
