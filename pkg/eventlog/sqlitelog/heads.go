package sqlitelog

// heads remembers at which revision streams stand, so that most appends need not ask the file. It keeps two
// generations and forgets the older when the younger is full: a stream in use moves on into the younger.
type heads struct {
	young, old map[string]int64
	room       int
}

func newHeads(streams int) *heads {
	h := &heads{room: max(streams/2, 1)}
	h.clear()
	return h
}

func (h *heads) get(stream string) (revision int64, known bool) {
	if revision, known = h.young[stream]; known {
		return revision, true
	}
	if revision, known = h.old[stream]; known {
		h.set(stream, revision)
	}
	return revision, known
}

func (h *heads) set(stream string, revision int64) {
	if len(h.young) >= h.room {
		h.old, h.young = h.young, map[string]int64{}
	}
	h.young[stream] = revision
}

func (h *heads) clear() { h.young, h.old = map[string]int64{}, map[string]int64{} }
