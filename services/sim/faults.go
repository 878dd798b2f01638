package sim

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// fault is a kind of trouble, or of trouble-making.
type fault string

// The faults of the world.
const (
	deliverAgain    fault = "deliver again"
	deliverLater    fault = "deliver later"
	crash           fault = "crash"
	stayDead        fault = "stay dead"
	wipeQueue       fault = "wipe the queue"
	appendFails     fault = "append fails"
	appendConflicts fault = "append conflicts"
	appendUnknown   fault = "append unknown"
	stallProjector  fault = "stall the projector"
	gatewayAway     fault = "gateway away"
	queueAway       fault = "queue away"
	logAway         fault = "log away"
	replyLost       fault = "reply lost"
	requestTwice    fault = "request twice"
)

// The faults of people.
const (
	moveIllegally fault = "move illegally"
	moveLate      fault = "move late"
	sameKey       fault = "same key again"
	otherContent  fault = "same key, other content"
	twoDevices    fault = "two devices"
	saySilent     fault = "say nothing"
	pauseMatch    fault = "pause"
	extendClock   fault = "extend"
	voidMatch     fault = "void"
	loseLink      fault = "lose a link"
)

// chances are how often each fault strikes where it can, in a run that has it; the run's draw scales them.
var chances = map[fault]float64{
	deliverAgain: 0.10, deliverLater: 0.10, crash: 0.03, stayDead: 0.3, wipeQueue: 0.02, appendFails: 0.03,
	appendConflicts: 0.03, appendUnknown: 0.03, stallProjector: 0.03, gatewayAway: 0.04, queueAway: 0.03,
	logAway: 0.03, replyLost: 0.05, requestTwice: 0.05, moveIllegally: 0.1, moveLate: 0.05, sameKey: 0.1,
	otherContent: 0.05, twoDevices: 0.05, saySilent: 0.05, pauseMatch: 0.05, extendClock: 0.05, voidMatch: 0.01,
	loseLink: 0.05,
}

// allFaults are the faults in a fixed order, for a map has none.
func allFaults() []fault { return slices.Sorted(maps.Keys(chances)) }

// drawWeights decides which faults a run has and how strong they are: about a third are off, so that faults are met alone
// and in company.
func (w *World) drawWeights() {
	w.chance = map[fault]float64{}
	for _, f := range allFaults() {
		if w.rng.IntN(3) > 0 {
			w.chance[f] = chances[f] * (0.3 + 2*w.rng.Float64())
		}
	}
}

// strikes draws whether a fault strikes here, and counts it when it does.
func (w *World) strikes(f fault) bool {
	if w.calm || w.chance[f] == 0 || w.rng.Float64() >= w.chance[f] {
		return false
	}
	w.record.Coverage.met(f)
	w.record.note("fault: %s", f)
	return true
}

// part is something that can be away.
type part int

// The parts that players need to reach umpire.
const (
	theGateway part = iota
	theQueue
	theLog
	parts
)

func (w *World) down(p part) bool { return !w.calm && w.now.Before(w.downUntil[p]) }

// take lets a part be away for a while, mostly a short one.
func (w *World) take(p part) {
	most := 15 * time.Second
	if w.rng.IntN(3) == 0 {
		most = 90 * time.Second
	}
	w.downUntil[p] = w.now.Add(time.Duration(w.rng.Int64N(int64(most))))
}

// Coverage counts which faults and which checks occurred, and which faults met in one run.
type Coverage struct {
	Faults map[fault]int
	Pairs  map[[2]fault]int
	Checks map[string]int
}

func newCoverage() *Coverage {
	return &Coverage{Faults: map[fault]int{}, Pairs: map[[2]fault]int{}, Checks: map[string]int{}}
}

func (c *Coverage) met(f fault) { c.Faults[f]++ }

// checked counts that a check looked at something.
func (c *Coverage) checked(name string) { c.Checks[name]++ }

// Add adds another run's coverage; its faults have met one another there.
func (c *Coverage) Add(other *Coverage) {
	met := slices.Sorted(maps.Keys(other.Faults))
	for i, a := range met {
		c.Faults[a] += other.Faults[a]
		for _, b := range met[i+1:] {
			c.Pairs[[2]fault{a, b}]++
		}
	}
	for name, n := range other.Checks {
		c.Checks[name] += n
	}
}

// Never returns the faults, pairs of faults and, of those named, checks that never occurred.
func (c *Coverage) Never(checks []string) (faults []string, pairs []string, unchecked []string) {
	all := allFaults()
	for i, a := range all {
		if c.Faults[a] == 0 {
			faults = append(faults, string(a))
		}
		for _, b := range all[i+1:] {
			if c.Pairs[[2]fault{a, b}] == 0 {
				pairs = append(pairs, string(a)+" + "+string(b))
			}
		}
	}
	for _, name := range checks {
		if c.Checks[name] == 0 {
			unchecked = append(unchecked, name)
		}
	}
	return faults, pairs, unchecked
}

// Write writes the table: how often each fault struck, with how many others it met, and how often each check looked.
func (c *Coverage) Write(out io.Writer) error {
	var b strings.Builder
	all := allFaults()
	fmt.Fprintf(&b, "%-26s %10s  met in one run with (runs): the rarest three\n", "fault", "times")
	for _, f := range all {
		type pair struct {
			with fault
			runs int
		}
		var with []pair
		for _, other := range all {
			if other != f {
				with = append(with, pair{other, c.Pairs[[2]fault{min(f, other), max(f, other)}]})
			}
		}
		slices.SortStableFunc(with, func(a, b pair) int { return cmp.Compare(a.runs, b.runs) })
		fmt.Fprintf(&b, "%-26s %10d ", f, c.Faults[f])
		for _, p := range with[:3] {
			fmt.Fprintf(&b, " %s (%d)", p.with, p.runs)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%-26s %10s\n", "check", "times")
	for _, name := range slices.Sorted(maps.Keys(c.Checks)) {
		fmt.Fprintf(&b, "%-26s %10d\n", name, c.Checks[name])
	}
	_, err := io.WriteString(out, b.String())
	return err
}
