package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/nats-io/nats.go"

	"umpire/pkg/queue"
	"umpire/services/problem"
	"umpire/services/projector"
)

const (
	// heartbeat is how often a stream says that it lives, and looks for what a lost tick did not tell it.
	heartbeat = 15 * time.Second
	// again is how soon a stream looks anew after a fault, and after its first look.
	again = time.Second
	// stall is how long one write may take before a reader counts as gone.
	stall = 10 * time.Second
)

// view asks for a view and returns its revision too.
func (g *Gateway) view(ctx context.Context, h nats.Header, q *projector.Question) (queue.Reply, int64, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return queue.Reply{}, 0, err
	}
	reply, err := g.ask(ctx, queue.View, h, data)
	if err != nil || reply.Status != http.StatusOK {
		return reply, 0, err
	}
	var head struct {
		Revision int64 `json:"revision"`
	}
	if err := json.Unmarshal(reply.Body, &head); err != nil {
		return reply, 0, fmt.Errorf("a view can't be read: %w", err)
	}
	return reply, head.Revision, nil
}

// StreamMatch implements GET /v1/matches/{match}/stream.
func (g *Gateway) StreamMatch(c echo.Context, id Match, params StreamMatchParams) error {
	q := projector.Question{}
	if params.Audience != nil {
		q.Audience = *params.Audience
	}
	h, err := g.header(c, id)
	if err != nil {
		return err
	}
	last := int64(-1)
	if params.LastEventID != nil {
		if seen, err := strconv.ParseInt(*params.LastEventID, 10, 64); err == nil {
			last = seen
		}
	}
	reader := g.hub.join(id)
	defer g.hub.leave(id, reader)
	ctx := c.Request().Context()
	reply, revision, err := g.view(ctx, h, &q)
	if err != nil {
		return err
	}
	if reply.Status != http.StatusOK {
		g.write(c, reply)
		return nil
	}
	if last > revision { // no event of this match has that id: begin anew
		last = -1
	}
	out := newSender(c, "text/event-stream")
	beat, soon := time.NewTicker(heartbeat), time.NewTimer(again)
	defer beat.Stop()
	defer soon.Stop()
	out.comment(g.clock())
	for out.err == nil {
		if revision > last {
			out.event(revision, reply.Body)
			last = revision
		}
		select {
		case <-reader.woken:
		case <-soon.C: // a tick may have come just before the reader did
		case <-beat.C:
			out.comment(g.clock())
		case <-ctx.Done():
			return nil
		case <-g.ending:
			return nil
		}
		q.MinRevision = reader.revision.Load()
		next, at, err := g.view(ctx, h, &q)
		switch {
		case err == nil && next.Status == http.StatusOK:
			reply, revision = next, at
		case err == nil && isVoid(next):
			return nil
		default:
			soon.Reset(again)
		}
	}
	return nil
}

// isVoid reports whether who reads may not read on: the token is no longer good. A fault passes.
func isVoid(reply queue.Reply) bool {
	return reply.Status != http.StatusOK && problem.Read(reply.Status, reply.Body).Code != problem.Unavailable
}

// sender writes a long answer piece by piece; it keeps the first error.
type sender struct {
	w       *echo.Response
	control *http.ResponseController
	err     error
}

func newSender(c echo.Context, kind string) *sender {
	w := c.Response()
	w.Header().Set(echo.HeaderContentType, kind)
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &sender{w: w, control: http.NewResponseController(w)}
}

func (s *sender) send(data []byte) {
	if s.err != nil {
		return
	}
	if s.err = s.control.SetWriteDeadline(time.Now().Add(stall)); s.err != nil {
		return
	}
	if _, s.err = s.w.Write(data); s.err == nil {
		s.err = s.control.Flush()
	}
}

func (s *sender) event(revision int64, view []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: view\nid: %d\ndata: ", revision)
	b.Write(view) // JSON of one line
	b.WriteString("\n\n")
	s.send(b.Bytes())
}

func (s *sender) comment(now time.Time) {
	s.send(fmt.Appendf(nil, ": %d\n\n", now.UnixMilli()))
}

// MatchEvents implements GET /v1/matches/{match}/events.
func (g *Gateway) MatchEvents(c echo.Context, id Match, params MatchEventsParams) error {
	q := projector.Question{}
	if params.Audience != nil {
		q.Audience = *params.Audience
	}
	if params.After != nil {
		after := uint64(max(*params.After, 0))
		q.After = &after
	}
	h, err := g.header(c, id)
	if err != nil {
		return err
	}
	follow := params.Follow != nil && *params.Follow
	reader := g.hub.join(id)
	defer g.hub.leave(id, reader)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	ctx := c.Request().Context()
	var out *sender
	for {
		reply, err := g.feedPage(ctx, h, &q)
		switch {
		case out == nil && err != nil:
			return err
		case out == nil && reply.Status != http.StatusOK:
			g.write(c, reply)
			return nil
		case out == nil:
			out = newSender(c, "application/x-ndjson")
			out.send(nil) // the answer begins, though there may be nothing to tell yet
		case err == nil && isVoid(reply):
			return nil
		}
		if err == nil && reply.Status == http.StatusOK && len(reply.Body) > 0 {
			if out.send(reply.Body); out.err != nil {
				return nil
			}
			continue
		}
		if !follow {
			return nil
		}
		select {
		case <-reader.woken:
		case <-beat.C:
		case <-ctx.Done():
			return nil
		case <-g.ending:
			return nil
		}
	}
}

// feedPage asks for the events behind q.After and moves it on.
func (g *Gateway) feedPage(ctx context.Context, h nats.Header, q *projector.Question) (queue.Reply, error) {
	data, err := json.Marshal(q)
	if err != nil {
		return queue.Reply{}, err
	}
	reply, err := g.ask(ctx, queue.Events, h, data)
	if err != nil || reply.Status != http.StatusOK || len(reply.Body) == 0 {
		return reply, err
	}
	lines := bytes.TrimSuffix(reply.Body, []byte("\n"))
	var last struct {
		Revision uint64 `json:"revision"`
	}
	if err := json.Unmarshal(lines[bytes.LastIndexByte(lines, '\n')+1:], &last); err != nil {
		return reply, fmt.Errorf("an event can't be read: %w", err)
	}
	q.After = &last.Revision
	return reply, nil
}
