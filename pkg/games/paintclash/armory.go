package paintclash

import (
	"fmt"
	"slices"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

const (
	guns        = 6
	mostOffsets = 61 // of a shape, as it is given
	farthest    = 16 // an offset's numbers
)

// armory are the shapes of the guns, for direction E, each without repeats.
type armory [][]offset

// standard is the armory of a match that brings none: line, cone, burst, mortar, fork, ring.
var standard = armory{
	{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}},
	{{0, 0}, {1, 0}, {2, -1}, {2, 0}, {1, 1}},
	{{0, 0}, {1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}},
	{{0, 0}, {4, 0}, {5, 0}, {4, 1}, {3, 1}, {3, 0}, {4, -1}, {5, -1}},
	{{0, 0}, {1, -1}, {2, -2}, {3, -3}, {0, 1}, {0, 2}, {0, 3}},
	{{0, 0}, {2, 0}, {0, 2}, {-2, 2}, {-2, 0}, {0, -2}, {2, -2}},
}

// turned returns an offset turned clockwise by 60 degrees so many times.
func turned(o offset, times int) offset {
	for range times {
		o = offset{-o[1], o[0] + o[1]}
	}
	return o
}

// shape returns what a gun covers, turned to a direction.
func (a armory) shape(gun, direction int) []offset {
	shape := make([]offset, len(a[gun-1]))
	for i, o := range a[gun-1] {
		shape[i] = turned(o, direction)
	}
	return shape
}

// alike reports whether a gun looks the same in every direction. One turn tells: if it changes nothing, none does.
func (a armory) alike(gun int) bool {
	return !slices.ContainsFunc(a.shape(gun, 1), func(o offset) bool { return !slices.Contains(a[gun-1], o) })
}

// connected reports whether a shape's cells are one piece.
func connected(shape []offset) bool {
	reached := shape[:1:1]
	for i := 0; i < len(reached); i++ {
		for _, step := range steps {
			n := offset{reached[i][0] + step[0], reached[i][1] + step[1]}
			if slices.Contains(shape, n) && !slices.Contains(reached, n) {
				reached = append(reached, n)
			}
		}
	}
	return len(reached) == len(shape)
}

// readArmory reads options.armory: six shapes, each a list of offsets.
func readArmory(v event.Value) (armory, error) {
	const field = "options.armory"
	if v.Kind != event.Array || len(v.Items()) != guns {
		return nil, match.BadSetup(field, "must be a list of six shapes, each a list of offsets [q, r]")
	}
	read := make(armory, guns)
	for i, item := range v.Items() {
		at := fmt.Sprintf("%s[%d]", field, i)
		shape, err := readShape(at, item)
		if err != nil {
			return nil, err
		}
		if err := fits(at, i+1, shape); err != nil {
			return nil, err
		}
		read[i] = shape
	}
	return read, nil
}

// fits: "Each gun covers the cell you are standing on at time of use, and with the exception of Guns 4 and 6, each gun
// covers a connected component of cells."
func fits(at string, gun int, shape []offset) error {
	if !slices.Contains(shape, offset{}) {
		return match.BadSetup(at, "must cover [0,0], the cell that the player stands on")
	}
	apart := gun == 4 || gun == 6
	switch {
	case !apart && !connected(shape):
		return match.BadSetup(at, "must be connected: gun %d covers one piece", gun)
	case apart && connected(shape):
		return match.BadSetup(at, "must not be connected: gun %d covers cells apart", gun)
	}
	return nil
}

// readShape reads a list of offsets; repeats are harmless and dropped.
func readShape(at string, v event.Value) ([]offset, error) {
	if v.Kind != event.Array || len(v.Items()) > mostOffsets {
		return nil, match.BadSetup(at, "must be a list of at most %d offsets", mostOffsets)
	}
	shape := []offset{}
	for i, item := range v.Items() {
		if item.Kind != event.Array || len(item.Items()) != 2 {
			return nil, match.BadSetup(fmt.Sprintf("%s[%d]", at, i), "must be an offset [q, r]")
		}
		o := offset{}
		for axis, number := range item.Items() {
			n, ok := number.Int()
			if !ok || n < -farthest || n > farthest {
				return nil, match.BadSetup(fmt.Sprintf("%s[%d][%d]", at, i, axis),
					"must be a whole number from -%d to %d", farthest, farthest)
			}
			o[axis] = int8(n)
		}
		if !slices.Contains(shape, o) {
			shape = append(shape, o)
		}
	}
	return shape, nil
}
