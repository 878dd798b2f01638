package serve

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"

	"github.com/nats-io/nats.go"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/journal"
	"umpire/services/deadletter"
	"umpire/services/feed"
	"umpire/services/projector"
	"umpire/services/relay"
	"umpire/services/resolver"
	"umpire/services/submission"
	"umpire/services/timer"
)

// startServices starts the services and their loops in one process, where they follow the log itself.
func (p *Program) startServices(ctx context.Context) error {
	p.beginWork(ctx)
	showing, publisher := p.newProjector()
	p.newTimer(p.alone())
	for name, handle := range map[string]feed.Handle{ // order-free: each runs by itself
		Resolver: p.newResolver().Handle, Timer: p.timing.Handle, Projector: showing.Handle,
	} {
		p.follow(name, p.log.Follow, handle, nil)
	}
	for _, run := range []func(context.Context) error{publisher.Run, p.newRelay().Run} {
		p.work.Go(func() error { return run(p.working) })
	}
	if err := p.resume(ctx); err != nil {
		return err
	}
	for _, answer := range []func(context.Context, *nats.Conn, *slog.Logger) (func() error, error){
		showing.Run, p.newSubmission().Run,
	} {
		if err := p.answer(answer); err != nil {
			return err
		}
	}
	return nil
}

// follow runs a loop over a feed of its own; restart makes it take up that feed anew, and is nil where it is the log itself.
func (p *Program) follow(name string, from feed.Feed, handle feed.Handle, restart func()) {
	loop := &feed.Loop{Name: name, Feed: from, Handle: handle, Workers: workers, Log: p.options.Log, Bury: p.bury()}
	p.loops = append(p.loops, loop)
	p.watchLoop(loop, restart)
	p.work.Go(func() error { return loop.Run(p.working) })
}

// ownQueue is the feed of a service that needs all of it in every replica.
func (p *Program) ownQueue(name string) *feed.Queue {
	return &feed.Queue{Name: name, JS: p.js, Log: p.log.Follow}
}

// share runs a loop that shares its feed with the service's other replicas.
func (p *Program) share(loop *feed.Shared) {
	loop.JS, loop.History, loop.Head, loop.Workers = p.js, p.log.Follow, p.log.Head, workers
	loop.Log, loop.Bury = p.options.Log, p.bury()
	p.watchShared(loop)
	p.work.Go(func() error { return loop.Run(p.working) })
}

func (p *Program) bury() feed.Bury {
	office := &deadletter.Office{Conn: p.conn, Journal: p.journal, Clock: p.options.Clock, Log: p.options.Log}
	return office.Bury
}

// answer serves requests until the end.
func (p *Program) answer(run func(context.Context, *nats.Conn, *slog.Logger) (func() error, error)) error {
	stop, err := run(p.working, p.conn, p.options.Log)
	if err != nil {
		return err
	}
	p.later(stop)
	return nil
}

func (p *Program) newSubmission() *submission.Service {
	o := p.options
	return &submission.Service{
		Journal: p.journal, Games: o.Games, Authority: p.authority, Clock: o.Clock, Entropy: rand.Reader,
		InsecureSeed: o.InsecureSeed,
	}
}

func (p *Program) startSubmission(context.Context) error { return p.answer(p.newSubmission().Run) }

func (p *Program) newResolver() *resolver.Service {
	return &resolver.Service{Journal: p.journal, Clock: p.options.Clock, Log: p.options.Log}
}

func (p *Program) startResolver(context.Context) error {
	p.share(&feed.Shared{Name: Resolver, Handle: p.newResolver().Handle})
	return nil
}

func (p *Program) newProjector() (*projector.Service, *projector.QueuePublisher) {
	publisher := projector.NewQueuePublisher(p.conn, p.js, p.options.Log)
	showing := &projector.Service{
		Journal: p.journal, Authority: p.authority, Clock: p.options.Clock, Publisher: publisher,
	}
	publisher.Refill = func(ctx context.Context) error { return showing.ShowAll(ctx, p.log) }
	publisher.Recall = showing.Recall
	return showing, publisher
}

// startProjector shares the work of showing with other replicas; the list of matches, which it answers by itself, needs
// all of the feed.
func (p *Program) startProjector(context.Context) error {
	showing, publisher := p.newProjector()
	if err := p.answer(showing.Run); err != nil {
		return err
	}
	own := p.ownQueue("index")
	p.follow("index", own.Follow, showing.Note, own.Restart)
	p.share(&feed.Shared{Name: Projector, Handle: showing.Show, Settle: func(ctx context.Context, commit *eventlog.Commit) error {
		id, _ := journal.MatchOf(commit.Stream)                // this consumer is given nothing but matches
		return publisher.Settle(ctx, id, int64(commit.Last())) //nolint:gosec // far from 2^63
	}})
	p.work.Go(func() error { return publisher.Run(p.working) })
	return nil
}

func (p *Program) newRelay() *relay.Service {
	return &relay.Service{Stream: relay.NewJetStream(p.conn, p.js, p.options.Log), Feed: p.log.Follow, Log: p.options.Log}
}

func (p *Program) startRelay(context.Context) error {
	p.watchFeed()
	p.work.Go(func() error { return p.newRelay().Run(p.working) })
	return nil
}

// alone reports whether no other process can have a timer on this log: one in a file is open to one process.
func (p *Program) alone() bool { return !logurl.Remote(p.options.LogURL) }

func (p *Program) newTimer(alone bool) {
	p.timing = timer.New(timer.Options{
		Journal: p.journal, Log: p.log, Vault: p.vault, Clock: p.options.Clock, Path: p.probe, Logger: p.options.Log,
		Alone: alone,
	})
}

func (p *Program) startTimer(context.Context) error {
	p.newTimer(false)
	own := p.ownQueue(Timer)
	p.follow(Timer, own.Follow, p.timing.Handle, own.Restart)
	return nil
}

// resume lets a timer that is alone account for the time before this life, once it has read the log.
func (p *Program) resume(ctx context.Context) error {
	if !p.alone() {
		return nil
	}
	head, err := p.log.Head(ctx)
	if err != nil {
		return err
	}
	if err := p.reach(ctx, head); err != nil {
		return err
	}
	return p.timing.Resume(ctx)
}

// reach waits until all loops have dealt with the log up to a position.
func (p *Program) reach(ctx context.Context, head uint64) error {
	for _, loop := range p.loops {
		if err := loop.Reach(ctx, head); err != nil {
			return err
		}
	}
	return nil
}

// startFiring lets deadlines be fired, once the timer has read the log and players can be answered. It stops before all
// else, so that its last probe tells how long players could reach umpire.
func (p *Program) startFiring(ctx context.Context) error {
	head, err := p.log.Head(ctx)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	p.prober = &http.Client{Transport: transport}
	p.later(func() error { transport.CloseIdleConnections(); return nil })
	work, cancel := context.WithCancel(p.working)
	ended := make(chan struct{})
	p.work.Go(func() error {
		defer close(ended)
		err := p.reach(work, head)
		if err == nil {
			err = p.timing.Run(work)
		}
		return ignoreCancel(err)
	})
	p.later(func() error { cancel(); <-ended; return nil })
	return nil
}
