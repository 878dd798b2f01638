package esdbtest

import (
	"context"
	"net"
	"strconv"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/gossip"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/serverfeatures"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Follows makes the server a follower in the leader's cluster: it sends whoever requires the leader there, and answers
// others out of its own log. With nil it leads again.
func (s *Server) Follows(leader *Server) { s.leader.Store(leader) }

// leads refuses a call that a follower may not answer.
func (s *Server) leads(call grpc.ServerStream) error {
	leader := s.leader.Load()
	if leader == nil {
		return nil
	}
	md, _ := metadata.FromIncomingContext(call.Context())
	if required := md.Get("requires-leader"); len(required) == 0 || required[0] != "true" {
		return nil
	}
	host, port, err := net.SplitHostPort(leader.Address())
	if err != nil {
		return err
	}
	call.SetTrailer(metadata.Pairs("exception", "not-leader", "leader-endpoint-host", host, "leader-endpoint-port", port))
	return status.Error(codes.NotFound, "Leader info available")
}

// gossips tells who leads.
type gossips struct {
	gossip.UnimplementedGossipServer
	server *Server
}

func (g *gossips) Read(context.Context, *shared.Empty) (*gossip.ClusterInfo, error) {
	leader := g.server.leader.Load()
	if leader == nil {
		return &gossip.ClusterInfo{Members: []*gossip.MemberInfo{member(g.server, gossip.MemberInfo_Leader)}}, nil
	}
	return &gossip.ClusterInfo{Members: []*gossip.MemberInfo{
		member(g.server, gossip.MemberInfo_Follower), member(leader, gossip.MemberInfo_Leader),
	}}, nil
}

func member(s *Server, state gossip.MemberInfo_VNodeState) *gossip.MemberInfo {
	host, port, _ := net.SplitHostPort(s.Address())
	n, _ := strconv.ParseUint(port, 10, 16)
	return &gossip.MemberInfo{
		State: state, IsAlive: true, HttpEndPoint: &gossip.EndPoint{Address: host, Port: uint32(n)},
	}
}

// features tells the official client what the server can do.
type features struct {
	serverfeatures.UnimplementedServerFeaturesServer
}

func (*features) GetSupportedMethods(context.Context, *shared.Empty) (*serverfeatures.SupportedMethods, error) {
	const name = "event_store.client.streams.streams"
	return &serverfeatures.SupportedMethods{EventStoreServerVersion: "23.10.0", Methods: []*serverfeatures.SupportedMethod{
		{ServiceName: name, MethodName: "read"}, {ServiceName: name, MethodName: "append"},
	}}, nil
}
