package gamestest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"umpire/pkg/match"
)

// The kinds of secret besides submissions, which are named by their type.
const (
	theSetup = "set-up"
	theSeed  = "seed"
)

const (
	nearby = 40        // steps for which a twin is followed behind a submission that was made different
	far    = 200       // steps for which a twin from creation is followed
	whole  = mostSteps // where a single match is played, and in long runs
	tries  = 6         // submissions tried to keep a twin going
)

// twin is a match that goes the way of another, but for something that an audience may not know.
type twin struct {
	*window
	audience string
	one, two *session
	pick     Pick
	known    map[int]any // by number of steps: what the audience may know of the first match
	fed      [2]int64    // the last revision that the audience was fed, of each
	most     int         // steps to compare
	compared int         // steps
}

// errDiverged means that the audience may tell the twins apart from here on, or that there is no such twin.
var errDiverged = errors.New("the twins have diverged")

// leak is what must not be: an audience can tell what it may not know.
type leak struct {
	audience, what string
	step           int
	one, two       string
}

// Error implements error.
func (l *leak) Error() string {
	return fmt.Sprintf("%q can tell twins apart by %s after step %d: %s", l.audience, l.what, l.step, differences(l.one, l.two))
}

// bySubmission makes a twin in which somebody else's submission of step at (from 0) is another. It returns how many
// steps were compared from there on.
func (w *window) bySubmission(one *session, audience string, at int, pick Pick) (int, error) {
	two, err := one.fork(at, uint64(at)+1<<20)
	if err != nil {
		return 0, err
	}
	t := &twin{window: w, audience: audience, one: one, two: two, pick: pick, most: w.reach(nearby), known: map[int]any{}}
	t.fed = [2]int64{one.past[at].Revision(), two.now.Revision()}
	step := one.history.Steps[at]
	err = t.other(step)
	if err == nil {
		err = t.compare()
	}
	if err == nil {
		err = t.follow()
	}
	return t.compared, dropDiverged(err)
}

// byCreation makes a twin with another set-up and seed.
func (w *window) byCreation(one *session, audience string, setup map[string]any, seed []byte, pick Pick) (int, error) {
	two, err := newSession(one.game, setup, seed, 1<<21)
	if err != nil {
		return 0, err
	}
	t := &twin{window: w, audience: audience, one: one, two: two, pick: pick, most: w.reach(far), known: map[int]any{}}
	t.fed = [2]int64{-1, -1}
	if !t.alike(0, two.history) {
		return 0, nil
	}
	if err := two.create(); err != nil {
		return 0, err
	}
	err = t.compare()
	if err == nil {
		err = t.follow()
	}
	return t.compared, dropDiverged(err)
}

func dropDiverged(err error) error {
	if errors.Is(err, errDiverged) {
		return nil
	}
	return err
}

// alike reports whether the audience may not tell a history of n steps from the first match's first n steps.
func (t *twin) alike(n int, two *History) bool {
	known, ok := t.known[n]
	if !ok {
		known = t.one.game.Knows(t.one.history.upTo(n), t.audience)
		t.known[n] = known
	}
	return reflect.DeepEqual(known, t.one.game.Knows(two, t.audience))
}

// follow takes the twin the way of the first match, as long as it can.
func (t *twin) follow() error {
	for k := len(t.two.history.Steps); k < len(t.one.history.Steps) && t.compared < t.most; k++ {
		step := t.one.history.Steps[k]
		if err := t.take(step); err != nil {
			return err
		}
		if err := t.compare(); err != nil {
			return err
		}
	}
	return nil
}

// take takes a step of the first match in the second. Where another's submission can't be the same, or would tell the
// audience something, another that he might have made is sought.
func (t *twin) take(step Step) error {
	if step.Kind != Submit {
		missed := step.Missed
		if err := t.two.do(step); err != nil {
			if errors.Is(err, errRefused) {
				return errDiverged
			}
			return err
		}
		n := len(t.two.history.Steps)
		if !slices.Equal(t.two.history.Steps[n-1].Missed, missed) || !t.alike(n, t.two.history) {
			return errDiverged
		}
		return nil
	}
	err := t.try(step)
	switch {
	case errors.Is(err, errRefused): // his own alone, see try
		return &leak{
			t.audience, "what his own submission meets", len(t.two.history.Steps), "it was accepted", err.Error(),
		}
	case errors.Is(err, errDiverged) && step.Who != t.audience:
		return t.other(step)
	}
	return err
}

// other takes a step with another submission of the same player.
func (t *twin) other(step Step) error {
	was, err := json.Marshal(step.Submission)
	if err != nil {
		return err
	}
	m := t.two.awaitedLast(step.Who)
	if m == nil {
		return errDiverged
	}
	for range tries {
		step.Submission, err = t.two.bot(m, step.Who, t.pick)
		if err != nil {
			return err
		}
		is, err := json.Marshal(step.Submission)
		if err != nil {
			return err
		}
		if bytes.Equal(was, is) {
			continue
		}
		if err := t.try(step); !errors.Is(err, errDiverged) && !errors.Is(err, errRefused) {
			return err
		}
	}
	return errDiverged
}

// awaitedLast returns the match when a player was last awaited in the phase that is open; he may have submitted since
// and be about to change his mind.
func (s *session) awaitedLast(who string) *match.Match {
	for _, m := range slices.Backward(s.past) {
		if m.PhaseNo() != s.now.PhaseNo() {
			return nil
		}
		if m.View(who).Awaits(who) {
			return m
		}
	}
	return nil
}

// try takes a step if the audience can't tell it from the first match's.
func (t *twin) try(step Step) error {
	drafts, err := decide(t.two.now, &step)
	if err != nil {
		if step.Who == t.audience {
			return err
		}
		return errDiverged
	}
	if step.Resolved, err = resolves(t.two.now, drafts, epoch.Add(step.At)); err != nil {
		return err
	}
	next := t.two.history.with(step)
	if !t.alike(len(next.Steps), next) {
		return errDiverged
	}
	return t.two.commit(step, drafts)
}

// compare demands that the audience has seen, been fed and been answered the same in both matches since the last step.
func (t *twin) compare() error {
	n := len(t.two.history.Steps)
	if t.one.past[n].Over() && !bytes.Equal(t.one.history.Seed, t.two.history.Seed) {
		return errDiverged // the seed is shown
	}
	var told [2]string
	for i, s := range []*session{t.one, t.two} {
		raw, err := t.view(s, n, t.audience)
		if err != nil {
			return err
		}
		told[i] = string(raw)
	}
	if told[0] != told[1] {
		return &leak{t.audience, "the view", n, told[0], told[1]}
	}
	var fed [2][]string
	for i, s := range []*session{t.one, t.two} {
		var err error
		if fed[i], err = t.feed(s, n, t.audience, t.fed[i]); err != nil {
			return err
		}
		t.fed[i] = s.past[n].Revision()
	}
	if !slices.Equal(fed[0], fed[1]) {
		one, two := firstDiffering(fed[0], fed[1])
		return &leak{t.audience, "the feed", n, one, two}
	}
	if n%4 == 0 {
		one, two := firstDiffering(t.answers(t.one, n, t.audience), t.answers(t.two, n, t.audience))
		if one != two {
			return &leak{t.audience, "a refusal", n, one, two}
		}
	}
	t.compared++
	return nil
}

// firstDiffering returns the first of two lists' elements that differ, "" where a list has ended or none differ.
func firstDiffering(one, two []string) (a, b string) {
	for i := range max(len(one), len(two)) {
		a, b = "", ""
		if i < len(one) {
			a = one[i]
		}
		if i < len(two) {
			b = two[i]
		}
		if a != b {
			return a, b
		}
	}
	return "", ""
}
