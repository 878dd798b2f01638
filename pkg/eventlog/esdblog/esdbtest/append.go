package esdbtest

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// service is the Streams service between one Resume and the next Halt.
type service struct {
	streams.UnimplementedStreamsServer
	*Server
	halted chan struct{}
}

// Append implements the service.
func (s *service) Append(call streams.Streams_AppendServer) error {
	if err := s.leads(call); err != nil {
		return err
	}
	if err := s.before(call.Context()); err != nil {
		return err
	}
	options, records, err := s.collect(call)
	if err != nil {
		return err
	}
	answer, err := s.store.append(options, records, s.Server)
	if err != nil {
		return err
	}
	done := answer.GetSuccess() != nil
	switch {
	case done && s.faults.draw(LostAnswer):
		return status.Error(codes.Unavailable, "the connection was lost")
	case done && s.faults.draw(FalseConflict):
		answer = conflict(options, answer.GetSuccess().GetCurrentRevision(), true)
	}
	if err := s.slow(call.Context()); err != nil {
		return err
	}
	return call.SendAndClose(answer)
}

// collect takes the messages of an append.
func (s *service) collect(call streams.Streams_AppendServer) (*streams.AppendReq_Options, []record, error) {
	first, err := call.Recv()
	if err != nil {
		return nil, nil, err
	}
	options := first.GetOptions()
	if options == nil {
		return nil, nil, status.Error(codes.Unknown, "an append begins with its options")
	}
	var records []record
	size := 0
	for {
		m, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return options, records, nil
		}
		if err != nil {
			return nil, nil, err
		}
		p := m.GetProposedMessage()
		if p.GetMetadata()["type"] == "" || p.GetMetadata()["content-type"] == "" {
			return nil, nil, status.Error(codes.InvalidArgument, "Required Metadata Property 'type' is missing")
		}
		p.GetMetadata()["created"] = strconv.FormatInt(time.Now().UnixNano()/100, 10)
		r := record{
			Stream: string(options.GetStreamIdentifier().GetStreamName()), ID: readID(p.GetId()),
			Metadata: p.GetMetadata(), Custom: p.GetCustomMetadata(), Data: p.GetData(),
		}
		records = append(records, r)
		if size += r.size(); size > s.maxAppend {
			limit := strconv.Itoa(s.maxAppend)
			call.SetTrailer(metadata.Pairs("exception", "maximum-append-size-exceeded", "maximum-append-size", limit))
			return nil, nil, status.Error(codes.InvalidArgument, "Maximum Append Size of "+limit+" Exceeded.")
		}
	}
}

// append writes records where they are expected, as the server decides that.
func (s *store) append(o *streams.AppendReq_Options, records []record, server *Server) (*streams.AppendResp, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	places := s.streams[string(o.GetStreamIdentifier().GetStreamName())]
	count := uint64(len(places))
	at := count // where the append would begin
	switch o.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_Revision:
		at = o.GetRevision() + 1
	case *streams.AppendReq_Options_NoStream:
		at = 0
	case *streams.AppendReq_Options_StreamExists:
		if count == 0 {
			return conflict(o, 0, false), nil
		}
	}
	if len(records) == 0 {
		return nil, status.Error(codes.InvalidArgument, "nothing to append")
	}
	if at < count && at+uint64(len(records)) <= count && s.same(places[at:], records) {
		return s.success(places[at:at+uint64(len(records))], server), nil // idempotent: the same write, made before
	}
	if at != count || server.faults.draw(SpuriousConflict) {
		return conflict(o, count-1, count > 0), nil
	}
	if s.appends++; s.appends%7 == 0 {
		if err := s.write([]record{system(s.appends)}); err != nil {
			return nil, err
		}
	}
	copies := 1
	if server.faults.draw(WriteTwice) {
		copies = 2
	}
	for range copies {
		if err := s.write(records); err != nil {
			return nil, err
		}
	}
	places = s.streams[records[0].Stream]
	return s.success(places[count:count+uint64(len(records))], server), nil
}

// same says whether events with the ids of the records stand at the places.
func (s *store) same(places []int, records []record) bool {
	for i := range records {
		if s.all[places[i]].ID != records[i].ID {
			return false
		}
	}
	return true
}

func (s *store) success(places []int, server *Server) *streams.AppendResp {
	first, last := s.all[places[0]], s.all[places[len(places)-1]]
	position := &streams.AppendResp_Position{CommitPosition: last.Position, PreparePosition: last.Position}
	if server.firstPosition {
		position.CommitPosition, position.PreparePosition = first.Position, first.Position
	}
	return &streams.AppendResp{Result: &streams.AppendResp_Success_{Success: &streams.AppendResp_Success{
		CurrentRevisionOption: &streams.AppendResp_Success_CurrentRevision{CurrentRevision: last.Revision},
		PositionOption:        &streams.AppendResp_Success_Position{Position: position},
	}}}
}

func conflict(o *streams.AppendReq_Options, current uint64, exists bool) *streams.AppendResp {
	w := &streams.AppendResp_WrongExpectedVersion{
		CurrentRevisionOption: &streams.AppendResp_WrongExpectedVersion_CurrentNoStream{CurrentNoStream: &shared.Empty{}},
	}
	if exists {
		w.CurrentRevisionOption = &streams.AppendResp_WrongExpectedVersion_CurrentRevision{CurrentRevision: current}
	}
	switch o.GetExpectedStreamRevision().(type) {
	case *streams.AppendReq_Options_Revision:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedRevision{ExpectedRevision: o.GetRevision()}
	case *streams.AppendReq_Options_NoStream:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedNoStream{ExpectedNoStream: &shared.Empty{}}
	case *streams.AppendReq_Options_StreamExists:
		w.ExpectedRevisionOption = &streams.AppendResp_WrongExpectedVersion_ExpectedStreamExists{ExpectedStreamExists: &shared.Empty{}}
	}
	return &streams.AppendResp{Result: &streams.AppendResp_WrongExpectedVersion_{WrongExpectedVersion: w}}
}

func readID(u *shared.UUID) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], uint64(u.GetStructured().GetMostSignificantBits()))
	binary.BigEndian.PutUint64(id[8:], uint64(u.GetStructured().GetLeastSignificantBits()))
	return id
}

func writeID(id [16]byte) *shared.UUID {
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits:  int64(binary.BigEndian.Uint64(id[:8])),
		LeastSignificantBits: int64(binary.BigEndian.Uint64(id[8:])),
	}}}
}
