package gamestest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"umpire/pkg/event"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

// fold replays a match from its log while it is played. What the log gives back has been sealed, written as JSON, read
// and opened again; it must make the very states that the match went through, and verify.
type fold struct {
	replayed    *match.Match
	shown       []map[string][]byte // the views of all audiences, by revision
	hash        string              // of the event before
	commitments map[match.Ref]string
}

// commit looks at what has just been appended behind a match.
func (f *fold) commit(s *session, before *match.Match, drafts []match.Draft) error {
	ctx := context.Background()
	var live *match.Match
	if before != nil {
		live = before.Clone()
	}
	from := uint64(len(f.shown))
	for r, err := range s.journal.Events(ctx, matchID, from) {
		if err != nil {
			return err
		}
		fact, err := f.read(s, &r)
		if err != nil {
			return fmt.Errorf("revision %d, %s: %w", r.Revision, r.Type, err)
		}
		if f.replayed == nil {
			f.replayed, err = match.Replay(s.catalog(), fact)
			live = f.replayed
		} else {
			err = f.replayed.Apply(fact)
			if live == f.replayed {
				live = live.Clone()
			} else if err == nil {
				err = live.ApplyDraft(fact, &drafts[r.Revision-from])
			}
		}
		if err != nil {
			return err
		}
		if err := f.compare(s, live); err != nil {
			return fmt.Errorf("revision %d, %s: %w", r.Revision, r.Type, err)
		}
	}
	return f.compare(s, s.now)
}

// compare demands that the replayed match shows every audience what the live one shows.
func (f *fold) compare(s *session, live *match.Match) error {
	replayed, err := s.views(f.replayed)
	if err != nil {
		return err
	}
	for _, audience := range s.audiences() {
		is, err := view(live, audience)
		if err != nil {
			return err
		}
		if !bytes.Equal(is, replayed[audience]) {
			return fmt.Errorf("the live match shows %q what the replayed one does not: %s",
				audience, differences(is, replayed[audience]))
		}
	}
	if int64(len(f.shown)) == f.replayed.Revision() {
		f.shown = append(f.shown, replayed)
	}
	return nil
}

// end demands the same of a journal that knows nothing but the log.
func (f *fold) end(s *session) error {
	ctx := context.Background()
	vault, err := event.NewVault(make([]byte, event.MasterKeySize))
	if err != nil {
		return err
	}
	fresh := journal.New(s.log, s.catalog(), vault, rand.NewChaCha8([32]byte{}))
	now, err := fresh.Load(ctx, matchID)
	if err != nil {
		return err
	}
	half := uint64(len(f.shown) / 2)
	then, err := fresh.AsOf(ctx, matchID, half)
	if err != nil {
		return err
	}
	for _, m := range []*match.Match{now, then} {
		for audience, was := range f.shown[m.Revision()] {
			is, err := view(m, audience)
			if err != nil {
				return err
			}
			if !bytes.Equal(was, is) {
				return fmt.Errorf("the journal shows %q at revision %d what the match did not: %s",
					audience, m.Revision(), differences(is, was))
			}
		}
	}
	if now.Revision() != s.now.Revision() || now.Hash() != s.now.Hash() || then.Revision() != int64(half) {
		return fmt.Errorf("the journal knows revision %d as the last", now.Revision())
	}
	return nil
}

// read takes an event through its stored form, verifies it and opens it.
func (f *fold) read(s *session, r *journal.Recorded) (event.Fact, error) {
	stored := r.AppendStored(nil)
	v, err := event.Parse(stored)
	if err != nil {
		return event.Fact{}, err
	}
	e, err := event.Decode(v)
	if err != nil {
		return event.Fact{}, err
	}
	if err := f.verifyHash(&e, stored); err != nil {
		return event.Fact{}, err
	}
	fact, err := s.journal.Keys(matchID).Reveal(r.Revision, &e)
	if err != nil {
		return event.Fact{}, err
	}
	if f.commitments == nil {
		f.commitments = map[match.Ref]string{}
	}
	for place := range fact.Faces {
		made, err := commitment(&fact.Faces[place])
		if err != nil {
			return event.Fact{}, err
		}
		if made != e.Faces[place].Commitment {
			return event.Fact{}, fmt.Errorf("face %d is not what was committed to", place)
		}
		f.commitments[match.Ref{Revision: r.Revision, Face: place}] = made
	}
	for i := range fact.Opens {
		o := &fact.Opens[i]
		made, err := commitment(&o.Face)
		if err != nil {
			return event.Fact{}, err
		}
		if was := f.commitments[match.Ref{Revision: o.Revision, Face: o.Index}]; made != was {
			return event.Fact{}, fmt.Errorf("it opens face %d of revision %d, which is not what was committed to", o.Index, o.Revision)
		}
	}
	return fact, nil
}

// verifyHash computes the event's hash from its stored form alone, as a stranger to this program would.
func (f *fold) verifyHash(e *event.Event, stored []byte) error {
	var fields map[string]any
	if err := json.Unmarshal(stored, &fields); err != nil {
		return err
	}
	delete(fields, "hash")
	faces := make([]any, len(e.Faces))
	for i := range e.Faces {
		faces[i] = e.Faces[i].Commitment
	}
	fields["faces"] = faces
	made, err := canonicalHash(nil, fields)
	if err != nil {
		return err
	}
	if made != e.Hash {
		return fmt.Errorf("its hash is %s, not %s", made, e.Hash)
	}
	if e.Prev != f.hash {
		return fmt.Errorf("it follows the hash %q, not %q", e.Prev, f.hash)
	}
	f.hash = e.Hash
	return nil
}

// commitment computes a face's commitment.
func commitment(f *event.Face) (string, error) {
	to := f.To
	if to == nil {
		to = []string{}
	}
	return canonicalHash(f.Salt, map[string]any{"data": f.Data, "to": to})
}

func canonicalHash(salt []byte, v any) (string, error) {
	data, err := event.Canonical(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append(salt[:len(salt):len(salt)], data...))
	return hex.EncodeToString(sum[:]), nil
}
