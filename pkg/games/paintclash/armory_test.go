package paintclash

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// dumbTurn turns an offset clockwise by 60 degrees step by step: each step of a way to it becomes the next direction's.
func dumbTurn(o offset) offset {
	turned := offset{}
	add := func(step offset, times int8) {
		for range max(times, -times) {
			if times > 0 {
				turned = offset{turned[0] + step[0], turned[1] + step[1]}
			} else {
				turned = offset{turned[0] - step[0], turned[1] - step[1]}
			}
		}
	}
	add(offset{0, 1}, o[0])  // E becomes SE
	add(offset{-1, 1}, o[1]) // SE becomes SW
	return turned
}

// "The direction which you shoot the gun can be rotated (for instance, Gun 2 can shoot rightwards)."
func TestShapesTurn(t *testing.T) {
	for i, step := range steps {
		require.Equal(t, step, turned(offset{1, 0}, i), directions[i])
	}
	for gun := 1; gun <= guns; gun++ {
		shape := slices.Clone(standard[gun-1])
		for direction := range 6 {
			require.Equal(t, shape, standard.shape(gun, direction))
			for i := range shape {
				shape[i] = dumbTurn(shape[i])
			}
		}
		require.Equal(t, standard[gun-1], shape, "six turns are none")
	}
	assert.Equal(t, []string{"C3", "C4", "B4", "C5", "D5"}, covered(2, "E", "C3"), "rightwards")
	assert.Equal(t, []string{"I9", "I8", "J8", "I7", "H7"}, covered(2, "W", "I9"))
	assert.Equal(t, []string{"I9", "J10", "K11", "L12", "M13", "N14"}, covered(1, "SE", "I9"))
	assert.Equal(t, []string{"I9", "H9", "G9", "F9", "E9", "D9"}, covered(1, "NE", "I9"))
}

// covered are the cells that a gun of the standard armory covers, in the shape's order.
func covered(gun int, direction, from string) []string {
	var names []string
	for _, o := range standard.shape(gun, slices.Index(directions, direction)) {
		if c := board.from(board.find(from), o); c != nowhere {
			names = append(names, board.names[c])
		}
	}
	return names
}

// dumbAlike compares the sets of all six rotations.
func dumbAlike(shape []offset) bool {
	set := func(list []offset) map[offset]bool {
		m := map[offset]bool{}
		for _, o := range list {
			m[o] = true
		}
		return m
	}
	first, list := set(shape), slices.Clone(shape)
	for range 6 {
		for i := range list {
			list[i] = dumbTurn(list[i])
		}
		if !assert.ObjectsAreEqual(first, set(list)) {
			return false
		}
	}
	return true
}

// dumbConnected joins cells that are neighbours until nothing changes.
func dumbConnected(shape []offset) bool {
	piece := map[offset]int{}
	for i, o := range shape {
		piece[o] = i
	}
	for range shape {
		for _, o := range shape {
			for _, step := range steps {
				if other, in := piece[offset{o[0] + step[0], o[1] + step[1]}]; in {
					piece[o] = min(piece[o], other)
				}
			}
		}
	}
	for _, p := range piece {
		if p != 0 {
			return false
		}
	}
	return true
}

// Guns that look the same in every direction may leave it out: which, is decided from the armory.
func TestAlikeAndConnected(t *testing.T) {
	var alike, whole []int
	for gun := 1; gun <= guns; gun++ {
		if standard.alike(gun) {
			alike = append(alike, gun)
		}
		if connected(standard[gun-1]) {
			whole = append(whole, gun)
		}
	}
	assert.Equal(t, []int{3, 6}, alike)
	assert.Equal(t, []int{1, 2, 3, 5}, whole, "with the exception of Guns 4 and 6")
	random := rand.New(rand.NewPCG(3, 4))
	seen := map[[2]bool]bool{}
	for range 4000 {
		shape := []offset{{}}
		for range random.IntN(5) {
			o := offset{int8(random.IntN(5) - 2), int8(random.IntN(5) - 2)}
			around := 1 + 5*random.IntN(2)
			for range around {
				if !slices.Contains(shape, o) {
					shape = append(shape, o)
				}
				o = dumbTurn(o)
			}
		}
		require.Equal(t, dumbAlike(shape), armory{shape}.alike(1), "%v", shape)
		require.Equal(t, dumbConnected(shape), connected(shape), "%v", shape)
		seen[[2]bool{dumbAlike(shape), dumbConnected(shape)}] = true
	}
	require.Len(t, seen, 4)
}

// The standard armory is the rulebook's.
func TestStandardArmory(t *testing.T) {
	raw, err := json.Marshal(standard)
	require.NoError(t, err)
	assert.JSONEq(t, `[
		[[0,0],[1,0],[2,0],[3,0],[4,0],[5,0]],
		[[0,0],[1,0],[2,-1],[2,0],[1,1]],
		[[0,0],[1,0],[0,1],[-1,1],[-1,0],[0,-1],[1,-1]],
		[[0,0],[4,0],[5,0],[4,1],[3,1],[3,0],[4,-1],[5,-1]],
		[[0,0],[1,-1],[2,-2],[3,-3],[0,1],[0,2],[0,3]],
		[[0,0],[2,0],[0,2],[-2,2],[-2,0],[0,-2],[2,-2]]]`, string(raw))
	for gun := 1; gun <= guns; gun++ {
		assert.NoError(t, fits("", gun, standard[gun-1]))
	}
}

// shapes is the lanes' armory with one shape replaced.
func shapes(gun int, shape any) []any {
	list := []any{}
	for i := range lanes {
		if i+1 == gun {
			list = append(list, shape)
		} else {
			list = append(list, lanes[i])
		}
	}
	return list
}

// disc is a disc of cells around [0,0], which is among them, most of them at the most.
func disc(radius, most int) [][2]int {
	list := [][2]int{}
	for q := -radius; q <= radius; q++ {
		for r := max(-radius, -q-radius); r <= min(radius, -q+radius) && len(list) < most; r++ {
			list = append(list, [2]int{q, r})
		}
	}
	return list
}

// "Each gun covers the cell you are standing on at time of use, and with the exception of Guns 4 and 6, each gun covers a
// connected component of cells."
func TestArmory(t *testing.T) {
	many := slices.Repeat([][2]int{{0, 0}}, 61)
	raw := func(s string) any { return json.RawMessage(s) }
	for name, c := range map[string]struct {
		armory any
		field  string // of the error, "" for none
	}{
		"lanes":                 {lanes, ""},
		"null":                  {nil, "options.armory"},
		"an object":             {map[string]any{}, "options.armory"},
		"five shapes":           {lanes[:5], "options.armory"},
		"seven shapes":          {append(slices.Clone(lanes), lanes[0]), "options.armory"},
		"a shape that is none":  {shapes(2, "line"), "options.armory[1]"},
		"no cell at all":        {shapes(2, [][2]int{}), "options.armory[1]"},
		"without one's own":     {shapes(3, [][2]int{{1, 0}}), "options.armory[2]"},
		"61 offsets":            {shapes(1, disc(4, 61)), ""},
		"62 offsets":            {shapes(1, disc(5, 62)), "options.armory[0]"},
		"61 with repeats":       {shapes(1, many), ""},
		"62 with repeats":       {shapes(1, append(many, many[0])), "options.armory[0]"},
		"one number":            {shapes(5, [][]int{{0, 0}, {1}}), "options.armory[4][1]"},
		"three numbers":         {shapes(5, [][]int{{0, 0}, {1, 0, 0}}), "options.armory[4][1]"},
		"an offset as object":   {shapes(5, raw(`[[0,0],{"q":1,"r":0}]`)), "options.armory[4][1]"},
		"farthest":              {shapes(6, [][2]int{{0, 0}, {16, -16}, {-16, 16}}), ""},
		"too far":               {shapes(6, [][2]int{{0, 0}, {17, 0}}), "options.armory[5][1][0]"},
		"too far the other way": {shapes(6, [][2]int{{0, 0}, {0, -17}}), "options.armory[5][1][1]"},
		"very far":              {shapes(6, raw(`[[0,0],[0,1000000000000000000000000000000]]`)), "options.armory[5][1][1]"},
		"no whole number":       {shapes(6, raw(`[[0,0],[2.0,0]]`)), "options.armory[5][1][0]"},
		"a string":              {shapes(6, raw(`[[0,0],["2",0]]`)), "options.armory[5][1][0]"},
		"1 apart":               {shapes(1, [][2]int{{0, 0}, {2, 0}}), "options.armory[0]"},
		"2 apart":               {shapes(2, [][2]int{{0, 0}, {1, 1}}), "options.armory[1]"},
		"3 apart":               {shapes(3, [][2]int{{0, 0}, {1, 0}, {3, 0}}), "options.armory[2]"},
		"5 apart":               {shapes(5, [][2]int{{2, 0}, {1, 1}, {0, 0}}), "options.armory[4]"},
		"4 connected":           {shapes(4, [][2]int{{0, 0}, {1, 0}}), "options.armory[3]"},
		"6 connected":           {shapes(6, [][2]int{{0, 0}}), "options.armory[5]"},
		"4 in any order":        {shapes(4, [][2]int{{2, 0}, {0, 0}, {2, 0}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t, setup(option("armory", c.armory)))
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			var bad *match.SetupError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, c.field, bad.Field)
		})
	}
}

// Repeats are harmless: a match with them says and plays the same.
func TestArmoryRepeatsAreHarmless(t *testing.T) {
	twice := shapes(3, [][2]int{{0, 0}, {1, 0}, {0, 0}, {1, 0}})
	once := shapes(3, [][2]int{{0, 0}, {1, 0}})
	p, q := begun(t, option("armory", twice)), begun(t, option("armory", once))
	assert.Equal(t, q.only("match-created").public, p.only("match-created").public)
}

// The armory is public: it stands in match-created, also where it is the standard one.
func TestTheArmoryIsPublic(t *testing.T) {
	var created struct{ Setup prepared }
	require.NoError(t, json.Unmarshal([]byte(begun(t).only("match-created").public), &created))
	assert.Equal(t, standard, created.Setup.Armory)
}
