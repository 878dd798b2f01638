package journal_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
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

// ofYesterday is a journal of a program that does not know the rules, and so can fold no match.
func ofYesterday(t *testing.T, log eventlog.Log) *journal.Journal {
	t.Helper()
	vault, err := event.NewVault([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	return journal.New(log, match.Catalog{}, vault, rand.Reader)
}

// lastOf is a match's last event, as it stands in the log.
func lastOf(t *testing.T, j *journal.Journal, id string) (last journal.Recorded) {
	t.Helper()
	for r, err := range j.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		last = r
	}
	return last
}

// pausedInPublic demands that a match's last event is umpire's pause, which tells nothing of what it met.
func pausedInPublic(t *testing.T, j *journal.Journal, id string, at time.Time) uint64 {
	t.Helper()
	last := lastOf(t, j, id)
	require.Equal(t, "match-paused.v1", last.Type)
	assert.Equal(t, event.Umpire, last.By)
	assert.True(t, at.Equal(last.At), last.At)
	assert.JSONEq(t, `{"why":"umpire met a fault of its own in this match and has stopped it; no time is charged"}`, string(last.Public))
	assert.Empty(t, last.Faces)
	chained(t, j, id)
	return last.Revision
}

// TestHalt pauses a match that runs, once, and leaves any other alone.
func TestHalt(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	at := epoch.Add(time.Minute)
	for range 3 {
		require.NoError(t, j.Halt(t.Context(), "one", at))
	}
	assert.EqualValues(t, m.Revision()+1, pausedInPublic(t, j, "one", at))
	now, err := j.Load(t.Context(), "one")
	require.NoError(t, err)
	assert.Equal(t, match.Paused, now.Status())

	over := begin(t, j, "over")
	drafts, err := over.VoidMatch(event.Host, "", at)
	require.NoError(t, err)
	over, err = j.Append(t.Context(), "over", over, event.ID{}, drafts)
	require.NoError(t, err)
	waiting := created(t, "waiting")[:1]
	idle, err := j.Append(t.Context(), "waiting", nil, event.ID{}, waiting)
	require.NoError(t, err)
	for _, m := range []*match.Match{over, idle} {
		require.NoError(t, j.Halt(t.Context(), m.ID(), at))
		assert.EqualValues(t, m.Revision(), lastOf(t, j, m.ID()).Revision)
	}
	require.NoError(t, j.Halt(t.Context(), "nobody's", at))
	assert.Empty(t, lastOf(t, j, "nobody's").Type)
}

// TestHaltWhatCannotBeFolded: events of a newer program, and such as fit nothing.
func TestHaltWhatCannotBeFolded(t *testing.T) {
	for name, c := range map[string]struct {
		kind, public string
		says         error
	}{
		"of a newer program": {"match-rewound.v1", `{}`, match.ErrUnknownEvent},
		"of a newer version": {"glass-full.turn-taken.v2", `{}`, match.ErrUnknownEvent},
		"that fits nothing":  {"submission-accepted.v1", `{"player":7}`, match.ErrBroken},
	} {
		for who, know := range map[string]bool{"it knew": true, "it never read": false} {
			t.Run(name+", of a match that "+who, func(t *testing.T) {
				log := memlog.New()
				j := newJournal(t, log, rand.Reader)
				m := begin(t, j, "one")
				if !know {
					j = newJournal(t, log, rand.Reader)
				}
				strange := event.Event{
					ID: event.ID{9}, Type: c.kind, At: epoch.Add(time.Hour), By: event.Resolver, Public: []byte(c.public), Prev: m.Hash(),
				}
				strange.Hash = strange.ComputeHash()
				_, err := log.Append(t.Context(), "match-one", m.Revision(), strange)
				require.NoError(t, err)
				_, err = j.Refresh(t.Context(), "one")
				require.ErrorIs(t, err, c.says)

				require.NoError(t, j.Halt(t.Context(), "one", epoch.Add(time.Minute)))
				revision := pausedInPublic(t, j, "one", strange.At)
				assert.EqualValues(t, m.Revision()+2, revision, "no earlier than what it follows")
				for _, again := range []*journal.Journal{j, newJournal(t, log, rand.Reader), ofYesterday(t, log)} {
					require.NoError(t, again.Halt(t.Context(), "one", epoch.Add(2*time.Hour)))
				}
				assert.Equal(t, revision, lastOf(t, j, "one").Revision)
			})
		}
	}
}

// TestReplicasThatHaltAtOnce, some of which can fold the match and some can't, pause it once.
func TestReplicasThatHaltAtOnce(t *testing.T) {
	for name, journals := range map[string][]func(*testing.T, eventlog.Log) *journal.Journal{
		"who can fold it":   {able},
		"who can't":         {ofYesterday},
		"of whom some can":  {able, ofYesterday},
		"who have known it": {able, able, ofYesterday},
	} {
		t.Run(name, func(t *testing.T) {
			log := memlog.New()
			j := newJournal(t, log, rand.Reader)
			m := begin(t, j, "one")
			var racing sync.WaitGroup
			for n := range 8 {
				racer := journals[n%len(journals)](t, log)
				_, _ = racer.Load(t.Context(), "one") // some know it, some can't
				racing.Go(func() {
					assert.NoError(t, racer.Halt(t.Context(), "one", epoch.Add(time.Duration(n)*time.Second)))
				})
			}
			racing.Wait()
			last := lastOf(t, j, "one")
			assert.EqualValues(t, m.Revision()+1, last.Revision)
			pausedInPublic(t, j, "one", last.At)
		})
	}
}

func able(t *testing.T, log eventlog.Log) *journal.Journal {
	t.Helper()
	return newJournal(t, log, rand.Reader)
}

// deadlines are those of the running clocks.
func deadlines(t *testing.T, m *match.Match) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for player, clock := range m.View(match.Public).Phase.Clocks {
		if clock != nil {
			all[player] = clock.Deadline.Time
		}
	}
	require.NotEmpty(t, all)
	return all
}

// TestWhoCanReadItLater finds the match paused, may resume it, and nobody is charged for the time between.
func TestWhoCanReadItLater(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	before := deadlines(t, m)
	require.NoError(t, ofYesterday(t, log).Halt(t.Context(), "one", epoch.Add(10*time.Second)))

	_, err := j.Append(t.Context(), "one", m, event.ID{}, submitted(t, m, "a", pick("b")))
	var conflict *eventlog.Conflict
	require.ErrorAs(t, err, &conflict, "who did not know looks again")
	m, err = j.Refresh(t.Context(), "one")
	require.NoError(t, err)
	assert.Equal(t, match.Paused, m.Status())
	fresh, err := newJournal(t, log, rand.Reader).Load(t.Context(), "one")
	require.NoError(t, err)
	shows(t, m, fresh)

	drafts, err := m.Resume(event.Host, "all is well again", epoch.Add(time.Hour))
	require.NoError(t, err)
	m, err = j.Append(t.Context(), "one", m, event.ID{}, drafts)
	require.NoError(t, err)
	assert.Equal(t, match.Running, m.Status())
	for player, was := range before {
		assert.Equal(t, was.Add(time.Hour-10*time.Second), deadlines(t, m)[player], player)
	}
	submit(t, j, m, "a", pick("b"))
	chained(t, j, "one")
}

// TestAPauseOfWhatDoesNotRun, by who could not tell, changes nothing for who can.
func TestAPauseOfWhatDoesNotRun(t *testing.T) {
	at := epoch.Add(10 * time.Second)
	for name, c := range map[string]struct {
		control func(*match.Match) ([]match.Draft, error)
		status  match.Status
	}{
		"paused": {func(m *match.Match) ([]match.Draft, error) { return m.Pause(event.Host, "tea", at) }, match.Paused},
		"void":   {func(m *match.Match) ([]match.Draft, error) { return m.VoidMatch(event.Host, "", at) }, match.Void},
	} {
		t.Run(name, func(t *testing.T) {
			log := memlog.New()
			j := newJournal(t, log, rand.Reader)
			m := begin(t, j, "one")
			before := deadlines(t, m)
			drafts, err := c.control(m)
			require.NoError(t, err)
			_, err = j.Append(t.Context(), "one", m, event.ID{}, drafts)
			require.NoError(t, err)
			require.NoError(t, ofYesterday(t, log).Halt(t.Context(), "one", epoch.Add(time.Hour)))
			pausedInPublic(t, j, "one", epoch.Add(time.Hour))
			m, err = j.Refresh(t.Context(), "one")
			require.NoError(t, err)
			require.Equal(t, c.status, m.Status())
			if c.status != match.Paused {
				return
			}
			drafts, err = m.Resume(event.Host, "", epoch.Add(2*time.Hour))
			require.NoError(t, err)
			m, err = j.Append(t.Context(), "one", m, event.ID{}, drafts)
			require.NoError(t, err)
			for player, was := range before {
				assert.Equal(t, was.Add(2*time.Hour-10*time.Second), deadlines(t, m)[player], "from the first pause on")
			}
		})
	}
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	_, err := j.Append(t.Context(), "waiting", nil, event.ID{}, created(t, "waiting")[:1])
	require.NoError(t, err)
	require.NoError(t, ofYesterday(t, log).Halt(t.Context(), "waiting", at))
	m, err := j.Refresh(t.Context(), "waiting")
	require.NoError(t, err)
	assert.Equal(t, match.Waiting, m.Status())
}

// rotten is a log of which one stream can't be read.
type rotten struct{ eventlog.Log }

func (rotten) Read(context.Context, string, uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) { yield(eventlog.Commit{}, eventlog.ErrCorrupt) }
}

// TestHaltTellsOfALogThatFails: it is tried again by whoever asked.
func TestHaltTellsOfALogThatFails(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	begin(t, j, "one")
	require.ErrorIs(t, newJournal(t, rotten{log}, rand.Reader).Halt(t.Context(), "one", epoch), eventlog.ErrCorrupt)
	require.NoError(t, log.Close())
	for _, who := range []*journal.Journal{j, ofYesterday(t, log)} {
		require.ErrorIs(t, who.Halt(t.Context(), "one", epoch), eventlog.ErrClosed)
	}
}

// TestThePauseIsTheSame whoever appends it: a program that can fold the match writes what one that can't does.
func TestThePauseIsTheSame(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	drafts, err := m.PauseBroken(epoch.Add(time.Second))
	require.NoError(t, err)
	require.Len(t, drafts, 1)
	unread := match.UnreadPause(epoch.Add(time.Second))
	one, err := json.Marshal(drafts[0])
	require.NoError(t, err)
	two, err := json.Marshal(unread)
	require.NoError(t, err)
	assert.JSONEq(t, string(one), string(two))
}
