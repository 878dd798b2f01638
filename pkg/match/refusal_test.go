package match_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The refusals in their order: in each situation all the later ones hold too, as far as they can.
func TestTheOrderOfRefusals(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once), turnOf(1, match.Once)}}, 3, "")
	bad := []string{`[]`, `{}`, `{"type":"say","number":-1}`, `{"type":"say","number":10}`, number(1), `{"a":1,"a":2}`}
	each := func(code match.Code, who string, no int64, named bool, texts ...string) {
		t.Helper()
		for _, text := range texts {
			drafts, err := p.m.Submit(who, no, named, parse(t, text), p.now)
			assert.Nil(t, drafts)
			requireCode(t, code, err)
		}
	}
	strangers := func() {
		t.Helper()
		for _, who := range []string{"", "x", "A", match.Public} {
			each(match.UnknownPlayer, who, 0, false, bad...)
			each(match.UnknownPlayer, who, 7, true, bad...)
		}
	}
	players := []string{"a", "b", "c", match.HostID}

	strangers()
	for _, who := range players {
		for _, no := range []int64{0, 2, 7, -1, 1 << 62, -1 << 62} {
			each(match.PhaseClosed, who, no, true, bad...)
		}
	}
	for _, who := range players[1:] {
		each(match.NotAwaited, who, 0, false, bad...)
		each(match.NotAwaited, who, 1, true, bad...)
	}
	each(match.MalformedMove, "a", 1, true, bad[:3]...)
	each(match.MalformedMove, "a", 0, false, bad[:3]...)
	each(match.IllegalMove, "a", 1, true, bad[3])

	drafts, err := p.m.Submit("a", 1, true, parse(t, number(1)), p.now)
	require.NoError(t, err)
	p.fold(drafts)
	each(match.AlreadySubmitted, "a", 1, true, bad...)
	each(match.PhaseClosed, "a", 2, true, bad...)
	each(match.NotAwaited, "b", 1, true, bad...)
	p.pause()
	strangers()
	for _, who := range players {
		each(match.MatchPaused, who, 0, false, bad...)
		each(match.MatchPaused, who, 7, true, bad...)
	}
	p.resume()
	p.say("b", 2)
	require.True(t, p.m.Over())
	strangers()
	for _, who := range players {
		each(match.MatchOver, who, 0, false, bad...)
		each(match.MatchOver, who, 7, true, bad...)
	}
}

func TestRefusalsBeforeTheStart(t *testing.T) {
	p := createPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}.game(2), setupText(2, ""))
	p.refused(match.NotAwaited, "a", `{}`)
	p.refused(match.NotAwaited, match.HostID, `{}`)
	p.refused(match.UnknownPlayer, "x", `{}`)
	_, err := p.m.Submit("a", 1, true, parse(t, `{}`), p.now)
	requireCode(t, match.PhaseClosed, err)
}

// Until a simultaneous phase resolves a player may replace his submission; on a turn the first one stands.
func TestReplacing(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), talkOf(match.Once, 0)}}, 2, "")
	p.say("a", 1)
	first := p.m.LastReceipt(0)
	assert.Equal(t, match.Receipt{
		Phase: 1, ID: event.ID{byte(first.Revision)}.String(), Revision: uint64(p.m.Revision()), Hash: p.m.Hash(),
		Raw: []byte(`{"number":1,"type":"say"}`),
	}, first)
	assert.Equal(t, "submission-accepted.v1", p.facts[len(p.facts)-1].Type)
	p.say("a", 2)
	last := p.facts[len(p.facts)-1]
	assert.Equal(t, "submission-replaced.v1", last.Type)
	assert.JSONEq(t, `{"phase":1,"player":"a"}`, string(last.Public))
	assert.Equal(t, []string{"a"}, last.Faces[0].To)
	assert.JSONEq(t, number(2), string(last.Faces[0].Data))
	p.waits(ids("b"), ids("a"))
	assert.Equal(t, 2, *p.m.View("a").Table.(*planTable).You.Says)
	assert.JSONEq(t, number(2), string(p.m.View("a").Table.(*planTable).You.Raw))
	assert.Nil(t, p.m.View("b").Table.(*planTable).You.Says)
	p.refused(match.MalformedMove, "a", `{}`)
	assert.Equal(t, 2, *p.m.View("a").Table.(*planTable).You.Says, "a refused replacement replaces nothing")
	p.say("b", 3)
	assert.Equal(t, []map[string]int{{"a": 2, "b": 3}}, p.table().Said)
	assert.Equal(t, last.Revision, p.m.LastReceipt(0).Revision)
	assert.Zero(t, p.m.LastReceipt(match.HostSeat).Phase)
	drafts, err := p.m.Submit("a", 0, false, parse(t, number(4)), p.now)
	require.NoError(t, err)
	p.fold(drafts)
	p.refused(match.AlreadySubmitted, "a", number(5)) // a phase for one is a turn, whatever it is called
}

// at-deadline keeps a simultaneous phase open until the last of its clocks has run out.
func TestAtDeadline(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1), turnOf(0, match.Once), talkOf(match.None, 0, 1)}},
		2, `"close":"at-deadline",`)
	p.extend("b", 10*second)
	p.say("a", 1)
	p.say("b", 1)
	p.waits(ids(), ids("a", "b"))
	p.until(20 * second)
	p.say("b", 2)
	p.until(30 * second)
	assert.Equal(t, 1, p.phase().No, "b's clock runs")
	p.refused(match.NotAwaited, "a", number(3))
	p.say("b", 3)
	p.until(40*second - 1)
	assert.Equal(t, 1, p.phase().No)
	p.until(40 * second)
	assert.Equal(t, []map[string]int{{"a": 1, "b": 3}}, p.table().Said)
	p.say("a", 1)
	assert.Equal(t, 3, p.phase().No, "a turn is not held")
	p.say("a", 1)
	p.say("b", 1)
	assert.True(t, p.m.Over(), "nor is what has no clock")
}

// What is judged well by the rules and can't be kept exactly in every reader of JSON is refused too.
func TestNumbersThatCannotBeKept(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	for _, n := range []string{"9007199254740992", "1000000000000000000"} {
		p.refused(match.IllegalMove, "a", `{"type":"say","number":`+n+`}`)
	}
	p.refused(match.MalformedMove, "a", `{"type":"say","number":1000000000000000000000}`)
}

// A refusal says nothing of what was sent.
func TestRefusalsTellNothing(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	for _, text := range []string{
		`{"type":"zq-zq"}`, `{"type":"say","number":"zq-zq"}`, `{"type":"say","zq-zq":1}`, `{"type":"say","number":1,"zq-zq":2}`,
		`{"zq-zq":1,"zq-zq":2}`, `"zq-zq"`, `{"type":"say","number":1,"x":"zq-zq\ud800"}`,
	} {
		_, err := p.m.Submit("a", 0, false, parse(t, text), p.now)
		requireCode(t, match.MalformedMove, err)
		assert.NotContains(t, err.Error(), "zq")
	}
}

func TestSameSubmission(t *testing.T) {
	r := match.Receipt{Raw: []byte(`{"number":1,"type":"say"}`)}
	for _, same := range []string{number(1), ` { "number" : 1, "type" : "s\u0061y" } `} {
		assert.True(t, r.SameSubmission(parse(t, same)), same)
	}
	for _, other := range []string{
		number(2), `{"type":"say"}`, `[]`, `{"type":"say","number":1.0}`, `{"type":"say","number":1,"number":1}`,
		`{"number":1,"type":"say","x":null}`,
	} {
		assert.False(t, r.SameSubmission(parse(t, other)), other)
	}
}

func TestForm(t *testing.T) {
	seats := match.Seats{{ID: "a"}, {ID: "b"}}
	text := `{"type":"t","s":"x","n":5,"l":["x","y"],"e":[],"o":{"in":1},"z":null,"p":"b"}`
	form := match.OpenForm(parse(t, text))
	assert.Equal(t, "t", form.Type())
	assert.Equal(t, "x", form.Text("s"))
	assert.Equal(t, "x", form.Choice("s", "w", "x"))
	assert.Equal(t, int64(5), form.Whole("n", 5, 5))
	assert.Equal(t, []string{"x", "y"}, form.Strings("l"))
	assert.Equal(t, []string{}, form.Strings("e"))
	assert.Equal(t, int64(1), form.Object("o").Whole("in", 0, 9))
	assert.True(t, form.Null("z"))
	assert.True(t, form.Null("absent"))
	assert.False(t, form.Null("n"))
	assert.Equal(t, 1, form.Player("p", seats))
	form.Fields([]string{"s", "n", "l", "e", "o", "p"}, "z", "other")
	assert.True(t, form.Given("z"))
	assert.False(t, form.Given("absent"))
	assert.Equal(t, `{"in":1}`, form.Value("o").Raw())
	assert.Equal(t, int64(5), form.WholeNumber("n"))
	require.NoError(t, form.Err())
	body := match.OpenForm(parse(t, `{"a":1}`))
	body.Exactly([]string{"a"}, "b")
	require.NoError(t, body.Err())
	for _, text := range []string{`[]`, `{"a":1,"type":"t"}`, `{"a":1,"c":2}`, `{}`} {
		body := match.OpenForm(parse(t, text))
		body.Exactly([]string{"a"}, "b")
		requireCode(t, match.MalformedMove, body.Err())
	}
	body = match.OpenForm(parse(t, `[]`))
	body.Exactly(nil)
	requireCode(t, match.MalformedMove, body.Err())

	for name, read := range map[string]func(*match.Form){
		"Text of a number":         func(f *match.Form) { f.Text("n") },
		"Text of nothing":          func(f *match.Form) { f.Text("absent") },
		"Text of null":             func(f *match.Form) { f.Text("z") },
		"Choice of none":           func(f *match.Form) { f.Choice("s", "y") },
		"Whole below":              func(f *match.Form) { f.Whole("n", 6, 9) },
		"Whole above":              func(f *match.Form) { f.Whole("n", 0, 4) },
		"Whole of a string":        func(f *match.Form) { f.Whole("s", 0, 9) },
		"Whole of nothing":         func(f *match.Form) { f.Whole("absent", 0, 9) },
		"Strings of a string":      func(f *match.Form) { f.Strings("s") },
		"Strings of nothing":       func(f *match.Form) { f.Strings("absent") },
		"Object of a list":         func(f *match.Form) { f.Object("l") },
		"Player of none":           func(f *match.Form) { f.Player("s", seats) },
		"Player of a number":       func(f *match.Form) { f.Player("n", seats) },
		"Fields with one missing":  func(f *match.Form) { f.Fields([]string{"absent", "s", "n", "l", "e", "o", "z", "p"}) },
		"Fields with one too many": func(f *match.Form) { f.Fields([]string{"s", "n", "l", "e", "o", "z"}) },
	} {
		f := match.OpenForm(parse(t, text))
		read(f)
		requireCode(t, match.MalformedMove, f.Err())
		first := f.Err()
		f.Fail(match.Illegal("later"))
		assert.Equal(t, first, f.Err(), "%s: the first error stands", name)
	}
	f := match.OpenForm(parse(t, `{"l":["x",1],"o":{"n":"5"}}`))
	f.Strings("l")
	requireCode(t, match.MalformedMove, f.Err())
	f = match.OpenForm(parse(t, `{"o":{"n":"5"}}`))
	inner := f.Object("o")
	inner.Whole("n", 0, 9)
	requireCode(t, match.MalformedMove, inner.Err())
	assert.NotContains(t, inner.Err().Error(), "5")
}
