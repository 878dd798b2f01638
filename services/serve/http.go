package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"umpire/services/admin"
	"umpire/services/gateway"
	"umpire/services/problem"
)

// handler is the gateway, once there is one; before that it tells whoever comes to come again.
type handler struct {
	board   *admin.Board
	gateway atomic.Pointer[gateway.Gateway]
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g := h.gateway.Load(); g != nil {
		g.ServeHTTP(w, r)
		return
	}
	mux := http.NewServeMux()
	h.board.Probes(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		reply := problem.New(problem.Unavailable, "umpire is starting; /readyz tells what it waits for").Reply()
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body) // who asked and is gone misses it
	})
	mux.ServeHTTP(w, r)
}

func (p *Program) startGateway(context.Context) (err error) {
	p.gateway, err = gateway.New(gateway.Options{
		Conn: p.conn, Log: p.options.Log, Clock: p.options.Clock, Base: p.options.Base, Ready: p.board.Report,
	})
	if err != nil {
		return err
	}
	p.later(p.gateway.Close)
	if p.endHTTP != nil { // it listens already, and ends before what it needs
		p.later(p.endHTTP)
	}
	p.handler.gateway.Store(p.gateway)
	return nil
}

// lastCalls is how long calls under way may wait for a service when umpire stops; then they are told to come again.
const lastCalls = stopTime - 2*time.Second

// listen answers players.
func (p *Program) listen(ctx context.Context) (err error) {
	listen := net.ListenConfig{}
	if p.listener, err = listen.Listen(ctx, "tcp", p.options.HTTP); err != nil {
		return fmt.Errorf("umpire can't listen at %s: %w", p.options.HTTP, err)
	}
	base, cut := context.WithCancel(context.WithoutCancel(ctx))
	server := &http.Server{
		Handler: &p.handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(p.options.Log.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(func() {
		if g := p.handler.gateway.Load(); g != nil {
			g.EndStreams()
		}
	})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- fmt.Errorf("the HTTP server ended: %w", err)
		}
	}()
	p.endHTTP = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime-time.Second)
		defer cancel()
		late := time.AfterFunc(lastCalls, cut)
		err := server.Shutdown(ctx)
		late.Stop()
		cut()
		if err != nil {
			err = errors.Join(err, server.Close())
		}
		<-ended
		return err
	})
	p.later(p.endHTTP)
	return nil
}

// probeTimeout is how long a probe may take before players count as cut off.
const probeTimeout = 5 * time.Second

// probe goes the way of a player's submission, from the HTTP address to the log.
func (p *Program) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	base := strings.TrimSuffix(p.options.Gateway, "/")
	if p.listener != nil {
		base = p.URL()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+gateway.ProbePath, nil)
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
