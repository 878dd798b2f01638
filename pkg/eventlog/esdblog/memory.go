package esdblog

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// memory is what is known of one stream: each commit up to a revision, by the id of its first event.
type memory struct {
	turn chan struct{} // held by the one append that is at it
	ids  map[event.ID]uint64
	upTo int64 // complete up to this revision

	// Reads to the stream's end and writes at it show where that is. One that began after an append arrived answers it
	// too, so that of many writers who have lost one race not each must read.
	begun uint64 // such looks begun
	exact uint64 // the newest of them that is done
}

// memories holds the memories of the streams in use, and forgets those that have not been used for longest.
type memories struct {
	mu     sync.Mutex
	byName *simplelru.LRU[string, *memory]
	ids    int // in all of them
	room   int
}

func newMemories(room int) *memories {
	m := &memories{room: room}
	m.byName, _ = simplelru.NewLRU(room, func(_ string, s *memory) { m.ids -= 1 + len(s.ids) }) // room is above 0
	return m
}

// get returns a stream's memory, and makes an empty one if there is none.
func (m *memories) get(stream string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, known := m.byName.Get(stream)
	if !known {
		s = &memory{turn: make(chan struct{}, 1), ids: map[event.ID]uint64{}, upTo: eventlog.NoStream}
		m.ids++
		m.byName.Add(stream, s)
		m.trim()
	}
	return s
}

// trim forgets streams until there is room. The one used last stays, however long it is.
func (m *memories) trim() {
	for m.ids > m.room && m.byName.Len() > 1 {
		m.byName.RemoveOldest()
	}
}

// view is what a memory says of one commit.
type view struct {
	known bool
	first uint64 // where the commit stands, if it is known
	upTo  int64  // how far the memory is complete
	exact uint64 // the newest look at the stream's end
}

func (m *memories) find(s *memory, id event.ID) view {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, known := s.ids[id]
	return view{known: known, first: first, upTo: s.upTo, exact: s.exact}
}

// begun returns the newest look that has begun.
func (m *memories) begun(s *memory) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.begun
}

// begin begins a look at the stream's end.
func (m *memories) begin(s *memory) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.begun++
	return s.begun
}

// done ends a look that has shown where the stream ends.
func (m *memories) done(s *memory, look uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.exact = max(s.exact, look)
}

// note adds a commit that stands, if it is the next one.
func (m *memories) note(s *memory, c *eventlog.Commit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int64(c.First) != s.upTo+1 { //nolint:gosec // a revision
		return
	}
	if _, twice := s.ids[c.Events[0].ID]; !twice { // the first of two that bear one name is the commit
		s.ids[c.Events[0].ID] = c.First
		if kept, known := m.byName.Peek(c.Stream); known && kept == s {
			m.ids++
			m.trim()
		}
	}
	s.upTo = int64(c.Last()) //nolint:gosec // a revision
}
