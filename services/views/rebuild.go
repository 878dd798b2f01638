package views

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/projector"
)

// Rebuilt tells what a rebuild did.
type Rebuilt struct {
	Bucket     string        `json:"bucket"`     // the generation that is current now
	Resumed    bool          `json:"resumed"`    // an earlier rebuild was gone on with
	Matches    int64         `json:"matches"`    // whose views this run made
	Commits    int           `json:"commits"`    // that it read
	Unreadable int64         `json:"unreadable"` // matches that can't be folded; they keep the view that they had
	Took       time.Duration `json:"nanoseconds"`
}

// ErrLost means that a bucket went away under the rebuild: the broker has lost its disk, or somebody has deleted it.
var ErrLost = errors.New("a bucket of views was deleted from NATS while the rebuild ran; start it again")

// ErrEmpty means that there are views, and no log that they could be of: most likely it is another log than theirs.
var ErrEmpty = errors.New("the log is empty, but there are views in NATS; is it the right log?")

// errOvertaken means that another process ends the switch, or has ended it.
var errOvertaken = errors.New("another process is about to end the rebuild")

// Rebuild makes the views of all matches anew and switches to them. It goes on with a rebuild that died, and beside one
// that runs, to the same end.
func Rebuild(ctx context.Context, o Options) (*Rebuilt, error) {
	if o.Batch == 0 {
		o.Batch = usualBatch
	}
	began := time.Now()
	r := &rebuild{Options: o, fold: o.journal(), known: map[string]*known{}}
	r.change = queue.Switch{JS: o.JS, Step: o.Step, Recall: func(ctx context.Context, id string, rev int64, stored []byte) ([]byte, error) {
		return projector.Recall(ctx, r.fold, id, rev, stored)
	}}
	if err := r.plausible(ctx); err != nil {
		return nil, err
	}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	built := r.pointer.Building
	err := r.open(ctx)
	if err == nil {
		err = r.build(ctx)
	}
	if err != nil && !errors.Is(err, errOvertaken) && !errors.Is(err, queue.ErrMoved) {
		return nil, err
	}
	p, err := r.change.Finish(ctx)
	if err != nil {
		return nil, err
	}
	if queue.GenerationOf(p.Current) < queue.GenerationOf(built) {
		return nil, ErrLost
	}
	r.done.Bucket, r.done.Took = p.Current, time.Since(began)
	r.done.Matches, r.done.Unreadable = r.matches.Load(), r.unreadable.Load()
	return &r.done, nil
}

// rebuild is one run of Rebuild.
type rebuild struct {
	Options
	pointer   queue.Pointer
	at        uint64 // the position up to which this run has got
	old, next *queue.Views
	change    queue.Switch
	fold      *journal.Journal
	known     map[string]*known

	done                Rebuilt
	matches, unreadable atomic.Int64
}

// known is what this run knows of a match. One goroutine at a time has it.
type known struct {
	revision int64  // folded and put
	seq      uint64 // of its view in the next generation, so that it can be replaced unread
	old      int64  // the revision that the current generation has at least
}

// plausible refuses to take all views away for a log that was named by mistake. That another log's key is another is found
// when the key is read.
func (r *rebuild) plausible(ctx context.Context) error {
	head, err := r.Log.Head(ctx)
	if err != nil {
		return fmt.Errorf("reading the log: %w", err)
	}
	if head > 0 {
		return nil
	}
	p, err := queue.ReadPointer(ctx, r.JS)
	if err != nil {
		return err
	}
	views, err := queue.OpenViews(ctx, r.JS, p.Current)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err == nil && views.Values > 0 {
		err = ErrEmpty
	}
	return err
}

// begin finds the generation to build, or names one. Those that are of no use any more are deleted first: the one before
// the current was left for readers who had not heard of the switch.
func (r *rebuild) begin(ctx context.Context) error {
	for {
		buckets, err := queue.Generations(ctx, r.JS)
		if err != nil {
			return err
		}
		p, err := queue.ReadPointer(ctx, r.JS)
		if err != nil {
			return err
		}
		top := 0
		for _, bucket := range append(buckets, p.Current, p.Building) {
			top = max(top, queue.GenerationOf(bucket))
			if bucket != p.Current && bucket != p.Building { // nor will it ever be: a name is used once
				if err := queue.DropViews(ctx, r.JS, bucket); err != nil {
					return err
				}
			}
		}
		r.pointer, r.done.Resumed = p, p.Building != ""
		if p.Building == "" {
			r.pointer.Building, r.pointer.Position = queue.Generation(top+1), 0
			r.pointer, err = r.pointer.Save(ctx, r.JS)
			if errors.Is(err, queue.ErrMoved) { // another rebuild begins at the same time
				continue
			}
			if err != nil {
				return err
			}
		}
		return r.step("begun")
	}
}

// open opens the current generation and the one to build.
func (r *rebuild) open(ctx context.Context) (err error) {
	p := r.pointer
	if p.Closing { // all that is left to do is the switch
		return nil
	}
	if r.old, err = queue.MakeViews(ctx, r.JS, p.Current, true); err != nil {
		return err
	}
	if r.old.Sealed {
		now, err := queue.ReadPointer(ctx, r.JS)
		if err != nil || now != p {
			return errors.Join(err, queue.ErrMoved)
		}
		// No switch is under way, so the pointer was lost, and this bucket is no use to anybody.
		if err := queue.DropViews(ctx, r.JS, p.Current); err != nil {
			return err
		}
		if r.old, err = queue.MakeViews(ctx, r.JS, p.Current, true); err != nil {
			return err
		}
	}
	if r.next, err = queue.MakeViews(ctx, r.JS, p.Building, false); err != nil {
		return err
	}
	if r.next.Last > 0 {
		r.at = p.Position
	} else if p.Position > 0 { // what the checkpoint tells of is not there
		if err := r.save(ctx, func(p *queue.Pointer) { p.Position = 0 }); err != nil {
			return err
		}
	}
	return r.step("open")
}

// build fills the next generation until it has caught up with the log, and says so in the pointer.
func (r *rebuild) build(ctx context.Context) error {
	if r.pointer.Closing {
		return nil
	}
	// Each round has what was appended during the one before, or half as much as that one had. When the rounds shrink no
	// more, the rest is left to the switch.
	for most := math.MaxInt; ; {
		head, err := r.Log.Head(ctx)
		if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		commits, err := r.read(ctx, head, most)
		if err != nil {
			return err
		}
		r.done.Commits += commits
		if commits < r.Batch || commits == most {
			break
		}
		most = commits / 2
	}
	// What projectors have put meanwhile is taken over now, so that little is left for when the bucket is sealed.
	for range 2 {
		old, err := queue.OpenViews(ctx, r.JS, r.old.Name)
		if err != nil {
			return r.lost(err)
		}
		if err := r.change.Sync(ctx, old, r.next); err != nil {
			return r.lost(err)
		}
	}
	if err := r.step("caught up"); err != nil {
		return err
	}
	if err := r.save(ctx, func(p *queue.Pointer) { p.Closing = true }); err != nil {
		return err
	}
	return r.step("closing")
}

// read deals with the log up to a position, but with at most so many commits. While one batch's views are put, the next is read.
func (r *rebuild) read(ctx context.Context, head uint64, most int) (commits int, err error) {
	var putting *errgroup.Group
	var position uint64
	settle := func() error {
		if putting == nil {
			return nil
		}
		err := putting.Wait()
		putting = nil
		if err != nil {
			return err
		}
		return r.checkpoint(ctx, position, head)
	}
	commits, err = newest(ctx, r.Log, r.at, head, r.Batch, most, func(batch map[string]eventlog.Commit, at uint64) error {
		if err := settle(); err != nil {
			return err
		}
		position, putting = at, r.start(ctx, batch)
		return nil
	})
	return commits, errors.Join(err, settle())
}

// start begins to put the views of a batch.
func (r *rebuild) start(ctx context.Context, batch map[string]eventlog.Commit) *errgroup.Group {
	all, ctx := errgroup.WithContext(ctx)
	commits := make(chan work, len(batch))
	for id, commit := range batch {
		k := r.known[id]
		if k == nil {
			k = &known{revision: -1, old: -1}
			r.known[id] = k
		}
		if k.revision < int64(commit.Last()) { //nolint:gosec // far from 2^63
			commits <- work{id, commit, k}
		}
	}
	close(commits)
	for range workers {
		all.Go(func() error {
			for w := range commits {
				if err := r.put(ctx, w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return all
}

// work is a match whose view is to be put, and the newest commit of it that was read.
type work struct {
	id     string
	commit eventlog.Commit
	*known
}

// put folds a match and puts its view: into the current generation first, where that has an older one, so that it is sent
// to who subscribes; see queue.Switch.
func (r *rebuild) put(ctx context.Context, w work) error {
	m, err := r.fold.Observe(ctx, &w.commit)
	var view []byte
	if err == nil {
		view, err = projector.PublicView(m)
	}
	if feed.Hopeless(err) {
		r.unreadable.Add(1)
		return nil
	}
	if err != nil {
		return err
	}
	revision := m.Revision()
	if w.old < revision {
		put, err := queue.PutView(ctx, r.old.KV, w.id, revision, view, true)
		if err != nil {
			return r.lost(err)
		}
		w.old = put.Revision
	}
	if err := r.step("put"); err != nil {
		return err
	}
	seq, err := r.next.KV.Update(ctx, w.id, view, w.seq)
	if queue.Outrun(err) { // an earlier run has put one, or another process
		var put queue.Put
		put, err = queue.PutView(ctx, r.next.KV, w.id, revision, view, false)
		seq = put.Seq
	}
	if err != nil {
		return r.lost(err)
	}
	if w.revision < 0 {
		r.matches.Add(1)
	}
	w.revision, w.seq = revision, seq
	return nil
}

// lost tells what it means that a bucket does not take a view.
func (r *rebuild) lost(err error) error {
	for _, gone := range []error{jetstream.ErrStreamNotFound, jetstream.ErrNoStreamResponse, nats.ErrNoResponders} {
		if errors.Is(err, gone) {
			return errOvertaken
		}
	}
	if queue.Sealed(err) {
		return errOvertaken
	}
	return err
}

// checkpoint notes how far the work is. Where another process builds the same generation, the one that is further counts.
func (r *rebuild) checkpoint(ctx context.Context, position, head uint64) error {
	if err := r.step("batch"); err != nil {
		return err
	}
	next, err := queue.OpenViews(ctx, r.JS, r.next.Name)
	if err != nil || !next.Created.Equal(r.next.Created) { // what was put before is not in it
		return r.lost(errors.Join(err, ErrLost))
	}
	if err := r.save(ctx, func(p *queue.Pointer) { p.Position = max(p.Position, position) }); err != nil {
		return err
	}
	r.at = position
	r.tell(position, head)
	return r.step("checkpoint")
}

// save changes the pointer, unless the generation that is built is not the one that is to come any more.
func (r *rebuild) save(ctx context.Context, change func(*queue.Pointer)) error {
	for {
		p := r.pointer
		change(&p)
		saved, err := p.Save(ctx, r.JS)
		if err == nil {
			r.pointer = saved
			return nil
		}
		if !errors.Is(err, queue.ErrMoved) {
			return err
		}
		now, err := queue.ReadPointer(ctx, r.JS)
		if err != nil {
			return err
		}
		if now.Building != p.Building || now.Closing {
			return errOvertaken
		}
		r.pointer = now // another process builds it too
	}
}
