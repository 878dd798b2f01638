package gateway

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/nats-io/nats.go"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/metrics"
	"umpire/services/problem"
)

//go:embed openapi.yaml
var contract []byte

// Gateway answers HTTP.
type Gateway struct {
	conn    *nats.Conn
	log     *slog.Logger
	clock   func() time.Time
	base    string
	ready   func(ctx context.Context) (checks map[string]string, ok bool)
	hub     *hub
	handler *echo.Echo
	ending  chan struct{} // closed when streams are to end
}

// Options say how a gateway runs.
type Options struct {
	Conn  *nats.Conn
	Log   *slog.Logger
	Clock func() time.Time
	Base  string // the address that links begin with; empty: that of the request
	// Ready says for /readyz what is missing for requests to be answered; ok where nothing is.
	Ready func(ctx context.Context) (checks map[string]string, ok bool)
}

// maxBody bounds a request's body in bytes.
const maxBody = 256 << 10

// askTimeout bounds how long a call waits for a service.
const askTimeout = 15 * time.Second

// askAgain is how long one replica may take before another is asked.
const askAgain = 3 * time.Second

// New returns a gateway that is connected; Close ends it.
func New(o Options) (*Gateway, error) {
	if o.Ready == nil {
		o.Ready = func(context.Context) (map[string]string, bool) { return map[string]string{}, true }
	}
	g := &Gateway{
		conn: o.Conn, log: o.Log, clock: o.Clock, base: strings.TrimSuffix(o.Base, "/"), ready: o.Ready,
		ending: make(chan struct{}),
	}
	var err error
	if g.hub, err = newHub(o.Conn); err != nil {
		return nil, err
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = g.fail
	e.Use(g.stamp)
	RegisterHandlers(e, g)
	e.GET("/", g.home)
	e.GET("/m/:match", g.seat)
	e.GET(ProbePath, g.probe)
	g.handler = e
	return g, nil
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.handler.ServeHTTP(w, r) }

// EndStreams ends all streams, so that a server can shut down.
func (g *Gateway) EndStreams() { close(g.ending) }

// Close frees what the gateway holds.
func (g *Gateway) Close() error { return g.hub.close() }

// stamp gives every reply the server's time and keeps browsers from guessing at content.
func (g *Gateway) stamp(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Server-Time", strconv.FormatInt(g.clock().UnixMilli(), 10))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// fail writes an error as a problem document.
func (g *Gateway) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var framework *echo.HTTPError
	var p *problem.Problem
	if errors.As(err, &framework) {
		p = problem.New(problem.Code(match.MalformedMove), "the request can't be read: a parameter is of the wrong form")
		switch framework.Code {
		case http.StatusNotFound:
			p = problem.New(problem.NotFound, "there is nothing here; /openapi.yaml lists what there is")
		case http.StatusMethodNotAllowed:
			p.Status, p.Detail = framework.Code, "there is no such method here; /openapi.yaml lists what there is"
		case http.StatusRequestEntityTooLarge:
			p = problem.New(problem.TooLarge, framework.Error())
		}
	} else {
		var isFault bool
		if p, isFault = problem.Of(err); isFault && c.Request().Context().Err() == nil {
			g.log.Error("a call met a fault", "route", c.Path(), "error", err)
		}
	}
	g.write(c, p.Reply())
}

// write answers with what a service said.
func (g *Gateway) write(c echo.Context, reply queue.Reply) {
	kind := echo.MIMEApplicationJSON
	if reply.Status >= http.StatusBadRequest {
		kind = "application/problem+json"
		if p := problem.Read(reply.Status, reply.Body); p.RetryAfter > 0 {
			c.Response().Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
		}
		if reply.Status == http.StatusUnauthorized {
			c.Response().Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	if err := c.Blob(reply.Status, kind, reply.Body); err != nil {
		g.log.Debug("an answer could not be written", "route", c.Path())
	}
}

// ask sends a request to a service. One that may be repeated without harm goes to another replica where there is no
// answer for a while: the first may have died with it.
func (g *Gateway) ask(ctx context.Context, subject string, header nats.Header, body []byte) (queue.Reply, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	patience := askTimeout
	if harmless := subject == queue.View || subject == queue.Events || subject == queue.Matches; harmless ||
		subject == queue.Submit && header.Get(queue.HeaderKey) != "" {
		patience = askAgain
	}
	for {
		once, done := context.WithTimeout(ctx, patience)
		reply, err := queue.Request(once, g.conn, subject, header, body)
		done()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			continue
		}
		if errors.Is(err, queue.ErrNoService) {
			err = problem.New(problem.Unavailable, "the service for that does not run now")
		}
		metrics.RequestSeconds.WithLabelValues(subject).Observe(time.Since(began).Seconds())
		metrics.Requests.WithLabelValues(subject, statusOf(reply, err)).Inc()
		return reply, err
	}
}

func statusOf(reply queue.Reply, err error) string {
	if err != nil {
		return "none"
	}
	return strconv.Itoa(reply.Status)
}

// body reads a request's body, up to its limit.
func body(c echo.Context) ([]byte, error) {
	r := c.Request()
	if r.ContentLength > maxBody {
		return nil, tooLarge()
	}
	// The server's own writer, so that it learns of the limit and answers without reading on.
	data, err := io.ReadAll(http.MaxBytesReader(c.Response().Writer, r.Body, maxBody))
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, problem.New(problem.Code(match.MalformedMove), "the body could not be read to its end")
	}
	return data, nil
}

func tooLarge() error {
	return problem.New(problem.TooLarge, fmt.Sprintf("a body has at most %d bytes", maxBody))
}

// bearer returns the token of a request, "" without one.
func bearer(c echo.Context) (string, error) {
	value := c.Request().Header.Get(echo.HeaderAuthorization)
	if value == "" {
		return "", nil
	}
	scheme, token, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", problem.New(problem.Unauthorized, "the Authorization header must be \"Bearer TOKEN\"")
	}
	return token, nil
}

// header returns what goes with a request to a service.
func (g *Gateway) header(c echo.Context, id string) (nats.Header, error) {
	token, err := bearer(c)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(token+id, "\r\n") {
		return nil, problem.New(problem.Unauthorized, "the token is not valid")
	}
	h := nats.Header{}
	h.Set(queue.HeaderToken, token)
	h.Set(queue.HeaderMatch, id)
	h.Set(queue.HeaderBase, g.address(c))
	return h, nil
}

// address is what links begin with.
func (g *Gateway) address(c echo.Context) string {
	if g.base != "" {
		return g.base
	}
	return c.Scheme() + "://" + c.Request().Host
}
