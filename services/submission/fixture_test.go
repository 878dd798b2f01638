package submission_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
	"umpire/services/servicestest"
	"umpire/services/submission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = servicestest.Noon

// poll is a game for two: in each phase both say something, and may say something else until both have.
type poll struct{ said []string }

type word struct{ text string }

// heard is the poll's table.
type heard struct {
	Said int `json:"said"`
}

func pollGame() *match.Game {
	return match.Rules[poll, word, heard]{
		Name: "poll", Title: "A poll", Version: 1, Players: 2, Move: time.Hour, AtDeadline: true,
		Prepare: func(*match.Setup) (match.Prepared, error) { return match.Prepared{}, nil },
		Begin:   func(match.Start) poll { return poll{} },
		Clone:   func(s *poll) *poll { return &poll{append([]string{}, s.said...)} },
		Await:   func(*poll) match.Await { return match.Await{Phase: "say", Seats: []int{0, 1}, Clock: match.Once} },
		Decode: func(_ *poll, v event.Value) (word, error) {
			form := match.OpenForm(v)
			form.Fields([]string{"text"})
			form.Choice("type", "say")
			return word{form.Text("text")}, form.Err()
		},
		Check: func(_ *match.View, _ *heard, m word) error {
			if m.text == "never" {
				return match.Illegal("that is not said here")
			}
			return nil
		},
		Resolve: func(t *match.Turn[poll, word]) { t.Emit("heard", struct{}{}) },
		Evolve: func(s *poll, f *match.Fact[word]) {
			for _, m := range f.Moves {
				s.said = append(s.said, m.Move.text)
			}
		},
		Opens:  func(string, int) bool { return false },
		Result: func(*poll) any { return struct{}{} },
		View:   func(w *match.Watch[poll, word]) *heard { return &heard{len(w.State.said)} },
		Hints:  func(*match.View, *heard) {},
		Bot:    func(*match.View, *heard, func(int) int) any { return nil },
	}.Game()
}

func catalog() match.Catalog { return match.Catalog{glassfull.Game(), pollGame()} }

// world is a log, the one who signs, and a service.
type world struct {
	*submission.Service
	*servicestest.World
	t         *testing.T
	authority *token.Authority
	operator  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicestest.New(t, catalog()), t: t}
	w.authority = token.NewAuthority(w.Vault)
	w.Service = w.service(w.Log)
	w.operator = w.sign(token.Token{Role: token.Operator})
	return w
}

// service returns one of the service's processes, with a journal of its own on a log.
func (w *world) service(log eventlog.Log) *submission.Service {
	return &submission.Service{
		Journal: w.NewJournal(log), Games: catalog(), Authority: w.authority,
		Clock: w.Time, Entropy: rand.Reader,
	}
}

func (w *world) sign(tok token.Token) string {
	w.t.Helper()
	signed, err := w.authority.Sign(tok, w.Time())
	require.NoError(w.t, err)
	return signed
}

const base = "https://umpire.example"

// setup is of a match between Ada, who begins, and Bob.
func setup(game, more string) string {
	roles := ""
	if game == "glass-full" {
		roles = `"roles":{"dmo":"ada"},`
	}
	return `{"game":"` + game + `",` + roles + more + `"players":[{"id":"ada","name":"Ada"},{"id":"bob","name":"Bob"}]}`
}

// table is a match whose seats are taken.
type table struct {
	id             string
	ada, bob, host string // tokens
}

// table makes a match, has its seats claimed and its first phase opened.
func (w *world) table(game string) *table {
	w.t.Helper()
	created, err := w.Create(w.t.Context(), w.operator, []byte(setup(game, `"options":{"start":"when-claimed"},`)), base)
	require.NoError(w.t, err)
	claim := func(link submission.Link) string {
		seated, err := w.Claim(w.t.Context(), body(map[string]any{"claim": link.Claim}))
		require.NoError(w.t, err)
		return seated.Token
	}
	tab := &table{id: created.Match, ada: claim(created.Players["ada"]), bob: claim(created.Players["bob"])}
	tab.host = claim(created.Host)
	w.Resolve(tab.id)
	return tab
}

// expire does the timer's and the resolver's work after a time.
func (w *world) expire(id string, d time.Duration) {
	w.t.Helper()
	w.Pass(d)
	m := w.Now(id)
	for drafts := m.Expire(w.Time()); drafts != nil; drafts = m.Expire(w.Time()) {
		var err error
		m, err = w.Own.Append(w.t.Context(), id, m, event.ID{}, drafts)
		require.NoError(w.t, err)
	}
	w.Resolve(id)
}

// submissions are the receipts of what stands in a match's log.
func (w *world) submissions(id string) (list []submission.Receipt) {
	w.t.Helper()
	for r, err := range w.Own.Events(w.t.Context(), id, 0) {
		require.NoError(w.t, err)
		if strings.HasPrefix(r.Type, "submission-") {
			list = append(list, submission.Receipt{Revision: r.Revision, Hash: r.Hash})
		}
	}
	return list
}

func body(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// move is the body of a submission; phase 0 names none.
func move(phase int, submitted string) []byte {
	if phase == 0 {
		return []byte(`{"submission":` + submitted + `}`)
	}
	return fmt.Appendf(nil, `{"phase":%d,"submission":%s}`, phase, submitted)
}

const (
	pickBob = `{"type":"pick-starter","player":"bob"}`
	pickAda = `{"type":"pick-starter","player":"ada"}`
	addOne  = `{"type":"add","cups":1}`
	addTwo  = `{"type":"add","cups":2}`
)

func say(text string) string { return string(body(map[string]string{"type": "say", "text": text})) }

// code is the problem's code of an error, "" for none; a fault is "fault".
func code(t *testing.T, err error) problem.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	p, isFault := problem.Of(err)
	if isFault {
		return "fault"
	}
	return p.Code
}

// faulty is a log that is down for some appends, or says so though it took them.
type faulty struct {
	eventlog.Log
	down  atomic.Int64
	takes bool
	reads atomic.Int64
}

func (f *faulty) Append(ctx context.Context, stream string, expected int64, events ...event.Event) (eventlog.Commit, error) {
	if f.down.Add(-1) < 0 {
		return f.Log.Append(ctx, stream, expected, events...)
	}
	var err error
	if f.takes {
		_, err = f.Log.Append(ctx, stream, expected, events...)
	}
	return eventlog.Commit{}, errors.Join(err, fmt.Errorf("the disk is full: %w", eventlog.ErrUnavailable))
}

// Read counts.
func (f *faulty) Read(ctx context.Context, stream string, from uint64) iter.Seq2[eventlog.Commit, error] {
	f.reads.Add(1)
	return f.Log.Read(ctx, stream, from)
}

// meet lets n goroutines begin at once and returns when all are done.
func meet(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}
