package logcopy

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"umpire/pkg/eventlog"
)

// compare reads both logs from their beginnings and finds the first place at which they are not the same, or else the
// first at which a stream's hashes are no chain. Commits is how many there are to be, 0 where that is not known.
func compare(ctx context.Context, source, target part, commits uint64, tell func(Phase, uint64, uint64)) (*chains, error) {
	chains := newChains(true)
	want, have := readAhead(ctx, source), readAhead(ctx, target)
	defer want.close()
	defer have.close()
	for {
		a, more, err := want.next()
		if err != nil {
			return chains, err
		}
		b, standing, err := have.next()
		if err != nil {
			return chains, err
		}
		if !more && !standing {
			err = chains.verdict()
			return chains, err
		}
		if err := differ(&a, more, &b, standing); err != nil {
			return chains, fmt.Errorf("the logs are not the same: %w", err)
		}
		if !chains.take(&a) {
			return chains, fmt.Errorf("the logs are the same so far, and wrong: %w", chains.gap(&a))
		}
		total := commits
		if total == 0 {
			total = source.total(chains.commits, a.Position)
		}
		tell(Verifying, chains.commits, total)
	}
}

// differ says in what the target's commit differs from the source's, of which only one may be missing.
func differ(source *eventlog.Commit, inSource bool, target *eventlog.Commit, inTarget bool) error {
	switch {
	case !inSource:
		return &Difference{target.Stream, target.First, "the target holds it, and the source ends before it"}
	case !inTarget:
		return &Difference{source.Stream, source.First, "the source holds it, and the target ends before it"}
	case source.Stream != target.Stream || source.First != target.First:
		return &Difference{target.Stream, target.First, fmt.Sprintf(
			"it stands in the target (position %d) where the source (position %d) has %s, revision %d",
			target.Position, source.Position, source.Stream, source.First)}
	}
	var a, b []byte
	for i := range min(len(source.Events), len(target.Events)) {
		a, b = source.Events[i].AppendStored(a[:0]), target.Events[i].AppendStored(b[:0])
		if !bytes.Equal(a, b) {
			return &Difference{source.Stream, source.First + uint64(i), "the event is another in the target"} //nolint:gosec // an index
		}
	}
	if len(source.Events) != len(target.Events) {
		return &Difference{source.Stream, source.First, fmt.Sprintf(
			"the commit has %d events in the target and %d in the source", len(target.Events), len(source.Events))}
	}
	return nil
}

// chain is how far a stream has been read.
type chain struct {
	next   uint64
	hash   string
	broken bool
}

// chains checks that each stream's revisions follow one another and that each event names the hash of the one before.
type chains struct {
	streams         map[string]*chain
	hashes          bool // check them too
	commits, events uint64
	broken          int         // streams
	first           *Difference // of the first broken one
}

func newChains(hashes bool) *chains { return &chains{streams: map[string]*chain{}, hashes: hashes} }

// take adds a commit. It is false where the commit does not follow upon its stream's last one, which no log can hold; of
// a hash that is wrong a note is made.
func (s *chains) take(c *eventlog.Commit) bool {
	stream := s.streams[c.Stream]
	if stream == nil {
		stream = &chain{}
	}
	if c.First != stream.next || len(c.Events) == 0 {
		return false
	}
	s.streams[c.Stream] = stream
	for i := range c.Events {
		e := &c.Events[i]
		if s.hashes && !stream.broken && (e.Prev != stream.hash || e.Hash != e.ComputeHash()) {
			stream.broken = true
			s.broken++
			if s.first == nil {
				s.first = &Difference{Stream: c.Stream, Revision: stream.next}
			}
		}
		stream.hash = e.Hash
		stream.next++
	}
	stream.hash = strings.Clone(stream.hash) // lest it should keep more of the commit
	s.commits++
	s.events += uint64(len(c.Events))
	return true
}

// gap says why take was false.
func (s *chains) gap(c *eventlog.Commit) error {
	next := uint64(0)
	if stream := s.streams[c.Stream]; stream != nil {
		next = stream.next
	}
	return &Difference{c.Stream, c.First, fmt.Sprintf("revision %d is due there", next)}
}

// verdict tells of broken chains.
func (s *chains) verdict() error {
	if s.first == nil {
		return nil
	}
	found := *s.first
	found.What = "its hash or the one before is wrong, in both logs alike: the source is damaged or was tampered with"
	if s.broken > 1 {
		found.What += fmt.Sprintf(" (%d streams are)", s.broken)
	}
	return &found
}
