package journal

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// Append writes what was decided on m behind it, as one commit, and returns the match as it then stands. name is the
// id of the commit's first event, which makes a command one however often it is tried; the zero name is derived from
// the type and the revision, which makes a fact one. m is nil for a match that is to be created.
//
// After an *eventlog.Conflict nothing was written by this call: Refresh, decide again. Where another has appended a
// commit of the same name, that one stands, and is what is returned.
func (j *Journal) Append(ctx context.Context, id string, m *match.Match, name event.ID, drafts []match.Draft) (*match.Match, error) {
	e := j.entry(id)
	expected := eventlog.NoStream
	if m != nil {
		expected = m.Revision()
	}
	events, facts, err := j.seal(ctx, e.keys, id, m, expected, name, drafts)
	if err != nil {
		return nil, err
	}
	commit, err := j.log.Append(ctx, Stream(id), expected, events...)
	if err != nil {
		return nil, fmt.Errorf("appending to match %s: %w", id, err)
	}
	// The last event's hash depends on all of them: another's commit of the same events has other salts in its faces.
	if last := len(events) - 1; commit.Events[last].Hash != events[last].Hash { // it was there before
		return j.Observe(ctx, &commit)
	}
	return j.settle(ctx, id, e, m, facts, drafts)
}

// settle folds what was just appended, unless the log has told of it already.
func (j *Journal) settle(
	ctx context.Context, id string, e *entry, m *match.Match, facts []event.Fact, drafts []match.Draft,
) (*match.Match, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.now != nil && e.now.Revision() >= int64(facts[len(facts)-1].Revision) { //nolint:gosec // far from 2^63
		return e.now, nil
	}
	if m != e.now { // another has moved on from m, to a state that is not ours either
		return j.refresh(ctx, id, e)
	}
	var next *match.Match
	if m != nil {
		next = m.Clone()
	}
	for i := range facts {
		var err error
		if next == nil {
			next, err = match.Replay(j.games, facts[i])
		} else {
			err = next.ApplyDraft(facts[i], &drafts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("folding match %s: %w", id, err)
		}
	}
	j.remember(id, e, next)
	return next, nil
}

// seal makes events of drafts.
func (j *Journal) seal(
	ctx context.Context, keys *event.Keys, id string, m *match.Match, expected int64, name event.ID, drafts []match.Draft,
) ([]event.Event, []event.Fact, error) {
	prev := ""
	if m != nil {
		prev = m.Hash()
	}
	opened, err := j.open(ctx, keys, id, expected, drafts)
	if err != nil {
		return nil, nil, err
	}
	events := make([]event.Event, len(drafts))
	facts := make([]event.Fact, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		revision := uint64(expected + 1 + int64(i)) //nolint:gosec // from -1 up
		ev := event.Event{ID: name, Type: d.Type, At: d.At, By: d.By, Public: d.Public, Prev: prev}
		if i > 0 || name == (event.ID{}) {
			ev.ID = keys.Name("fact", d.Type, fmt.Sprint(revision), name.String())
		}
		faces, err := j.sealFaces(keys, &ev, d.Faces)
		if err != nil {
			return nil, nil, err
		}
		for place, f := range faces { // a later event of this commit may open them
			opened[match.Ref{Revision: revision, Face: place}] = f
		}
		for _, ref := range d.Opens {
			f, ok := opened[ref]
			if !ok {
				return nil, nil, fmt.Errorf("match %s: revision %d has no face %d to open", id, ref.Revision, ref.Face)
			}
			ev.Opens = append(ev.Opens, event.Opening{Revision: ref.Revision, Index: ref.Face, Face: f})
		}
		ev.Hash = ev.ComputeHash()
		prev = ev.Hash
		events[i] = ev
		facts[i] = event.Fact{
			Revision: revision, ID: ev.ID, Type: d.Type, At: d.At, By: d.By, Public: d.Public,
			Faces: faces, Opens: ev.Opens, Hash: ev.Hash,
		}
	}
	return events, facts, nil
}

// sealFaces salts and seals a draft's faces into the event and returns them in clear.
func (j *Journal) sealFaces(keys *event.Keys, ev *event.Event, drafts []match.DraftFace) ([]event.Face, error) {
	faces := make([]event.Face, len(drafts))
	for place, d := range drafts {
		f := event.Face{To: d.To, Data: d.Data, Salt: make([]byte, event.SaltSize)}
		if _, err := io.ReadFull(j.entropy, f.Salt); err != nil {
			return nil, fmt.Errorf("no entropy for a salt: %w", err)
		}
		sealed, err := keys.Seal(j.entropy, ev.ID, place, &f)
		if err != nil {
			return nil, err
		}
		ev.Faces = append(ev.Faces, sealed)
		faces[place] = f
	}
	return faces, nil
}

// open fetches the faces that drafts make public and that stand in the log up to revision last.
func (j *Journal) open(
	ctx context.Context, keys *event.Keys, id string, last int64, drafts []match.Draft,
) (map[match.Ref]event.Face, error) {
	opened := map[match.Ref]event.Face{}
	var wanted []match.Ref
	for i := range drafts {
		for _, ref := range drafts[i].Opens {
			if int64(ref.Revision) <= last { //nolint:gosec // revisions are far from 2^63
				wanted = append(wanted, ref)
			}
		}
	}
	if len(wanted) == 0 {
		return opened, nil
	}
	first := slices.MinFunc(wanted, func(a, b match.Ref) int { return cmp.Compare(a.Revision, b.Revision) }).Revision
	for ev, err := range j.Events(ctx, id, first) {
		if err != nil {
			return nil, err
		}
		for _, ref := range wanted {
			if ref.Revision != ev.Revision || ref.Face >= len(ev.Faces) {
				continue
			}
			if opened[ref], err = keys.Open(ev.ID, ref.Face, ev.Faces[ref.Face]); err != nil {
				return nil, fmt.Errorf("match %s, revision %d: %w", id, ref.Revision, err)
			}
		}
	}
	return opened, nil
}
