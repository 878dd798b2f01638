package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/queue"
	"umpire/services/problem"
	"umpire/services/projector"
)

// stands lets the services answer with a match that the test moves on.
func (w *world) stands(revision int64) *atomic.Int64 {
	now := &atomic.Int64{}
	now.Store(revision)
	w.answers(func(asked) queue.Reply { return view(now.Load()) })
	return now
}

func TestAStreamOfViews(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	now := w.stands(3)
	resp, events := w.follow("/v1/matches/m/stream", "Authorization", "Bearer ada's")
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	assert.Equal(t, "no", resp.Header.Get("X-Accel-Buffering"))
	assert.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	assert.Equal(t, heartbeat, w.next(events), "the server's time, at once")
	assert.Equal(t, shown(3), w.next(events))
	for _, revision := range []int64{4, 7} {
		now.Store(revision)
		w.tick(revision)
		assert.Equal(t, shown(revision), w.next(events))
	}
	w.requests()
	w.tick(7) // told twice
	require.Eventually(t, func() bool { return w.count() == 1 }, patience, tick)
	now.Store(8)
	w.tick(8)
	assert.Equal(t, shown(8), w.next(events), "and nothing was shown twice")
	for _, a := range w.requests() {
		assert.Equal(t, queue.View, a.subject)
		assert.Equal(t, "ada's", a.header.Get(queue.HeaderToken), "asked anew each time, so that a void token shows nothing")
		assert.Equal(t, "m", a.header.Get(queue.HeaderMatch))
	}
}

func TestAStreamIsTakenUp(t *testing.T) {
	t.Parallel()
	for seen, want := range map[string]int64{"": 5, "3": 5, "5": 6, "6": 5, "99": 5, "x": 5, "-1": 5, "99999999999999999999": 5} {
		w := newWorld(t, nil)
		now := w.stands(5)
		headers := []string{"Last-Event-ID", seen}
		if seen == "" {
			headers = nil
		}
		_, events := w.follow("/v1/matches/m/stream?audience=host", headers...)
		assert.Equal(t, heartbeat, w.next(events))
		if want > 5 {
			now.Store(want)
			w.tick(want)
		}
		assert.Equal(t, shown(want), w.next(events), "after %q", seen)
		var q projector.Question
		require.NoError(t, json.Unmarshal([]byte(w.requests()[0].body), &q))
		assert.Equal(t, "host", q.Audience)
	}
}

func TestAStreamThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, path := range []string{"/v1/matches/m/stream", "/v1/matches/m/events", "/v1/matches/m/events?follow=true"} {
		w.answers(func(asked) queue.Reply { return refusal(problem.NotFound) })
		assert.Equal(t, problem.NotFound, w.refused(http.MethodGet, path, nil).Code, path)
		w.answers(func(asked) queue.Reply { return queue.Reply{Status: 200, Body: []byte("no view")} })
		assert.Equal(t, problem.Unavailable, w.refused(http.MethodGet, path, nil).Code, path)
	}
}

// TestAStreamEndsWithItsToken: a seat that was given to somebody else shows nothing more, and a fault in between ends no
// stream.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	now := w.stands(1)
	_, events := w.follow("/v1/matches/m/stream", "Authorization", "Bearer ada's")
	assert.Equal(t, heartbeat, w.next(events))
	assert.Equal(t, shown(1), w.next(events))
	for _, fault := range []queue.Reply{refusal(problem.Unavailable), {Status: 200, Body: []byte("no view")}} {
		w.requests()
		w.answers(func(asked) queue.Reply { return fault })
		w.tick(2)
		require.Eventually(t, func() bool { return w.count() > 0 }, patience, tick)
	}
	now = w.stands(now.Load() + 1)
	w.tick(2)
	assert.Equal(t, shown(now.Load()), w.next(events))
	w.answers(func(asked) queue.Reply { return refusal(problem.Unauthorized) })
	w.tick(3)
	assert.True(t, w.next(events).ended)
	assert.Equal(t, problem.Unauthorized, w.refused(http.MethodGet, "/v1/matches/m/stream", nil).Code)
}

// TestStreamsEndWithTheServer: everything that waits ends when streams are to end.
func TestStreamsEndWithTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.answers(func(a asked) queue.Reply {
		if a.subject == queue.Events {
			return queue.Reply{Status: 200}
		}
		return view(1)
	})
	_, views := w.follow("/v1/matches/m/stream")
	feed := w.call(http.MethodGet, "/v1/matches/m/events?follow=true", nil)
	waits := make(chan *problem.Problem, 1)
	go func() { waits <- w.refused(http.MethodGet, "/v1/matches/m?min_revision=9", nil) }()
	assert.Equal(t, heartbeat, w.next(views))
	assert.Equal(t, shown(1), w.next(views))
	require.Eventually(t, func() bool { return w.count() >= 3 }, patience, tick)
	w.end()
	assert.True(t, w.next(views).ended)
	rest, err := io.ReadAll(feed.Body)
	require.NoError(t, err)
	assert.Empty(t, rest)
	assert.Equal(t, problem.Unavailable, (<-waits).Code)
}

// TestASlowReader misses views in between and gets the last; meanwhile others get theirs.
func TestASlowReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	padding := strings.Repeat("x", 900<<10)
	var now atomic.Int64
	now.Store(1)
	w.answers(func(a asked) queue.Reply {
		if a.header.Get(queue.HeaderToken) == "quick" {
			return view(now.Load())
		}
		return queue.Reply{Status: 200, Body: fmt.Appendf(nil, `{"revision":%d,"pad":"%s"}`, now.Load(), padding)}
	})
	slow, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	require.NoError(t, err)
	defer slow.Close()
	_, err = io.WriteString(slow, "GET /v1/matches/m/stream HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	_, quick := w.follow("/v1/matches/m/stream", "Authorization", "Bearer quick")
	assert.Equal(t, heartbeat, w.next(quick))
	assert.Equal(t, shown(1), w.next(quick))
	const last = 60 // more than the buffers between two ends hold
	for n := int64(2); n <= last; n++ {
		now.Store(n)
		w.tick(n)
		require.Equal(t, shown(n), w.next(quick), "who keeps up sees each")
	}
	var ids []string
	scanner := bufio.NewScanner(slow)
	scanner.Buffer(nil, 2<<20)
	require.NoError(t, slow.SetReadDeadline(time.Now().Add(patience)))
	for scanner.Scan() {
		if id, ok := strings.CutPrefix(scanner.Text(), "id: "); ok {
			ids = append(ids, id)
			if id == fmt.Sprint(last) {
				break
			}
		}
	}
	require.NoError(t, scanner.Err())
	require.NotEmpty(t, ids)
	assert.Equal(t, fmt.Sprint(last), ids[len(ids)-1], "never the last")
	assert.Less(t, len(ids), last, "it missed some")
}

// event is a line of a feed.
func event(revision uint64) string { return fmt.Sprintf(`{"revision":%d,"public":{}}`, revision) }

// feed lets the services answer with a feed that the test lets grow, in pages of two events.
func (w *world) feed(n int64) *atomic.Int64 {
	length := &atomic.Int64{}
	length.Store(n)
	w.answers(func(a asked) queue.Reply {
		var q projector.Question
		if err := json.Unmarshal([]byte(a.body), &q); err != nil {
			w.t.Error(err)
		}
		from := uint64(0)
		if q.After != nil {
			from = *q.After + 1
		}
		var page strings.Builder
		for r := from; r < min(from+2, uint64(length.Load())); r++ {
			page.WriteString(event(r) + "\n")
		}
		return queue.Reply{Status: 200, Body: []byte(page.String())}
	})
	return length
}

func TestAFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.feed(5)
	for path, want := range map[string][]uint64{
		"": {0, 1, 2, 3, 4}, "?after=1": {2, 3, 4}, "?after=4": nil, "?after=99": nil, "?after=-5": {1, 2, 3, 4}, "?follow=false&after=3": {4},
	} {
		resp, body := w.read(http.MethodGet, "/v1/matches/m/events"+path, nil)
		assert.Equal(t, http.StatusOK, resp.StatusCode, path)
		assert.Equal(t, "application/x-ndjson", resp.Header.Get("Content-Type"), path)
		var lines strings.Builder
		for _, r := range want {
			lines.WriteString(event(r) + "\n")
		}
		assert.Equal(t, lines.String(), body, path)
	}
	for _, bad := range []string{"?after=x", "?follow=perhaps", "?after=99999999999999999999"} {
		assert.EqualValues(t, "malformed", w.refused(http.MethodGet, "/v1/matches/m/events"+bad, nil).Code, bad)
	}
}

// TestAFeedIsFollowed from its head too, where there is nothing to say yet, until the token is void.
func TestAFeedIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	length := w.feed(3)
	resp := w.call(http.MethodGet, "/v1/matches/m/events?follow=true&after=2", nil, "Authorization", "Bearer ada's")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "the answer begins before there is anything to tell")
	lines := bufio.NewScanner(resp.Body)
	for r := uint64(3); r < 6; r++ {
		length.Add(1)
		w.tick(int64(r))
		require.True(t, lines.Scan())
		assert.Equal(t, event(r), lines.Text())
	}
	length.Add(5) // more than one page
	w.tick(10)
	for r := uint64(6); r < 11; r++ {
		require.True(t, lines.Scan())
		assert.Equal(t, event(r), lines.Text())
	}
	w.answers(func(asked) queue.Reply { return refusal(problem.Unavailable) })
	w.requests()
	w.tick(11)
	require.Eventually(t, func() bool { return w.count() > 0 }, patience, tick)
	length = w.feed(12)
	w.tick(11)
	require.True(t, lines.Scan(), "a fault in between ends no feed")
	assert.Equal(t, event(11), lines.Text())
	assert.EqualValues(t, 12, length.Load())

	w.answers(func(asked) queue.Reply { return refusal(problem.Unauthorized) })
	w.tick(12)
	ended := make(chan bool, 1)
	go func() { ended <- !lines.Scan() }()
	select {
	case end := <-ended:
		assert.True(t, end)
		require.NoError(t, lines.Err())
	case <-time.After(patience):
		assert.Fail(t, "the feed goes on though its token is void")
	}
}

// TestMinRevision waits until the projection has come that far.
func TestMinRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	now := w.stands(3)
	_, body := w.read(http.MethodGet, "/v1/matches/m?min_revision=3", nil)
	assert.Equal(t, string(view(3).Body), body)
	w.requests()
	answered := make(chan string, 1)
	go func() {
		_, body := w.read(http.MethodGet, "/v1/matches/m?min_revision=5", nil)
		answered <- body
	}()
	for _, n := range []int64{4, 5} {
		require.Eventually(t, func() bool { return w.count() > 0 }, patience, tick)
		w.requests()
		select {
		case body := <-answered:
			assert.Fail(t, "too early", body)
		default:
		}
		now.Store(n)
		w.tick(n)
	}
	assert.Equal(t, string(view(5).Body), <-answered)
	w.answers(func(asked) queue.Reply { return refusal(problem.Forbidden) })
	assert.Equal(t, problem.Forbidden, w.refused(http.MethodGet, "/v1/matches/m?min_revision=9", nil).Code)
}
