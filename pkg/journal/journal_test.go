package journal_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

var (
	games = match.Catalog{glassfull.Game()}
	epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// newJournal returns a journal on a log; all of them have the same master key.
func newJournal(t *testing.T, log eventlog.Log, entropy io.Reader) *journal.Journal {
	t.Helper()
	vault, err := event.NewVault([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	return journal.New(log, games, vault, entropy)
}

// created drafts the creation of a match between a and b that starts now.
func created(t *testing.T, id string) []match.Draft {
	t.Helper()
	v, err := event.Parse([]byte(`{"game":"glass-full","roles":{"dmo":"a"},"options":{"start":"now","hostSees":"all"},
		"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`))
	require.NoError(t, err)
	setup, err := match.ParseSetup(games, v)
	require.NoError(t, err)
	drafts, _, err := match.Create(id, setup, []byte("fedcba9876543210fedcba9876543210"), false, epoch)
	require.NoError(t, err)
	return drafts
}

// begin creates a match and lets the referee open its first phase.
func begin(t *testing.T, j *journal.Journal, id string) *match.Match {
	t.Helper()
	m, err := j.Append(t.Context(), id, nil, event.ID{}, created(t, id))
	require.NoError(t, err)
	return resolve(t, j, m, epoch)
}

// resolve appends what the referee has to say.
func resolve(t *testing.T, j *journal.Journal, m *match.Match, at time.Time) *match.Match {
	t.Helper()
	for drafts := m.Resolve(at); drafts != nil; drafts = m.Resolve(at) {
		var err error
		m, err = j.Append(t.Context(), m.ID(), m, event.ID{}, drafts)
		require.NoError(t, err)
	}
	return m
}

func submitted(t *testing.T, m *match.Match, who, text string) []match.Draft {
	t.Helper()
	v, err := event.Parse([]byte(text))
	require.NoError(t, err)
	drafts, err := m.Submit(who, 0, false, v, epoch)
	require.NoError(t, err)
	return drafts
}

// submit appends a submission and what follows from it.
func submit(t *testing.T, j *journal.Journal, m *match.Match, who, text string) *match.Match {
	t.Helper()
	m, err := j.Append(t.Context(), m.ID(), m, event.ID{}, submitted(t, m, who, text))
	require.NoError(t, err)
	return resolve(t, j, m, epoch)
}

func pick(who string) string { return fmt.Sprintf(`{"type":"pick-starter","player":%q}`, who) }

func cups(n int) string { return fmt.Sprintf(`{"type":"add","cups":%d}`, n) }

// shows demands that two matches are the same to everybody.
func shows(t *testing.T, want, got *match.Match) {
	t.Helper()
	require.Equal(t, want.Revision(), got.Revision())
	require.Equal(t, want.Hash(), got.Hash())
	for _, audience := range []string{"a", "b", match.HostID, match.Public} {
		one, err := json.Marshal(want.View(audience))
		require.NoError(t, err)
		two, err := json.Marshal(got.View(audience))
		require.NoError(t, err)
		require.Equal(t, string(one), string(two))
	}
}

// chained demands that each event of a match names the hash of the one before, and that hashes and boxes are sound.
func chained(t *testing.T, j *journal.Journal, id string) {
	t.Helper()
	prev, next := "", uint64(0)
	for r, err := range j.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		require.Equal(t, next, r.Revision)
		require.Equal(t, prev, r.Prev, "revision %d", r.Revision)
		require.Equal(t, r.ComputeHash(), r.Hash)
		_, err := j.Keys(id).Reveal(r.Revision, &r.Event)
		require.NoError(t, err)
		prev, next = r.Hash, next+1
	}
}

func TestAppendAndLoad(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	m = submit(t, j, m, "a", pick("b"))
	m = submit(t, j, m, "b", cups(3))
	chained(t, j, "one")

	loaded, err := j.Load(t.Context(), "one")
	require.NoError(t, err)
	assert.Same(t, m, loaded, "a state is shared by all who ask")
	other := newJournal(t, log, rand.Reader)
	read, err := other.Load(t.Context(), "one")
	require.NoError(t, err)
	shows(t, m, read)

	after := submit(t, j, m, "a", cups(1))
	assert.NotEqual(t, m.Revision(), after.Revision(), "a state handed out is never changed")
	stale, err := other.Load(t.Context(), "one")
	require.NoError(t, err)
	assert.Same(t, read, stale, "which may be some events behind the log")
	fresh, err := other.Refresh(t.Context(), "one")
	require.NoError(t, err)
	shows(t, after, fresh)
	again, err := other.Refresh(t.Context(), "one")
	require.NoError(t, err)
	assert.Same(t, fresh, again, "nothing new")
}

func TestNotFound(t *testing.T) {
	j := newJournal(t, memlog.New(), rand.Reader)
	for range 2 {
		_, err := j.Load(t.Context(), "none")
		require.ErrorIs(t, err, journal.ErrNotFound)
		_, err = j.Refresh(t.Context(), "none")
		require.ErrorIs(t, err, journal.ErrNotFound)
		_, err = j.AsOf(t.Context(), "none", 0)
		require.ErrorIs(t, err, journal.ErrNotFound)
	}
	for _, err := range j.Events(t.Context(), "none", 0) {
		t.Fatalf("a match that does not exist yields nothing, and not %v", err)
	}
	begin(t, j, "none")
	_, err := j.Load(t.Context(), "none")
	require.NoError(t, err, "now it does")
}

func TestAsOf(t *testing.T) {
	j := newJournal(t, memlog.New(), rand.Reader)
	m := submit(t, j, begin(t, j, "one"), "a", pick("b"))
	then := m
	m = submit(t, j, m, "b", cups(2))
	back, err := j.AsOf(t.Context(), "one", uint64(then.Revision()))
	require.NoError(t, err)
	shows(t, then, back)
	first, err := j.AsOf(t.Context(), "one", 0)
	require.NoError(t, err)
	assert.Equal(t, match.Waiting, first.Status())
	_, err = j.AsOf(t.Context(), "one", uint64(m.Revision()+1))
	require.ErrorIs(t, err, journal.ErrNotFound)
}

// What a journal knows already, be it older or newer than the revision, makes no difference, and stays what it is.
func TestAsOfFromWhatIsKnown(t *testing.T) {
	log := memlog.New()
	writer := newJournal(t, log, rand.Reader)
	m := begin(t, writer, "one")
	for _, move := range [][2]string{{"a", pick("b")}, {"b", cups(2)}, {"a", cups(3)}} {
		knows := newJournal(t, log, rand.Reader)
		before, err := knows.Load(t.Context(), "one")
		require.NoError(t, err)
		m = submit(t, writer, m, move[0], move[1])
		for revision := range uint64(m.Revision() + 1) {
			want, err := newJournal(t, log, rand.Reader).AsOf(t.Context(), "one", revision)
			require.NoError(t, err)
			got, err := knows.AsOf(t.Context(), "one", revision)
			require.NoError(t, err)
			shows(t, want, got)
		}
		_, err = knows.AsOf(t.Context(), "one", uint64(m.Revision()+1))
		require.ErrorIs(t, err, journal.ErrNotFound)
		still, err := knows.Load(t.Context(), "one")
		require.NoError(t, err)
		assert.Same(t, before, still)
	}
}

func TestEventsFromARevision(t *testing.T) {
	j := newJournal(t, memlog.New(), rand.Reader)
	m := submit(t, j, begin(t, j, "one"), "a", pick("b"))
	for from := range uint64(m.Revision() + 3) {
		next := from
		for r, err := range j.Events(t.Context(), "one", from) {
			require.NoError(t, err)
			require.Equal(t, next, r.Revision)
			next++
		}
		assert.Equal(t, max(from, uint64(m.Revision()+1)), next)
	}
	for r, err := range j.Events(t.Context(), "one", 1) { // in the middle of a commit, and left early
		require.NoError(t, err)
		assert.Equal(t, uint64(1), r.Revision)
		break
	}
}

// Of two who decide on the same state one is written; the other is told, has written nothing, and decides again.
func TestConflict(t *testing.T) {
	log := memlog.New()
	one, two := newJournal(t, log, rand.Reader), newJournal(t, log, rand.Reader)
	m := begin(t, one, "one")
	same, err := two.Load(t.Context(), "one")
	require.NoError(t, err)
	submit(t, one, m, "a", pick("a"))

	pause, err := same.Pause(event.Host, "", epoch)
	require.NoError(t, err)
	_, err = two.Append(t.Context(), "one", same, event.ID{}, pause)
	conflict := new(eventlog.Conflict)
	require.ErrorAs(t, err, &conflict)
	require.NotErrorIs(t, err, journal.ErrNotFound)
	fresh, err := two.Refresh(t.Context(), "one")
	require.NoError(t, err)
	assert.Equal(t, match.Running, fresh.Status())
	pause, err = fresh.Pause(event.Host, "", epoch)
	require.NoError(t, err)
	_, err = two.Append(t.Context(), "one", fresh, event.ID{}, pause)
	require.NoError(t, err)
	chained(t, one, "one")

	_, err = one.Append(t.Context(), "one", nil, event.ID{1}, created(t, "one"))
	require.ErrorAs(t, err, &conflict, "a match is created once")
}

// The same command, tried again, is the same event: what stands is what is returned, however much has followed.
func TestTheSameNameTwice(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	name := j.Keys("one").Name("submission", "0", "key")
	drafts := submitted(t, m, "a", pick("b"))
	first, err := j.Append(t.Context(), "one", m, name, drafts)
	require.NoError(t, err)
	assert.Equal(t, name.String(), first.LastReceipt(0).ID)
	again, err := j.Append(t.Context(), "one", m, name, drafts)
	require.NoError(t, err)
	shows(t, first, again)

	later := submit(t, j, resolve(t, j, first, epoch), "b", cups(3))
	again, err = j.Append(t.Context(), "one", m, name, drafts)
	require.NoError(t, err)
	shows(t, later, again)
	elsewhere := newJournal(t, log, rand.Reader)
	again, err = elsewhere.Append(t.Context(), "one", m, name, drafts)
	require.NoError(t, err)
	shows(t, later, again)
	chained(t, j, "one")
}

// Two resolvers that state the same facts at the same instant: the second finds the first one's commit, whose faces have
// other salts. What it goes on with must be what stands.
func TestTwoResolversAtOneInstant(t *testing.T) {
	log := memlog.New()
	one, two := newJournal(t, log, rand.Reader), newJournal(t, log, rand.Reader)
	m := submit(t, one, begin(t, one, "one"), "a", pick("b"))
	late := epoch.Add(40 * time.Second)
	m, err := one.Append(t.Context(), "one", m, event.ID{}, m.Expire(late))
	require.NoError(t, err)
	m, err = one.Append(t.Context(), "one", m, event.ID{}, submitted(t, m, "b", cups(3)))
	require.NoError(t, err)
	drafts := m.Resolve(late) // a strike, which has no face, then the turn, which has
	require.Equal(t, "glass-full.strike-given.v1", drafts[0].Type)
	require.NotEmpty(t, drafts[1].Faces)

	same, err := two.Load(t.Context(), "one")
	require.NoError(t, err)
	won, err := one.Append(t.Context(), "one", m, event.ID{}, drafts)
	require.NoError(t, err)
	lost, err := two.Append(t.Context(), "one", same, event.ID{}, same.Resolve(late))
	require.NoError(t, err)
	shows(t, won, lost)
	submit(t, two, lost, "a", cups(1))
	chained(t, two, "one")
}

func TestObserve(t *testing.T) {
	log := memlog.New()
	writer, reader, behind := newJournal(t, log, rand.Reader), newJournal(t, log, rand.Reader), newJournal(t, log, rand.Reader)
	m := submit(t, writer, begin(t, writer, "one"), "a", pick("b"))
	_, err := behind.Load(t.Context(), "one")
	require.NoError(t, err)
	m = submit(t, writer, m, "b", cups(1))
	var last eventlog.Commit
	for commit, err := range log.Read(t.Context(), "match-one", 0) {
		require.NoError(t, err)
		seen, err := reader.Observe(t.Context(), &commit)
		require.NoError(t, err)
		require.GreaterOrEqual(t, seen.Revision(), int64(commit.Last()), "the first look reads all there is")
		last = commit
	}
	seen, err := behind.Observe(t.Context(), &last)
	require.NoError(t, err)
	shows(t, m, seen)

	next := submit(t, writer, m, "a", cups(2))
	for commit, err := range log.Read(t.Context(), "match-one", uint64(m.Revision()+1)) {
		require.NoError(t, err)
		seen, err = reader.Observe(t.Context(), &commit)
		require.NoError(t, err)
		require.Equal(t, int64(commit.Last()), seen.Revision(), "commit by commit")
		twice, err := reader.Observe(t.Context(), &commit)
		require.NoError(t, err)
		require.Same(t, seen, twice)
	}
	shows(t, next, seen)
	old, err := reader.Observe(t.Context(), &last)
	require.NoError(t, err)
	require.Same(t, seen, old, "an old commit changes nothing")
	none, err := reader.Observe(t.Context(), &eventlog.Commit{Stream: "umpire-probes"})
	require.NoError(t, err)
	assert.Nil(t, none)
}

func TestStreamsOfMatches(t *testing.T) {
	assert.Equal(t, "match-abc", journal.Stream("abc"))
	for stream, want := range map[string]string{
		"match-abc": "abc", "match-a-b": "a-b", "match-": "", "match": "", "": "", "tournament-x": "", "umpire-probes": "", "Match-a": "",
	} {
		id, ok := journal.MatchOf(stream)
		assert.Equal(t, want, id, stream)
		assert.Equal(t, want != "", ok, stream)
	}
}

func TestAClosedLog(t *testing.T) {
	log := memlog.New()
	j := newJournal(t, log, rand.Reader)
	m := begin(t, j, "one")
	require.NoError(t, j.Reach(t.Context()))
	require.NoError(t, log.Close())
	require.ErrorIs(t, j.Reach(t.Context()), eventlog.ErrClosed)
	_, err := j.Refresh(t.Context(), "one")
	require.ErrorIs(t, err, eventlog.ErrClosed)
	_, err = j.Append(t.Context(), "one", m, event.ID{}, submitted(t, m, "a", pick("a")))
	require.ErrorIs(t, err, eventlog.ErrClosed)
	_, err = j.AsOf(t.Context(), "one", 0)
	require.ErrorIs(t, err, eventlog.ErrClosed)
	_, err = j.Load(t.Context(), "other")
	require.ErrorIs(t, err, eventlog.ErrClosed)
	same, err := j.Load(t.Context(), "one")
	require.NoError(t, err, "what is known needs no log")
	assert.Same(t, m, same)

	open := memlog.New()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = newJournal(t, open, rand.Reader).Append(ended, "one", nil, event.ID{}, created(t, "one"))
	require.ErrorIs(t, err, context.Canceled)
}
