package nothingbutthetruth

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// The players in seating order: sensei plays black, herbert white.
const (
	sensei  = "sensei"
	herbert = "herbert"
	theHost = match.HostID
)

// playing is a match in virtual time: deadlines run out to the moment, the referee says at once what he has to say.
// With each event a second match is folded from the JSON alone, and must look the same to everybody.
type playing struct {
	testing.TB
	m      *match.Match
	folded *match.Match
	now    time.Time
	facts  []fact
}

// fact is an event with its faces open.
type fact struct {
	revision uint64
	kind     string
	public   string
	faces    []match.DraftFace
	opens    []match.Ref
}

// prepared are 52 statements, "1A" to "13D"; in every cycle the truths are those of the pattern, such as "TTFF".
func prepared(pattern string) []statements.Statement {
	list := make([]statements.Statement, 0, statements.Count)
	for cycle := 1; cycle <= statements.Cycles; cycle++ {
		for i, letter := range letters {
			list = append(list, statements.Statement{Text: fmt.Sprint(cycle, letter), Truth: pattern[i] == 'T'})
		}
	}
	return list
}

// setUpOf is a set-up with statements and options as JSON.
func setUpOf(list any, options string) (*match.Setup, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	v, err := event.Parse(fmt.Appendf(nil, `{"game": "nothing-but-the-truth", "players": [{"id": "sensei",
		"name": "Sensei"}, {"id": "herbert", "name": "Herbert"}], "options": %s, "statements": %s}`, options, raw))
	if err != nil {
		return nil, err
	}
	return match.ParseSetup(match.Catalog{Game()}, v)
}

// start starts a match whose cycles all have the truths of the pattern, with options as JSON.
func start(t *testing.T, pattern, options string) *playing {
	t.Helper()
	setup, err := setUpOf(prepared(pattern), options)
	require.NoError(t, err)
	setup.Options.Start = match.StartNow
	p := &playing{TB: t, now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	drafts, _, err := match.Create("m", setup, make([]byte, 32), true, p.now)
	require.NoError(t, err)
	p.append(drafts)
	p.settle()
	return p
}

// started is a match as most tests want it: 12 coins a cycle for who orders A, B, C, D, and a host who sees all.
func started(t *testing.T) *playing {
	t.Helper()
	return start(t, "TTFF", `{"hostSees": "all"}`)
}

func (p *playing) append(drafts []match.Draft) {
	p.Helper()
	for i := range drafts {
		d := &drafts[i]
		f := event.Fact{Type: d.Type, At: d.At, By: d.By, Public: d.Public}
		for _, face := range d.Faces {
			f.Faces = append(f.Faces, event.Face{To: face.To, Data: face.Data})
		}
		if p.m == nil {
			live, err := match.Replay(match.Catalog{Game()}, f)
			require.NoError(p, err)
			p.m, p.folded = live, live.Clone()
		} else {
			f.Revision = uint64(p.m.Revision() + 1)
			next := p.m.Clone()
			require.NoError(p, next.ApplyDraft(f, d))
			require.NoError(p, p.folded.Apply(f))
			p.m = next
		}
		kind := strings.TrimSuffix(strings.TrimPrefix(d.Type, "nothing-but-the-truth."), ".v1")
		p.facts = append(p.facts, fact{f.Revision, kind, string(d.Public), d.Faces, d.Opens})
		for _, audience := range []string{sensei, herbert, theHost, match.Public} {
			require.Equal(p, p.json(p.folded, audience), p.json(p.m, audience), "folded and live, for %s", audience)
		}
	}
}

func (p *playing) json(m *match.Match, audience string) string {
	p.Helper()
	raw, err := json.Marshal(m.View(audience))
	require.NoError(p, err)
	return string(raw)
}

func (p *playing) settle() {
	p.Helper()
	for drafts := p.m.Resolve(p.now); drafts != nil; drafts = p.m.Resolve(p.now) {
		p.append(drafts)
	}
}

// wait lets time pass, deadlines up to the last instant included.
func (p *playing) wait(span time.Duration) {
	p.Helper()
	until := p.now.Add(span)
	for due, ok := p.m.Deadline(); ok && !due.After(until); due, ok = p.m.Deadline() {
		p.now = due
		p.append(p.m.Expire(due))
		p.settle()
	}
	p.now = until
}

// try submits, and returns the code of the refusal or "".
func (p *playing) try(who, submission string) match.Code {
	p.Helper()
	v, err := event.ParseLoose([]byte(submission))
	require.NoError(p, err)
	drafts, err := p.m.Submit(who, 0, false, v, p.now)
	if refusal := new(match.Refusal); errors.As(err, &refusal) {
		return refusal.Code
	}
	require.NoError(p, err)
	p.append(drafts)
	p.settle()
	return ""
}

// submit submits what must be accepted.
func (p *playing) submit(who, format string, args ...any) {
	p.Helper()
	submission := fmt.Sprintf(format, args...)
	require.Empty(p, p.try(who, submission), "%s: %s in %s", who, submission, p.phase())
}

func (p *playing) phase() string {
	if v := p.m.View(match.Public); v.Phase != nil {
		return v.Phase.Name
	}
	return ""
}

func (p *playing) table(audience string) *table {
	return p.m.View(audience).Table.(*table)
}

// list is a list of texts as JSON.
func list(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	return `["` + strings.Join(texts, `","`) + `"]`
}

func (p *playing) order(who, order string) {
	p.Helper()
	p.submit(who, `{"type":"order","order":%s}`, list(strings.Split(order, "")))
}

// place takes the cells as "A1 B2".
func (p *playing) place(who, cells string) {
	p.Helper()
	p.submit(who, `{"type":"place","cells":%s}`, list(strings.Fields(cells)))
}

func (p *playing) bid(who string, coins int) {
	p.Helper()
	p.submit(who, `{"type":"bid","coins":%d}`, coins)
}

// shift takes no anchor as "".
func (p *playing) shift(who, direction, anchor string) {
	p.Helper()
	if anchor == "" {
		p.submit(who, `{"type":"shift","direction":"%s"}`, direction)
		return
	}
	p.submit(who, `{"type":"shift","direction":"%s","anchor":"%s"}`, direction, anchor)
}

// ordered passes the order phase, both with A, B, C, D.
func (p *playing) ordered() {
	p.Helper()
	p.order(sensei, "ABCD")
	p.order(herbert, "ABCD")
}

// placed passes the order and the place phase.
func (p *playing) placed(black, white string) {
	p.Helper()
	p.ordered()
	p.place(sensei, black)
	p.place(herbert, white)
}

// cycle passes a cycle in which the bids are tied.
func (p *playing) cycle(black, white string) {
	p.Helper()
	p.placed(black, white)
	p.bid(sensei, 0)
	p.bid(herbert, 0)
}

// toCycle passes cycles without stones until that one.
func (p *playing) toCycle(cycle int) {
	p.Helper()
	for p.table(match.Public).Cycle < cycle {
		p.cycle("", "")
	}
}

// tied is a match after its 13 cycles, without a stone on the board.
func tied(t *testing.T, options string) *playing {
	t.Helper()
	p := start(t, "TTFF", options)
	p.toCycle(statements.Cycles)
	p.cycle("", "")
	require.Equal(t, ask, p.phase())
	return p
}

// asked passes a question's ask and answer phases.
func (p *playing) asked(black, white string) {
	p.Helper()
	p.submit(theHost, `{"type":"ask","question":"2 + 2?"}`)
	p.submit(sensei, `{"type":"answer","text":"%s"}`, black)
	p.submit(herbert, `{"type":"answer","text":"%s"}`, white)
}

// last is the last event of a kind.
func (p *playing) last(kind string) fact {
	p.Helper()
	for i := len(p.facts) - 1; i >= 0; i-- {
		if p.facts[i].kind == kind {
			return p.facts[i]
		}
	}
	p.Fatalf("there is no %s", kind)
	return fact{}
}

// result is the match's result as JSON.
func (p *playing) result() string { return string(p.m.View(match.Public).Result) }

// both makes a map by player.
func both[T any](black, white T) map[string]T {
	return map[string]T{sensei: black, herbert: white}
}
