package deadletter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/deadletter"
	"umpire/services/feed"
	"umpire/services/metrics"
	"umpire/services/relay"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 20 * time.Second
	tick     = 5 * time.Millisecond
)

// offices counts them, for what is counted is counted for the process.
var offices atomic.Int64

// office is one with a broker, a log and who listens to its letters.
type office struct {
	deadletter.Office
	t       *testing.T
	world   *servicestest.World
	js      jetstream.JetStream
	service string // of this test alone
	letters *nats.Subscription
}

func newOffice(t *testing.T) *office {
	t.Helper()
	nc, js := servicestest.Queue(t)
	w := servicestest.New(t, games.All())
	o := &office{t: t, world: w, js: js, service: fmt.Sprintf("tester%d", offices.Add(1))}
	var err error
	o.letters, err = nc.SubscribeSync(queue.DeadLetters(o.service))
	require.NoError(t, err)
	require.NoError(t, nc.Flush())
	o.Office = deadletter.Office{
		Conn: nc, Journal: w.Own, Clock: func() time.Time { return w.Time().Add(time.Minute) }, Log: w.Logged.Logger(),
	}
	return o
}

// create begins a match and returns its last commit.
func (o *office) create(id string) *eventlog.Commit {
	o.t.Helper()
	o.world.Make(id, servicestest.Duel(id, `{"start":"now"}`))
	return o.last(id)
}

func (o *office) last(id string) *eventlog.Commit {
	o.t.Helper()
	var last eventlog.Commit
	for c, err := range o.world.Log.Read(o.t.Context(), journal.Stream(id), 0) {
		require.NoError(o.t, err)
		last = c
	}
	return &last
}

// letter is the next.
func (o *office) letter() string {
	o.t.Helper()
	msg, err := o.letters.NextMsg(patience)
	require.NoError(o.t, err)
	return string(msg.Data)
}

// counted is what /metrics tells of the service's letters of a code.
func (o *office) counted(code feed.Code) string {
	o.t.Helper()
	w := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(w, httptest.NewRequestWithContext(o.t.Context(), http.MethodGet, "/metrics", http.NoBody))
	all, err := io.ReadAll(w.Result().Body)
	require.NoError(o.t, err)
	_, after, _ := strings.Cut(string(all), fmt.Sprintf("umpire_dead_letters_total{code=%q,service=%q} ", code, o.service))
	count, _, _ := strings.Cut(after, "\n")
	return count
}

// TestALetter tells where the commit stands and never what is in it; its match is paused, in public, and no other.
func TestALetter(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	commit := o.create("one")
	other := o.create("other")
	why := fmt.Errorf("%w: 17 cups", match.ErrBroken)
	require.NoError(t, o.Bury(t.Context(), o.service, commit, why))
	assert.JSONEq(t, fmt.Sprintf(`{"service":%q,"code":"broken","stream":"match-one","revision":%d,"position":%d}`,
		o.service, commit.First, commit.Position), o.letter())
	assert.Equal(t, "1", o.counted(feed.Broken))
	assert.NotContains(t, o.world.Logged.String(), "17 cups")
	assert.Equal(t, match.Paused, o.world.Now("one").Status())
	last := o.last("one").Events[0]
	assert.Equal(t, "match-paused.v1", last.Type)
	assert.Equal(t, event.Umpire, last.By)
	assert.NotContains(t, string(last.Public), "cups")
	assert.Equal(t, other, o.last("other"))

	require.NoError(t, o.Bury(t.Context(), o.service, commit, why))
	assert.Equal(t, last, o.last("one").Events[0], "once is enough")
	assert.Equal(t, "2", o.counted(feed.Broken))
}

// TestWhatIsNoMatchsCommit stops no match: a message of the feed that is no commit, and a commit of another stream.
func TestWhatIsNoMatchsCommit(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.create("one")
	head, err := o.world.Log.Head(t.Context())
	require.NoError(t, err)
	require.NoError(t, o.Bury(t.Context(), o.service, nil, errors.New("its body is no commit")))
	assert.JSONEq(t, fmt.Sprintf(`{"service":%q,"code":"undecodable","revision":0}`, o.service), o.letter())
	probe := &eventlog.Commit{Stream: "umpire-probes", First: 3, Position: 9}
	require.NoError(t, o.Bury(t.Context(), o.service, probe, eventlog.ErrTooLarge))
	assert.JSONEq(t, fmt.Sprintf(`{"service":%q,"code":"too-large","stream":"umpire-probes","revision":3,"position":9}`, o.service), o.letter())
	after, err := o.world.Log.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, head, after)
}

// sick is a log that fails where it reads.
type sick struct {
	eventlog.Log
	err error
}

func (s sick) Read(context.Context, string, uint64) iter.Seq2[eventlog.Commit, error] {
	return func(yield func(eventlog.Commit, error) bool) { yield(eventlog.Commit{}, s.err) }
}

// TestAMatchThatCannotBePaused: a log that is away is waited for, and until then no letter is sent; a stream that can't be
// read will never be, and who waited for it would stop other matches.
func TestAMatchThatCannotBePaused(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	commit := o.create("one")
	o.Journal = o.world.NewJournal(sick{o.world.Log, eventlog.ErrUnavailable})
	require.ErrorIs(t, o.Bury(t.Context(), o.service, commit, match.ErrBroken), eventlog.ErrUnavailable)
	assert.Empty(t, o.counted(feed.Broken))
	o.Journal = o.world.NewJournal(sick{o.world.Log, eventlog.ErrCorrupt})
	require.NoError(t, o.Bury(t.Context(), o.service, commit, eventlog.ErrCorrupt))
	assert.Contains(t, o.letter(), `"code":"corrupt"`)
	assert.Equal(t, "1", o.counted(feed.Corrupt))
	assert.Contains(t, o.world.Logged.String(), "can't be paused")
	_, err := o.letters.NextMsg(50 * time.Millisecond)
	require.ErrorIs(t, err, nats.ErrTimeout, "one letter")
}

// TestALetterThatCannotBeSent is told of in the log and counted, and keeps nobody waiting.
func TestALetterThatCannotBeSent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	commit := o.create("one")
	o.Conn.Close()
	require.NoError(t, o.Bury(t.Context(), o.service, commit, match.ErrUnknownEvent))
	assert.Contains(t, o.world.Logged.String(), "a dead letter is not sent")
	assert.Contains(t, o.world.Logged.String(), "code=unknown-event stream=match-one")
	assert.Equal(t, "1", o.counted(feed.UnknownEvent))
}

// TestFromTheFeedToThePause runs a service that shares the feed, with rules that fail in one match: that one is paused, and
// the other is dealt with to its end.
func TestFromTheFeedToThePause(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var handled sync.Map
	copying := &relay.Service{Stream: relay.NewJetStream(o.Conn, o.js, o.Log), Feed: o.world.Log.Follow, Log: o.Log}
	shared := &feed.Shared{
		Name: o.service, JS: o.js, History: o.world.Log.Follow, Head: o.world.Log.Head, Workers: 1, Log: o.Log, Bury: o.Bury,
		Handle: func(_ context.Context, c *eventlog.Commit) error {
			if c.Stream == "match-one" {
				panic("17 cups")
			}
			handled.Store(c.Position, true)
			return nil
		},
	}
	servicestest.Run(t, copying.Run)
	servicestest.Run(t, shared.Run)
	o.create("one")
	good := o.create("other")
	_, err := o.js.Publish(t.Context(), "feed.match.x", []byte("what is this?"))
	require.NoError(t, err)
	told := map[string]bool{}
	for !told["broken match-one"] || !told["undecodable "] {
		letter := o.letter()
		for _, code := range []string{"broken", "undecodable"} {
			for _, stream := range []string{"match-one", ""} {
				if strings.Contains(letter, fmt.Sprintf("%q:%q", "code", code)) && strings.Contains(letter, `"stream"`) == (stream != "") {
					told[code+" "+stream] = true
				}
			}
		}
	}
	require.Eventually(t, func() bool {
		_, ok := handled.Load(good.Position)
		return ok && o.last("one").Events[0].Type == "match-paused.v1"
	}, patience, tick)
	assert.Equal(t, good, o.last("other"))
	assert.Len(t, told, 2, "no match is named for what is none's: %v", told)
}
