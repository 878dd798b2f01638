// Package queue is how the services talk: NATS, with the one list of subjects. Everything in it can be wiped; the log
// alone is the truth.
//
// The embedded server runs in the process and listens nowhere; services reach it by an in-process
// connection, so a program of one process needs nothing installed.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"umpire/pkg/eventlog"
)

// startTimeout is how long the embedded server may take to start, and a server to hear of a service.
const startTimeout = 10 * time.Second

// Embedded is a NATS server in this process.
type Embedded struct{ server *server.Server }

// StartEmbedded starts a server that keeps JetStream's files in dir and listens nowhere. It is ready when this returns.
func StartEmbedded(dir string) (*Embedded, error) {
	options := &server.Options{
		ServerName: "umpire", JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		DontListen: true, MaxPayload: maxPayload,
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("the embedded NATS server has no valid options: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		return nil, fmt.Errorf("the embedded NATS server did not start within %s; is %s writable?", startTimeout, dir)
	}
	return &Embedded{s}, nil
}

// Connect opens a connection inside the process.
func (e *Embedded) Connect(name string) (*nats.Conn, error) {
	nc, err := nats.Connect("", nats.InProcessServer(e.server), nats.Name(name), nats.MaxReconnects(-1))
	if err != nil {
		return nil, fmt.Errorf("connecting to the embedded NATS server: %w", err)
	}
	return nc, nil
}

// Stop ends the server and waits until it has.
func (e *Embedded) Stop() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}

// maxPayload is room for the largest commit of a log as one message, with its headers.
const maxPayload = eventlog.MaxBytes + 64<<10

// LogErrors reports a connection's asynchronous errors.
func LogErrors(nc *nats.Conn, log *slog.Logger) {
	nc.SetErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
		if sub != nil {
			log.Warn("queue", "subject", sub.Subject, "error", err)
			return
		}
		log.Warn("queue", "error", err)
	})
}

// ErrNoService means that nobody answers a request's subject.
var ErrNoService = errors.New("queue: no service answers")

// Reply is the answer to a request: the HTTP call's JSON, and a status that is not 200 where it is a problem.
type Reply struct {
	Status int
	Body   []byte
}

// HeaderStatus holds a reply's HTTP status.
const HeaderStatus = "Umpire-Status"

// Request sends a request and waits for its reply. Errors: ErrNoService, and what the connection or context says.
func Request(ctx context.Context, nc *nats.Conn, subject string, header nats.Header, body []byte) (Reply, error) {
	msg, err := nc.RequestMsgWithContext(ctx, &nats.Msg{Subject: subject, Header: header, Data: body})
	if errors.Is(err, nats.ErrNoResponders) {
		return Reply{}, ErrNoService
	}
	if err != nil {
		return Reply{}, fmt.Errorf("asking %s: %w", subject, err)
	}
	reply := Reply{Status: 200, Body: msg.Data}
	if s := msg.Header.Get(HeaderStatus); s != "" {
		if _, err := fmt.Sscan(s, &reply.Status); err != nil {
			return Reply{}, fmt.Errorf("%s answers with the status %q", subject, s)
		}
	}
	return reply, nil
}
