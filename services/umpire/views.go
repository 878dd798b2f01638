package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"umpire/pkg/games"
	"umpire/services/progress"
	"umpire/services/views"
)

// viewsCmd is `umpire views`.
type viewsCmd struct {
	Rebuild viewsRebuildCmd `cmd:"" help:"Make the public views of all matches anew from the log."`
	Verify  viewsVerifyCmd  `cmd:"" help:"Compare the public views with the log."`
}

// viewsFlags are what both take.
type viewsFlags struct {
	remote
	JSON bool `help:"Print the outcome as JSON." name:"json"`
}

// errViews says that a verification of views found differences.
var errViews = errors.New("the views are not what the log says; umpire views rebuild makes them so")

// with opens what the work needs, and does it.
func (f *viewsFlags) with(ctx context.Context, what string, show io.Writer, do func(views.Options) error) (err error) {
	conn, err := f.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return fmt.Errorf("connecting to JetStream: %w", err)
	}
	log, err := f.openLog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	vault, err := f.vault(ctx, log)
	if err != nil {
		return err
	}
	bar := progress.New(show, what)
	defer bar.End()
	return do(views.Options{Log: log, Games: games.All(), Vault: vault, JS: js, Progress: bar.Set})
}

// viewsRebuildCmd is `umpire views rebuild`.
type viewsRebuildCmd struct{ viewsFlags }

// Help shows examples.
func (viewsRebuildCmd) Help() string {
	return `The views go into a new bucket beside the one in use, which takes its place when it has caught up with the log. Matches
may go on meanwhile: who watches them misses no view and gets none twice. A rebuild that was interrupted goes on where it
stopped when the same command is run again.

It works on a NATS server that the services share. umpire serve without --nats keeps its own inside its process, which
no other can reach; it makes its views anew by itself when its folder nats is deleted while it is stopped.

Examples:
  umpire views rebuild --log 'esdb://localhost:2113?tls=false' --nats nats://localhost:4222 --master-key master.key
  umpire views rebuild --log esdb+discover://nodes.example --nats tls://nats.example --nats-creds umpire.creds --json`
}

// Run rebuilds.
func (c viewsRebuildCmd) Run(ctx context.Context, io stdio) error {
	var done *views.Rebuilt
	err := c.with(ctx, "rebuilding views", io.err, func(o views.Options) (err error) {
		done, err = views.Rebuild(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(io.out).Encode(done)
	}
	fmt.Fprintf(io.out, "%d views made from %d commits in %s; %s is current now\n",
		done.Matches, done.Commits, done.Took.Round(time.Millisecond), done.Bucket)
	if done.Unreadable > 0 {
		fmt.Fprintf(io.out, "%d matches can't be read and keep the views that they had\n", done.Unreadable)
	}
	return nil
}

// viewsVerifyCmd is `umpire views verify`.
type viewsVerifyCmd struct{ viewsFlags }

// Help shows examples.
func (viewsVerifyCmd) Help() string {
	return `Every match's public view is made from the log and compared with the one in NATS, byte for byte, at the revision that
the latter has. Matches may go on meanwhile: a view that lags gets a few seconds to catch up. Of a difference its match,
its kind and the revisions are told, never what a view shows.

It works on a NATS server that the services share. umpire serve without --nats keeps its own inside its process, which
no other can reach.

Examples:
  umpire views verify --log 'esdb://localhost:2113?tls=false' --nats nats://localhost:4222 --master-key master.key
  umpire views verify --log esdb+discover://nodes.example --nats tls://nats.example --nats-creds umpire.creds --json

Exit status 3: there are differences.`
}

// Run verifies.
func (c viewsVerifyCmd) Run(ctx context.Context, io stdio) error {
	var done *views.Verified
	err := c.with(ctx, "verifying views", io.err, func(o views.Options) (err error) {
		done, err = views.Verify(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(io.out).Encode(done)
	} else {
		err = tellViews(io.out, done)
	}
	if len(done.Differences) > 0 {
		err = errors.Join(err, errViews)
	}
	return err
}

func tellViews(out io.Writer, done *views.Verified) error {
	revision := func(n *int64) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	for _, d := range done.Differences {
		if _, err := fmt.Fprintf(out, "%s: %s, revision in the bucket %s, in the log %s\n",
			d.Match, d.Kind, revision(d.Bucket), revision(d.Log)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d matches, %d views in %s; differences: %d\n",
		done.Matches, done.Views, done.Bucket, len(done.Differences))
	return err
}
