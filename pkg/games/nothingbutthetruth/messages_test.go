package nothingbutthetruth

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

var twoPlayers = state{seats: match.Seats{{ID: sensei, Name: "Sensei"}, {ID: herbert, Name: "Herbert"}}}

func TestDecode(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\U0001f37a", 2000)
	for _, c := range []struct {
		submission string
		want       *move // nil: malformed
	}{
		{`{"type":"order","order":["A","B","D","C"]}`, &move{kind: order, order: []string{"A", "B", "D", "C"}}},
		{`{"type":"order","order":["D","C","B","A"]}`, &move{kind: order, order: []string{"D", "C", "B", "A"}}},
		{`{"type":"order","order":["A","B","C"]}`, nil},
		{`{"type":"order","order":["A","B","C","D","A"]}`, nil},
		{`{"type":"order","order":["A","A","B","C"]}`, nil},
		{`{"type":"order","order":["A","B","C","E"]}`, nil},
		{`{"type":"order","order":["a","b","c","d"]}`, nil},
		{`{"type":"order","order":["A","B","C",4]}`, nil},
		{`{"type":"order","order":["A","B","C",null]}`, nil},
		{`{"type":"order","order":[]}`, nil},
		{`{"type":"order","order":null}`, nil},
		{`{"type":"order","order":"ABCD"}`, nil},
		{`{"type":"order"}`, nil},
		{`{"type":"order","order":["A","B","C","D"],"cells":[]}`, nil},
		{`{"type":"order","Order":["A","B","C","D"]}`, nil},

		{`{"type":"place","cells":[]}`, &move{kind: place, cells: []int{}}},
		{`{"type":"place","cells":["C4","B2"]}`, &move{kind: place, cells: []int{7, 15}}},
		{`{"type":"place","cells":["B2","B2"]}`, &move{kind: place, cells: []int{7, 7}}},
		{`{"type":"place","cells":["A7"]}`, nil},
		{`{"type":"place","cells":["G1"]}`, nil},
		{`{"type":"place","cells":["A10"]}`, nil},
		{`{"type":"place","cells":["A1",""]}`, nil},
		{`{"type":"place","cells":[null]}`, nil},
		{`{"type":"place","cells":["A1",2]}`, nil},
		{`{"type":"place","cells":"A1"}`, nil},
		{`{"type":"place","cells":null}`, nil},
		{`{"type":"place"}`, nil},

		{`{"type":"bid","coins":0}`, &move{kind: bid}},
		{`{"type":"bid","coins":-0}`, &move{kind: bid}},
		{`{"type":"bid","coins":7}`, &move{kind: bid, coins: 7}},
		{`{"type":"bid","coins":1` + strings.Repeat("0", 30) + `}`, &move{kind: bid, coins: 1<<63 - 1}},
		{`{"type":"bid","coins":-1}`, nil},
		{`{"type":"bid","coins":-1` + strings.Repeat("0", 30) + `}`, nil},
		{`{"type":"bid","coins":2.0}`, nil},
		{`{"type":"bid","coins":2e0}`, nil},
		{`{"type":"bid","coins":"2"}`, nil},
		{`{"type":"bid","coins":true}`, nil},
		{`{"type":"bid","coins":null}`, nil},
		{`{"type":"bid"}`, nil},

		{`{"type":"shift","direction":"up"}`, &move{kind: shift, direction: "up", anchor: noAnchor}},
		{`{"type":"shift","direction":"down","anchor":null}`, &move{kind: shift, direction: "down", anchor: noAnchor}},
		{`{"type":"shift","direction":"left","anchor":"A1"}`, &move{kind: shift, direction: "left", anchor: 0}},
		{`{"type":"shift","direction":"right","anchor":"F6"}`, &move{kind: shift, direction: "right", anchor: 35}},
		{`{"type":"shift","direction":"north"}`, nil},
		{`{"type":"shift","direction":"Up"}`, nil},
		{`{"type":"shift","direction":null}`, nil},
		{`{"type":"shift","anchor":"A1"}`, nil},
		{`{"type":"shift","direction":"up","anchor":""}`, nil},
		{`{"type":"shift","direction":"up","anchor":"A7"}`, nil},
		{`{"type":"shift","direction":"up","anchor":1}`, nil},
		{`{"type":"shift","direction":"up","anchor":["A1"]}`, nil},

		{`{"type":"decline"}`, &move{kind: decline}},
		{`{"type":"decline","direction":"up"}`, nil},

		{`{"type":"ask","question":"Who?"}`, &move{kind: ask, text: "Who?"}},
		{`{"type":"ask","question":"` + long + `"}`, &move{kind: ask, text: long}},
		{`{"type":"ask","question":"` + long + `x"}`, nil},
		{`{"type":"ask","question":""}`, nil},
		{`{"type":"ask","question":" \t\u00a0\u3000\u200b"}`, nil},
		{`{"type":"ask","question":null}`, nil},
		{`{"type":"ask"}`, nil},

		{`{"type":"answer","text":"4"}`, &move{kind: answer, text: "4"}},
		{`{"type":"answer","text":""}`, &move{kind: answer}},
		{`{"type":"answer","text":" "}`, &move{kind: answer, text: " "}},
		{`{"type":"answer","text":"` + long + `"}`, &move{kind: answer, text: long}},
		{`{"type":"answer","text":"` + long + `x"}`, nil},
		{`{"type":"answer","text":null}`, nil},
		{`{"type":"answer","text":4}`, nil},
		{`{"type":"answer"}`, nil},

		{`{"type":"judge","right":[]}`, &move{kind: judge, right: []int{}}},
		{`{"type":"judge","right":["herbert","sensei"]}`, &move{kind: judge, right: []int{1, 0}}},
		{`{"type":"judge","right":["herbert","herbert"]}`, &move{kind: judge, right: []int{1, 1}}},
		{`{"type":"judge","right":["host"]}`, nil},
		{`{"type":"judge","right":["Herbert"]}`, nil},
		{`{"type":"judge","right":[null]}`, nil},
		{`{"type":"judge","right":"herbert"}`, nil},
		{`{"type":"judge","right":null}`, nil},
		{`{"type":"judge"}`, nil},

		{`{}`, nil},
		{`{"type":"nonsense"}`, nil},
		{`{"type":""}`, nil},
		{`{"type":null}`, nil},
		{`{"type":["order"]}`, nil},
		{`{"Type":"decline"}`, nil},
	} {
		t.Run(c.submission[:min(len(c.submission), 60)], func(t *testing.T) {
			t.Parallel()
			v, err := event.Parse([]byte(c.submission))
			require.NoError(t, err)
			got, err := decode(&twoPlayers, v)
			if c.want == nil {
				var refusal *match.Refusal
				require.ErrorAs(t, err, &refusal)
				assert.Equal(t, match.MalformedMove, refusal.Code)
				return
			}
			require.NoError(t, err)
			if c.want.kind != shift {
				c.want.anchor = noAnchor
			}
			assert.Equal(t, *c.want, got)
		})
	}
}

// TestMalformedComesBeforeIllegal tries on a running match that what could never be right is malformed, whichever phase
// is open, and what belongs to another phase illegal.
func TestMalformedComesBeforeIllegal(t *testing.T) {
	t.Parallel()
	p := started(t)
	ofPhase := map[string]string{
		order: `{"type":"order","order":["A","B","C","D"]}`, place: `{"type":"place","cells":[]}`,
		bid: `{"type":"bid","coins":0}`, shift: `{"type":"shift","direction":"up"}`, decline: `{"type":"decline"}`,
		ask: `{"type":"ask","question":"?"}`, answer: `{"type":"answer","text":"!"}`, judge: `{"type":"judge","right":[]}`,
	}
	foreign := func(who string, allowed ...string) {
		t.Helper()
		for _, kind := range []string{order, place, bid, shift, decline, ask, answer, judge} {
			if !strings.Contains(strings.Join(allowed, " "), kind) {
				assert.Equal(t, match.IllegalMove, p.try(who, ofPhase[kind]), "%s in %s", kind, p.phase())
			}
		}
		assert.Equal(t, match.MalformedMove, p.try(who, `{"type":"place","cells":["J1"]}`), p.phase())
		assert.Equal(t, match.MalformedMove, p.try(who, `{"type":"decline","x":1}`), p.phase())
		assert.Equal(t, match.MalformedMove, p.try(who, `{"type":"answer","text":"\ud800"}`), p.phase())
		assert.Equal(t, match.MalformedMove, p.try(who, `{"type":"decline","type":"decline"}`), p.phase())
	}
	p.toCycle(13)
	foreign(sensei, order)
	p.ordered()
	foreign(herbert, place)
	p.place(sensei, "")
	p.place(herbert, "")
	foreign(sensei, bid)
	p.bid(sensei, 1)
	p.bid(herbert, 0)
	foreign(sensei, shift, decline)
	assert.Equal(t, match.NotAwaited, p.try(herbert, ofPhase[shift]))
	assert.Equal(t, match.NotAwaited, p.try(theHost, ofPhase[ask]))
	p.submit(sensei, `{"type":"decline"}`)
	foreign(theHost, ask)
	assert.Equal(t, match.NotAwaited, p.try(sensei, ofPhase[answer]))
	p.submit(theHost, `{"type":"ask","question":"?"}`)
	foreign(sensei, answer)
	assert.Equal(t, match.NotAwaited, p.try(theHost, ofPhase[judge]))
	p.submit(sensei, `{"type":"answer","text":"!"}`)
	p.submit(herbert, `{"type":"answer","text":"!"}`)
	foreign(theHost, judge)
}

func FuzzDecode(f *testing.F) {
	for _, submission := range []string{
		`{"type":"order","order":["A","B","D","C"]}`, `{"type":"place","cells":["B2","C4"]}`, `{"type":"bid","coins":10}`,
		`{"type":"shift","direction":"up","anchor":"C4"}`, `{"type":"shift","direction":"up","anchor":null}`,
		`{"type":"decline"}`, `{"type":"ask","question":"?"}`, `{"type":"answer","text":""}`,
		`{"type":"judge","right":["sensei"]}`, `{"type":"bid","coins":1e400}`, `{"type":"nonsense"}`, `[]`,
	} {
		f.Add([]byte(submission))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := event.Parse(raw)
		if err != nil {
			return
		}
		m, err := decode(&twoPlayers, v)
		if err != nil {
			var refusal *match.Refusal
			if !errors.As(err, &refusal) || refusal.Code != match.MalformedMove {
				t.Fatalf("not a malformed refusal: %v", err)
			}
			return
		}
		canonical, err := v.AppendCanonical(nil)
		if err != nil {
			return // a bid beyond what JSON holds exactly; the machine refuses it
		}
		again, err := event.Parse(canonical)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decode(&twoPlayers, again); err != nil || fmt.Sprint(back) != fmt.Sprint(m) {
			t.Fatalf("%s decodes to %v, its canonical form to %v, %v", raw, m, back, err)
		}
	})
}
