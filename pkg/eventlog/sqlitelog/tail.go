package sqlitelog

import (
	"sync"

	"umpire/pkg/eventlog"
)

// tail is the end of the log in memory, shared by all followers: what was written lately, as it was handed in.
type tail struct {
	mu    sync.Mutex
	ring  []recent // the commit at position p stands at p % len(ring)
	floor uint64   // the ring holds the commits at floor+1 to head
	head  uint64
	bytes int
	limit int           // of bytes
	more  chan struct{} // closed and replaced with every group of commits
}

type recent struct {
	commit eventlog.Commit
	bytes  int
}

func newTail(commits, bytes int, head uint64) *tail {
	return &tail{ring: make([]recent, commits), limit: bytes, floor: head, head: head, more: make(chan struct{})}
}

// publish appends what a transaction has written, in order, and wakes the followers.
func (t *tail) publish(written []recent) {
	if len(written) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range written {
		if t.head-t.floor == uint64(len(t.ring)) {
			t.drop()
		}
		t.head = r.commit.Position
		t.ring[t.head%uint64(len(t.ring))] = r
		t.bytes += r.bytes
	}
	for t.bytes > t.limit {
		t.drop()
	}
	t.wake()
}

// drop forgets the oldest commit.
func (t *tail) drop() {
	t.floor++
	oldest := &t.ring[t.floor%uint64(len(t.ring))]
	t.bytes -= oldest.bytes
	*oldest = recent{}
}

// skip moves the head to where the file is found to be; what lies between is to be read there.
func (t *tail) skip(head uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.floor < t.head {
		t.drop()
	}
	t.floor, t.head = head, head
	t.wake()
}

func (t *tail) wake() {
	close(t.more)
	t.more = make(chan struct{})
}

func (t *tail) position() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head
}

// after fills batch with the commits behind a position, as far as it has room. ok is false where the ring no longer
// holds the first of them; more is closed when there are new ones.
func (t *tail) after(position uint64, batch []eventlog.Commit) (filled []eventlog.Commit, more <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if position < t.floor {
		return batch, nil, false
	}
	for p := position; p < t.head && len(batch) < cap(batch); p++ {
		batch = append(batch, t.ring[(p+1)%uint64(len(t.ring))].commit)
	}
	return batch, t.more, true
}
