package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/queue"
	"umpire/services/gateway"
	"umpire/services/problem"
	"umpire/services/servicestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for a fact; tick is how often it looks.
const (
	patience = 10 * time.Second
	tick     = 5 * time.Millisecond
)

var noon = time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)

// asked is a request as a service got it.
type asked struct {
	subject string
	header  nats.Header
	body    string
}

// world is a gateway that listens, and in place of the services behind it one that answers as the test says.
type world struct {
	t       *testing.T
	gateway *gateway.Gateway
	url     string
	client  *http.Client
	conn    *nats.Conn // of the services
	end     func()     // ends the streams

	mu     sync.Mutex
	answer func(asked) queue.Reply
	got    []asked
	logged servicestest.Lines
}

// subjects are those that a gateway asks.
var subjects = []string{queue.Create, queue.Claim, queue.Submit, queue.Control, queue.View, queue.Events, queue.Matches}

func newWorld(t *testing.T, change func(*gateway.Options)) *world {
	t.Helper()
	e, err := queue.StartEmbedded(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	connect := func(name string) *nats.Conn {
		nc, err := e.Connect(name)
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		return nc
	}
	w := &world{t: t, conn: connect("services")}
	w.answers(func(a asked) queue.Reply {
		if a.subject == queue.Events { // there are none
			return queue.Reply{Status: 200}
		}
		return queue.Reply{Status: 200, Body: []byte(`{}`)}
	})
	endpoints := make([]queue.Endpoint, len(subjects))
	for i, subject := range subjects {
		endpoints[i] = queue.Endpoint{Subject: subject, Handle: func(_ context.Context, h nats.Header, body []byte) queue.Reply {
			return w.reply(asked{subject, h, string(body)})
		}}
	}
	stop, err := queue.Serve(t.Context(), w.conn, "test", "a test", queue.Reply{Status: 503}, endpoints...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stop()) })

	o := gateway.Options{
		Conn: connect("gateway"), Log: w.logged.Logger(), Clock: func() time.Time { return noon },
	}
	if change != nil {
		change(&o)
	}
	w.gateway, err = gateway.New(o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.gateway.Close()) })
	require.NoError(t, o.Conn.Flush())
	server := httptest.NewServer(w.gateway)
	w.url, w.client = server.URL, server.Client()
	w.end = sync.OnceFunc(w.gateway.EndStreams)
	t.Cleanup(func() {
		w.end()
		server.CloseClientConnections()
		server.Close()
	})
	return w
}

// answers says what the services answer from now on.
func (w *world) answers(how func(asked) queue.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = how
}

func (w *world) reply(a asked) queue.Reply {
	w.mu.Lock()
	w.got = append(w.got, a)
	how := w.answer
	w.mu.Unlock()
	return how(a)
}

// requests are what the services were asked since the last call.
func (w *world) requests() []asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got
	w.got = nil
	return got
}

// count is how often the services were asked since the last call of requests.
func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.got)
}

// tick tells the gateway that a revision of the match m has been projected.
func (w *world) tick(revision int64) {
	w.t.Helper()
	require.NoError(w.t, w.conn.Publish(queue.TickSubject("m"), fmt.Append(nil, revision)))
	require.NoError(w.t, w.conn.Flush())
}

// answer is what the gateway answered; its body is closed with the test.
type answer struct {
	StatusCode int
	Header     http.Header
	Body       io.Reader
}

// call sends a request; headers are pairs.
func (w *world) call(method, path string, body io.Reader, headers ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, body)
	require.NoError(w.t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(req)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { resp.Body.Close() })
	return answer{resp.StatusCode, resp.Header, resp.Body}
}

// read sends a request and reads the answer.
func (w *world) read(method, path string, body io.Reader, headers ...string) (answer, string) {
	w.t.Helper()
	resp := w.call(method, path, body, headers...)
	data, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp, string(data)
}

// refused sends a request and reads the problem.
func (w *world) refused(method, path string, body io.Reader, headers ...string) *problem.Problem {
	w.t.Helper()
	resp, data := w.read(method, path, body, headers...)
	require.Equal(w.t, "application/problem+json", resp.Header.Get("Content-Type"), data)
	p := &problem.Problem{}
	require.NoError(w.t, json.Unmarshal([]byte(data), p))
	require.Equal(w.t, p.Status, resp.StatusCode)
	require.NotEmpty(w.t, p.Detail)
	return p
}

// view is a view of that revision, of one line.
func view(revision int64) queue.Reply {
	return queue.Reply{Status: 200, Body: fmt.Appendf(nil, `{"match":"m","revision":%d}`, revision)}
}

func refusal(code problem.Code) queue.Reply { return problem.New(code, "no").Reply() }

// sent is one event of a stream, or its end.
type sent struct {
	id, name, data, comment string
	ended                   bool
}

// follow reads a stream of server-sent events.
func (w *world) follow(path string, headers ...string) (answer, <-chan sent) {
	w.t.Helper()
	resp := w.call(http.MethodGet, path, nil, headers...)
	require.Equal(w.t, http.StatusOK, resp.StatusCode)
	events := make(chan sent, 1024)
	go func() {
		defer close(events)
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, 2<<20)
		one := sent{}
		for scanner.Scan() {
			field, value, _ := strings.Cut(scanner.Text(), ": ")
			switch field {
			case "id":
				one.id = value
			case "event":
				one.name = value
			case "data":
				one.data = value
			case "":
				if scanner.Text() != "" {
					one.comment = value
					continue
				}
				events <- one
				one = sent{}
			}
		}
	}()
	return resp, events
}

// next is the next event of a stream, which must come soon.
func (w *world) next(events <-chan sent) sent {
	w.t.Helper()
	select {
	case one, ok := <-events:
		one.ended = !ok
		return one
	case <-time.After(patience):
		require.Fail(w.t, "too late", "no event came")
		return sent{}
	}
}

// shown is the event that shows a view of that revision.
func shown(revision int64) sent {
	return sent{name: "view", id: fmt.Sprint(revision), data: string(view(revision).Body)}
}

// heartbeat is the comment that shows the server's time.
var heartbeat = sent{comment: fmt.Sprint(noon.UnixMilli())}
