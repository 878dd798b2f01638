package sim

import "bytes"

// acks checks that what was acknowledged stands in the log, as it was acknowledged, and that no key stands twice.
func (c *checker) acks() {
	type key struct {
		match, player string
		phase         int
		key           string
	}
	told := map[key]Ack{}
	for _, a := range c.r.Acks {
		h := c.matches[a.Match]
		if h == nil || a.Revision >= uint64(len(h.facts)) {
			c.fail(checkAcks, "%s: revision %d was acknowledged, and is not in the log", a.Match, a.Revision)
			continue
		}
		f := &h.facts[a.Revision]
		s := c.said(h, f)
		c.must(isSubmission(f) && f.Hash == a.Hash && s.Player == a.Player && s.Phase == a.Phase &&
			bytes.Equal(f.faces[0].Data, []byte(a.Move)), checkAcks,
			"%s: revision %d is not the submission that %s was told stands there", a.Match, a.Revision, a.Player)
		k := key{a.Match, a.Player, a.Phase, a.Key}
		before, again := told[k]
		c.must(!again || before.Revision == a.Revision && before.Hash == a.Hash && before.Move == a.Move, checkOnce,
			"%s: %s was told of two submissions under one key, at revisions %d and %d", a.Match, a.Player, before.Revision, a.Revision)
		told[k] = a
	}
	keys := map[key]int{}
	for asked := range c.r.Asked { // order-free: a count
		keys[key{asked.Match, asked.Player, asked.Phase, ""}]++
	}
	for _, id := range c.ids {
		h := c.matches[id]
		for i := range h.facts {
			if !isSubmission(&h.facts[i]) {
				continue
			}
			s := c.said(h, &h.facts[i])
			k := key{id, s.Player, s.Phase, ""}
			keys[k]--
			c.must(keys[k] >= 0, checkOnce, "%s: more submissions of %s to phase %d than he used keys", id, s.Player, s.Phase)
		}
	}
}
