package projector_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/eventlog"
	"umpire/pkg/games"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/problem"
	"umpire/services/projector"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// How long a test waits for a fact, and how often it looks.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)

var noon = servicestest.Noon

// world is a log with matches in it, a queue, and a projector.
type world struct {
	*projector.Service
	*servicestest.World
	t         *testing.T
	authority *token.Authority
	nc        *nats.Conn
	js        jetstream.JetStream
	kv        jetstream.KeyValue
	publisher *projector.QueuePublisher
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicestest.New(t, games.All()), t: t}
	w.authority = token.NewAuthority(w.Vault)
	w.nc, w.js = servicestest.Queue(t)
	var err error
	w.kv, err = w.js.KeyValue(t.Context(), queue.ViewsBucket)
	require.NoError(t, err)
	w.publisher = projector.NewQueuePublisher(w.nc, w.js, w.Logged.Logger())
	w.Service = w.projector()
	return w
}

// projector returns one of the projector's processes, with a journal of its own.
func (w *world) projector() *projector.Service {
	return &projector.Service{Journal: w.NewJournal(w.Log), Authority: w.authority, Clock: w.Time, Publisher: w.publisher}
}

// publish runs a publisher until the test ends.
func (w *world) publish(p *projector.QueuePublisher) {
	w.t.Helper()
	servicestest.Run(w.t, p.Run)
}

// create makes a match of Glass Full; options is JSON.
func (w *world) create(id, options string) {
	w.t.Helper()
	w.Make(id, servicestest.Duel(id, options))
	w.Resolve(id)
}

// decide appends what is decided about a match and what the resolver says to that.
func (w *world) decide(id string, decision func(*match.Match) ([]match.Draft, error)) {
	w.t.Helper()
	w.Decide(id, decision)
	w.Resolve(id)
}

func (w *world) submit(id, player, move string) {
	w.t.Helper()
	w.Move(id, player, move)
	w.Resolve(id)
}

// claim gives a seat's bearer his token.
func (w *world) claim(id, seat string) string {
	w.t.Helper()
	m := w.Now(id)
	place, ok := m.Seat(seat)
	require.True(w.t, ok)
	issue, _ := m.Issue(place)
	w.decide(id, func(m *match.Match) ([]match.Draft, error) { return m.Claim(place, issue, nil, noon) })
	return w.sign(token.Token{Role: token.Seat, Match: id, Seat: seat, Issue: issue})
}

func (w *world) sign(tok token.Token) string {
	w.t.Helper()
	signed, err := w.authority.Sign(tok, noon)
	require.NoError(w.t, err)
	return signed
}

// handle hands commits to a projector.
func (w *world) handle(s *projector.Service, commits []eventlog.Commit) {
	w.t.Helper()
	for i := range commits {
		require.NoError(w.t, s.Handle(w.t.Context(), &commits[i]))
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

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

// played makes a match in which Ada has picked Bob, Bob has added 3 cups and Ada 2; its seats are claimed.
func (w *world) played(id, options string) (tokens map[string]string) {
	w.t.Helper()
	w.create(id, options)
	tokens = map[string]string{"public": "", "operator": w.sign(token.Token{Role: token.Operator})}
	for _, seat := range []string{"ada", "bob", "host"} {
		tokens[seat] = w.claim(id, seat)
	}
	w.submit(id, "ada", `{"type":"pick-starter","player":"bob"}`)
	w.submit(id, "bob", `{"type":"add","cups":3}`)
	w.submit(id, "ada", `{"type":"add","cups":2}`)
	return tokens
}
