package esdblog

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/esdb"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"umpire/pkg/eventlog"
)

// configure reads a connection string, and refuses what would not be as its author meant it.
func configure(connection string) (*esdb.Configuration, error) {
	config, err := esdb.ParseConnectionString(connection)
	var bad *url.Error
	if errors.As(err, &bad) { // it quotes the string, password and all
		return nil, errors.New("esdblog: the connection string is no URL: what is special in a name or password must be escaped")
	}
	if err != nil {
		return nil, fmt.Errorf("esdblog: the connection string: %w", err)
	}
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("esdblog: the connection string: %w", err)
	}
	if config.DisableTLS && (config.Username != "" || config.UserCertFile != "") {
		return nil, errors.New("esdblog: the connection string has credentials and tls=false, and they are never sent in clear: " +
			"leave them out or use TLS")
	}
	if config.NodePreference != esdb.NodePreferenceLeader {
		return nil, fmt.Errorf("esdblog: nodePreference=%s: a log reads what it has written, so it goes to the leader",
			config.NodePreference)
	}
	return config, nil
}

// link holds the connection to the leader, and finds it.
type link struct {
	config  *esdb.Configuration
	dialing []grpc.DialOption
	turn    chan struct{} // one at a time looks for the leader

	mu      sync.Mutex
	node    *node
	suspect bool   // look again before the next call
	hint    string // where a server has said that the leader is
	closed  bool
}

// node is a connection to one server. gRPC reconnects it by itself.
type node struct {
	address string
	conn    *grpc.ClientConn
	streams streams.StreamsClient
}

func newLink(config *esdb.Configuration) (*link, error) {
	dialing, err := dialing(config)
	if err != nil {
		return nil, err
	}
	return &link{config: config, dialing: dialing, turn: make(chan struct{}, 1)}, nil
}

// largest is the most that a message of the server's may hold. An event of somebody else's may have 16 MiB.
const largest = 20 << 20

// dialing returns how to connect, as the connection string has it.
func dialing(config *esdb.Configuration) ([]grpc.DialOption, error) {
	options := []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest)),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	if config.KeepAliveInterval >= 0 {
		options = append(options, grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: config.KeepAliveInterval, Timeout: config.KeepAliveTimeout, PermitWithoutStream: true,
		}))
	}
	if config.DisableTLS {
		return append(options, grpc.WithTransportCredentials(insecure.NewCredentials())), nil
	}
	secure := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            config.RootCAs,
		InsecureSkipVerify: config.SkipCertificateVerification, //nolint:gosec // the operator has asked for it
	}
	if config.UserCertFile != "" {
		pair, err := tls.LoadX509KeyPair(config.UserCertFile, config.UserKeyFile)
		if err != nil {
			return nil, fmt.Errorf("esdblog: the user certificate: %w", err)
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(secure)))
	if config.Username != "" {
		options = append(options, grpc.WithPerRPCCredentials(basic(config.Username+":"+config.Password)))
	}
	return options, nil
}

// basic is a name and a password, "name:password".
type basic string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b basic) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(b))}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (basic) RequireTransportSecurity() bool { return true }

// get returns the connection to the leader.
func (k *link) get(ctx context.Context) (*node, error) {
	if n, _, err := k.current(); n != nil || err != nil {
		return n, err
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	n, hint, err := k.current()
	if n != nil || err != nil { // another has found it meanwhile
		return n, err
	}
	address := hint
	if address == "" {
		if address, err = k.discover(ctx); err != nil {
			return nil, err
		}
	}
	return k.settle(address)
}

// current returns the connection where it is good, else what is known of the way to a better one.
func (k *link) current() (*node, string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, "", eventlog.ErrClosed
	}
	if k.suspect {
		return nil, k.hint, nil
	}
	return k.node, k.hint, nil
}

// settle makes the server at an address the one that is called. A connection that stands there already is kept, so that
// one failed call does not cut off all others.
func (k *link) settle(address string) (*node, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, eventlog.ErrClosed
	}
	k.suspect, k.hint = false, ""
	if k.node != nil && k.node.address == address {
		return k.node, nil
	}
	conn, err := grpc.NewClient(address, k.dialing...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	if k.node != nil {
		_ = k.node.conn.Close() // calls under way end, and are made again
	}
	k.node = &node{address: address, conn: conn, streams: streams.NewStreamsClient(conn)}
	return k.node, nil
}

// failed hears of every failed call, and has the leader looked for again where that could help.
func (k *link) failed(n *node, err error) {
	var f *fault
	if !errors.As(err, &f) {
		return
	}
	gone := status.Code(f.err) == codes.Unavailable && (k.cluster() || n.address != k.config.Address)
	if !gone && f.exception != "not-leader" {
		return // a single server is reconnected to by gRPC
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.node == n {
		k.suspect, k.hint = true, f.leader
	}
}

func (k *link) cluster() bool { return k.config.DnsDiscover || len(k.config.GossipSeeds) > 0 }

// discover returns the leader's address.
func (k *link) discover(ctx context.Context) (string, error) {
	if !k.cluster() {
		return k.config.Address, nil
	}
	seeds := []string{k.config.Address}
	if len(k.config.GossipSeeds) > 0 {
		seeds = seeds[:0]
		for _, s := range k.config.GossipSeeds {
			seeds = append(seeds, s.String())
		}
	}
	var errs []error
	for _, seed := range seeds {
		leader, err := k.ask(ctx, seed)
		if err == nil {
			return leader, nil
		}
		errs = append(errs, fmt.Errorf("asking %s for the leader: %w", seed, err))
	}
	return "", errors.Join(errs...)
}

// ask has a member of the cluster tell who leads it.
func (k *link) ask(ctx context.Context, seed string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(k.config.GossipTimeout)*time.Second)
	defer cancel()
	conn, err := grpc.NewClient(seed, k.dialing...)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	info, err := gossip.NewGossipClient(conn).Read(ctx, &shared.Empty{})
	if err != nil {
		return "", err
	}
	for _, m := range info.GetMembers() {
		if m.GetIsAlive() && m.GetState() == gossip.MemberInfo_Leader {
			return net.JoinHostPort(m.GetHttpEndPoint().GetAddress(), strconv.Itoa(int(m.GetHttpEndPoint().GetPort()))), nil
		}
	}
	return "", errors.New("there is none now")
}

// close ends the connection and all calls on it.
func (k *link) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.node == nil {
		return nil
	}
	if err := k.node.conn.Close(); err != nil {
		return fmt.Errorf("esdblog: closing the connection: %w", err)
	}
	return nil
}
