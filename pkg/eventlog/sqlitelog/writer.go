package sqlitelog

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"umpire/pkg/eventlog"
)

// request is an append on its way to the writer.
type request struct {
	stream   string
	expected int64
	packed   *eventlog.Packed
	answer   chan answer // with room for one, so that the writer waits for nobody
}

// answer is what the writer says to a request: the commit written, the row that stood already, or an error.
type answer struct {
	written  eventlog.Commit
	standing *row
	err      error
}

// writer is the one goroutine that writes, and what only it may touch.
type writer struct {
	path     string
	tail     *tail
	heads    *heads
	maxPages func() int64

	conn *conn // nil after a fault, until the next group
	head uint64

	begin, commit, insert, named, last *stmt
}

// run writes what comes through the queue until the log is being closed; what it hasn't taken then is not written.
func (w *writer) run(queue <-chan *request, closing <-chan struct{}) {
	var group []*request
	for {
		select {
		case r := <-queue:
			group = collect(append(group[:0], r), queue)
			w.write(group)
			clear(group)
		case <-closing:
			return
		}
	}
}

// collect adds to the group what waits in the queue, as far as one transaction should go.
func collect(group []*request, queue <-chan *request) []*request {
	bytes, yielded := len(group[0].packed.Text()), false
	for len(group) < maxGroup && bytes < maxGroupBytes {
		select {
		case r := <-queue:
			group = append(group, r)
			bytes += len(r.packed.Text())
		default:
			if yielded {
				return group
			}
			// Those just answered are about to append again: letting them run first costs microseconds, a sync more.
			yielded = true
			runtime.Gosched()
		}
	}
	return group
}

// write brings a group to the disk and answers all in it.
func (w *writer) write(group []*request) {
	answers, written, err := w.transact(group)
	if err != nil {
		// Nothing that was in memory may be trusted now. A new connection is made with the next group, so that the
		// log comes back with the disk.
		err = fault(w.path, "writing", err)
		_ = w.disconnect() // it would only tell of the same fault
		for _, r := range group {
			r.answer <- answer{err: err}
		}
		return
	}
	w.tail.publish(written)
	for i, r := range group {
		r.answer <- answers[i]
	}
}

func (w *writer) transact(group []*request) ([]answer, []recent, error) {
	if w.conn == nil {
		if err := w.reconnect(); err != nil {
			return nil, nil, err
		}
	}
	if _, err := w.begin.exec(); err != nil {
		return nil, nil, err
	}
	answers := make([]answer, len(group))
	written := make([]recent, 0, len(group))
	for i, r := range group {
		a, err := w.place(r)
		if err != nil {
			return nil, nil, err
		}
		if a.written.Position != 0 {
			written = append(written, recent{a.written, len(r.packed.Text())})
		}
		answers[i] = a
	}
	_, err := w.commit.exec()
	return answers, written, err
}

// place writes one append of the group if it stands where it should. Its own failings are in the answer; the error
// is a fault of the file's, which fails the group.
func (w *writer) place(r *request) (answer, error) {
	head, known := w.heads.get(r.stream)
	if !known && r.expected != eventlog.NoStream { // that a stream is new, the insert finds out by itself
		var err error
		if head, err = w.look(r.stream); err != nil {
			return answer{}, err
		}
		known = true
	}
	if known && head != r.expected {
		return w.decline(r)
	}
	events := r.packed.Events
	c := eventlog.Commit{Stream: r.stream, First: unsigned(r.expected + 1), Position: w.head + 1, Events: events}
	last := signed(c.Last())
	changed, err := w.insert.exec(signed(c.Position), c.Stream, r.expected+1, last, events[0].ID[:], r.packed.Text())
	if err != nil {
		return answer{}, err
	}
	if changed == 0 { // the revision is taken, or the id
		return w.decline(r)
	}
	w.head = c.Position
	w.heads.set(c.Stream, last)
	return answer{written: c}, nil
}

// decline finds out why an append can't be written: it has been already, or its stream stands elsewhere.
func (w *writer) decline(r *request) (answer, error) {
	var standing *row
	err := w.named.query(func(values []driver.Value) bool {
		standing = newRow(values)
		return false
	}, r.stream, r.packed.Events[0].ID[:])
	if err != nil || standing != nil {
		return answer{standing: standing}, err
	}
	head, err := w.look(r.stream)
	if err != nil {
		return answer{}, err
	}
	if head == r.expected {
		return answer{}, fmt.Errorf("position %d is taken: something else writes to this file", w.head+1)
	}
	return answer{err: &eventlog.Conflict{Stream: r.stream, Expected: r.expected, Actual: head}}, nil
}

// look asks the file where a stream stands.
func (w *writer) look(stream string) (int64, error) {
	head := eventlog.NoStream
	err := w.last.query(func(values []driver.Value) bool {
		head, _ = values[0].(int64)
		return false
	}, stream)
	if err == nil && head != eventlog.NoStream {
		w.heads.set(stream, head)
	}
	return head, err
}

// commit returns what Append does.
func (a *answer) commit(r *request) (eventlog.Commit, error) {
	if a.err != nil || a.standing == nil {
		return a.written, a.err
	}
	standing, err := a.standing.commit()
	if err != nil {
		return eventlog.Commit{}, err
	}
	return eventlog.Repeat(standing, r.packed.Events)
}

// settle brings to the disk what a process that was killed has written and not yet synced: nobody was told that it
// stands, but readers are about to see it.
func settle(path string) error {
	f, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// create opens the file, makes it a log if it is new, and reads where it ends.
func (w *writer) create() error {
	if err := settle(w.path); err != nil {
		return fault(w.path, "opening it", err)
	}
	c, err := connect(w.path, "rwc", "busy_timeout = 5000")
	if err != nil {
		return fault(w.path, "opening it", err)
	}
	w.conn = c
	err = adopt(c, w.path)
	if err == nil {
		if err = w.ready(); err != nil {
			err = fault(w.path, "opening it", err)
		}
	}
	if err != nil {
		return errors.Join(err, w.disconnect())
	}
	return nil
}

// reconnect opens the file again after a fault. It must be the same file, with all that was acknowledged in it.
func (w *writer) reconnect() error {
	if err := settle(w.path); err != nil {
		return err
	}
	c, err := connect(w.path, "rw", "busy_timeout = 5000")
	if err != nil {
		return err
	}
	w.conn = c
	if err := w.ready(); err != nil {
		return err
	}
	switch seen := w.tail.position(); {
	case w.head < seen:
		return fmt.Errorf("%w: it ends at position %d and had %d", eventlog.ErrCorrupt, w.head, seen)
	case w.head > seen: // a commit whose fate was unknown stands
		w.tail.skip(w.head)
	}
	return nil
}

// ready sets the connection up and finds the head, reading the last commit whole.
func (w *writer) ready() (err error) {
	// 4000 pages between checkpoints are some 16 MB of write-ahead log, which is cut to 64 MB after it had to grow.
	pragmas := "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16384"
	if w.maxPages != nil {
		pragmas += fmt.Sprintf("; PRAGMA max_page_count = %d", w.maxPages())
	}
	if err := w.conn.exec(pragmas); err != nil {
		return err
	}
	for into, sql := range map[**stmt]string{
		&w.begin:  "BEGIN IMMEDIATE",
		&w.commit: "COMMIT",
		&w.insert: "INSERT INTO commits (position, stream, revision, last, id, events) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
		&w.named:  "SELECT " + columns + " FROM commits WHERE stream = ? AND id = ?",
		&w.last:   "SELECT last FROM commits WHERE stream = ? ORDER BY revision DESC LIMIT 1",
	} {
		if *into, err = w.conn.prepare(sql); err != nil {
			return err
		}
	}
	newest, err := w.conn.prepare("SELECT " + columns + " FROM commits ORDER BY position DESC LIMIT 1")
	if err != nil {
		return err
	}
	w.head = 0
	var bad error
	err = newest.query(func(values []driver.Value) bool {
		r := newRow(values)
		w.head = r.position
		_, bad = r.commit()
		return false
	})
	return errors.Join(err, bad)
}

// disconnect forgets the connection and all that was learnt through it. A transaction under way is rolled back.
func (w *writer) disconnect() error {
	w.heads.clear()
	if w.conn == nil {
		return nil
	}
	c := w.conn
	w.conn = nil
	if err := c.close(); err != nil {
		return fault(w.path, "closing it", err)
	}
	return nil
}
