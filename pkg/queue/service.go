package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// Handler answers a request.
type Handler func(ctx context.Context, header nats.Header, body []byte) Reply

// Endpoint is a subject and who answers it.
type Endpoint struct {
	Subject string
	Handle  Handler
}

// waiting bounds how many requests one service works on at once; more are told to come again.
const waiting = 1024

// Serve answers the endpoints as one micro service until stop is called, which lets the requests under way finish. When it
// returns, the server sends requests here. Any number of processes may serve the same name; each request goes to one of
// them. Every request is handed to a goroutine of its own, for micro runs an endpoint's handlers one after the other.
func Serve(ctx context.Context, nc *nats.Conn, name, description string, busy Reply, endpoints ...Endpoint) (stop func() error, err error) {
	service, err := micro.AddService(nc, micro.Config{
		Name: "umpire-" + name, Version: "1.0.0", Description: description, QueueGroup: "umpire-" + name,
	})
	if err != nil {
		return nil, fmt.Errorf("serving %s: %w", name, err)
	}
	slots := make(chan struct{}, waiting)
	for _, e := range endpoints {
		handler := micro.HandlerFunc(func(r micro.Request) {
			select {
			case slots <- struct{}{}:
			default:
				respond(r, busy)
				return
			}
			go func() {
				defer func() { <-slots }()
				respond(r, e.Handle(ctx, nats.Header(r.Headers()), r.Data()))
			}()
		})
		if err := service.AddEndpoint(endpointName(e.Subject), handler, micro.WithEndpointSubject(e.Subject)); err != nil {
			return nil, errors.Join(fmt.Errorf("serving %s: %w", e.Subject, err), service.Stop())
		}
	}
	known, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := nc.FlushWithContext(known); err != nil { // until the server has heard of them, requests find no service
		return nil, errors.Join(fmt.Errorf("serving %s: %w", name, err), service.Stop())
	}
	return sync.OnceValue(func() error {
		err := service.Stop()
		for range waiting { // with every slot taken, none is under way and none begins that NATS hands over late
			slots <- struct{}{}
		}
		return err
	}), nil
}

// endpointName is a subject's last part, for names of endpoints have no dots.
func endpointName(subject string) string { return subject[len("umpire."):] }

// respond sends a reply; who asked and is gone misses it, and what it tells of stands in the log.
func respond(r micro.Request, reply Reply) {
	if reply.Status == 200 {
		_ = r.Respond(reply.Body)
		return
	}
	status := strconv.Itoa(reply.Status)
	_ = r.Respond(reply.Body, micro.WithHeaders(micro.Headers{HeaderStatus: []string{status}}))
}
