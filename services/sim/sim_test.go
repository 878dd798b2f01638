package sim

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// replay says how to see a failing run again.
func replay(seed uint64, found []string) string {
	return fmt.Sprintf("seed %d at %s: %s\nevery message of it: make sim SIM='-seed %d -transcript'; shortened: make sim SIM='-minimise %d'",
		seed, Commit(), found[0], seed, seed)
}

// TestSeeds plays seeds and wants each to be well, and all faults and checks to have had their turn.
func TestSeeds(t *testing.T) {
	const groups = 4
	n := uint64(seeds)
	if os.Getenv("UMPIRE_LONG") != "" {
		n *= 25
	}
	all, mu := newCoverage(), sync.Mutex{}
	hit := 0
	t.Run("runs", func(t *testing.T) {
		for group := range uint64(groups) {
			t.Run(fmt.Sprintf("from %d", group*n/groups), func(t *testing.T) {
				t.Parallel()
				for seed := group * n / groups; seed < (group+1)*n/groups; seed++ {
					r, found := Try(Options{Seed: seed})
					if len(found) > 0 {
						t.Error(replay(seed, found))
					}
					if r == nil {
						continue
					}
					mu.Lock()
					all.Add(r.Coverage)
					if len(r.Outages) > 0 {
						hit++
					}
					mu.Unlock()
				}
			})
		}
	})
	var table bytes.Buffer
	require.NoError(t, all.Write(&table))
	t.Logf("\n%s", table.String())
	faults, pairs, unchecked := all.Never(Checks())
	assert.Empty(t, faults, "faults that never struck")
	assert.Empty(t, unchecked, "checks that never looked at anything")
	assert.Greater(t, hit, int(n)/3, "runs with an outage")
	if n >= 200 {
		assert.Empty(t, pairs, "pairs of faults that never met")
	}
}

// TestTwoRunsOfOneSeed: they are the same in every message.
func TestTwoRunsOfOneSeed(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			var first, second bytes.Buffer
			for _, out := range []*bytes.Buffer{&first, &second} {
				_, found := Try(Options{Seed: seed, Transcript: out})
				require.Empty(t, found)
			}
			require.Equal(t, sha256.Sum256(first.Bytes()), sha256.Sum256(second.Bytes()))
			require.True(t, bytes.Equal(first.Bytes(), second.Bytes()))
			require.Greater(t, first.Len(), 10_000, "a transcript of nothing")
		})
	}
}

// TestATranscriptChangesNothing: a run is the same whether somebody reads along or not.
func TestATranscriptChangesNothing(t *testing.T) {
	t.Parallel()
	quiet, _ := Try(Options{Seed: 5})
	loud, _ := Try(Options{Seed: 5, Transcript: &bytes.Buffer{}})
	require.Equal(t, quiet.Commits, loud.Commits)
	require.Equal(t, quiet.Steps, loud.Steps)
}

// regressions are seeds that once failed, each with its story. A seed is another run when the simulation has changed: the
// stories that can be told by an edit are mutants too.
var regressions = []struct {
	seed  uint64
	story string
}{
	{73, "all timers were dead in an outage, and the first proof that one read then was a submission: the outage was lost"},
	{113, "a timer saw probes fail, then read of a submission behind the outage before its own probe came back: it was lost"},
	{288, "a match was paused between an outage and its being given, and the pause swallowed what was owed"},
	{1145, "a timer that was restarted knew no deadline yet and so took a minute without a probe for nothing"},
	{1394, "submissions stood in for probes in the log, and a timer that had not read them yet saw a gap where none was"},
	{455, "the one process died, and its log was away when it was to read that again: the simulation waited for it without end"},
	{558, "a proof that came from the log ended a gap in which probes had failed, and was taken for a proof that there was none"},
	{3059, "a projector died between acknowledging a match's last commit and putting its view: the bucket kept an older one for good"},
	{4312, "all at a table lost the answer that showed them the end, thought that they had seen it, and did not look again"},
}

func TestSeedsThatOnceFailed(t *testing.T) {
	for _, r := range regressions {
		t.Run(fmt.Sprint(r.seed), func(t *testing.T) {
			t.Parallel()
			if _, found := Try(Options{Seed: r.seed}); len(found) > 0 {
				t.Errorf("%s\n%s", replay(r.seed, found), r.story)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	for _, want := range [][]int{{7}, {0, 99}, {3, 4, 50}, {10, 11, 12, 13}} {
		least := shorten(100, func(kept []int) bool {
			return !slices.ContainsFunc(want, func(step int) bool { return !slices.Contains(kept, step) })
		}, func(int) {})
		assert.Equal(t, want, least)
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func TestMeasure(t *testing.T) {
	at := func(s int) Span { return Span{epoch.Add(seconds(s)), epoch.Add(seconds(s + 10))} }
	for _, c := range []struct {
		in    Span
		lists [][]Span
		want  int
	}{
		{at(0), nil, 0},
		{at(0), [][]Span{{at(0)}}, 10},
		{at(0), [][]Span{{at(5)}, {at(-5)}}, 10},
		{at(0), [][]Span{{at(7), at(8)}, {at(8)}}, 3},
		{at(0), [][]Span{{at(10), at(-10)}}, 0},
	} {
		assert.Equal(t, seconds(c.want), measure(c.in, c.lists...))
	}
}
