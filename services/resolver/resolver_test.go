package resolver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// TestReplicasRace plays matches to their ends with replicas that are told of each commit at the same moment: every phase
// is resolved once.
func TestReplicasRace(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			one, other := w.resolver(w.Log), w.resolver(w.Log)
			third := w.resolver(w.Log)
			w.Make("m", duel)
			chance := rand.New(rand.NewPCG(seed, 1))
			head := w.tell(0, one, other, third)
			for !w.Now("m").Over() {
				w.play("m", chance.IntN)
				head = w.tell(head, one, other, third)
			}
			w.tell(0, w.resolver(w.Log)) // one that comes late finds nothing to do
			checkOnce(t, w.Types("m"))
			_, err := w.NewJournal(w.Log).Load(t.Context(), "m")
			require.NoError(t, err, "the stream folds")
		})
	}
}

// play lets a bot move for whoever is awaited.
func (w *world) play(id string, pick func(int) int) {
	w.t.Helper()
	m := w.Now(id)
	player := m.Seats().ID(m.Awaiting()[0])
	data, err := json.Marshal(m.View(player))
	require.NoError(w.t, err)
	v, err := catalog().ReadView(data)
	require.NoError(w.t, err)
	w.submit(id, player, catalog().Bot(v, pick))
}

// checkOnce demands that each submission opened one phase or ended the match.
func checkOnce(t *testing.T, types []string) {
	t.Helper()
	waiting := 0
	for _, kind := range types {
		switch kind {
		case "phase-opened":
			require.Zero(t, waiting, "a phase opens while another is open: %v", types)
			waiting = 1
		case "submission-accepted":
			require.Equal(t, 1, waiting, "%v", types)
			waiting = 0
		}
	}
	ends := strings.Count(strings.Join(types, " "), "match-ended")
	assert.Equal(t, 1, ends)
	assert.Equal(t, "match-ended", types[len(types)-1])
}

// TestHandleIsHarmless: a commit handled again, late, or that is no match's, writes nothing.
func TestHandleIsHarmless(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.resolver(w.Log)
	w.Make("m", duel)
	head := w.tell(0, s)
	require.Equal(t, []string{"match-created", "match-started", "phase-opened"}, w.Types("m"))
	assert.Equal(t, head, w.tell(0, s))
	assert.Equal(t, head, w.tell(0, w.resolver(w.Log)))
	require.NoError(t, s.Handle(t.Context(), &eventlog.Commit{Stream: "umpire-probes", Events: make([]event.Event, 1)}))
	w.Make("waits", strings.Replace(duel, "now", "when-claimed", 1))
	w.tell(head, s)
	assert.Equal(t, []string{"match-created"}, w.Types("waits"))
	assert.Empty(t, w.Logged.String())
}

// TestRulesThatFail pause their match, in public and without a word of what they held, and stop no other.
func TestRulesThatFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.resolver(w.Log)
	w.Make("bad", alone)
	w.Make("good", alone)
	head := w.tell(0, s)
	w.submit("bad", "ada", map[string]any{"type": "boom", "secret": "17 cups"})
	w.submit("good", "ada", map[string]any{"type": "step", "secret": "18 cups"})
	head = w.tell(head, s)

	assert.Equal(t, match.Paused, w.Now("bad").Status())
	assert.Equal(t, match.Running, w.Now("good").Status())
	assert.Equal(t, 2, w.Now("good").PhaseNo())
	assert.Equal(t, 1, w.Logged.Count("\n"), w.Logged.String())
	assert.Contains(t, w.Logged.String(), "match=bad")
	assert.Contains(t, w.Logged.String(), "game=trap@1")
	assert.Contains(t, w.Logged.String(), "trapGame", "where to look")
	assert.NotContains(t, w.Logged.String(), "17 cups")
	for r, err := range w.Own.Events(t.Context(), "bad", 0) {
		require.NoError(t, err)
		assert.NotContains(t, string(r.Public), "cups")
		if r.Type == "match-paused.v1" {
			assert.Equal(t, event.Umpire, r.By)
			assert.Contains(t, string(r.Public), "a fault of its own")
			assert.Empty(t, r.Faces)
		}
	}

	resume := func(m *match.Match) ([]match.Draft, error) { return m.Resume(event.Host, "try again", noon) }
	w.Decide("bad", resume)
	head = w.tell(head, s)
	assert.Equal(t, match.Paused, w.Now("bad").Status(), "it fails again and is paused again")
	w.Decide("bad", func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", noon) })
	w.tell(head, s)
	assert.Equal(t, match.Void, w.Now("bad").Status())
}

// TestRulesThatFailAtOnce: no phase could even be opened.
func TestRulesThatFailAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.resolver(w.Log)
	w.Make("pit", strings.Replace(alone, "trap", "pit", 1))
	w.Make("good", alone)
	w.tell(0, s, w.resolver(w.Log))
	assert.Equal(t, []string{"match-created", "match-started", "match-paused"}, w.Types("pit"))
	assert.Equal(t, match.Running, w.Now("good").Status())
}

// intruder is a log that lets somebody in before an append.
type intruder struct {
	eventlog.Log
	before func() error // once
}

func (i *intruder) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if before := i.before; before != nil {
		i.before = nil
		if err := before(); err != nil {
			return eventlog.Commit{}, err
		}
	}
	return i.Log.Append(ctx, stream, expected, events...)
}

// TestAConflictIsDecidedAnew: what came first counts.
func TestAConflictIsDecidedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := &intruder{Log: w.Log}
	s := w.resolver(log)
	w.Make("m", alone)
	head := w.tell(0, s)
	w.submit("m", "ada", map[string]any{"type": "step", "secret": "x"})
	log.before = func() error {
		w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Pause(event.Host, "", noon) })
		return nil
	}
	head = w.tell(head, s)
	assert.Equal(t, "match-paused", w.Types("m")[4], "nothing is resolved while it is paused")
	assert.Len(t, w.Types("m"), 5)
	log.before = func() error { return nil }
	w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Resume(event.Host, "", noon) })
	w.tell(head, s)
	assert.Equal(t, []string{"match-resumed", "trap.stepped", "phase-opened"}, w.Types("m")[5:])
}

// TestAnExtensionInBetween: after a conflict that changes nothing for the phase it is resolved all the same.
func TestAnExtensionInBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := &intruder{Log: w.Log}
	s := w.resolver(log)
	w.Make("m", duel)
	head := w.tell(0, s)
	w.submit("m", "ada", map[string]any{"type": "pick-starter", "player": "bob"})
	log.before = func() error {
		w.Decide("m", func(m *match.Match) ([]match.Draft, error) { return m.Reissue(event.Host, "bob", "", noon) })
		return nil
	}
	w.tell(head, s)
	assert.Equal(t, []string{"submission-accepted", "seat-reissued", "glass-full.starter-picked", "phase-opened"}, w.Types("m")[3:])
}

// TestAFaultIsForTheLoop: Handle gives it back, and handling the commit again makes it good, also where the append stands
// though the log said that it was down.
func TestAFaultIsForTheLoop(t *testing.T) {
	t.Parallel()
	for name, stands := range map[string]bool{"not written": false, "written, and not said so": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			down := fmt.Errorf("the disk is full: %w", eventlog.ErrUnavailable)
			log := &intruder{Log: w.Log}
			s := w.resolver(log)
			w.Make("m", duel)
			created := eventlog.Commit{}
			for c, err := range w.Log.Read(t.Context(), "match-m", 0) {
				require.NoError(t, err)
				created = c
			}
			log.before = func() error {
				if stands {
					w.tell(0, w.resolver(w.Log))
				}
				return down
			}
			require.ErrorIs(t, s.Handle(t.Context(), &created), eventlog.ErrUnavailable)
			require.NoError(t, s.Handle(t.Context(), &created))
			assert.Equal(t, []string{"match-created", "match-started", "phase-opened"}, w.Types("m"))
			assert.EqualValues(t, 2, w.Now("m").Revision())
		})
	}
}

// TestAMatchThatCantBeRead is an error that no other try mends.
func TestAMatchThatCantBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.resolver(w.Log)
	w.Make("m", duel)
	w.tell(0, s)
	newer, err := w.Log.Append(t.Context(), "match-m", 2, event.Event{ID: event.ID{9}, Type: "match-dreamt.v1", Public: []byte("{}")})
	require.NoError(t, err)
	require.ErrorIs(t, s.Handle(t.Context(), &newer), match.ErrUnknownEvent)
}
