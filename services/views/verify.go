package views

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/projector"
)

// Kind is a kind of difference between the bucket and the log.
type Kind string

// The kinds of differences.
const (
	Missing    Kind = "missing"    // the bucket has no view of the match
	Extra      Kind = "extra"      // the log has no such match
	Older      Kind = "older"      // the view is right, but of an earlier revision, and no newer one came
	Newer      Kind = "newer"      // the view is of a revision that the log does not have
	Differing  Kind = "differing"  // the view is not what the log says of its revision
	Unreadable Kind = "unreadable" // the match can't be folded, so its view can't be compared
)

// Difference is one match whose view is not what it should be. It tells nothing of what the view shows.
type Difference struct {
	Match  string `json:"match"`
	Kind   Kind   `json:"kind"`
	Bucket *int64 `json:"bucket"` // the revision of the view in the bucket; null for none
	Log    *int64 `json:"log"`    // the match's revision in the log; null for none
}

// Verified is what a verification found.
type Verified struct {
	Bucket      string       `json:"bucket"`
	Matches     int          `json:"matches"` // in the log
	Views       int          `json:"views"`   // in the bucket
	Differences []Difference `json:"differences"`
}

const (
	// grace is how long a bucket that lags behind a log that grows may take to catch up.
	grace = 5 * time.Second
	// recheck is the pause between two looks at those that lag.
	recheck = 100 * time.Millisecond
)

// Verify makes the public view of every match from the log and compares it, byte for byte, with the one in the bucket, at
// the revision that the bucket has.
func Verify(ctx context.Context, o Options) (*Verified, error) {
	if o.Batch == 0 {
		o.Batch = usualBatch
	}
	v := &verify{Options: o, fold: o.journal(), seen: map[string]int64{}, found: map[string]Difference{}}
	p, err := queue.ReadPointer(ctx, o.JS)
	if err != nil {
		return nil, err
	}
	views, err := queue.OpenViews(ctx, o.JS, p.Current)
	if err != nil {
		return nil, err
	}
	v.kv = views.KV
	if err := v.matches(ctx); err != nil {
		return nil, err
	}
	count, err := v.extras(ctx, p.Current)
	if err != nil {
		return nil, err
	}
	if err := v.lagging(ctx); err != nil {
		return nil, err
	}
	if now, err := queue.ReadPointer(ctx, o.JS); err != nil || now.Current != p.Current {
		return nil, errors.Join(err, errors.New("the views were rebuilt meanwhile; verify again"))
	}
	done := &Verified{Bucket: p.Current, Matches: len(v.seen), Views: count, Differences: []Difference{}}
	for _, d := range v.found {
		done.Differences = append(done.Differences, d)
	}
	slices.SortFunc(done.Differences, func(a, b Difference) int { return cmp.Compare(a.Match, b.Match) })
	return done, nil
}

// verify is one run of Verify.
type verify struct {
	Options
	kv   jetstream.KeyValue
	fold *journal.Journal

	mu    sync.Mutex
	seen  map[string]int64 // the revision that a match had when it was compared
	found map[string]Difference
}

// matches compares all matches that the log has as it stands when this begins.
func (v *verify) matches(ctx context.Context) error {
	head, err := v.Log.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	_, err = newest(ctx, v.Log, 0, head, v.Batch, math.MaxInt, func(batch map[string]eventlog.Commit, position uint64) error {
		var ids []string
		for id, commit := range batch {
			if revision, ok := v.seen[id]; !ok || revision < int64(commit.Last()) { //nolint:gosec // far from 2^63
				ids = append(ids, id)
			}
		}
		err := v.each(ctx, ids, v.compare)
		v.tell(position, head)
		return err
	})
	return err
}

// each does something for every match, many at once.
func (v *verify) each(ctx context.Context, ids []string, do func(ctx context.Context, id string) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(workers)
	for _, id := range ids {
		all.Go(func() error { return do(ctx, id) })
	}
	return all.Wait()
}

// compare looks at one match, and notes how its view differs or that it does not.
func (v *verify) compare(ctx context.Context, id string) error {
	var bucket *int64
	entry, err := v.kv.Get(ctx, id)
	if err == nil {
		revision := queue.RevisionOf(entry.Value())
		bucket = &revision
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return fmt.Errorf("reading a view: %w", err)
	}
	// behind the look at the bucket: what stood there stands in the log by now
	m, err := v.fold.Refresh(ctx, id)
	if errors.Is(err, journal.ErrNotFound) && bucket == nil { // it was removed
		return nil
	}
	if errors.Is(err, journal.ErrNotFound) {
		v.note(id, nil, Difference{Match: id, Kind: Extra, Bucket: bucket})
		return nil
	}
	if feed.Hopeless(err) {
		v.note(id, nil, Difference{Match: id, Kind: Unreadable, Bucket: bucket})
		return nil
	}
	if err != nil {
		return err
	}
	revision := m.Revision()
	d := Difference{Match: id, Bucket: bucket, Log: &revision}
	if bucket == nil {
		d.Kind = Missing
	} else if d.Kind, err = v.kind(ctx, m, *bucket, entry.Value()); err != nil {
		return err
	}
	v.note(id, &revision, d)
	return nil
}

// kind says how a view of a revision differs from what the log says; empty for not at all.
func (v *verify) kind(ctx context.Context, m *match.Match, revision int64, stored []byte) (Kind, error) {
	if revision > m.Revision() {
		return Newer, nil
	}
	if revision < 0 {
		return Differing, nil
	}
	now := m
	if revision < m.Revision() {
		var err error
		if m, err = v.fold.AsOf(ctx, m.ID(), uint64(revision)); err != nil {
			return "", err
		}
	}
	view, err := projector.PublicView(m)
	if err != nil {
		return "", err
	}
	switch {
	case !bytes.Equal(view, stored):
		return Differing, nil
	case m != now:
		return Older, nil
	}
	return "", nil
}

func (v *verify) note(id string, revision *int64, d Difference) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if revision != nil {
		v.seen[id] = *revision
	} else if d.Kind == Unreadable {
		v.seen[id] = math.MaxInt64 // once is enough
	}
	if d.Kind == "" {
		delete(v.found, id)
		return
	}
	v.found[id] = d
}

// extras compares the views of matches that were not in the log when it was read; it returns how many views there are.
func (v *verify) extras(ctx context.Context, bucket string) (count int, err error) {
	ids, err := queue.Viewed(ctx, v.JS, bucket)
	if err != nil {
		return 0, err
	}
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, known := v.seen[id]; return known })
	return len(ids), v.each(ctx, unknown, v.compare)
}

// lagging gives views that are missing or older a little time: the log grows, and the bucket follows it. Who has got to
// where the log was when he was found to lag does follow.
func (v *verify) lagging(ctx context.Context) error {
	wanted := map[string]int64{}
	for id, d := range v.found {
		if d.Kind == Missing || d.Kind == Older {
			wanted[id] = *d.Log
		}
	}
	for began := time.Now(); len(wanted) > 0 && time.Since(began) < grace; {
		if !feed.Pause(ctx, recheck) {
			return ctx.Err()
		}
		if err := v.each(ctx, slices.Collect(maps.Keys(wanted)), v.compare); err != nil {
			return err
		}
		for id, revision := range wanted {
			d, differs := v.found[id]
			switch {
			case differs && d.Kind == Older && *d.Bucket >= revision:
				delete(v.found, id)
				delete(wanted, id)
			case !differs || d.Kind != Missing && d.Kind != Older:
				delete(wanted, id)
			}
		}
	}
	return nil
}
