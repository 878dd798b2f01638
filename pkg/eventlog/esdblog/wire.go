package esdblog

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/shared"
	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"

	"umpire/pkg/eventlog"
)

// mark is an event's metadata: where in its commit it stands.
type mark struct {
	Commit string `json:"commit"` // the id of the commit's first event
	N      int    `json:"n"`
	I      int    `json:"i"`
}

func (m *mark) last() bool { return m.I == m.N-1 }

// piece is an event as the server gives it.
type piece struct {
	stream   string
	revision uint64
	position uint64 // 0 where the server doesn't tell
	mark     mark
	data     []byte
}

// first returns the revision at which the piece's commit begins.
func (p *piece) first() uint64 { return p.revision - uint64(p.mark.I) } //nolint:gosec // readPiece has checked it

// readPiece takes an event apart. What can't be one of umpire's is ErrCorrupt, for its streams are nobody else's.
func readPiece(e *streams.ReadResp_ReadEvent) (*piece, error) {
	r := e.GetEvent()
	p := &piece{stream: string(r.GetStreamIdentifier().GetStreamName()), revision: r.GetStreamRevision(), data: r.GetData()}
	for _, position := range []uint64{e.GetCommitPosition(), r.GetCommitPosition()} {
		if p.position == 0 && position <= math.MaxInt64 { // a server that doesn't know it says that it is 2^64-1
			p.position = position
		}
	}
	strict := json.NewDecoder(bytes.NewReader(r.GetCustomMetadata()))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&p.mark); err != nil {
		return nil, fmt.Errorf("%w: %s at revision %d: its metadata: %w", eventlog.ErrCorrupt, p.stream, p.revision, err)
	}
	m := &p.mark
	if m.N < 1 || m.N > eventlog.MaxEvents || m.I < 0 || m.I >= m.N || uint64(m.I) > p.revision { //nolint:gosec // from 0 up
		return nil, fmt.Errorf("%w: %s at revision %d: event %d of %d can't be", eventlog.ErrCorrupt, p.stream, p.revision, m.I, m.N)
	}
	return p, nil
}

// assemble makes the commit of its pieces, which are all there and in order. Its position is its last event's.
func assemble(pieces []*piece) (eventlog.Commit, error) {
	first, last := pieces[0], pieces[len(pieces)-1]
	c := eventlog.Commit{Stream: first.stream, First: first.revision, Position: last.position}
	size := 1
	for _, p := range pieces {
		size += len(p.data) + 1
	}
	text := append(make([]byte, 0, size), '[')
	for i, p := range pieces {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, p.data...)
	}
	events, err := eventlog.Unpack(string(append(text, ']')))
	switch {
	case err != nil:
		return c, fmt.Errorf("%w: %s at revision %d: %w", eventlog.ErrCorrupt, c.Stream, c.First, err)
	case len(events) != len(pieces):
		return c, fmt.Errorf("%w: %s at revision %d: %d events in the place of %d",
			eventlog.ErrCorrupt, c.Stream, c.First, len(events), len(pieces))
	case events[0].ID.String() != first.mark.Commit:
		return c, fmt.Errorf("%w: %s at revision %d: the commit %s begins with the event %s",
			eventlog.ErrCorrupt, c.Stream, c.First, first.mark.Commit, events[0].ID)
	}
	c.Events = events
	return c, nil
}

// proposals returns the messages of an append. The server gets fresh ids; see the package comment.
func proposals(stream string, expected int64, packed *eventlog.Packed) ([]*streams.AppendReq, error) {
	o := &streams.AppendReq_Options{StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(stream)}}
	if expected == eventlog.NoStream {
		o.ExpectedStreamRevision = &streams.AppendReq_Options_NoStream{NoStream: &shared.Empty{}}
	} else {
		o.ExpectedStreamRevision = &streams.AppendReq_Options_Revision{Revision: uint64(expected)} //nolint:gosec // from 0 up
	}
	messages := []*streams.AppendReq{{Content: &streams.AppendReq_Options_{Options: o}}}
	commit := packed.Events[0].ID.String()
	for i := range packed.Events {
		about, err := json.Marshal(mark{Commit: commit, N: len(packed.Events), I: i})
		if err != nil {
			return nil, err
		}
		messages = append(messages, &streams.AppendReq{Content: &streams.AppendReq_ProposedMessage_{
			ProposedMessage: &streams.AppendReq_ProposedMessage{
				Id:             freshID(),
				Metadata:       map[string]string{"type": packed.Events[i].Type, "content-type": "application/json"},
				CustomMetadata: about,
				Data:           []byte(packed.Stored(i)),
			},
		}})
	}
	return messages, nil
}

// freshID returns a random UUID.
func freshID() *shared.UUID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return &shared.UUID{Value: &shared.UUID_Structured_{Structured: &shared.UUID_Structured{
		MostSignificantBits:  int64(binary.BigEndian.Uint64(b[:8])), //nolint:gosec // bits are bits
		LeastSignificantBits: int64(binary.BigEndian.Uint64(b[8:])), //nolint:gosec // bits are bits
	}}}
}

// request makes a reading of the server's. Its options say of what.
func request(o *streams.ReadReq_Options) *streams.ReadReq {
	o.UuidOption = &streams.ReadReq_Options_UUIDOption{
		Content: &streams.ReadReq_Options_UUIDOption_Structured{Structured: &shared.Empty{}},
	}
	if o.FilterOption == nil {
		o.FilterOption = &streams.ReadReq_Options_NoFilter{NoFilter: &shared.Empty{}}
	}
	return &streams.ReadReq{Options: o}
}

// readStream asks for a stream from a revision to its end.
func readStream(stream string, from uint64) *streams.ReadReq {
	return request(&streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_Stream{Stream: &streams.ReadReq_Options_StreamOptions{
			StreamIdentifier: &shared.StreamIdentifier{StreamName: []byte(stream)},
			RevisionOption:   &streams.ReadReq_Options_StreamOptions_Revision{Revision: from},
		}},
		CountOption: &streams.ReadReq_Options_Count{Count: math.MaxInt64},
	})
}

// readHead asks for the newest events of ours, the newest first.
func readHead(count uint64) *streams.ReadReq {
	return request(&streams.ReadReq_Options{
		StreamOption: &streams.ReadReq_Options_All{All: &streams.ReadReq_Options_AllOptions{
			AllOption: &streams.ReadReq_Options_AllOptions_End{End: &shared.Empty{}},
		}},
		ReadDirection: streams.ReadReq_Options_Backwards,
		CountOption:   &streams.ReadReq_Options_Count{Count: count},
		FilterOption:  only(prefixes),
	})
}

// readAll asks for all events of the streams with a prefix, from the beginning of the log.
func readAll(prefix string) *streams.ReadReq {
	return request(&streams.ReadReq_Options{
		StreamOption: all(0),
		CountOption:  &streams.ReadReq_Options_Count{Count: math.MaxInt64},
		FilterOption: only([]string{prefix}),
	})
}

// readAt asks for the event at a position, of whatever stream, or the one that follows.
func readAt(position uint64) *streams.ReadReq {
	return request(&streams.ReadReq_Options{
		StreamOption: all(position),
		CountOption:  &streams.ReadReq_Options_Count{Count: 1},
	})
}

// subscription asks for all events of ours behind a position, and for those to come.
func subscription(after uint64) *streams.ReadReq {
	return request(&streams.ReadReq_Options{
		StreamOption: all(after),
		CountOption:  &streams.ReadReq_Options_Subscription{Subscription: &streams.ReadReq_Options_SubscriptionOptions{}},
		FilterOption: only(prefixes),
	})
}

// all names a place in $all. The commit and prepare positions of an event that is no part of an explicit transaction,
// which umpire has none of, are one.
func all(position uint64) *streams.ReadReq_Options_All {
	o := &streams.ReadReq_Options_AllOptions{}
	if position == 0 {
		o.AllOption = &streams.ReadReq_Options_AllOptions_Start{Start: &shared.Empty{}}
	} else {
		o.AllOption = &streams.ReadReq_Options_AllOptions_Position{
			Position: &streams.ReadReq_Options_Position{CommitPosition: position, PreparePosition: position},
		}
	}
	return &streams.ReadReq_Options_All{All: o}
}

// only filters by the names of streams, at the server.
func only(prefixes []string) *streams.ReadReq_Options_Filter {
	return &streams.ReadReq_Options_Filter{Filter: &streams.ReadReq_Options_FilterOptions{
		Filter: &streams.ReadReq_Options_FilterOptions_StreamIdentifier{
			StreamIdentifier: &streams.ReadReq_Options_FilterOptions_Expression{Prefix: prefixes},
		},
		Window:                       &streams.ReadReq_Options_FilterOptions_Max{Max: 512}, // events looked at in one go
		CheckpointIntervalMultiplier: 1,
	}}
}
