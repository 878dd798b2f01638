// Package sqlitelog keeps a log in one SQLite file, with nothing to install and nothing to run beside it.
//
// One goroutine writes. It takes all the appends that wait, writes them in one transaction, and acknowledges each when
// the transaction is on disk, so that the more writers there are, the more share one sync of the disk. Readers have
// connections of their own and read page by page, so that none holds an old snapshot for long. Followers that keep up
// get the very commits that were written, out of a ring in memory; who falls behind reads them from the file.
//
// A file has one process. Its hold is a lock on the file's name with ".lock" behind it, which the kernel frees however
// the process ends. Reading the file with the sqlite3 shell meanwhile is safe; the view "events" is for that:
//
//	sqlite3 umpire.db "SELECT revision, type, at, public FROM events WHERE stream = 'match-1'"
package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"modernc.org/sqlite"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// The limits on what waits, what is written at once, and what is kept in memory.
const (
	maxWaiting    = 1024    // appends that wait for the writer; more wait in Append
	maxGroup      = 512     // appends in one transaction
	maxGroupBytes = 4 << 20 // of events in one transaction, unless one append alone has more
	ringCommits   = 2048    // commits that followers find in memory
	ringBytes     = 16 << 20
	pageCommits   = 256 // commits that a reader takes at a time
	pageBytes     = 4 << 20
	readers       = 4       // connections that read
	cachedStreams = 1 << 16 // streams whose heads the writer remembers
)

// options are what tests change.
type options struct {
	ringCommits, pageCommits, cachedStreams int
	maxPages                                func() int64 // at most so many pages in the file; 0 for no limit
}

// Log is a log in a file.
type Log struct {
	path    string
	hold    *hold
	tail    *tail
	writer  *writer
	readers *pool
	page    int

	queue   chan *request
	closing chan struct{} // closed when Close is called
	written chan struct{} // closed when the writer has ended

	closeOnce sync.Once
	closeErr  error
}

// Open opens the log in the file at path, and makes the file if there is none. Its folder must exist.
func Open(path string) (*Log, error) {
	return open(path, options{ringCommits: ringCommits, pageCommits: pageCommits, cachedStreams: cachedStreams})
}

func open(path string, o options) (*Log, error) {
	path, err := locate(path)
	if err != nil {
		return nil, err
	}
	held, err := holdFile(path)
	if err != nil {
		return nil, err
	}
	// A sync need not write the file's times too, which on a journaling file system is most of its work. Where there is
	// no such sync, the usual one is made.
	_, _ = sqlite.Fdatasync(true)
	w := &writer{path: path, heads: newHeads(o.cachedStreams), maxPages: o.maxPages}
	if err := w.create(); err != nil {
		return nil, errors.Join(err, held.release())
	}
	w.tail = newTail(o.ringCommits, ringBytes, w.head)
	l := &Log{
		path: path, hold: held, tail: w.tail, writer: w, readers: newPool(path, readers), page: o.pageCommits,
		queue: make(chan *request, maxWaiting), closing: make(chan struct{}), written: make(chan struct{}),
	}
	go func() {
		defer close(l.written)
		w.run(l.queue, l.closing)
	}()
	return l, nil
}

// locate returns the one name of the file, for the hold on it must be one whatever links lead there.
func locate(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlitelog: %w", err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("sqlitelog: the folder %s does not exist", filepath.Dir(path))
	}
	if err != nil {
		return "", fmt.Errorf("sqlitelog: the folder of the log: %w", err)
	}
	path = filepath.Join(folder, filepath.Base(path))
	if info, err := os.Stat(path); err == nil && info.IsDir() { //nolint:gosec // the operator names the file
		return "", fmt.Errorf("sqlitelog: %s is a folder, not a log", path)
	}
	return path, nil
}

// Append implements eventlog.Log. Where ctx ends while the append waits for the disk, it may still be written.
func (l *Log) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if err := l.alive(ctx); err != nil {
		return eventlog.Commit{}, err
	}
	packed, err := eventlog.Pack(stream, expected, events)
	if err != nil {
		return eventlog.Commit{}, err
	}
	r := &request{stream: stream, expected: expected, packed: packed, answer: make(chan answer, 1)}
	select {
	case l.queue <- r:
	case <-ctx.Done():
		return eventlog.Commit{}, fmt.Errorf("sqlitelog: nothing was appended to %s: %w", stream, ctx.Err())
	case <-l.closing:
		return eventlog.Commit{}, eventlog.ErrClosed
	}
	select {
	case a := <-r.answer:
		return a.commit(r)
	case <-ctx.Done():
	case <-l.written:
	}
	select { // an answer that is there is better than none
	case a := <-r.answer:
		return a.commit(r)
	default:
	}
	if err := ctx.Err(); err != nil {
		return eventlog.Commit{}, fmt.Errorf("%w: whether the commit to %s stands is unknown: %w",
			eventlog.ErrUnavailable, stream, err)
	}
	return eventlog.Commit{}, eventlog.ErrClosed // the writer ended, and never took it
}

// Head implements eventlog.Log.
func (l *Log) Head(ctx context.Context) (uint64, error) {
	if err := l.alive(ctx); err != nil {
		return 0, err
	}
	return l.tail.position(), nil
}

// Close implements eventlog.Log. It waits until the appends that the writer has taken are on disk and all pages that
// are being read are read, and gives the file free.
func (l *Log) Close() error {
	l.closeOnce.Do(func() {
		close(l.closing)
		<-l.written
		// The writer's connection goes last, for the last to go moves the write-ahead log into the file.
		l.closeErr = errors.Join(l.readers.close(), l.writer.disconnect(), l.hold.release())
	})
	return l.closeErr
}

func (l *Log) alive(ctx context.Context) error {
	select {
	case <-l.closing:
		return eventlog.ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("sqlitelog: %w", err)
	}
	return nil
}

var _ eventlog.Log = (*Log)(nil)
