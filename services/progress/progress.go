// Package progress shows how far long work is: a bar with counts, rate and time left on a terminal, a plain line now and
// then elsewhere.
package progress

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	redraw  = 200 * time.Millisecond // on a terminal
	retell  = 10 * time.Second       // elsewhere, where every line is kept
	memory  = 5.0                    // seconds after which what the rate was counts a third
	narrow  = 80                     // columns of a terminal that doesn't say how many it has
	barSize = 24
)

// Bar tells of one piece of work. Its methods may be called concurrently, and cost little when there is nothing to tell
// yet, so that they may be called for every step.
type Bar struct {
	mu       sync.Mutex
	out      io.Writer
	what     string
	terminal bool
	columns  func() int
	now      func() time.Time

	began, told time.Time
	first       uint64 // what was done when the work began: it says nothing of the rate
	toldDone    uint64
	done, total uint64
	rate        float64 // a second, lately
	set, ended  bool
}

// New starts to tell of what, such as "copying", on out. A terminal is found out by itself.
func New(out io.Writer, what string) *Bar {
	b := &Bar{out: out, what: what, now: time.Now, columns: func() int { return narrow }}
	if f, ok := out.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) { //nolint:gosec // a file's number is small
		b.terminal = true
		b.columns = func() int {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 { //nolint:gosec // as above
				return columns
			}
			return narrow
		}
	}
	return b
}

// Set says how much is done, of how much in all; 0 where that is unknown. The total may change as the work goes on.
func (b *Bar) Set(done, total uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.total = done, total
	now := b.now()
	if !b.set {
		b.set, b.began, b.told = true, now, now
		b.first, b.toldDone = done, done
		return
	}
	pause := retell
	if b.terminal {
		pause = redraw
	}
	if b.ended || now.Sub(b.told) < pause {
		return
	}
	b.measure(now)
	if b.terminal {
		b.write("\r\x1b[K" + b.line())
		return
	}
	b.write(b.what + ": " + b.counts() + "\n")
}

// End tells how much was done and how long it took; of work that never began it says nothing. The terminal's line is
// then free for others.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.set || b.ended {
		return
	}
	b.ended = true
	took := b.now().Sub(b.began)
	text := b.what + ": " + b.share()
	if took >= time.Second {
		text += fmt.Sprintf(" in %s, %s/s", short(took), number(uint64(float64(b.done-min(b.first, b.done))/took.Seconds())))
	}
	if b.terminal {
		text = "\r\x1b[K" + text
	}
	b.write(text + "\n")
}

// write leaves it at that where it fails: the work is worth more than what is told of it.
func (b *Bar) write(text string) { _, _ = io.WriteString(b.out, text) }

// measure brings the rate up to date: what it was counts the less the longer ago it was.
func (b *Bar) measure(now time.Time) {
	seconds := now.Sub(b.told).Seconds()
	lately := float64(b.done-min(b.toldDone, b.done)) / seconds
	weight := 1 - math.Exp(-seconds/memory)
	if b.told.Equal(b.began) {
		weight = 1
	}
	b.rate += weight * (lately - b.rate)
	b.told, b.toldDone = now, b.done
}

// line is what a terminal shows, within one row: a longer one could not be written over.
func (b *Bar) line() string {
	room := max(b.columns()-1, 1)
	text := b.what + " " + b.counts()
	if b.total > 0 {
		full := int(barSize * min(b.done, b.total) / b.total) //nolint:gosec // at most the bar's size
		drawn := b.what + " [" + strings.Repeat("#", full) + strings.Repeat(".", barSize-full) + "] " + b.counts()
		if len(drawn) <= room {
			text = drawn
		}
	}
	return text[:min(len(text), room)]
}

// counts says how much is done, how fast it goes and how long it will take.
func (b *Bar) counts() string {
	text := fmt.Sprintf("%s, %s/s", b.share(), number(uint64(b.rate)))
	if b.total > b.done && b.rate > 0 {
		if left := float64(b.total-b.done) / b.rate; left < math.MaxInt64/float64(time.Second) {
			text += ", " + short(time.Duration(left*float64(time.Second))) + " left"
		}
	}
	return text
}

func (b *Bar) share() string {
	if b.total == 0 {
		return number(b.done)
	}
	return fmt.Sprintf("%s of %s (%d%%)", number(b.done), number(b.total), uint64(float64(min(b.done, b.total))*100/float64(b.total)))
}

// number writes a count with a comma at every third digit.
func number(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// short writes a time as a reader wants it: in whole seconds, and without those where it is hours.
func short(d time.Duration) string {
	d = d.Round(time.Second)
	if d >= time.Hour {
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	if d >= time.Minute {
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
