package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/feed"
	"umpire/services/gateway"
	"umpire/services/timer"
)

// Options say how umpire runs.
type Options struct {
	Data         string // folder of the log, the keys and the queue's files
	HTTP         string // address to listen at
	LogURL       string // "sqlite:FILE", "memory:"; empty: sqlite in the data folder
	Base         string // the address that links begin with; empty: that of the request
	InsecureSeed bool   // take seeds from set-ups, for tests; shown in public
	Log          *slog.Logger
	Games        match.Catalog // games.All() unless a test says otherwise
	Clock        func() time.Time
}

// ErrLogURL means that the log was not named in a way that umpire knows.
var ErrLogURL = errors.New("a log must be sqlite:FILE or memory: (with the colon)")

// workers is how many matches a service's loop deals with at once: enough for their appends to share the log's
// transactions.
const workers = 64

// stopTime bounds a graceful stop.
const stopTime = 5 * time.Second

// Program is umpire, started.
type Program struct {
	options   Options
	log       eventlog.Log
	vault     *event.Vault
	authority *token.Authority
	journal   *journal.Journal
	queue     *queue.Embedded
	conn      *nats.Conn
	gateway   *gateway.Gateway
	http      *http.Server
	listener  net.Listener
	loops     []*feed.Loop
	timing    *timer.Service
	prober    *http.Client // the timer's

	operatorPath string
	closers      []func() error // run backwards at the end
	work         *errgroup.Group
	stopWork     context.CancelFunc
}

// Start starts everything; when it returns, requests are answered. What it started before an error is stopped again.
func Start(ctx context.Context, o Options) (_ *Program, err error) {
	if o.Games == nil {
		o.Games = games.All()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Program{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	for _, step := range []func(context.Context) error{p.openLog, p.openKeys, p.openQueue, p.startServices, p.listen, p.startTimer} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Program) later(f func() error) { p.closers = append(p.closers, f) }

func (p *Program) close() (err error) {
	for len(p.closers) > 0 {
		last := len(p.closers) - 1
		err = errors.Join(err, p.closers[last]())
		p.closers = p.closers[:last]
	}
	return err
}

func (p *Program) openLog(context.Context) error {
	if err := os.MkdirAll(p.options.Data, 0o700); err != nil {
		return fmt.Errorf("the data folder can't be made: %w", err)
	}
	kind, path, _ := strings.Cut(p.options.LogURL, ":")
	switch kind {
	case "":
		path = filepath.Join(p.options.Data, "umpire.db")
		fallthrough
	case "sqlite":
		log, err := sqlitelog.Open(path)
		if err != nil {
			return err
		}
		p.log = log
	case "memory":
		p.log = memlog.New()
	default:
		return fmt.Errorf("%w, not %q", ErrLogURL, p.options.LogURL)
	}
	p.later(p.log.Close)
	return nil
}

func (p *Program) openKeys(ctx context.Context) (err error) {
	if p.vault, err = openVault(ctx, p.options.Data, p.log); err != nil {
		return err
	}
	p.authority = token.NewAuthority(p.vault)
	if p.operatorPath, err = operatorToken(p.options.Data, p.authority, p.options.Clock()); err != nil {
		return err
	}
	p.journal = journal.New(p.log, p.options.Games, p.vault, rand.Reader)
	return nil
}

func (p *Program) openQueue(ctx context.Context) (err error) {
	if p.queue, err = queue.StartEmbedded(filepath.Join(p.options.Data, "nats")); err != nil {
		return err
	}
	p.later(func() error { p.queue.Stop(); return nil })
	if p.conn, err = p.queue.Connect("umpire"); err != nil {
		return err
	}
	p.later(func() error { p.conn.Close(); return nil })
	queue.LogErrors(p.conn, p.options.Log)
	return nil
}

func (p *Program) listen(ctx context.Context) (err error) {
	p.gateway, err = gateway.New(gateway.Options{
		Conn: p.conn, Log: p.options.Log, Clock: p.options.Clock, Base: p.options.Base, Checks: p.checks(ctx),
	})
	if err != nil {
		return err
	}
	p.later(p.gateway.Close)
	listen := net.ListenConfig{}
	if p.listener, err = listen.Listen(ctx, "tcp", p.options.HTTP); err != nil {
		return fmt.Errorf("umpire can't listen at %s: %w", p.options.HTTP, err)
	}
	p.http = &http.Server{
		Handler: p.gateway, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(p.options.Log.Handler(), slog.LevelDebug),
	}
	p.http.RegisterOnShutdown(p.gateway.EndStreams)
	p.work.Go(func() error {
		if err := p.http.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("the HTTP server ended: %w", err)
		}
		return nil
	})
	p.later(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime-time.Second)
		defer cancel()
		if err := p.http.Shutdown(ctx); err != nil {
			return errors.Join(err, p.http.Close())
		}
		return nil
	})
	return nil
}

// URL is where the program listens.
func (p *Program) URL() string { return "http://" + p.listener.Addr().String() }

// OperatorTokenPath is the file that holds an operator's token.
func (p *Program) OperatorTokenPath() string { return p.operatorPath }

// MasterKeyPath is the file that holds the master key.
func (p *Program) MasterKeyPath() string { return filepath.Join(p.options.Data, masterKeyFile) }

// Wait returns when the context ends, or with the error of a part that could not go on.
func (p *Program) Wait(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- p.work.Wait() }()
	select {
	case err := <-failed:
		return ignoreCancel(err)
	case <-ctx.Done():
		return nil
	}
}

// Stop ends everything within 5 s: first the calls under way, then the services, then the log.
func (p *Program) Stop() error { return p.close() }

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
