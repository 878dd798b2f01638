// Command simulate plays seeds of the deterministic simulation of all services, on all cores, and checks each run.
//
//	simulate -n 20000 -seed 1            plays seeds 1 to 20000
//	simulate -seed 17 -transcript        plays seed 17 and writes every message of the run
//	simulate -minimise 17                shortens seed 17 to the steps that matter, and writes that run's transcript
//
// The exit status is 1 where a run failed; the failing seeds are named, with how to play one again.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"umpire/services/sim"
)

var errFailed = errors.New("a run failed")

func main() {
	debug.SetGCPercent(400) // a run's garbage is small and short-lived; a sweep is bound by its cores
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, errFailed) && !errors.Is(err, flag.ErrHelp) {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func run(args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("simulate", flag.ContinueOnError)
	n := flags.Uint64("n", 1000, "how many `seeds` to play")
	seed := flags.Uint64("seed", 1, "the first `seed`")
	transcript := flags.Bool("transcript", false, "play -seed alone and write every message")
	minimise := flags.Uint64("minimise", 0, "shorten this `seed` to the steps that matter")
	first := flags.Bool("first", false, "stop at the first seed that fails")
	if err := flags.Parse(args); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(out, 1<<16)
	defer func() { _ = buffered.Flush() }()
	switch {
	case *minimise > 0:
		skip, left := sim.Minimise(*minimise, func(left int) { _, _ = fmt.Fprintf(progress, "%d steps left\n", left) })
		if skip == nil {
			_, err := fmt.Fprintf(buffered, "seed %d does not fail\n", *minimise)
			return err
		}
		_, found := sim.Try(sim.Options{Seed: *minimise, Skip: skip, Transcript: buffered})
		_, _ = fmt.Fprintf(buffered, "\nseed %d fails in %d steps:\n", *minimise, left)
		return tell(buffered, found)
	case *transcript:
		_, found := sim.Try(sim.Options{Seed: *seed, Transcript: buffered})
		return tell(buffered, found)
	}
	return sweep(buffered, progress, *seed, *n, *first)
}

// tell writes what a run's checks have found.
func tell(out io.Writer, found []string) error {
	for _, f := range found {
		_, _ = fmt.Fprintln(out, f)
	}
	if len(found) > 0 {
		return errFailed
	}
	_, err := fmt.Fprintln(out, "nothing is wrong")
	return err
}

func sweep(out, progress io.Writer, seed, n uint64, first bool) error {
	show := newProgress(progress, n)
	began := time.Now()
	sum := sim.Sweep(seed, n, func(s *sim.Sum) bool {
		show.told(s)
		return !first || len(s.Failures) == 0
	})
	show.end()
	took, used := time.Since(began), cpu()
	if err := sum.Coverage.Write(out); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\n%d runs, %d steps and %d commits in %s on %d cores: %.0f steps and %.1f runs a second of a core's work\n",
		sum.Runs, sum.Steps, sum.Commits, took.Round(100*time.Millisecond), runtime.GOMAXPROCS(0),
		float64(sum.Steps)/used.Seconds(), float64(sum.Runs)/used.Seconds())
	_, _ = fmt.Fprintf(out, "%d outages, in %d runs\n", sum.Outages, sum.Hit)
	faults, pairs, unchecked := sum.Coverage.Never(sim.Checks())
	for what, names := range map[string][]string{"faults": faults, "pairs of faults": pairs, "checks": unchecked} { // order-free: few
		if len(names) > 0 {
			_, _ = fmt.Fprintf(out, "%s that never occurred: %q\n", what, names)
		}
	}
	for i, f := range sum.Failures {
		if i == 20 {
			_, _ = fmt.Fprintf(out, "and %d more\n", len(sum.Failures)-i)
			break
		}
		_, _ = fmt.Fprintf(out, "seed %d: %s\n", f.Seed, f.Found[0])
	}
	if len(sum.Failures) == 0 {
		_, err := fmt.Fprintf(out, "nothing is wrong, at %s\n", commit())
		return err
	}
	_, _ = fmt.Fprintf(out, "%d of %d runs failed, at %s. One again, with every message: make sim SIM='-seed %d -transcript'; "+
		"shortened: make sim SIM='-minimise %d'\n", len(sum.Failures), sum.Runs, commit(), sum.Failures[0].Seed, sum.Failures[0].Seed)
	return errFailed
}

// commit names the version that was built, as far as the build knows it.
func commit() string { return sim.Commit() }

// cpu is the processor time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
