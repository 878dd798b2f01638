// Package journal keeps matches in the log: it folds them from their streams and appends what is decided about them.
//
// A match's stream is "match-" and its id. The journal holds one folded state per match, shared by all who ask in the
// process; a state handed out is never changed again. What a decision states is named, salted, sealed and chained here,
// so that nothing but sealed events reaches the log, and what the log says wins over what is remembered.
package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// ErrNotFound means that there is no such match in the log.
var ErrNotFound = errors.New("there is no such match")

// keptOver is how many matches that are over stay folded, for those who still look at them.
const keptOver = 4096

// Journal is safe for concurrent use.
type Journal struct {
	log     eventlog.Log
	games   match.Catalog
	vault   *event.Vault
	entropy io.Reader

	mu      sync.Mutex
	entries map[string]*entry
	over    []string // ids of matches that are over, a ring
	oldest  int
}

// entry is what the journal remembers of one match.
type entry struct {
	mu   sync.Mutex
	keys *event.Keys
	now  *match.Match // nil before it was read
}

// New returns a journal on a log. entropy gives salts and nonces and must be safe for concurrent use.
func New(log eventlog.Log, games match.Catalog, vault *event.Vault, entropy io.Reader) *Journal {
	return &Journal{log: log, games: games, vault: vault, entropy: entropy, entries: map[string]*entry{}}
}

// Stream returns the stream of a match.
func Stream(id string) string { return "match-" + id }

// MatchOf returns the match whose stream it is; ok is false for another kind of stream.
func MatchOf(stream string) (id string, ok bool) {
	const prefix = "match-"
	if len(stream) <= len(prefix) || stream[:len(prefix)] != prefix {
		return "", false
	}
	return stream[len(prefix):], true
}

// Reach asks the log for a sign of life.
func (j *Journal) Reach(ctx context.Context) error {
	if _, err := j.log.Head(ctx); err != nil {
		return fmt.Errorf("asking the log: %w", err)
	}
	return nil
}

// Keys returns the secrets of a match.
func (j *Journal) Keys(id string) *event.Keys { return j.entry(id).keys }

func (j *Journal) entry(id string) *entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := j.entries[id]
	if e == nil {
		e = &entry{keys: j.vault.Keys(Stream(id))}
		j.entries[id] = e
	}
	return e
}

// Load returns a match as the journal knows it, which may be some events behind the log; it reads the log where the
// match is not known. Errors: ErrNotFound; match.ErrUnknownEvent and match.ErrBroken for a log that can't be folded;
// those of the log.
func (j *Journal) Load(ctx context.Context, id string) (*match.Match, error) {
	e := j.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != nil {
		return e.now, nil
	}
	return j.refresh(ctx, id, e)
}

// Refresh returns a match as it stands in the log now.
func (j *Journal) Refresh(ctx context.Context, id string) (*match.Match, error) {
	e := j.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	return j.refresh(ctx, id, e)
}

func (j *Journal) refresh(ctx context.Context, id string, e *entry) (*match.Match, error) {
	var from uint64
	if e.now != nil {
		from = uint64(e.now.Revision() + 1) //nolint:gosec // a match that was read has a revision
	}
	m, err := j.fold(ctx, id, e, from)
	if err != nil {
		return nil, err
	}
	if m == nil {
		j.forget(id)
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	j.remember(id, e, m)
	return m, nil
}

// fold applies the log's events from a revision on to a copy of what is known.
func (j *Journal) fold(ctx context.Context, id string, e *entry, from uint64) (*match.Match, error) {
	m, copied := e.now, e.now == nil
	for commit, err := range j.log.Read(ctx, Stream(id), from) {
		if err != nil {
			return nil, fmt.Errorf("reading match %s: %w", id, err)
		}
		for i := range commit.Events {
			revision := commit.First + uint64(i) //nolint:gosec // an index is never negative
			if revision < from {
				continue
			}
			if !copied {
				m, copied = m.Clone(), true
			}
			if m, err = j.apply(e, m, revision, &commit.Events[i]); err != nil {
				return nil, fmt.Errorf("folding match %s: %w", id, err)
			}
		}
	}
	return m, nil
}

func (j *Journal) apply(e *entry, m *match.Match, revision uint64, ev *event.Event) (*match.Match, error) {
	fact, err := e.keys.Reveal(revision, ev)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", match.ErrBroken, err)
	}
	if m == nil {
		return match.Replay(j.games, fact)
	}
	err = m.Apply(fact)
	return m, err
}

// remember keeps a newer state; e is locked.
func (j *Journal) remember(id string, e *entry, m *match.Match) {
	was := e.now
	e.now = m
	if !m.Over() || was != nil && was.Over() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.over) < keptOver {
		j.over = append(j.over, id)
		return
	}
	delete(j.entries, j.over[j.oldest])
	j.over[j.oldest] = id
	j.oldest = (j.oldest + 1) % keptOver
}

func (j *Journal) forget(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.entries, id)
}

// Observe folds a commit that the log has told of and returns the match as it then stands, which may be newer than the
// commit. A stream that is no match's gives nil.
func (j *Journal) Observe(ctx context.Context, commit *eventlog.Commit) (*match.Match, error) {
	id, ok := MatchOf(commit.Stream)
	if !ok {
		return nil, nil
	}
	e := j.entry(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != nil && e.now.Revision() >= int64(commit.Last()) { //nolint:gosec // revisions are far from 2^63
		return e.now, nil
	}
	if e.now == nil || e.now.Revision()+1 != int64(commit.First) { //nolint:gosec // as above
		return j.refresh(ctx, id, e)
	}
	m := e.now.Clone()
	for i := range commit.Events {
		var err error
		if m, err = j.apply(e, m, commit.First+uint64(i), &commit.Events[i]); err != nil { //nolint:gosec // an index
			return nil, fmt.Errorf("folding match %s: %w", id, err)
		}
	}
	j.remember(id, e, m)
	return m, nil
}

// AsOf returns a match as it stood after a revision, read from what is known of it if that is older. A revision that the
// match has not reached is ErrNotFound.
func (j *Journal) AsOf(ctx context.Context, id string, revision uint64) (*match.Match, error) {
	e := j.entry(id)
	e.mu.Lock()
	m := e.now
	e.mu.Unlock()
	var from uint64
	switch {
	case m == nil || m.Revision() > int64(revision): //nolint:gosec // revisions are far from 2^63
		m = nil
	case m.Revision() == int64(revision): //nolint:gosec // as above
		return m, nil
	default:
		m, from = m.Clone(), uint64(m.Revision()+1) //nolint:gosec // as above
	}
	for ev, err := range j.Events(ctx, id, from) {
		if err != nil {
			return nil, err
		}
		if m, err = j.apply(e, m, ev.Revision, &ev.Event); err != nil {
			return nil, fmt.Errorf("folding match %s: %w", id, err)
		}
		if ev.Revision == revision {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%w: %s at revision %d", ErrNotFound, id, revision)
}

// Recorded is an event with its place in its stream.
type Recorded struct {
	Revision uint64
	event.Event
}

// Events yields a match's events from a revision on. A match that does not exist yields nothing.
func (j *Journal) Events(ctx context.Context, id string, from uint64) iter.Seq2[Recorded, error] {
	return func(yield func(Recorded, error) bool) {
		for commit, err := range j.log.Read(ctx, Stream(id), from) {
			if err != nil {
				yield(Recorded{}, fmt.Errorf("reading match %s: %w", id, err))
				return
			}
			for i := range commit.Events {
				r := Recorded{Revision: commit.First + uint64(i), Event: commit.Events[i]} //nolint:gosec // an index
				if r.Revision >= from && !yield(r, nil) {
					return
				}
			}
		}
	}
}
