package progress

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watch is a clock that a test moves.
type watch struct{ at time.Time }

func (w *watch) pass(d time.Duration) { w.at = w.at.Add(d) }

// newBar returns a bar, its clock and what it has written.
func newBar(terminal bool) (*Bar, *watch, *bytes.Buffer) {
	out, w := &bytes.Buffer{}, &watch{at: time.Unix(1_700_000_000, 0)}
	b := New(out, "copying")
	b.terminal, b.now = terminal, func() time.Time { return w.at }
	return b, w, out
}

func TestPlainLinesComeNowAndThen(t *testing.T) {
	b, w, out := newBar(false)
	for n := uint64(1000); n <= 26_000; n += 1000 {
		b.Set(n, 30_000)
		w.pass(time.Second)
	}
	b.End()
	b.End()
	b.Set(30_000, 30_000)
	assert.Equal(t, "copying: 11,000 of 30,000 (36%), 1,000/s, 19 s left\n"+
		"copying: 21,000 of 30,000 (70%), 1,000/s, 9 s left\n"+
		"copying: 26,000 of 30,000 (86%) in 26 s, 961/s\n", out.String(), "what stood at the beginning is no one's rate")
}

func TestATerminalShowsABarInOneRow(t *testing.T) {
	b, w, out := newBar(true)
	b.Set(0, 4000)
	w.pass(redraw - 1)
	b.Set(1, 4000)
	require.Empty(t, out.String(), "not yet")
	w.pass(1)
	b.Set(1000, 4000)
	require.Equal(t, "\r\x1b[Kcopying [######..................] 1,000 of 4,000 (25%), 5,000/s, 1 s left", out.String())

	out.Reset()
	b.columns = func() int { return 40 }
	w.pass(time.Second)
	b.Set(1001, 4000)
	row := strings.TrimPrefix(out.String(), "\r\x1b[K")
	assert.NotContains(t, row, "[", "no room for the bar")
	assert.Less(t, len(row), 40)

	out.Reset()
	b.End()
	assert.Equal(t, "\r\x1b[Kcopying: 1,001 of 4,000 (25%) in 1 s, 834/s\n", out.String())
}

func TestTheRateIsThatOfLate(t *testing.T) {
	b, w, out := newBar(true)
	b.Set(0, 1_000_000)
	for range 100 {
		w.pass(time.Second)
		b.Set(b.done+1000, 1_000_000)
	}
	require.Contains(t, out.String(), "1,000/s, 15 min 0 s left")
	for range 30 {
		w.pass(time.Second)
		b.Set(b.done+10, 1_000_000)
	}
	assert.InDelta(t, 12, b.rate, 3)
}

func TestAnythingMayBeSet(t *testing.T) {
	for name, c := range map[string]struct {
		done, total uint64
		want        string
	}{
		"no total":            {7, 0, "copying: 7, 0/s\n"},
		"nothing at all":      {0, 0, "copying: 0, 0/s\n"},
		"more than there was": {9, 3, "copying: 9 of 3 (100%), 0/s\n"},
		"very much":           {9_000_000_000_009, math.MaxUint64, "copying: 9,000,000,000,009 of 18,446,744,073,709,551,615 (0%), 900,000,000,000/s, 5693 h 26 min left\n"},
		"hardly any":          {1, math.MaxUint64, "copying: 1 of 18,446,744,073,709,551,615 (0%), 0/s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, terminal := range []bool{false, true} {
				b, w, out := newBar(terminal)
				b.Set(min(c.done, 9), c.total)
				w.pass(retell)
				b.Set(c.done, c.total)
				if terminal {
					assert.Less(t, len(out.String()), narrow+len("\r\x1b[K"))
					continue
				}
				assert.Equal(t, c.want, out.String())
			}
		})
	}
	b, w, out := newBar(false)
	b.Set(9, 10)
	w.pass(retell)
	b.Set(3, 10) // begun again
	assert.Equal(t, "copying: 3 of 10 (30%), 0/s\n", out.String())
}

func TestWorkThatNeverBeganIsNotTold(t *testing.T) {
	b, _, out := newBar(true)
	b.End()
	assert.Empty(t, out.String())
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer f.Close()
	assert.False(t, New(f, "copying").terminal)
}

func TestAllMayCallAtOnce(t *testing.T) {
	b := New(&bytes.Buffer{}, "copying")
	var done sync.WaitGroup
	for n := range 8 {
		done.Go(func() {
			for i := range uint64(100) {
				b.Set(i, 100)
			}
			if n == 0 {
				b.End()
			}
		})
	}
	done.Wait()
}

func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1499 * time.Millisecond: "1 s", 59*time.Second + 600*time.Millisecond: "1 min 0 s", time.Hour - 1: "1 h 0 min",
		90 * time.Second: "1 min 30 s", 26*time.Hour + 59*time.Minute: "26 h 59 min",
	} {
		assert.Equal(t, want, short(d), fmt.Sprint(d))
	}
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		assert.Equal(t, want, number(n))
	}
}
