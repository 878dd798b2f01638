package eventlog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/eventlogtest"
)

func TestPackThenUnpackIsTheSame(t *testing.T) {
	for n := 1; n <= 40; n++ {
		p, err := eventlog.Pack("match-1", 0, eventlogtest.NewChain("match-1", "pack").Next(n))
		require.NoError(t, err)
		events, err := eventlog.Unpack(p.Text())
		require.NoError(t, err)
		require.Equal(t, p.Events, events)
		for i := range events {
			require.Equal(t, string(events[i].AppendStored(nil)), p.Stored(i))
		}
	}
}

func TestPackLeavesTheCallersEventsAlone(t *testing.T) {
	events := eventlogtest.NewChain("match-1", "own").Next(2)
	zone := events[0].At.Location()
	p, err := eventlog.Pack("match-1", 0, events)
	require.NoError(t, err)
	require.Equal(t, zone, events[0].At.Location())
	events[0].Type = "changed"
	require.NotEqual(t, "changed", p.Events[0].Type)
}

// unreadable are changes to a good event after which no log could give it back.
var unreadable = map[string]func(*event.Event){
	"no public part":           func(e *event.Event) { e.Public = nil },
	"a public part cut short":  func(e *event.Event) { e.Public = json.RawMessage(`{"a":1`) },
	"a list for a public part": func(e *event.Event) { e.Public = json.RawMessage(`[1]`) },
	"a name that stands twice": func(e *event.Event) { e.Public = json.RawMessage(`{"a":1,"a":2}`) },
	"a lone surrogate":         func(e *event.Event) { e.Public = json.RawMessage(`{"a":"\ud800"}`) },
	"bytes that are no UTF-8":  func(e *event.Event) { e.Public = json.RawMessage("{\"a\":\"\xff\"}") },
	"a type that is no UTF-8":  func(e *event.Event) { e.Type = "\xc0\xaf" },
	"a control character":      func(e *event.Event) { e.Public = json.RawMessage("{\"a\":\"\x00\"}") },
	"a nest of 100 lists": func(e *event.Event) {
		e.Public = json.RawMessage(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`)
	},
	"the year 10000":               func(e *event.Event) { e.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
	"a hash that ends the string":  func(e *event.Event) { e.Hash = `a"b` },
	"an opening without data":      func(e *event.Event) { e.Opens = []event.Opening{{}} },
	"a public part with a tail":    func(e *event.Event) { e.Public = json.RawMessage(`{},"type":"other"`) },
	"a hash that smuggles a field": func(e *event.Event) { e.Hash = `h","hash":"i` },
	"a prev that smuggles an event": func(e *event.Event) {
		upToPrev, _, _ := strings.Cut(string(e.AppendStored(nil)), `"prev":"`)
		e.Prev = `p","public":{},"type":"t"},` + upToPrev + `"prev":"`
	},
}

func TestPackRefusesWhatCouldNotBeReadBack(t *testing.T) {
	for name, spoil := range unreadable {
		t.Run(name, func(t *testing.T) {
			events := eventlogtest.NewChain("match-1", "bad").Next(3)
			spoil(&events[1])
			_, err := eventlog.Pack("match-1", 0, events)
			require.ErrorIs(t, err, eventlog.ErrInvalid)
		})
	}
}

func TestPackTakesWhatTheStrictReaderTakes(t *testing.T) {
	for _, public := range []string{
		` { "b" : 1.5 , "a" : "\u0041\/" } `, `{"é":"\ud83c\udfb2"}`, `{"a":1e9}`, `{"a\n":{}}`, `{}`,
	} {
		events := eventlogtest.NewChain("match-1", "strict").Next(1)
		events[0].Public = json.RawMessage(public)
		p, err := eventlog.Pack("match-1", 0, events)
		require.NoError(t, err, public)
		back, err := eventlog.Unpack(p.Text())
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(public), string(back[0].Public))
	}
}

// strict is the reader without the short cut.
func strict(text string) ([]event.Event, error) {
	v, err := event.Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	var events []event.Event
	for _, item := range v.Items() {
		e, err := event.Decode(item)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// FuzzUnpack checks the quick reader against the strict one.
func FuzzUnpack(f *testing.F) {
	chain := eventlogtest.NewChain("match-1", "fuzz")
	for n := range 8 {
		p, err := eventlog.Pack("match-1", 0, chain.Next(n+1))
		require.NoError(f, err)
		f.Add(p.Text())
	}
	f.Add(`[]`)
	f.Add(`[{"at":"2026-01-02T03:04:05Z","by":"host","faces":[{"box":"AA==","commitment":"c"},"d"],"hash":"h",` +
		`"id":"00000000-0000-8000-8000-000000000000","opens":[],"prev":"","public":{"a":[1,-2,0,"\u001f\n"]},"type":"t"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		quick, err := eventlog.Unpack(text)
		if err != nil {
			return
		}
		slow, err := strict(text)
		require.NoError(t, err)
		require.Len(t, quick, len(slow))
		for i := range slow {
			require.Equal(t, slow[i], quick[i])
		}
	})
}

func benchmarkText(b *testing.B) (*eventlog.Packed, []event.Event) {
	b.Helper()
	events := eventlogtest.NewChain("match-1", "bench").Faced(3, 400)
	p, err := eventlog.Pack("match-1", 0, events)
	require.NoError(b, err)
	b.ReportAllocs()
	b.SetBytes(int64(len(p.Text())))
	return p, events
}

func BenchmarkPack(b *testing.B) {
	_, events := benchmarkText(b)
	for b.Loop() {
		if _, err := eventlog.Pack("match-1", 0, events); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	p, _ := benchmarkText(b)
	text := p.Text()
	for b.Loop() {
		if _, err := eventlog.Unpack(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpackStrictly(b *testing.B) {
	p, _ := benchmarkText(b)
	text := p.Text()
	for b.Loop() {
		if _, err := strict(text); err != nil {
			b.Fatal(err)
		}
	}
}
