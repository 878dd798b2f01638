package esdbtest

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Fault is something that goes wrong.
type Fault int

// What can go wrong, and when it is drawn.
const (
	Unavailable      Fault = iota // a call is refused, and nothing done
	Hang                          // a call is never answered, and nothing done
	Delay                         // a call, or an event on its way, takes its time
	LostAnswer                    // an append is done, and its answer lost
	FalseConflict                 // an append is done, and answered with WrongExpectedVersion
	SpuriousConflict              // an append is not done, and answered with WrongExpectedVersion where there is none
	WriteTwice                    // an append that is expected rightly is written twice, one behind the other
	CutRead                       // a read breaks off before an event
	DropLoudly                    // a subscription breaks off before an event
	DropSilently                  // a subscription sends nothing more from an event on, and stays open
	Repeat                        // a subscription sends its last events again
	kinds
)

// faults says what goes wrong next.
type faults struct {
	mu       sync.Mutex
	injected [kinds]int
	odds     map[Fault]float64
	random   *rand.Rand
	fired    [kinds]int
}

func newFaults() *faults { return &faults{random: rand.New(rand.NewPCG(0, 0))} }

// Inject has a fault happen the next so many times that it can.
func (s *Server) Inject(f Fault, times int) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.injected[f] += times
}

// Hostile has faults happen at random, each with its odds whenever it can. The draws are the seed's; which call meets
// which depends on their order.
func (s *Server) Hostile(seed uint64, odds map[Fault]float64) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.odds, s.faults.random = odds, rand.New(rand.NewPCG(seed, seed))
}

// Calm has no faults happen from now on.
func (s *Server) Calm() {
	s.Hostile(0, nil)
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.injected = [kinds]int{}
}

// Fired says how often a fault has happened.
func (s *Server) Fired(f Fault) int {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return s.faults.fired[f]
}

// draw says whether a fault happens now.
func (f *faults) draw(kind Fault) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.injected[kind] > 0:
		f.injected[kind]--
	case f.odds[kind] > 0 && f.random.Float64() < f.odds[kind]:
	default:
		return false
	}
	f.fired[kind]++
	return true
}

// delay is how long a fault of that kind takes at most.
const delay = 3 * time.Millisecond

var errHalted = status.Error(codes.Unavailable, "the server is going down")

// slow waits where a delay is due.
func (s *service) slow(ctx context.Context) error {
	if !s.faults.draw(Delay) {
		return nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.halted:
		return errHalted
	}
}

// before has happen what can happen to any call.
func (s *service) before(ctx context.Context) error {
	if s.faults.draw(Unavailable) {
		return status.Error(codes.Unavailable, "Server Is Too Busy")
	}
	if s.faults.draw(Hang) {
		return s.hang(ctx)
	}
	return s.slow(ctx)
}

func (s *service) hang(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.halted:
		return errHalted
	}
}
