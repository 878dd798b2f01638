package sim

import (
	"maps"
	"slices"
	"strings"
)

// Minimise shortens a failing run to the steps that matter: it returns those to skip so that the seed still fails in
// the same check, and how many are left. told is called with how many are left, as that goes down.
func Minimise(seed uint64, told func(left int)) (skip map[int]bool, left int) {
	_, found := Try(Options{Seed: seed})
	if len(found) == 0 {
		return nil, 0
	}
	kind := kindOf(found)
	kept := shorten(faultySteps, func(kept []int) bool {
		_, found := Try(Options{Seed: seed, Skip: without(kept)})
		return slices.ContainsFunc(found, func(f string) bool { return kindOf([]string{f}) == kind })
	}, told)
	return without(kept), len(kept)
}

// shorten returns the least of n steps, none of which can be left out, with which a run still fails: Zeller's ddmin, by
// complements alone.
func shorten(n int, fails func(kept []int) bool, told func(left int)) []int {
	kept := make([]int, n)
	for i := range kept {
		kept[i] = i
	}
	for parts := 2; len(kept) > 1; {
		size := (len(kept) + parts - 1) / parts
		shorter := false
		for at := 0; at < len(kept); at += size {
			rest := append(slices.Clone(kept[:at]), kept[min(len(kept), at+size):]...)
			if fails(rest) {
				kept, shorter = rest, true
				told(len(kept))
				break
			}
		}
		switch {
		case shorter:
			parts = max(parts-1, 2)
		case size == 1:
			return kept
		default:
			parts = min(2*parts, len(kept))
		}
	}
	return kept
}

// without returns the steps to skip so that those remain.
func without(kept []int) map[int]bool {
	skip := map[int]bool{}
	for i := range faultySteps {
		skip[i] = true
	}
	maps.DeleteFunc(skip, func(step int, _ bool) bool { return slices.Contains(kept, step) })
	return skip
}

// kindOf names the check that a run failed first.
func kindOf(found []string) string {
	kind, _, _ := strings.Cut(found[0], ":")
	return kind
}
