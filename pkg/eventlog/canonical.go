package eventlog

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"umpire/pkg/event"
)

// canonical reads a stored commit in the one form that Event.AppendStored writes, several times as fast as a reader of
// any JSON could, for replaying a log is mostly this. What it doesn't know it declines, and the strict reader decides;
// it accepts nothing that the strict reader refuses. Events that open faces are rare, and declined.
type canonical struct {
	src string
	pos int
}

// spans are the parts of one stored event as they stand in the text.
type spans struct {
	at, by, hash, id, prev, public, kind string
	faces                                []faceSpans
}

type faceSpans struct {
	commitment string
	box        string // base64
	sealed     bool   // whether there is a box
}

// list reads a whole commit and hands each event to yield, which may keep nothing of the spans.
func (c *canonical) list(yield func(*spans) bool) bool {
	if !utf8.ValidString(c.src) || !c.literal(`[`) {
		return false
	}
	var s spans
	for first := true; first || c.literal(`,`); first = false {
		if !c.event(&s) || !yield(&s) {
			return false
		}
	}
	return c.literal(`]`) && c.pos == len(c.src)
}

func (c *canonical) event(s *spans) bool {
	return c.literal(`{"at":"`) && c.text(&s.at) &&
		c.literal(`,"by":"`) && c.text(&s.by) &&
		c.literal(`,"faces":[`) && c.faces(s) &&
		c.literal(`,"hash":"`) && c.text(&s.hash) &&
		c.literal(`,"id":"`) && c.text(&s.id) &&
		c.literal(`,"opens":[],"prev":"`) && c.text(&s.prev) &&
		c.literal(`,"public":`) && c.public(s) &&
		c.literal(`,"type":"`) && c.text(&s.kind) &&
		c.literal(`}`)
}

func (c *canonical) faces(s *spans) bool {
	s.faces = s.faces[:0]
	if c.literal(`]`) {
		return true
	}
	for first := true; first || c.literal(`,`); first = false {
		var f faceSpans
		if f.sealed = c.literal(`{"box":"`); f.sealed {
			if !c.base64(&f.box) || !c.literal(`,"commitment":"`) || !c.text(&f.commitment) || !c.literal(`}`) {
				return false
			}
		} else if !c.literal(`"`) || !c.text(&f.commitment) {
			return false
		}
		s.faces = append(s.faces, f)
	}
	return c.literal(`]`)
}

func (c *canonical) public(s *spans) bool {
	start := c.pos
	if !strings.HasPrefix(c.src[start:], `{`) || !c.value(0) {
		return false
	}
	s.public = c.src[start:c.pos]
	return true
}

func (c *canonical) literal(want string) bool {
	if !strings.HasPrefix(c.src[c.pos:], want) {
		return false
	}
	c.pos += len(want)
	return true
}

// text reads the rest of a string without escapes, and the quote behind it.
func (c *canonical) text(into *string) bool {
	for i := c.pos; i < len(c.src); i++ {
		switch b := c.src[i]; {
		case b == '"':
			*into = c.src[c.pos:i]
			c.pos = i + 1
			return true
		case b < 0x20 || b == '\\':
			return false
		}
	}
	return false
}

// base64 reads the rest of a string whose alphabet is checked when it is decoded, and the quote behind it.
func (c *canonical) base64(into *string) bool {
	n := strings.IndexByte(c.src[c.pos:], '"')
	if n < 0 {
		return false
	}
	*into = c.src[c.pos : c.pos+n]
	c.pos += n + 1
	return true
}

// sound reports whether event could be built.
func (s *spans) sound() bool {
	_, err := time.Parse(time.RFC3339Nano, s.at)
	return err == nil // all else is checked as it is read, or, as ids and boxes, can't be written wrong
}

// event builds the event. It shares no memory with the text, lest one hash that is kept should keep a whole commit.
func (s *spans) event() (event.Event, bool) {
	id, idErr := event.ParseID(s.id)
	at, atErr := time.Parse(time.RFC3339Nano, s.at)
	if idErr != nil || atErr != nil {
		return event.Event{}, false
	}
	e := event.Event{ID: id, At: at, By: role(s.by), Public: json.RawMessage(s.public)}
	var words strings.Builder // one allocation for all the short strings
	size := len(s.kind) + len(s.prev) + len(s.hash)
	for i := range s.faces {
		size += len(s.faces[i].commitment)
	}
	words.Grow(size)
	keep := func(word string) string {
		start := words.Len()
		words.WriteString(word)
		return words.String()[start:]
	}
	e.Type, e.Prev, e.Hash = keep(s.kind), keep(s.prev), keep(s.hash)
	if len(s.faces) > 0 {
		e.Faces = make([]event.Sealed, len(s.faces))
	}
	for i, f := range s.faces {
		e.Faces[i].Commitment = keep(f.commitment)
		if !f.sealed {
			continue
		}
		box, err := base64.StdEncoding.DecodeString(f.box)
		if err != nil || base64.StdEncoding.EncodedLen(len(box)) != len(f.box) {
			return event.Event{}, false // the decoder skips line ends, JSON has none in a string
		}
		e.Faces[i].Box = box
	}
	return e, true
}

// role spares an allocation for the roles there are.
func role(name string) event.Role {
	switch r := event.Role(name); r {
	case event.Operator:
		return event.Operator
	case event.Host:
		return event.Host
	case event.Player:
		return event.Player
	case event.Timer:
		return event.Timer
	case event.Resolver:
		return event.Resolver
	case event.Umpire:
		return event.Umpire
	default:
		return event.Role(strings.Clone(name))
	}
}
