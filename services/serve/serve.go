package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/admin"
	"umpire/services/feed"
	"umpire/services/gateway"
	"umpire/services/timer"
)

// Options say how umpire runs.
type Options struct {
	Data         string        // folder of the log, the keys and the queue's files
	HTTP         string        // address to listen at
	Admin        string        // address to listen at for those who run it; empty: nowhere
	LogURL       string        // as package logurl has it; empty: sqlite in the data folder
	NATS         queue.Outside // without a URL: a server inside the process
	MasterKey    string        // file; empty: that of the data folder
	Base         string        // the address that links begin with; empty: that of the request
	Gateway      string        // of a timer by itself: the gateway that its probes go through
	InsecureSeed bool          // take seeds from set-ups, for tests; shown in public
	Log          *slog.Logger
	Games        match.Catalog // games.All() unless a test says otherwise
	Clock        func() time.Time
}

// The services, each of which can run by itself.
const (
	Submission = "submission"
	Timer      = "timer"
	Resolver   = "resolver"
	Projector  = "projector"
	Relay      = "relay"
	Gateway    = "gateway"
)

// workers is how many matches a service's loop deals with at once: enough for their appends to share the log's
// transactions.
const workers = 64

// stopTime bounds a graceful stop.
const stopTime = 5 * time.Second

// Program is umpire, or one of its services, started.
type Program struct {
	options Options
	service string // "" for all of them
	board   *admin.Board

	log       eventlog.Log
	vault     *event.Vault
	authority *token.Authority
	journal   *journal.Journal
	embedded  *queue.Embedded
	conn      *nats.Conn
	js        jetstream.JetStream
	gateway   *gateway.Gateway
	listener  net.Listener
	handler   handler
	endHTTP   func() error
	loops     []*feed.Loop
	timing    *timer.Service
	prober    *http.Client // the timer's

	operatorPath string
	adminURL     string
	work         *errgroup.Group
	working      context.Context // of the group
	failed       chan error      // what the program can't go on after

	rising   context.CancelFunc // ends the start of a service by itself
	risen    chan struct{}      // closed when that start has ended
	mu       sync.Mutex
	closers  []func() error // run backwards at the end
	watching []*watch       // what is added before watchOver begins
}

// step is one part of a start, and what it makes available.
type step struct {
	what    string
	do      func(context.Context) error
	outside bool // it needs what is outside of this process, and may have to wait for it
}

func newProgram(service string, o Options) *Program {
	if o.Games == nil {
		o.Games = games.All()
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Program{
		options: o, service: service, board: admin.NewBoard(), failed: make(chan error, 4), risen: make(chan struct{}),
		rising: func() {},
	}
	p.handler.board = p.board
	return p
}

// Start starts everything in this process; when it returns, requests are answered. What it started before an error is
// stopped again.
func Start(ctx context.Context, o Options) (_ *Program, err error) {
	p := newProgram("", o)
	close(p.risen)
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	farQueue, farLog := o.NATS.URL != "", logurl.Remote(o.LogURL)
	steps := []step{
		{"admin", p.listenAdmin, false}, {"log", p.openLog, farLog}, {"keys", p.makeKeys, farLog}, {"queue", p.openQueue, farQueue},
		{"streams", p.prepare, farQueue}, {"http", p.listen, false}, {"services", p.startServices, false},
		{"gateway", p.startGateway, false}, {"timer", p.startFiring, farLog},
	}
	for _, s := range steps {
		if err := p.await(ctx, s); err != nil {
			return nil, err
		}
	}
	p.watchOver()
	return p, nil
}

// ErrService means that there is no service of that name.
var ErrService = errors.New("there is no such service")

// StartService starts one service. It returns as soon as /readyz can tell what the service waits for: the log, the keys
// and the queue may come later, in any order.
func StartService(ctx context.Context, service string, o Options) (*Program, error) {
	p := newProgram(service, o)
	needed := []step{
		{"log", p.openLog, true}, {"keys", p.readKeys, true}, {"queue", p.openQueue, true}, {"streams", p.prepare, true},
	}
	var own []step
	switch service {
	case Submission:
		own = []step{{service, p.startSubmission, true}}
	case Timer:
		own = []step{{service, p.startTimer, true}, {"firing", p.startFiring, true}}
	case Resolver:
		own = []step{{service, p.startResolver, true}}
	case Projector:
		own = []step{{service, p.startProjector, true}}
	case Relay:
		needed = slices.Delete(needed, 1, 2)
		own = []step{{service, p.startRelay, true}}
	case Gateway:
		needed = []step{{"queue", p.openQueue, true}}
		own = []step{{service, p.startGateway, true}}
	default:
		return nil, fmt.Errorf("%w: %q", ErrService, service)
	}
	if o.NATS.URL == "" {
		return nil, fmt.Errorf("%w: a service by itself needs that which all of them share; --nats or UMPIRE_NATS names it, as nats://HOST:PORT", queue.ErrOutside)
	}
	if err := p.listenAdmin(ctx); err != nil {
		return nil, err
	}
	if service == Gateway { // which tells whoever comes early to come again
		if err := p.listen(ctx); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	work := step{do: func(ctx context.Context) error { p.beginWork(ctx); return nil }}
	p.rise(ctx, slices.Concat(needed, []step{work}, own))
	return p, nil
}

// rise takes the steps of a start in the background, each as soon as it can be taken.
func (p *Program) rise(ctx context.Context, steps []step) {
	for _, s := range steps {
		if s.what != "" {
			p.board.Waiting(s.what, errors.New("not begun"))
		}
	}
	ctx, p.rising = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(p.risen)
		for _, s := range steps {
			if err := p.await(ctx, s); err != nil {
				p.failed <- err
				return
			}
		}
		p.options.Log.Info("the service works", "service", p.service)
		p.watchOver()
	}()
}

// later notes what is to be done at the end.
func (p *Program) later(f func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, f)
}

func (p *Program) close() (err error) {
	p.mu.Lock()
	closers := p.closers
	p.closers = nil
	p.mu.Unlock()
	for _, f := range slices.Backward(closers) {
		err = errors.Join(err, f())
	}
	return err
}

// beginWork makes the group that loops run in, and returns the context that they run until the end of.
func (p *Program) beginWork(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.work, work = errgroup.WithContext(work)
	p.working = work
	p.later(func() error { cancel(); return ignoreCancel(p.work.Wait()) })
}

// URL is where players reach the program, AdminURL where those do who run it.
func (p *Program) URL() string { return "http://" + p.listener.Addr().String() }

// AdminURL is where those reach the program who run it; "" for nowhere.
func (p *Program) AdminURL() string { return p.adminURL }

// OperatorTokenPath is the file that holds an operator's token.
func (p *Program) OperatorTokenPath() string { return p.operatorPath }

// MasterKeyPath is the file that holds the master key.
func (p *Program) MasterKeyPath() string { return MasterKeyPath(p.options.Data, p.options.MasterKey) }

// Wait returns when the context ends, or with the error of a part that could not go on.
func (p *Program) Wait(ctx context.Context) error {
	select {
	case err := <-p.failed:
		return ignoreCancel(err)
	case <-ctx.Done():
		return nil
	}
}

// Stop ends everything within 5 s: first the calls under way, then the services, then the log.
func (p *Program) Stop() error {
	p.rising()
	<-p.risen
	return p.close()
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// hopeless reports whether a step of a start can't succeed however often it is tried.
func hopeless(err error) bool {
	return slices.ContainsFunc([]error{logurl.ErrURL, queue.ErrOutside, errWrongKey}, func(kind error) bool { return errors.Is(err, kind) })
}

const (
	firstWait = 100 * time.Millisecond
	lastWait  = 2 * time.Second
)

// await takes a step. What is outside of this process is waited for, and /readyz tells for what; a fault is logged once. A
// step that fails has had no effect, so that it can be taken again.
func (p *Program) await(ctx context.Context, s step) error {
	said := ""
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := s.do(ctx)
		if err == nil {
			if s.what != "" {
				p.board.Well(s.what)
			}
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !s.outside || hopeless(err) {
			return err
		}
		p.board.Waiting(s.what, err)
		if said != err.Error() {
			said = err.Error()
			p.options.Log.Warn("waiting", "for", s.what, "error", err)
		}
		if !feed.Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}
