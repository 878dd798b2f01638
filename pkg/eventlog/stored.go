package eventlog

import (
	"errors"
	"fmt"
	"slices"

	"umpire/pkg/event"
)

// Packed is what Append writes, in the form in which it is stored.
type Packed struct {
	Events []event.Event // as they will be read back, in a slice of their own
	text   string        // a JSON list
	ends   []int         // where each event ends in text
}

// Pack brings events into their stored form. It refuses what Check refuses and what could not be read back: one such
// event in a log would stop its followers for ever.
func Pack(stream string, expected int64, events []event.Event) (*Packed, error) {
	events = events[:min(len(events), MaxEvents+1)] // the work on more would be lost
	p := &Packed{Events: slices.Clone(events), ends: make([]int, 0, len(events))}
	text := append(make([]byte, 0, estimate(events)), '[')
	sizes := make([]int, 0, len(events))
	for i := range p.Events {
		if i > 0 {
			text = append(text, ',')
		}
		start := len(text)
		normalise(&p.Events[i])
		text = p.Events[i].AppendStored(text)
		p.ends = append(p.ends, len(text))
		sizes = append(sizes, len(text)-start)
	}
	if err := Check(stream, expected, sizes); err != nil {
		return nil, err
	}
	p.text = string(append(text, ']'))
	if err := readable(p.text, len(events)); err != nil {
		return nil, fmt.Errorf("%w: it could not be read back: %w", ErrInvalid, err)
	}
	return p, nil
}

// Text returns the events as one JSON list, the form of a commit.
func (p *Packed) Text() string { return p.text }

// Stored returns one event as JSON, the form of an event.
func (p *Packed) Stored(i int) string {
	start := 1
	if i > 0 {
		start = p.ends[i-1] + 1
	}
	return p.text[start:p.ends[i]]
}

// Unpack reads what Text gave.
func Unpack(text string) ([]event.Event, error) {
	events := make([]event.Event, 0, 4)
	if (&canonical{src: text}).list(func(s *spans) bool {
		e, ok := s.event()
		events = append(events, e)
		return ok
	}) {
		return events, nil
	}
	v, err := event.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("eventlog: a stored commit can't be read: %w", err)
	}
	if v.Kind != event.Array {
		return nil, fmt.Errorf("eventlog: a stored commit is %s, not a list", v.Kind)
	}
	events = events[:0]
	for _, item := range v.Items() {
		e, err := event.Decode(item)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// readable reports why text could not be unpacked into n events; it spares the work of building them where it can.
func readable(text string, n int) error {
	count := 0
	if (&canonical{src: text}).list(func(s *spans) bool { count++; return s.sound() }) && count == n {
		return nil
	}
	events, err := Unpack(text)
	if err == nil && len(events) != n {
		err = errors.New("a field that stands unescaped holds the text of an event")
	}
	return err
}

// normalise brings an event into the shape in which it is read back, so that who appended it, who follows the log in
// the same process and who reads it from the disk see one and the same.
func normalise(e *event.Event) {
	e.At = e.At.Round(0).UTC()
	if len(e.Faces) == 0 {
		e.Faces = nil
	}
	if len(e.Opens) == 0 {
		e.Opens = nil
	}
	e.Public = slices.Clip(e.Public)
}

// estimate guesses the size of the stored form from above; a wrong guess costs a copy and nothing else.
func estimate(events []event.Event) int {
	size := 2
	for i := range events {
		e := &events[i]
		size += 384 + len(e.Public)
		for j := range e.Faces {
			size += 112 + len(e.Faces[j].Box)*4/3
		}
		for j := range e.Opens {
			size += 128 + len(e.Opens[j].Face.Data)
		}
	}
	return size
}

// Repeat answers an append whose first id the commit standing bears already: with that commit, if the append names the
// same events.
func Repeat(standing Commit, events []event.Event) (Commit, error) {
	if !slices.EqualFunc(standing.Events, events, func(a, b event.Event) bool { return a.ID == b.ID }) {
		return Commit{}, fmt.Errorf("%w: the commit %s stands in %s at revision %d with other events",
			ErrInvalid, events[0].ID, standing.Stream, standing.First)
	}
	return standing, nil
}
