package sim

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// Failure is a seed whose run was not well.
type Failure struct {
	Seed  uint64
	Found []string
}

// Try plays one seed and checks its record.
func Try(o Options) (r *Record, found []string) {
	defer func() {
		if broken := recover(); broken != nil { // a service's own, for the simulation's are caught where they are thrown
			found = []string{fmt.Sprintf("a panic: %v\n%s", broken, debug.Stack())}
		}
	}()
	r, err := Run(o)
	if err != nil {
		found = append(found, err.Error())
	}
	return r, append(found, Check(r)...)
}

// Sum is what a sweep has come to.
type Sum struct {
	Runs, Steps, Commits, Outages int
	// Hit are the runs in which players could not reach umpire for a while.
	Hit      int
	Coverage *Coverage
	Failures []Failure
}

// Sweep plays n seeds from first on, on all cores. told is called behind each run, one at a time; it ends the sweep by
// false.
func Sweep(first, n uint64, told func(*Sum) bool) *Sum {
	sum := &Sum{Coverage: newCoverage()}
	var mu sync.Mutex
	var workers sync.WaitGroup
	next, stop := first, false
	take := func() (seed uint64, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if stop || next-first >= n {
			return 0, false
		}
		next++
		return next - 1, true
	}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed, ok := take(); ok; seed, ok = take() {
				r, found := Try(Options{Seed: seed})
				mu.Lock()
				sum.add(seed, r, found)
				stop = !told(sum) || stop
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return sum
}

func (s *Sum) add(seed uint64, r *Record, found []string) {
	s.Runs++
	if len(found) > 0 {
		s.Failures = append(s.Failures, Failure{seed, found})
	}
	if r == nil {
		return
	}
	s.Steps += r.Steps
	s.Commits += len(r.Commits)
	s.Outages += len(r.Outages)
	if len(r.Outages) > 0 {
		s.Hit++
	}
	s.Coverage.Add(r.Coverage)
}
