package nothingbutthetruth

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

// "Submit" means a private submission to the host.
func TestSubmissionsArePrivate(t *testing.T) {
	t.Parallel()
	p := started(t)
	unchanged := func(submit func()) {
		t.Helper()
		public, other := tableOf(t, p, match.Public), tableOf(t, p, herbert)
		submit()
		assert.Equal(t, public, tableOf(t, p, match.Public))
		assert.Equal(t, other, tableOf(t, p, herbert))
		face := p.facts[len(p.facts)-1].faces[0]
		assert.Equal(t, []string{sensei}, face.To)
	}
	unchanged(func() { p.order(sensei, "BACD") })
	assert.Equal(t, []string{"B", "A", "C", "D"}, p.table(sensei).You.Order)
	unchanged(func() { p.order(sensei, "CDAB") })
	assert.Equal(t, []string{"C", "D", "A", "B"}, p.table(sensei).You.Order, "the latest shows")
	p.order(herbert, "ABCD")
	unchanged(func() { p.place(sensei, "") })
	p.place(herbert, "A1")
	unchanged(func() { p.bid(sensei, 3) })
	assert.Equal(t, int64(3), *p.table(sensei).You.Bid)
	p.bid(herbert, 3)
	assert.Equal(t, &you{Hints: p.table(sensei).You.Hints}, p.table(sensei).You, "null again in a new cycle")
}

func tableOf(t *testing.T, p *playing, audience string) string {
	t.Helper()
	raw, err := json.Marshal(p.table(audience))
	require.NoError(t, err)
	return string(raw)
}

// "Reveal" and "Public" means shown to both players. "Coin counts will be public." "The board will then be revealed."
func TestPublicMeansSpectatorsToo(t *testing.T) {
	t.Parallel()
	p := started(t)
	check := func() {
		t.Helper()
		public := p.table(match.Public)
		assert.Nil(t, public.You)
		assert.Nil(t, public.Host)
		for _, audience := range []string{sensei, herbert, theHost} {
			same := *p.table(audience)
			same.You, same.Host = nil, nil
			assert.Equal(t, *public, same)
		}
	}
	check()
	p.ordered()
	check()
	p.place(sensei, "A1")
	p.place(herbert, "C4")
	check()
	p.bid(sensei, 3)
	p.bid(herbert, 2)
	check()
	p.shift(sensei, "down", "C4")
	check()
}

func TestOrdersAndBidsOpenAtTheEnd(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"at-end", "never"} {
		p := tied(t, `{"open": "`+open+`"}`)
		p.asked("4", "5")
		p.submit(theHost, `{"type":"judge","right":["sensei"]}`)
		opened := map[match.Ref]bool{}
		for _, ref := range p.last("match-ended").opens {
			opened[ref] = true
		}
		assert.True(t, opened[match.Ref{}], "the seed, always")
		count := 1
		phase := ""
		for _, f := range p.facts {
			switch f.kind {
			case "phase-opened":
				var o struct{ Name string }
				require.NoError(t, json.Unmarshal([]byte(f.public), &o))
				phase = o.Name
			case "submission-accepted":
				opens := open == "at-end" && (phase == order || phase == bid)
				assert.Equal(t, opens, opened[match.Ref{Revision: f.revision}], "%s at revision %d", phase, f.revision)
				if opens {
					count++
				}
			}
		}
		assert.Len(t, opened, count, "and nothing else: no placements, no answers, no statements")
	}
}

func TestStatementsNeverReachedStaySealed(t *testing.T) {
	t.Parallel()
	black, white := halves()
	black = append(black, white[17])
	p := filled(t, black, white[:17])
	require.Equal(t, match.Ended, p.m.Status())
	reached := p.table(match.Public).Cycle
	require.Less(t, reached, 13)
	opened := 0
	for _, f := range p.facts {
		for _, ref := range f.opens {
			if ref.Revision == 0 && ref.Face > 0 {
				opened++
				assert.LessOrEqual(t, ref.Face, reached)
			}
		}
	}
	assert.Equal(t, reached, opened)
}

func TestTheHostSeesAll(t *testing.T) {
	t.Parallel()
	p := started(t)
	p.order(sensei, "BACD")
	h := p.table(theHost).Host
	assert.Equal(t, prepared("TTFF"), h.Statements)
	assert.Equal(t, map[string][]string{sensei: {"B", "A", "C", "D"}, herbert: nil}, h.Orders)
	assert.Equal(t, map[string][]string{sensei: nil, herbert: nil}, h.Placed)
	assert.Equal(t, map[string]*int64{sensei: nil, herbert: nil}, h.Bids)
	assert.Equal(t, map[string]*string{sensei: nil, herbert: nil}, h.Answers)
	p.order(herbert, "ABCD")
	p.place(herbert, "")
	p.place(sensei, "F6")
	p.bid(herbert, 2)
	h = p.table(theHost).Host
	assert.Equal(t, both([]string{"F6"}, []string{}), h.Placed)
	assert.Nil(t, h.Bids[sensei])
	assert.Equal(t, int64(2), *h.Bids[herbert])
}

func TestTheHostSeesWhatHisTasksNeed(t *testing.T) {
	t.Parallel()
	p := start(t, "TTFF", `{"hostSees": "needed"}`)
	only := func() {
		t.Helper()
		assert.Equal(t, &host{Statements: prepared("TTFF")}, p.table(theHost).Host)
	}
	only()
	p.order(sensei, "BACD")
	only()
	p.order(herbert, "ABCD")
	p.place(sensei, "")
	only()
	p.place(herbert, "")
	p.bid(sensei, 3)
	only()
	p.bid(herbert, 3)
	p.toCycle(13)
	p.cycle("", "")
	only()
	p.submit(theHost, `{"type":"ask","question":"?"}`)
	p.submit(sensei, `{"type":"answer","text":"yes"}`)
	only()
	p.submit(herbert, `{"type":"answer","text":"no"}`)
	yes, no := "yes", "no"
	assert.Equal(t, &host{Statements: prepared("TTFF"), Answers: both(&yes, &no)}, p.table(theHost).Host)
	in := p.last("answers-in")
	assert.Equal(t, `{}`, in.public)
	require.Len(t, in.faces, 1)
	assert.Equal(t, []string{theHost}, in.faces[0].To)
	assert.JSONEq(t, `{"answers":{"herbert":"no","sensei":"yes"}}`, string(in.faces[0].Data))
	p.submit(theHost, `{"type":"judge","right":["herbert"]}`)
	only()
}

func TestHints(t *testing.T) {
	t.Parallel()
	p := started(t)
	hintsOf := func(who string) *hintsFor { return p.table(who).You.Hints }
	assert.Equal(t, &hintsFor{Order: []string{"A", "B", "C", "D"}}, hintsOf(sensei))
	p.order(sensei, "ABCD")
	assert.Equal(t, &hintsFor{Order: []string{"A", "B", "C", "D"}, Replaces: true}, hintsOf(sensei),
		"until the phase resolves a submission can be replaced")
	p.order(herbert, "ABCD")
	all := (&table{}).free()
	require.Len(t, all, 36)
	assert.Equal(t, &hintsFor{Place: &placeHint{Cells: all, Price: 8, Most: 1}}, hintsOf(herbert))
	p.place(sensei, "A1")
	p.place(herbert, "F6")
	assert.Equal(t, &hintsFor{Bid: &bidHint{Most: 4}}, hintsOf(sensei))
	p.bid(sensei, 4)
	assert.Equal(t, &hintsFor{Bid: &bidHint{Most: 4}, Replaces: true}, hintsOf(sensei))
	p.bid(herbert, 1)
	assert.Equal(t, &hintsFor{Shift: &shiftHint{Directions: directions, Anchors: []string{"A1", "F6"}, Decline: true}},
		hintsOf(sensei))
	assert.Nil(t, hintsOf(herbert), "it is not his turn")
	p.shift(sensei, "right", "")
	p.ordered()
	assert.Equal(t, &hintsFor{Place: &placeHint{Cells: append(all[:5:5], all[6:35]...), Price: 7, Most: 1}}, hintsOf(sensei))
	drafts, err := p.m.Pause("host", "", p.now)
	require.NoError(t, err)
	p.append(drafts)
	assert.Nil(t, hintsOf(sensei), "nothing can be submitted while the match is paused")

	p = tied(t, `{}`)
	assert.Nil(t, hintsOf(sensei))
	p.submit(theHost, `{"type":"ask","question":"?"}`)
	assert.Equal(t, &hintsFor{Answer: &answerHint{Most: 2000}}, hintsOf(herbert))
	p.submit(herbert, `{"type":"answer","text":"!"}`)
	p.submit(sensei, `{"type":"answer","text":"?"}`)
	p.submit(theHost, `{"type":"judge","right":["herbert"]}`)
	assert.Nil(t, hintsOf(herbert))
}

// TestHintsOfAView works hints out from views that a match shows in passing only.
func TestHintsOfAView(t *testing.T) {
	t.Parallel()
	b := draw(t, "bbbbbb wwwwww bbbbbb wwwwww bbbbbb wwww..")
	of := func(who string, black, white int, status match.Status, phase *match.PhaseView) *hintsFor {
		tb := &table{
			Coins: both(black, white), Price: both(4, 5), You: &you{},
			Stones: both(namesOf(b.cells(stoneOf(0))), namesOf(b.cells(stoneOf(1)))),
		}
		hints(&match.View{Audience: who, Status: status, Phase: phase}, tb)
		return tb.You.Hints
	}
	awaited := func(phase string) *match.PhaseView {
		return &match.PhaseView{Name: phase, Awaiting: []string{sensei, herbert}}
	}
	submitted := func(phase string) *match.PhaseView {
		return &match.PhaseView{Name: phase, Submitted: []string{sensei}}
	}
	left := []string{"F5", "F6"}
	assert.Equal(t, &placeHint{Cells: left, Price: 4, Most: 2}, of(sensei, 100, 9, match.Running, awaited(place)).Place,
		"no more than there are cells")
	assert.Equal(t, &placeHint{Cells: left, Price: 5, Most: 1}, of(herbert, 100, 9, match.Running, awaited(place)).Place)
	assert.Equal(t, &placeHint{Cells: left, Price: 5, Most: 0}, of(herbert, 100, 4, match.Running, awaited(place)).Place)
	assert.Equal(t, &bidHint{Most: 100}, of(sensei, 100, 9, match.Running, awaited(bid)).Bid)
	assert.Equal(t, &bidHint{Most: 9}, of(herbert, 100, 9, match.Running, awaited(bid)).Bid)
	assert.NotNil(t, of(sensei, 0, 0, match.Running, submitted(bid)))
	assert.Nil(t, of(herbert, 0, 0, match.Running, submitted(bid)))
	assert.Nil(t, of(sensei, 0, 0, match.Running, submitted(shift)), "in a turn the first submission stands")
	assert.Nil(t, of(sensei, 0, 0, match.Paused, submitted(bid)))
	assert.Nil(t, of(sensei, 0, 0, match.Ended, nil))
}
