package journal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

// Many who append, observe and load the same matches in one process and in another: every match comes out whole, and
// everybody's view of it is the same.
func TestManyAtOnce(t *testing.T) {
	const matches, writers = 4, 6
	log := memlog.New()
	journals := []*journal.Journal{newJournal(t, log, rand.Reader), newJournal(t, log, rand.Reader)}
	for i := range matches {
		begin(t, journals[0], fmt.Sprintf("m-%d", i))
	}
	var work, watch sync.WaitGroup
	stop := make(chan struct{})
	for _, j := range journals {
		watch.Go(func() { observe(t, j, log, stop) })
		watch.Go(func() { look(t, j, matches, stop) })
	}
	for w := range writers {
		work.Go(func() {
			for i := range matches {
				extend(t, journals[w%2], fmt.Sprintf("m-%d", (i+w)%matches), w)
			}
		})
	}
	work.Wait()
	close(stop)
	watch.Wait()
	for i := range matches {
		id := fmt.Sprintf("m-%d", i)
		chained(t, journals[0], id)
		one, err := journals[0].Refresh(t.Context(), id)
		require.NoError(t, err)
		two, err := journals[1].Refresh(t.Context(), id)
		require.NoError(t, err)
		three, err := newJournal(t, log, rand.Reader).Load(t.Context(), id)
		require.NoError(t, err)
		shows(t, one, two)
		shows(t, one, three)
		deadline := one.View(match.Public).Phase.Clocks["a"].Deadline.Sub(epoch)
		assert.Equal(t, 30*time.Second+writers*5*time.Second, deadline, "every extension stands once")
	}
}

// extend gives a player five seconds, one at a time, each under a name of its own, tried until it stands.
func extend(t *testing.T, j *journal.Journal, id string, writer int) {
	t.Helper()
	for n := range 5 {
		name := j.Keys(id).Name("extend", fmt.Sprint(writer), fmt.Sprint(n))
		m, err := j.Load(t.Context(), id)
		if err != nil {
			t.Error(err)
			return
		}
		for {
			drafts, err := m.Extend(event.Host, "a", time.Second, "", epoch)
			if err != nil {
				t.Error(err)
				return
			}
			next, err := j.Append(t.Context(), id, m, name, drafts)
			if err == nil {
				if n%2 == 0 { // as after an answer that was lost
					if _, err = j.Append(t.Context(), id, m, name, drafts); err != nil {
						t.Error(err)
					}
				}
				assert.Greater(t, next.Revision(), m.Revision())
				break
			}
			conflict := new(eventlog.Conflict)
			if !errors.As(err, &conflict) {
				return
			}
			if m, err = j.Refresh(t.Context(), id); !assert.NoError(t, err) {
				return
			}
		}
	}
}

// observe tells a journal of every commit, again and again from the start.
func observe(t *testing.T, j *journal.Journal, log eventlog.Log, stop <-chan struct{}) {
	t.Helper()
	for {
		for i := range 4 {
			for commit, err := range log.Read(t.Context(), fmt.Sprintf("match-m-%d", i), 0) {
				if err != nil {
					t.Error(err)
					return
				}
				m, err := j.Observe(t.Context(), &commit)
				if err != nil || m.Revision() < int64(commit.Last()) {
					t.Errorf("observing revision %d: %v, %v", commit.Last(), m, err)
					return
				}
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// look looks at matches, which must never go back.
func look(t *testing.T, j *journal.Journal, matches int, stop <-chan struct{}) {
	t.Helper()
	last := map[string]int64{}
	for {
		for i := range matches {
			id := fmt.Sprintf("m-%d", i)
			m, err := j.Load(t.Context(), id)
			if err != nil || m.Revision() < last[id] {
				t.Errorf("match %s, known at revision %d: %v, %v", id, last[id], m, err)
				return
			}
			last[id] = m.Revision()
			if _, err = json.Marshal(m.View(match.HostID)); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-stop:
			return
		default:
		}
	}
}

// Matches that are over are kept for those who still look, but not all of them for ever; what was dropped is read again.
func TestMatchesThatAreOverAreDropped(t *testing.T) {
	const kept = 4096
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	states := map[string]*match.Match{}
	void := func(id string) {
		m, err := j.Append(t.Context(), id, nil, event.ID{}, created(t, id)[:1])
		require.NoError(t, err)
		drafts, err := m.VoidMatch(event.Host, "", epoch)
		require.NoError(t, err)
		states[id], err = j.Append(t.Context(), id, m, event.ID{}, drafts)
		require.NoError(t, err)
	}
	running := begin(t, j, "running")
	for i := range kept {
		void(fmt.Sprintf("v-%d", i))
	}
	first, err := j.Load(t.Context(), "v-0")
	require.NoError(t, err)
	assert.Same(t, states["v-0"], first)
	void("v-last")
	first, err = j.Load(t.Context(), "v-0")
	require.NoError(t, err)
	assert.NotSame(t, states["v-0"], first, "it was the oldest")
	shows(t, states["v-0"], first)
	last, err := j.Load(t.Context(), "v-last")
	require.NoError(t, err)
	assert.Same(t, states["v-last"], last)
	same, err := j.Load(t.Context(), "running")
	require.NoError(t, err)
	assert.Same(t, running, same, "what is not over is never dropped")
}

// A log that can't be folded is an error of that match alone.
func TestBrokenMatches(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	good := begin(t, j, "good")
	bad := begin(t, j, "bad")
	stray := event.Event{
		ID: event.ID{1}, Type: "glass-full.turn-taken.v1", At: epoch, By: event.Resolver, Public: json.RawMessage(`{}`),
		Prev: bad.Hash(),
	}
	stray.Hash = stray.ComputeHash()
	_, err := log.Append(t.Context(), "match-bad", bad.Revision(), stray)
	require.NoError(t, err)
	_, err = j.Refresh(t.Context(), "bad")
	require.ErrorIs(t, err, match.ErrBroken)
	_, err = newJournal(t, log, rand.Reader).Load(t.Context(), "bad")
	require.ErrorIs(t, err, match.ErrBroken)
	_, err = j.AsOf(t.Context(), "bad", uint64(bad.Revision()+1))
	require.ErrorIs(t, err, match.ErrBroken)
	then, err := j.AsOf(t.Context(), "bad", uint64(bad.Revision()))
	require.NoError(t, err)
	shows(t, bad, then)
	for commit, err := range log.Read(t.Context(), "match-bad", uint64(bad.Revision()+1)) {
		require.NoError(t, err)
		_, err = j.Observe(t.Context(), &commit)
		require.ErrorIs(t, err, match.ErrBroken)
	}
	still, err := j.Load(t.Context(), "bad")
	require.NoError(t, err)
	assert.Same(t, bad, still, "what was known stands")
	submit(t, j, good, "a", pick("a"))

	vault, err := event.NewVault(bytes.Repeat([]byte{1}, 32))
	require.NoError(t, err)
	_, err = journal.New(log, games, vault, rand.Reader).Load(t.Context(), "good")
	require.ErrorIs(t, err, match.ErrBroken, "another master key")
	require.ErrorIs(t, err, event.ErrBox)
}

func TestAppendNeedsEntropy(t *testing.T) {
	log := memlog.New()
	for n := range 2 * (event.SaltSize + 12) {
		j := newJournal(t, log, io.LimitReader(rand.Reader, int64(n)))
		drafts := created(t, "one")
		drafts[0].Faces = append(drafts[0].Faces, drafts[0].Faces[0])
		_, err := j.Append(t.Context(), "one", nil, event.ID{}, drafts)
		require.Error(t, err)
		_, err = j.Load(t.Context(), "one")
		require.ErrorIs(t, err, journal.ErrNotFound, "nothing was written")
	}
}

// A draft opens what stands in the log, or what its own commit states, and nothing else.
func TestOpenings(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := submit(t, j, begin(t, j, "one"), "a", pick("b"))
	m = submit(t, j, m, "b", cups(3))
	var turn uint64
	for r, err := range j.Events(t.Context(), "one", 0) {
		require.NoError(t, err)
		if r.Type == "glass-full.turn-taken.v1" {
			turn = r.Revision
		}
	}
	next := uint64(m.Revision() + 1)
	pause := func(refs ...match.Ref) error {
		drafts, err := m.Pause(event.Host, "", epoch)
		require.NoError(t, err)
		drafts[0].Faces = []match.DraftFace{{To: []string{"a"}, Data: json.RawMessage(`"its own"`)}}
		drafts[0].Opens = refs
		_, err = newJournal(t, log, rand.Reader).Append(t.Context(), "one", m, event.ID{}, drafts)
		return err
	}
	for _, ref := range []match.Ref{{Revision: turn, Face: 2}, {Revision: 1, Face: 0}, {Revision: next, Face: 1}, {Revision: next + 1}} {
		require.ErrorContains(t, pause(match.Ref{Revision: turn}, ref), "no face")
	}
	require.NoError(t, pause(match.Ref{Revision: turn, Face: 1}, match.Ref{}, match.Ref{Revision: next}))
	var last journal.Recorded
	for r, err := range j.Events(t.Context(), "one", 0) {
		require.NoError(t, err)
		last = r
	}
	require.Len(t, last.Opens, 3)
	assert.JSONEq(t, `{"level":3}`, string(last.Opens[0].Face.Data))
	assert.Contains(t, string(last.Opens[1].Face.Data), "seed")
	assert.JSONEq(t, `"its own"`, string(last.Opens[2].Face.Data))
	for _, o := range last.Opens {
		for r, err := range j.Events(t.Context(), "one", o.Revision) {
			require.NoError(t, err)
			assert.True(t, o.Face.Opens(r.Faces[o.Index].Commitment))
			break
		}
	}
}

// Nothing of a face, nor whom it is for, stands in the log in clear.
func TestTheLogTellsNoSecret(t *testing.T) {
	j := newJournal(t, memlog.New(), rand.Reader)
	m := submit(t, j, begin(t, j, "one"), "a", pick("b"))
	submit(t, j, m, "b", cups(3))
	all := ""
	for r, err := range j.Events(t.Context(), "one", 0) {
		require.NoError(t, err)
		all += string(r.AppendStored(nil))
	}
	for _, secret := range []string{`"cups"`, `"level"`, `"add"`, `"pick-starter","player"`, `"to":`, `"salt":`, "fedcba98", "66656463"} {
		assert.NotContains(t, all, secret, secret)
	}
}
