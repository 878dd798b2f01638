package statements

import (
	"fmt"
	"unicode"
)

// The numbers of the sheet: "The host must prepare 52 Objective True or False Statements in advance", of which each
// cycle takes four.
const (
	Count    = 52
	PerCycle = 4
	Cycles   = Count / PerCycle
	// MaxPoints is how many code points a text has at most.
	MaxPoints = 500
	// leastShare and mostShare are the percentages of true statements between which a list is "roughly 50/50".
	leastShare = 40
	mostShare  = 60
)

// Statement is an objective statement and whether it is true.
type Statement struct {
	Text  string `json:"text"`
	Truth bool   `json:"truth"`
}

// Visible reports whether a text shows anything: at least one character that is neither blank nor invisible.
func Visible(text string) bool {
	for _, r := range text {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return true
		}
	}
	return false
}

// OfCycle returns the four statements of a cycle, which counts from 1; the list must reach so far.
func OfCycle(list []Statement, cycle int) []Statement {
	return list[(cycle-1)*PerCycle : cycle*PerCycle : cycle*PerCycle]
}

// Uniform returns the first whole cycle whose statements are all true or all false, and which of the two; 0 where
// there is none. "No group of 4 for a round is all true or all false."
func Uniform(list []Statement) (cycle int, truth bool) {
	for cycle := 1; cycle*PerCycle <= len(list); cycle++ {
		if truth, uniform := uniform(list, cycle); uniform {
			return cycle, truth
		}
	}
	return 0, false
}

func uniform(list []Statement, cycle int) (truth, uniform bool) {
	four := OfCycle(list, cycle)
	n := countTrue(four)
	return four[0].Truth, n == 0 || n == PerCycle
}

func countTrue(list []Statement) int {
	n := 0
	for _, s := range list {
		if s.Truth {
			n++
		}
	}
	return n
}

// Lopsided returns a warning where the share of true statements is outside 40-60%, else nothing: "The set of statements
// should be roughly 50/50 true and false".
func Lopsided(list []Statement) string {
	n := countTrue(list)
	if n*100 >= leastShare*len(list) && n*100 <= mostShare*len(list) {
		return ""
	}
	return fmt.Sprintf("%d of %d statements are true; a share of %d-%d%% makes the better game",
		n, len(list), leastShare, mostShare)
}
