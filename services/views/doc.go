// Package views makes the bucket of public views anew from the log, beside live traffic, and checks it against the log.
//
// A rebuild fills the bucket's next generation, which says nothing yet, and then switches to it. Who subscribes to views
// gets none twice, none older after newer, and misses none for it. Whatever dies when, a second rebuild or the next
// projector that puts a view goes on from there.
package views

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

// Options say what is rebuilt or verified.
type Options struct {
	Log   eventlog.Log
	Games match.Catalog
	Vault *event.Vault
	JS    jetstream.JetStream
	// Progress is told up to which position of the log the work is done, of how many; nil: nobody wants to know.
	Progress func(done, total uint64)
	// Batch is how many commits are dealt with between two checkpoints; 0: as many as is usual.
	Batch int
	// Step is called between any two effects of a rebuild; an error ends it there. It is for tests.
	Step func(point string) error
}

const (
	// usualBatch is a second's work or so: what is lost when a rebuild dies.
	usualBatch = 16384
	// workers is how many matches are dealt with at once; most of the time they wait for the broker.
	workers = 32
)

func (o *Options) journal() *journal.Journal {
	return journal.New(o.Log, o.Games, o.Vault, rand.Reader)
}

func (o *Options) tell(done, total uint64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

func (o *Options) step(point string) error {
	if o.Step == nil {
		return nil
	}
	return o.Step(point)
}

// newest reads the log from behind a position up to one that stands in it, but at most so many commits, in batches of at
// most size commits: of each match the newest commit, in no order. It returns how many commits those batches came from.
func newest(
	ctx context.Context, log eventlog.Log, after, until uint64, size, most int,
	yield func(batch map[string]eventlog.Commit, position uint64) error,
) (commits int, err error) {
	batch, read := map[string]eventlog.Commit{}, 0
	for commit, err := range eventlog.Upto(ctx, log.Follow, after, until) {
		if err != nil {
			return commits, fmt.Errorf("reading the log: %w", err)
		}
		commits, read = commits+1, read+1
		if id, ok := journal.MatchOf(commit.Stream); ok {
			batch[id] = commit
		}
		last := commit.Position >= until || commits >= most
		if read < size && !last {
			continue
		}
		if err := yield(batch, commit.Position); err != nil || last {
			return commits, err
		}
		batch, read = map[string]eventlog.Commit{}, 0
	}
	return commits, nil
}
