package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"umpire/services/sim"
)

// progress shows how far a sweep is: one line that changes on a terminal, a line now and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	n        uint64
	next     time.Time
}

func newProgress(out io.Writer, n uint64) *progress {
	p := &progress{out: out, n: n}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			p.terminal = info.Mode()&os.ModeCharDevice != 0
		}
	}
	p.next = time.Now().Add(p.pause())
	return p
}

func (p *progress) pause() time.Duration {
	if p.terminal {
		return 200 * time.Millisecond
	}
	return 10 * time.Second
}

func (p *progress) told(s *sim.Sum) {
	if time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(p.pause())
	begin, end := "", "\n"
	if p.terminal {
		begin, end = "\r\x1b[K", ""
	}
	_, _ = fmt.Fprintf(p.out, "%s%d of %d runs, %d failed%s", begin, s.Runs, p.n, len(s.Failures), end)
}

func (p *progress) end() {
	if p.terminal {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
