package projector

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/nats-io/nats.go"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/problem"
)

// Run answers the service's requests until stop is called.
func (s *Service) Run(ctx context.Context, nc *nats.Conn, log *slog.Logger) (stop func() error, err error) {
	busy := problem.New(problem.Unavailable, "too many requests are being worked on; try again").Reply()
	return queue.Serve(ctx, nc, "projector", "shows matches to those who may see them", busy,
		endpoint(log, queue.View, func(ctx context.Context, h nats.Header, q *Question) (any, error) {
			return s.View(ctx, h.Get(queue.HeaderToken), h.Get(queue.HeaderMatch), q)
		}),
		endpoint(log, queue.Events, func(ctx context.Context, h nats.Header, q *Question) (any, error) {
			return s.Events(ctx, h.Get(queue.HeaderToken), h.Get(queue.HeaderMatch), q)
		}),
		endpoint(log, queue.Matches, func(ctx context.Context, _ nats.Header, q *ListQuestion) (any, error) {
			return s.Matches(ctx, q)
		}),
	)
}

// endpoint reads a question, which may be empty, and answers it.
func endpoint[Q any](
	log *slog.Logger, subject string, handle func(ctx context.Context, h nats.Header, q *Q) (any, error),
) queue.Endpoint {
	return queue.Endpoint{Subject: subject, Handle: func(ctx context.Context, h nats.Header, body []byte) queue.Reply {
		return problem.Answer(log, subject, func() (any, error) {
			q := new(Q)
			if len(body) > 0 {
				if err := json.Unmarshal(body, q); err != nil {
					return nil, match.Malformed("the question can't be read")
				}
			}
			return handle(ctx, h, q)
		})
	}}
}
