// Package esdbtest is a double of an EventStoreDB server, for tests: it keeps streams in memory, or in a file, and
// speaks the server's protocol on a TCP port, to the official client as well as to esdblog.
//
// It imitates what the server is known to do: the idempotency of appends by their events' ids, expected revisions, the
// largest append, positions in $all that rise by what an event takes and are to be met exactly, system events between
// others, filters with checkpoints, a stream that is not found at the first message, a follower of a cluster that names
// its leader. And it does on request what makes a server hard to live with; see Fault. What it can't show is how a real
// server behaves: the tests that run on it run on a real one too, where there is one.
package esdbtest

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// DefaultMaxAppend is the most that one append may hold, as a server has it that was not told otherwise.
const DefaultMaxAppend = 1 << 20

// Option changes the server that Start starts.
type Option func(*Server)

// Durable keeps the log in a file, synced before an append is answered, and begins with what stands there.
func Durable(path string) Option { return func(s *Server) { s.path = path } }

// MaxAppend is the most bytes that one append may hold: data, metadata and types.
func MaxAppend(bytes int) Option { return func(s *Server) { s.maxAppend = bytes } }

// Secure has the server speak TLS.
func Secure(config *tls.Config) Option { return func(s *Server) { s.secure = config } }

// Password has the server demand a name and a password.
func Password(name, password string) Option {
	return func(s *Server) {
		s.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
	}
}

// NoStreamPositions has the server not tell positions when a stream is read, as versions before 22.6.
func NoStreamPositions() Option { return func(s *Server) { s.noStreamPositions = true } }

// FirstPosition has the server answer an append with the position of its first event, as none is known to do.
func FirstPosition() Option { return func(s *Server) { s.firstPosition = true } }

// Server is a double of an EventStoreDB server.
type Server struct {
	path, authorization              string
	maxAppend                        int
	secure                           *tls.Config
	noStreamPositions, firstPosition bool

	store  *store
	faults *faults
	leader atomic.Pointer[Server]

	mu      sync.Mutex
	address string
	running *grpc.Server
	served  chan struct{}
	halted  chan struct{} // closed when the calls under way are to end
}

// Start starts a server on an address, such as 127.0.0.1:0.
func Start(address string, options ...Option) (*Server, error) {
	s := &Server{address: address, maxAppend: DefaultMaxAppend, faults: newFaults()}
	for _, o := range options {
		o(s)
	}
	var err error
	if s.store, err = openStore(s.path); err != nil {
		return nil, err
	}
	if err := s.Resume(); err != nil {
		return nil, err
	}
	return s, nil
}

// URL returns the connection string for the server.
func (s *Server) URL() string {
	if s.secure != nil {
		return "esdb://" + s.Address()
	}
	return "esdb://" + s.Address() + "?tls=false"
}

// Address returns where the server listens.
func (s *Server) Address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// Halt cuts all connections and listens no more. The log stays.
func (s *Server) Halt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return
	}
	close(s.halted)
	s.running.Stop()
	<-s.served
	s.running = nil
}

// Resume listens again, at the address where it was.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.address)
	if err != nil {
		return fmt.Errorf("esdbtest: %w", err)
	}
	s.address = listener.Addr().String()
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(16 << 20),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Millisecond, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := s.admit(ctx); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(service any, call grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := s.admit(call.Context()); err != nil {
				return err
			}
			return next(service, call)
		}),
	}
	if s.secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.secure)))
	}
	running, served := grpc.NewServer(options...), make(chan struct{})
	halted := make(chan struct{})
	streams.RegisterStreamsServer(running, &service{Server: s, halted: halted})
	serverfeatures.RegisterServerFeaturesServer(running, &features{})
	gossip.RegisterGossipServer(running, &gossips{server: s})
	s.running, s.served, s.halted = running, served, halted
	go func() {
		defer close(served)
		_ = running.Serve(listener) // it ends with Halt
	}()
	return nil
}

// Stop ends the server for good.
func (s *Server) Stop() {
	s.Halt()
	s.store.close()
}

// admit checks a call's credentials.
func (s *Server) admit(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if got := md.Get("authorization"); s.authorization != "" && (len(got) != 1 || got[0] != s.authorization) {
		return status.Error(codes.Unauthenticated, "who are you?")
	}
	return nil
}
