package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/problem"
	"umpire/services/projector"
)

// carry takes a call with its body to a service and the answer back; status is that of success.
func (g *Gateway) carry(c echo.Context, subject, id, action, key string, status int) error {
	data, err := body(c)
	if err != nil {
		return err
	}
	h, err := g.header(c, id)
	if err != nil {
		return err
	}
	h.Set(queue.HeaderAction, action)
	h.Set(queue.HeaderKey, key)
	reply, err := g.ask(c.Request().Context(), subject, h, data)
	if err != nil {
		return err
	}
	if reply.Status == http.StatusOK {
		reply.Status = status
	}
	g.write(c, reply)
	return nil
}

// CreateMatch implements POST /v1/matches.
func (g *Gateway) CreateMatch(c echo.Context) error {
	return g.carry(c, queue.Create, "", "", "", http.StatusCreated)
}

// ClaimSeat implements POST /v1/claims.
func (g *Gateway) ClaimSeat(c echo.Context) error {
	return g.carry(c, queue.Claim, "", "", "", http.StatusOK)
}

// Submit implements POST /v1/matches/{match}/submissions.
func (g *Gateway) Submit(c echo.Context, id Match, params SubmitParams) error {
	key := ""
	if params.IdempotencyKey != nil {
		key = *params.IdempotencyKey
	}
	return g.carry(c, queue.Submit, id, "", key, http.StatusOK)
}

// PauseMatch implements POST /v1/matches/{match}/pause.
func (g *Gateway) PauseMatch(c echo.Context, id Match) error { return g.control(c, id, "pause") }

// ResumeMatch implements POST /v1/matches/{match}/resume.
func (g *Gateway) ResumeMatch(c echo.Context, id Match) error { return g.control(c, id, "resume") }

// ExtendClock implements POST /v1/matches/{match}/extend.
func (g *Gateway) ExtendClock(c echo.Context, id Match) error { return g.control(c, id, "extend") }

// VoidMatch implements POST /v1/matches/{match}/void.
func (g *Gateway) VoidMatch(c echo.Context, id Match) error { return g.control(c, id, "void") }

// ReissueSeat implements POST /v1/matches/{match}/reissue.
func (g *Gateway) ReissueSeat(c echo.Context, id Match) error { return g.control(c, id, "reissue") }

func (g *Gateway) control(c echo.Context, id, action string) error {
	return g.carry(c, queue.Control, id, action, "", http.StatusOK)
}

// ListMatches implements GET /v1/matches.
func (g *Gateway) ListMatches(c echo.Context, params ListMatchesParams) error {
	q := projector.ListQuestion{}
	if params.Status != nil {
		q.Status = string(*params.Status)
	}
	if params.Game != nil {
		q.Game = *params.Game
	}
	if params.Limit != nil {
		if q.Limit = *params.Limit; q.Limit == 0 {
			q.Limit = -1 // 0 was asked for, not left out
		}
	}
	if params.Cursor != nil {
		q.Cursor = *params.Cursor
	}
	return g.question(c, queue.Matches, "", &q)
}

// question asks a service and writes its answer.
func (g *Gateway) question(c echo.Context, subject, id string, q any) error {
	h, err := g.header(c, id)
	if err != nil {
		return err
	}
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	reply, err := g.ask(c.Request().Context(), subject, h, data)
	if err != nil {
		return err
	}
	g.write(c, reply)
	return nil
}

// maxWait bounds how long min_revision waits.
const maxWait = 5 * time.Second

// ViewMatch implements GET /v1/matches/{match}.
func (g *Gateway) ViewMatch(c echo.Context, id Match, params ViewMatchParams) error {
	q := projector.Question{}
	if params.Audience != nil {
		q.Audience = *params.Audience
	}
	if params.Revision != nil {
		if *params.Revision < 0 {
			return match.Malformed("\"revision\" can't be negative")
		}
		at := uint64(*params.Revision)
		q.Revision = &at
	}
	if params.MinRevision == nil {
		return g.question(c, queue.View, id, &q)
	}
	q.MinRevision = *params.MinRevision
	h, err := g.header(c, id)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), maxWait)
	defer cancel()
	reader := g.hub.join(id)
	defer g.hub.leave(id, reader)
	for {
		reply, revision, err := g.view(c.Request().Context(), h, &q)
		if err != nil {
			return err
		}
		if reply.Status != http.StatusOK || revision >= q.MinRevision {
			g.write(c, reply)
			return nil
		}
		select {
		case <-reader.woken:
		case <-ctx.Done():
			return problem.New(problem.Unavailable, "the match has not come to that revision yet")
		case <-g.ending:
			return problem.New(problem.Unavailable, "the server stops; ask again")
		}
	}
}

// ProbePath is where a timer asks whether players can reach umpire: through the gateway, the queue and the submission
// service to the log. It tells nothing else.
const ProbePath = "/probe"

func (g *Gateway) probe(c echo.Context) error { return g.question(c, queue.Probe, "", struct{}{}) }

// Contract implements GET /openapi.yaml.
func (g *Gateway) Contract(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/yaml", contract)
}

// Health implements GET /healthz.
func (g *Gateway) Health(c echo.Context) error {
	return c.JSON(http.StatusOK, Health{Ok: true, Checks: map[string]string{}})
}

// Readiness implements GET /readyz.
func (g *Gateway) Readiness(c echo.Context) error {
	h := Health{}
	h.Checks, h.Ok = g.ready(c.Request().Context())
	status := http.StatusOK
	if !h.Ok {
		status = http.StatusServiceUnavailable
	}
	return c.JSON(status, h)
}
