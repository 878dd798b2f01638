package esdbtest

import (
	"math"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Read implements the service: reads and subscriptions.
func (s *service) Read(r *streams.ReadReq, call streams.Streams_ReadServer) error {
	if err := s.leads(call); err != nil {
		return err
	}
	if err := s.before(call.Context()); err != nil {
		return err
	}
	o := r.GetOptions()
	wanted, err := filter(o.GetFilter())
	switch {
	case err != nil:
		return err
	case o.GetUuidOption().GetContent() == nil, o.GetFilterOption() == nil:
		return status.Error(codes.Unknown, "a request says how to write ids, and what to leave out")
	case o.GetSubscription() != nil && o.GetAll() != nil:
		return s.subscribe(o, wanted, call)
	case o.GetSubscription() != nil:
		return status.Error(codes.Unimplemented, "the double subscribes to $all alone")
	case o.GetAll() != nil:
		return s.readAll(o, wanted, call)
	default:
		return s.readStream(o, call)
	}
}

// filter returns what a filter lets through.
func filter(o *streams.ReadReq_Options_FilterOptions) (func(*record) bool, error) {
	if o == nil {
		return func(*record) bool { return true }, nil
	}
	if o.GetWindow() == nil || o.GetCheckpointIntervalMultiplier() == 0 {
		return nil, status.Error(codes.Unknown, "a filter has a window and an interval of checkpoints")
	}
	what, expression := func(r *record) string { return r.Stream }, o.GetStreamIdentifier()
	if expression == nil {
		what, expression = func(r *record) string { return r.Metadata["type"] }, o.GetEventType()
	}
	if expression.GetRegex() != "" {
		e, err := regexp.Compile(expression.GetRegex())
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		return func(r *record) bool { return e.MatchString(what(r)) }, nil
	}
	return func(r *record) bool {
		return slices.ContainsFunc(expression.GetPrefix(), func(p string) bool { return strings.HasPrefix(what(r), p) })
	}, nil
}

// readStream reads one stream.
func (s *service) readStream(o *streams.ReadReq_Options, call streams.Streams_ReadServer) error {
	name := o.GetStream().GetStreamIdentifier()
	records := s.store.stream(string(name.GetStreamName()))
	if len(records) == 0 {
		return call.Send(&streams.ReadResp{Content: &streams.ReadResp_StreamNotFound_{
			StreamNotFound: &streams.ReadResp_StreamNotFound{StreamIdentifier: name},
		}})
	}
	from, backwards := uint64(0), o.GetReadDirection() == streams.ReadReq_Options_Backwards
	switch o.GetStream().GetRevisionOption().(type) {
	case *streams.ReadReq_Options_StreamOptions_Revision:
		from = o.GetStream().GetRevision()
	case *streams.ReadReq_Options_StreamOptions_End:
		from = math.MaxInt64
	}
	if backwards {
		records = records[:min(uint64(len(records)), from+1)]
		slices.Reverse(records)
	} else {
		records = records[min(uint64(len(records)), from):]
	}
	return s.send(records[:min(uint64(len(records)), o.GetCount())], call, !s.noStreamPositions)
}

// readAll reads $all.
func (s *service) readAll(o *streams.ReadReq_Options, wanted func(*record) bool, call streams.Streams_ReadServer) error {
	all, _ := s.store.snapshot()
	backwards := o.GetReadDirection() == streams.ReadReq_Options_Backwards
	start := 0
	switch o.GetAll().GetAllOption().(type) {
	case *streams.ReadReq_Options_AllOptions_Position:
		position, ok := o.GetAll().GetPosition().GetCommitPosition(), false
		start = sort.Search(len(all), func(i int) bool { return all[i].Position >= position })
		if ok = start < len(all) && all[start].Position == position; !ok {
			return status.Error(codes.Unknown, "Unexpected ReadAllResult: InvalidPosition")
		}
	case *streams.ReadReq_Options_AllOptions_End:
		start = len(all)
	}
	var records []record
	for i := start; uint64(len(records)) < o.GetCount(); {
		if backwards {
			i--
		}
		if i < 0 || i >= len(all) {
			break
		}
		if wanted(&all[i]) {
			records = append(records, all[i])
		}
		if !backwards {
			i++
		}
	}
	return s.send(records, call, true)
}

func (s *service) send(records []record, call streams.Streams_ReadServer, positions bool) error {
	for i := range records {
		if err := s.slow(call.Context()); err != nil {
			return err
		}
		if s.faults.draw(CutRead) {
			return status.Error(codes.Unavailable, "the connection was cut")
		}
		if err := call.Send(event(&records[i], positions)); err != nil {
			return err
		}
	}
	return nil
}

// subscribe sends all events behind a position, and then those that come.
func (s *service) subscribe(o *streams.ReadReq_Options, wanted func(*record) bool, call streams.Streams_ReadServer) error {
	all, more := s.store.snapshot()
	next := 0
	switch o.GetAll().GetAllOption().(type) {
	case *streams.ReadReq_Options_AllOptions_Position:
		position := o.GetAll().GetPosition().GetCommitPosition()
		next = sort.Search(len(all), func(i int) bool { return all[i].Position >= position }) + 1
		if next > len(all) || all[next-1].Position != position {
			return status.Error(codes.Unknown, "the position is no event's")
		}
	case *streams.ReadReq_Options_AllOptions_End:
		next = len(all)
	}
	if err := call.Send(&streams.ReadResp{Content: &streams.ReadResp_Confirmation{
		Confirmation: &streams.ReadResp_SubscriptionConfirmation{SubscriptionId: "double"},
	}}); err != nil {
		return err
	}
	d := &delivery{service: s, call: call, wanted: wanted, filtered: o.GetFilter() != nil}
	for live := false; ; live = true {
		for ; next < len(all); next++ {
			if err := d.deliver(&all[next]); err != nil {
				return err
			}
		}
		if !live {
			if err := call.Send(&streams.ReadResp{Content: &streams.ReadResp_CaughtUp_{CaughtUp: &streams.ReadResp_CaughtUp{}}}); err != nil {
				return err
			}
		}
		select {
		case <-more:
		case <-call.Context().Done():
			return call.Context().Err()
		case <-s.halted:
			return errHalted
		}
		all, more = s.store.snapshot()
	}
}

// delivery is what a subscription has sent.
type delivery struct {
	service  *service
	call     streams.Streams_ReadServer
	wanted   func(*record) bool
	filtered bool
	skipped  int
	sent     []*record
}

func (d *delivery) deliver(r *record) error {
	s := d.service
	if !d.wanted(r) {
		if d.skipped++; !d.filtered || d.skipped%2 != 0 {
			return nil
		}
		return d.call.Send(&streams.ReadResp{Content: &streams.ReadResp_Checkpoint_{
			Checkpoint: &streams.ReadResp_Checkpoint{CommitPosition: r.Position, PreparePosition: r.Position},
		}})
	}
	if err := s.slow(d.call.Context()); err != nil {
		return err
	}
	if s.faults.draw(DropLoudly) {
		return status.Error(codes.Aborted, "the subscription was dropped")
	}
	if s.faults.draw(DropSilently) {
		return s.hang(d.call.Context())
	}
	send := []*record{r}
	if d.sent = append(d.sent, r); s.faults.draw(Repeat) {
		send = append([]*record{}, d.sent[max(0, len(d.sent)-5):]...)
	}
	for _, r := range send {
		if err := d.call.Send(event(r, true)); err != nil {
			return err
		}
	}
	return nil
}

// event writes an event as the protocol has it.
func event(r *record, position bool) *streams.ReadResp {
	e := &streams.ReadResp_ReadEvent{
		Event: &streams.ReadResp_ReadEvent_RecordedEvent{
			Id: writeID(r.ID), StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(r.Stream)}, StreamRevision: r.Revision,
			CommitPosition: math.MaxUint64, PreparePosition: math.MaxUint64,
			Metadata: r.Metadata, CustomMetadata: r.Custom, Data: r.Data,
		},
		Position: &streams.ReadResp_ReadEvent_NoPosition{NoPosition: &shared.Empty{}},
	}
	if position {
		e.Event.CommitPosition, e.Event.PreparePosition = r.Position, r.Position
		e.Position = &streams.ReadResp_ReadEvent_CommitPosition{CommitPosition: r.Position}
	}
	return &streams.ReadResp{Content: &streams.ReadResp_Event{Event: e}}
}
