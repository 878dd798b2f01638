package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"umpire/pkg/queue"
	"umpire/services/feed"
	"umpire/services/gateway"
	"umpire/services/projector"
	"umpire/services/relay"
	"umpire/services/resolver"
	"umpire/services/submission"
	"umpire/services/timer"
)

// startServices starts the services and their loops. Where the log is in the same process, they follow it there.
func (p *Program) startServices(ctx context.Context) error {
	o := p.options
	js, err := jetstream.New(p.conn)
	if err != nil {
		return fmt.Errorf("connecting to JetStream: %w", err)
	}
	if err := queue.Prepare(ctx, js); err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, queue.ViewsBucket)
	if err != nil {
		return fmt.Errorf("opening the bucket of views: %w", err)
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.work, work = errgroup.WithContext(work)
	p.stopWork = cancel
	p.later(func() error { cancel(); return ignoreCancel(p.work.Wait()) })

	deciding := &resolver.Service{Journal: p.journal, Clock: o.Clock, Log: o.Log}
	p.timing = timer.New(timer.Options{
		Journal: p.journal, Log: p.log, Vault: p.vault, Clock: o.Clock, Path: p.probe, Logger: o.Log, Alone: true,
	})
	publisher := projector.NewQueuePublisher(p.conn, kv, o.Log)
	showing := &projector.Service{Journal: p.journal, Authority: p.authority, Clock: o.Clock, Publisher: publisher}
	for name, handle := range map[string]feed.Handle{
		"resolver": deciding.Handle, "timer": p.timing.Handle, "projector": showing.Handle,
	} {
		loop := &feed.Loop{Name: name, Feed: p.log.Follow, Handle: handle, Workers: workers, Log: o.Log}
		p.loops = append(p.loops, loop)
		p.work.Go(func() error { return loop.Run(work) })
	}
	relaying := &relay.Service{Stream: relay.NewJetStream(p.conn, js, o.Log), Feed: p.log.Follow, Log: o.Log}
	for _, run := range []func(context.Context) error{publisher.Run, relaying.Run} {
		p.work.Go(func() error { return run(work) })
	}
	taking := &submission.Service{
		Journal: p.journal, Games: o.Games, Authority: p.authority, Clock: o.Clock, Entropy: rand.Reader,
		InsecureSeed: o.InsecureSeed,
	}
	for _, answer := range []func(context.Context, *nats.Conn, *slog.Logger) (func() error, error){showing.Run, taking.Run} {
		stop, err := answer(work, p.conn, o.Log)
		if err != nil {
			return err
		}
		p.later(stop)
	}
	return nil
}

// startTimer lets deadlines be fired, once the timer has read the log and players can be answered. It stops before all
// else, so that its last probe tells how long players could reach umpire.
func (p *Program) startTimer(ctx context.Context) error {
	head, err := p.log.Head(ctx)
	if err != nil {
		return err
	}
	transport := &http.Transport{}
	p.prober = &http.Client{Transport: transport}
	p.later(func() error { transport.CloseIdleConnections(); return nil })
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	p.work.Go(func() error {
		defer close(ended)
		for _, loop := range p.loops {
			if err := loop.Reach(work, head); err != nil {
				return ignoreCancel(err)
			}
		}
		return ignoreCancel(p.timing.Run(work))
	})
	p.later(func() error { cancel(); <-ended; return nil })
	return nil
}

// probeTimeout is how long a probe may take before players count as cut off.
const probeTimeout = 5 * time.Second

// probe goes the way of a player's submission, from the HTTP address to the log.
func (p *Program) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL()+gateway.ProbePath, nil)
	if err != nil {
		return err
	}
	resp, err := p.prober.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the probe is answered %s", resp.Status)
	}
	return nil
}

// checks are what /readyz looks at.
func (p *Program) checks(ctx context.Context) map[string]gateway.Check {
	checks := map[string]gateway.Check{
		"log": func(ctx context.Context) error {
			_, err := p.log.Head(ctx)
			return err
		},
		"queue": func(context.Context) error {
			if !p.conn.IsConnected() {
				return errors.New("not connected")
			}
			return nil
		},
	}
	head, err := p.log.Head(ctx)
	for _, loop := range p.loops {
		checks[loop.Name] = func(context.Context) error {
			if at := loop.Position(); err == nil && at < head {
				return fmt.Errorf("reading the log: at %d of %d", at, head)
			}
			return nil
		}
	}
	return checks
}
