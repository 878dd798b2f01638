package eventlogtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"umpire/pkg/event"
)

// Chain makes events for one stream, each hashed onto the one before, as a match would. What it makes depends on its
// arguments alone. It is for one goroutine.
type Chain struct {
	Stream string
	Prev   string // the hash of the last event made

	keys  *event.Keys
	label string
	made  int
}

// NewChain starts a chain for a stream. Chains of one stream with other labels make other events.
func NewChain(stream, label string) *Chain {
	vault, err := event.NewVault(make([]byte, event.MasterKeySize))
	if err != nil {
		panic(err) // the key has its size
	}
	return &Chain{Stream: stream, keys: vault.Keys(stream), label: label}
}

// Next makes n events that follow upon those made before. Every second has a face of some 400 bytes, every fifth
// opens the one before, and their public parts try what JSON may hold.
func (c *Chain) Next(n int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = c.one(400)
	}
	return events
}

// Faced makes n events that each have one face of that many bytes.
func (c *Chain) Faced(n, size int) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		for c.made%2 == 0 || c.made%5 == 0 {
			c.made++
		}
		events[i] = c.one(size)
	}
	return events
}

// Sized makes one event whose stored form has exactly that many bytes.
func (c *Chain) Sized(size int) event.Event {
	e := event.Event{ID: c.id(), Type: "suite.sized.v1", At: c.at(), By: event.Umpire, Prev: c.Prev}
	e.Public = json.RawMessage(`{"fill":""}`)
	e.Hash = e.ComputeHash()
	fill := size - len(e.AppendStored(nil))
	if fill < 0 {
		panic(fmt.Sprintf("no event has only %d bytes", size))
	}
	e.Public = json.RawMessage(`{"fill":"` + strings.Repeat("x", fill) + `"}`)
	c.close(&e)
	return e
}

// texts are what a careless store would spoil.
var texts = []string{
	`plain`, `"quoted" and back\slashed`, "line\nbreak\ttab\r\x00\x1f\x7f", `naïve façade – 東京 🎲👩‍👩‍👧 Ω`, "\u2028\u2029\ufeff\ufffd",
	`'); DROP TABLE commits; --`, `</script>&amp;`, "e\u0301 is not \u00e9", ``,
}

func (c *Chain) one(size int) event.Event {
	text, _ := json.Marshal(texts[c.made%len(texts)])
	public, err := event.Canonical(map[string]any{
		"n": c.made, "label": c.label, "text": json.RawMessage(text), "deep": []any{nil, true, map[string]any{"a": -7}},
	})
	if err != nil {
		panic(err)
	}
	e := event.Event{
		ID: c.id(), Type: fmt.Sprintf("suite.move-%d.v1", c.made%3), At: c.at(), By: event.Player, Public: public, Prev: c.Prev,
	}
	if c.made%2 == 1 {
		c.seal(&e, size)
	}
	if c.made%5 == 0 {
		e.Opens = []event.Opening{{Revision: uint64(c.made), Index: 1, Face: c.face(40)}} //nolint:gosec // never negative
	}
	c.close(&e)
	return e
}

// seal gives the event a face with a box, and every other time one that is only a commitment.
func (c *Chain) seal(e *event.Event, size int) {
	f := c.face(size)
	sealed, err := c.keys.Seal(c.entropy(), e.ID, 0, &f)
	if err != nil {
		panic(err)
	}
	e.Faces = []event.Sealed{sealed}
	if c.made%4 == 3 {
		e.Faces = append(e.Faces, event.Sealed{Commitment: f.Commitment()})
	}
}

func (c *Chain) close(e *event.Event) {
	e.Hash = e.ComputeHash()
	c.Prev = e.Hash
	c.made++
}

func (c *Chain) id() event.ID { return c.keys.Name(c.label, fmt.Sprint(c.made)) }

// at gives times with and without fractions of a second, in a zone that is not UTC.
func (c *Chain) at() time.Time {
	base := time.Date(2026, 2, 28, 23, 59, 59, 0, time.FixedZone("", 3600))
	return base.Add(time.Duration(c.made) * 250 * time.Millisecond)
}

func (c *Chain) entropy() *rand.ChaCha8 {
	var seed [32]byte
	copy(seed[:], c.keys.MAC(c.label, fmt.Sprint(c.made)))
	return rand.NewChaCha8(seed)
}

func (c *Chain) face(size int) event.Face {
	salt := make([]byte, event.SaltSize)
	if _, err := c.entropy().Read(salt); err != nil {
		panic(err)
	}
	data, err := event.Canonical(map[string]any{"text": texts[c.made%len(texts)], "fill": strings.Repeat("f", size)})
	if err != nil {
		panic(err)
	}
	return event.Face{To: []string{"p1", "host"}, Salt: salt, Data: data}
}
