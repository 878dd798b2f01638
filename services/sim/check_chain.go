package sim

import (
	"slices"
	"strings"
	"time"

	"umpire/pkg/event"
)

// chain checks each stream by itself: revisions without gaps, hashes recomputed and each naming the one before, times
// that never go back, ids that stand once.
func (c *checker) chain() {
	type stream struct {
		next uint64
		hash string
		at   time.Time
		ids  map[event.ID]bool
	}
	streams := map[string]*stream{}
	for at := range c.r.Commits {
		commit := &c.r.Commits[at]
		s := streams[commit.Stream]
		if s == nil {
			s = &stream{ids: map[event.ID]bool{}}
			streams[commit.Stream] = s
		}
		c.must(commit.First == s.next, checkChain, "%s: revision %d follows %d", commit.Stream, commit.First, s.next)
		for i := range commit.Events {
			e := &commit.Events[i]
			c.must(e.Prev == s.hash && e.Hash == e.ComputeHash(), checkChain,
				"%s, revision %d: its hash or the one before is another", commit.Stream, s.next)
			c.must(!e.At.Before(s.at), checkChain, "%s, revision %d: before its predecessor", commit.Stream, s.next)
			c.must(!s.ids[e.ID], checkIDs, "%s, revision %d: its id stands twice", commit.Stream, s.next)
			s.ids[e.ID] = true
			s.hash, s.at = e.Hash, e.At
			s.next++
		}
	}
}

// mayOpen says which faces of which events another event may open, as the rulebook has it; a submission is named by its
// phase too.
var mayOpen = map[string][]string{
	"match-ended.v1 of glass-full":            {"glass-full.turn-taken.v1", "glass-full.bout-ended.v1"},
	"match-ended.v1 of nothing-but-the-truth": {"submission order", "submission bid"},
	"match-ended.v1 of paint-clash":           {"paint-clash.round-resolved.v1"},
	"match-ended.v1 of primal-pileup":         {},
	"primal-pileup.round-ended.v1":            {"primal-pileup.turn-taken.v1"},
	"nothing-but-the-truth.coins-paid.v1":     {"match-created.v1"},
}

// faces checks what is opened, and whom faces are for.
func (c *checker) faces(h *history) {
	game, _, _ := strings.Cut(h.said.Game, "@")
	phase, phases := "", map[uint64]string{}
	for i := range h.facts {
		f := &h.facts[i]
		switch {
		case f.Type == "phase-opened.v1":
			phase = c.said(h, f).Name
		case isSubmission(f):
			phases[f.revision] = "submission " + phase
		}
		c.audiences(h, f)
		opener := f.Type
		if f.Type == "match-ended.v1" {
			opener += " of " + game
			c.must(slices.ContainsFunc(f.Opens, func(o event.Opening) bool { return o.Revision == 0 && o.Index == 0 }),
				checkOpened, "%s: the seed does not open at the end", h.id)
		}
		for _, o := range f.Opens {
			if o.Revision >= f.revision && !(o.Revision == f.revision && o.Index < len(f.faces)) || int(o.Revision) >= len(h.facts) { //nolint:gosec // small
				c.fail(checkOpened, "%s, revision %d opens a later event", h.id, f.revision)
				continue
			}
			from := &h.facts[o.Revision]
			c.must(o.Index < len(from.Faces) && o.Face.Opens(from.Faces[o.Index].Commitment), checkCommitments,
				"%s, revision %d: what it opens is not what was sealed", h.id, f.revision)
			what := from.Type
			if isSubmission(from) {
				what = phases[o.Revision]
			}
			seed := o.Revision == 0 && o.Index == 0
			ok := slices.Contains(mayOpen[opener], what) && !seed || seed && f.Type == "match-ended.v1"
			c.must(ok, checkOpened, "%s, revision %d, %s, opens a face of %s", h.id, f.revision, f.Type, what)
		}
	}
}

func isSubmission(f *fact) bool {
	return f.Type == "submission-accepted.v1" || f.Type == "submission-replaced.v1"
}

// audiences checks whom an event's faces are for, where that is the same in every game.
func (c *checker) audiences(h *history, f *fact) {
	for i := range f.faces {
		to := f.faces[i].To
		ok := true
		switch {
		case f.Type == "match-created.v1" && i == 0: // the seed
			ok = len(to) == 0
		case isSubmission(f):
			ok = len(f.faces) == 1 && slices.Equal(to, []string{c.said(h, f).Player})
		}
		for _, audience := range to {
			ok = ok && slices.Contains(h.audiences(), audience)
		}
		c.must(ok, checkAudiences, "%s, revision %d, %s: face %d is for %v", h.id, f.revision, f.Type, i, to)
	}
}
