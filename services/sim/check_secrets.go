package sim

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/view"
)

// secret is a text that tells what is sealed: a salt, or a distinctive part of a face's data.
type secret struct {
	places []place // the faces that hold it
	public uint64  // from this revision on some event says it in public; never: ^0
}

const never = ^uint64(0)

// secrets checks what audiences were given: nothing of a face that was not for them, as the raw events have it.
func (c *checker) secrets() {
	known := map[string]map[string]*secret{}
	for _, id := range c.ids {
		h := c.matches[id]
		known[id] = h.secrets()
		for i := range h.facts {
			c.names(h, &h.facts[i])
			c.publicFeed(h, known[id], i)
		}
	}
	for _, s := range c.r.Shown {
		if h := c.matches[s.Match]; h != nil {
			c.scan(h, known[s.Match], match.Public, revisionOf(s.View), s.View)
		}
	}
	for _, s := range c.r.Seen {
		h := c.matches[s.Match]
		if h == nil {
			continue
		}
		if s.Kind == seenRefusal {
			c.refusal(known[s.Match], &s)
			continue
		}
		c.scan(h, known[s.Match], s.Audience, s.Revision, s.Body)
		if s.Kind == seenEvent {
			c.feedLine(checkSecrets, h, s.Audience, s.Body)
		}
	}
}

// common are texts that say nothing: names of types, phases and players.
var common = regexp.MustCompile(`^[a-z-]*$`)

const distinctive = 8 // characters, from which on a text that is not common tells where it comes from

// secrets collects a match's.
func (h *history) secrets() map[string]*secret {
	known := map[string]*secret{}
	var walk func(v any, p place)
	walk = func(v any, p place) {
		switch v := v.(type) {
		case string:
			if len(v) < distinctive || common.MatchString(v) {
				return
			}
			if known[v] == nil {
				known[v] = &secret{public: never}
			}
			known[v].places = append(known[v].places, p)
		case []any:
			for _, item := range v {
				walk(item, p)
			}
		case map[string]any:
			for _, item := range v { // order-free: a set
				walk(item, p)
			}
		}
	}
	for at := range h.facts {
		for i := range h.facts[at].faces {
			face, p := &h.facts[at].faces[i], place{uint64(at), i} //nolint:gosec // an index
			walk(hexOf(face.Salt), p)
			var data any
			if json.Unmarshal(face.Data, &data) == nil {
				walk(data, p)
			}
		}
	}
	for at := range h.facts {
		tokens(h.facts[at].Public, func(token []byte) {
			if s := known[string(token)]; s != nil && s.public == never {
				s.public = uint64(at) //nolint:gosec // an index
			}
		})
	}
	return known
}

// tokens calls do with each JSON string of a text, as it is written; one with an escape in it is cut there.
func tokens(text []byte, do func([]byte)) {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return
		}
		text = text[i+1:]
		n := bytes.IndexAny(text, `"\`)
		if n < 0 {
			return
		}
		if n >= distinctive {
			do(text[:n])
		}
		text = text[n+1:]
	}
}

// scan looks for what an audience may not know in a message that tells of a revision.
func (c *checker) scan(h *history, known map[string]*secret, audience string, revision int64, body []byte) {
	c.looked(checkSecrets)
	at := uint64(revision) //nolint:gosec // a view that tells of none is found by others
	tokens(body, func(token []byte) {
		s := known[string(token)]
		if s == nil || s.public <= at {
			return
		}
		if !slices.ContainsFunc(s.places, func(p place) bool { return h.sees(audience, at, p.revision, p.index) }) {
			c.fail(checkSecrets, "%s: %s was told at revision %d what is sealed in a face of revision %d",
				h.id, audience, revision, s.places[0].revision)
		}
	})
}

// refusal checks that a refusal quotes neither what was sealed nor what was sent.
func (c *checker) refusal(known map[string]*secret, s *Seen) {
	ok := !bytes.Contains(s.Body, []byte(illegalType))
	for text := range known { // order-free: any
		ok = ok && !bytes.Contains(s.Body, []byte(text))
	}
	c.must(ok, checkSecrets, "%s: a refusal to %s quotes a submission: %s", s.Match, s.Audience, s.Body)
}

// publicFeed checks that the public's feed holds no face, and nothing that is sealed.
func (c *checker) publicFeed(h *history, known map[string]*secret, i int) {
	f := &h.facts[i]
	shown, err := view.EventFor(h.keys, &journal.Recorded{Revision: f.revision, Event: *f.Event}, view.Audience{ID: match.Public})
	if err != nil {
		c.fail(checkFeed, "%s, revision %d can't be shown: %v", h.id, f.revision, err)
		return
	}
	body, err := json.Marshal(shown)
	if err != nil {
		c.fail(checkFeed, "%s, revision %d can't be shown: %v", h.id, f.revision, err)
		return
	}
	c.feedLine(checkFeed, h, match.Public, body)
	c.scan(h, known, match.Public, int64(f.revision), body) //nolint:gosec // far from 2^63
}

// feedLine checks that an event as an audience gets it has the faces that are for it, and of no other face more than its
// commitment.
func (c *checker) feedLine(check string, h *history, audience string, body []byte) {
	var line struct {
		Revision uint64                       `json:"revision"`
		Faces    []map[string]json.RawMessage `json:"faces"`
	}
	if err := json.Unmarshal(body, &line); err != nil || line.Revision >= uint64(len(h.facts)) {
		c.fail(check, "%s: a line of the feed of %s can't be read: %v", h.id, audience, err)
		return
	}
	f := &h.facts[line.Revision]
	c.must(len(line.Faces) == len(f.faces), check, "%s, revision %d: %s sees %d faces", h.id, f.revision, audience, len(line.Faces))
	for i, face := range line.Faces[:min(len(line.Faces), len(f.faces))] {
		members := 1 // its commitment
		to := f.faces[i].To
		if slices.Contains(to, audience) || audience == match.HostID && h.said.Options.HostSees == "all" && len(to) > 0 {
			members = 4 // and to, salt and data
		}
		c.must(len(face) == members, check, "%s, revision %d: %s sees %d members of face %d, not %d",
			h.id, f.revision, audience, len(face), i, members)
	}
}

// names checks that an event's public part has the members that the rulebook gives it, and none that a face should have.
func (c *checker) names(h *history, f *fact) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(f.Public, &members); err != nil {
		c.fail(checkNames, "%s, revision %d can't be read: %v", h.id, f.revision, err)
		return
	}
	want, known := publicNames[f.Type]
	for name := range members { // order-free: each by itself
		known = known && slices.Contains(want, name)
	}
	c.must(known, checkNames, "%s, revision %d: %s says in public what is not public", h.id, f.revision, f.Type)
}
