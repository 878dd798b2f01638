package submission

import (
	"context"
	"log/slog"

	"github.com/nats-io/nats.go"

	"umpire/pkg/queue"
	"umpire/services/problem"
)

// Run answers the service's requests until stop is called.
func (s *Service) Run(ctx context.Context, nc *nats.Conn, log *slog.Logger) (stop func() error, err error) {
	busy := problem.New(problem.Unavailable, "too many requests are being worked on; try again").Reply()
	endpoint := func(subject string, handle func(ctx context.Context, h nats.Header, body []byte) (any, error)) queue.Endpoint {
		return queue.Endpoint{Subject: subject, Handle: func(ctx context.Context, h nats.Header, body []byte) queue.Reply {
			return problem.Answer(log, subject, func() (any, error) { return handle(ctx, h, body) })
		}}
	}
	return queue.Serve(ctx, nc, "submission", "creates matches, seats players, takes submissions and controls", busy,
		endpoint(queue.Create, func(ctx context.Context, h nats.Header, body []byte) (any, error) {
			return s.Create(ctx, h.Get(queue.HeaderToken), body, h.Get(queue.HeaderBase))
		}),
		endpoint(queue.Claim, func(ctx context.Context, _ nats.Header, body []byte) (any, error) {
			return s.Claim(ctx, body)
		}),
		endpoint(queue.Submit, func(ctx context.Context, h nats.Header, body []byte) (any, error) {
			return s.Submit(ctx, h.Get(queue.HeaderToken), h.Get(queue.HeaderMatch), h.Get(queue.HeaderKey), body)
		}),
		endpoint(queue.Probe, func(ctx context.Context, _ nats.Header, _ []byte) (any, error) {
			return s.Probe(ctx)
		}),
		endpoint(queue.Control, func(ctx context.Context, h nats.Header, body []byte) (any, error) {
			return s.Control(ctx, h.Get(queue.HeaderToken), h.Get(queue.HeaderMatch), h.Get(queue.HeaderAction),
				h.Get(queue.HeaderBase), body)
		}),
	)
}
