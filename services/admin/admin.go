// Package admin tells those who run umpire how a process fares: /healthz, /readyz, /metrics and pprof, on a listener of
// their own that players don't reach.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"umpire/services/metrics"
)

// Check says in a sentence what is missing, or nil.
type Check func(ctx context.Context) error

// Board knows what a process waits for. It is safe for concurrent use.
type Board struct {
	mu      sync.Mutex
	checks  map[string]Check
	waiting map[string]error // stands before a check of the same name
}

// NewBoard returns a board without checks.
func NewBoard() *Board { return &Board{checks: map[string]Check{}, waiting: map[string]error{}} }

// Set puts a check on the board, in the place of an earlier one of that name.
func (b *Board) Set(name string, check Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.checks[name] = check
}

// Waiting notes that a process waits for something, and why it is not there.
func (b *Board) Waiting(name string, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[name] = why
}

// Well notes that a process waits for something no more.
func (b *Board) Well(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, name)
}

// Report asks all checks; ok tells whether all are well.
func (b *Board) Report(ctx context.Context) (checks map[string]string, ok bool) {
	b.mu.Lock()
	asked := make(map[string]Check, len(b.checks))
	for name, check := range b.checks { // order-free: copied
		asked[name] = check
	}
	for name, why := range b.waiting { // order-free: each has its own place
		asked[name] = func(context.Context) error { return why }
	}
	b.mu.Unlock()
	checks, ok = map[string]string{}, true
	for name, check := range asked { // order-free: each has its own place
		checks[name] = "ok"
		if err := check(ctx); err != nil {
			checks[name], ok = err.Error(), false
		}
	}
	return checks, ok
}

// Probes answers /healthz and /readyz.
func (b *Board) Probes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"ok": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		checks, ok := b.Report(r.Context())
		status := http.StatusOK
		if !ok {
			status = http.StatusServiceUnavailable
		}
		write(w, status, map[string]any{"ok": ok, "checks": checks})
	})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // who asked and is gone misses it
}

// Listen answers at an address until stop is called. url is where it listens.
func Listen(ctx context.Context, address string, b *Board, log *slog.Logger) (url string, stop func() error, err error) {
	listen := net.ListenConfig{}
	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("umpire can't listen at %s for those who run it: %w", address, err)
	}
	mux := http.NewServeMux()
	b.Probes(mux)
	mux.Handle("GET /metrics", metrics.Handler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the listener for those who run umpire ended", "error", err)
		}
	}()
	return "http://" + listener.Addr().String(), func() error {
		err := server.Close()
		<-ended
		return err
	}, nil
}
