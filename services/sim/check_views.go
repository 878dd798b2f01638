package sim

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"umpire/pkg/event"
	"umpire/pkg/games"
	"umpire/pkg/match"
)

// look is a view that somebody was given, to be compared with the fold at its revision.
type look struct {
	check, audience string
	body            []byte
}

// revisionOf returns the revision that a view says it is of, -1 where it says none.
func revisionOf(view []byte) int64 {
	const name = `,"revision":`
	i := bytes.Index(view, []byte(name)) // the title before it is of our own making
	if i < 0 {
		return -1
	}
	rest := view[i+len(name):]
	revision, err := strconv.ParseInt(string(rest[:max(0, bytes.IndexByte(rest, ','))]), 10, 64)
	if err != nil {
		return -1
	}
	return revision
}

// views checks that every view that was shown or seen is what the log, folded anew, gives that audience at that revision,
// that the bucket never went back while it lasted, and that in the end it holds the last view of every match.
func (c *checker) views() {
	type bucket struct {
		match string
		wipes int
	}
	looks := map[string]map[int64][]look{}
	for _, id := range c.ids {
		looks[id] = map[int64][]look{}
	}
	last := map[bucket]int64{}
	for _, s := range c.r.Shown {
		if looks[s.Match] == nil {
			c.fail(checkShown, "%s: a view of no match", s.Match)
			continue
		}
		revision, b := revisionOf(s.View), bucket{s.Match, s.Wipes}
		if before, ok := last[b]; ok {
			c.must(before <= revision, checkOrder, "%s: the view at %d was put over the one at %d", s.Match, revision, before)
		}
		last[b] = revision
		looks[s.Match][revision] = append(looks[s.Match][revision], look{checkShown, match.Public, s.View})
	}
	for _, s := range c.r.Seen {
		if s.Kind == seenView && looks[s.Match] != nil {
			looks[s.Match][s.Revision] = append(looks[s.Match][s.Revision], look{checkSeen, s.Audience, s.Body})
		}
	}
	for _, id := range c.ids {
		h := c.matches[id]
		end := int64(len(h.facts)) - 1
		kept := c.r.Kept[id]
		c.must(revisionOf(kept) == end, checkLast, "%s: in the end the bucket shows revision %d, not %d", id, revisionOf(kept), end)
		looks[id][end] = append(looks[id][end], look{checkLast, match.Public, kept})
		c.fold(h, looks[id])
	}
}

// fold folds a match anew and compares.
func (c *checker) fold(h *history, looks map[int64][]look) {
	var m *match.Match
	for i := range h.facts {
		f := &h.facts[i]
		stored := event.Fact{
			Revision: f.revision, ID: f.ID, Type: f.Type, At: f.At, By: f.By, Public: f.Public, Faces: f.faces,
			Opens: f.Opens, Hash: f.Hash,
		}
		var err error
		if m == nil {
			m, err = match.Replay(games.All(), stored)
		} else {
			err = m.Apply(stored)
		}
		if err != nil {
			c.fail(checkShown, "%s, revision %d can't be folded: %v", h.id, f.revision, err)
			return
		}
		for _, l := range looks[int64(f.revision)] { //nolint:gosec // far from 2^63
			body, err := json.Marshal(m.View(l.audience))
			c.must(err == nil && bytes.Equal(body, l.body), l.check,
				"%s, revision %d: %s was given another view than the log's", h.id, f.revision, l.audience)
		}
		delete(looks, int64(f.revision)) //nolint:gosec // far from 2^63
	}
	for revision := range looks { // order-free: there is none
		c.fail(checkShown, "%s: a view of revision %d, which is not in the log", h.id, revision)
	}
	if slices.Contains(c.r.Matches, h.id) {
		c.results(h, m)
	}
}

// results checks that everybody is told of one end.
func (c *checker) results(h *history, m *match.Match) {
	last := &h.facts[len(h.facts)-1]
	for i := len(h.facts) - 1; i >= 0 && last.Type != "match-ended.v1" && last.Type != "match-voided.v1"; i-- {
		last = &h.facts[i] // a seat may still be claimed behind the end
	}
	var want struct {
		Result json.RawMessage `json:"result"`
	}
	status := match.Void
	if last.Type == "match-ended.v1" {
		status = match.Ended
		c.must(json.Unmarshal(last.Public, &want) == nil && len(want.Result) > 2, checkResults, "%s: it ended without a result", h.id)
	}
	for _, audience := range append(h.audiences(), match.Public) {
		v := m.View(audience)
		c.must(v.Status == status && bytes.Equal(v.Result, want.Result) && v.Phase == nil, checkResults,
			"%s: %s sees another end than the log's", h.id, audience)
	}
}

// end checks that a match is over.
func (c *checker) end(h *history) {
	over := 0
	for i := range h.facts {
		if t := h.facts[i].Type; t == "match-ended.v1" || t == "match-voided.v1" {
			over++
		}
	}
	c.must(over == 1, checkEnds, "%s: it ends %d times", h.id, over)
}
