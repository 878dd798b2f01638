package primalpileup

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// The players, in seating order; herbert is the DMO.
const (
	sensei  = "sensei"
	herbert = "herbert"
)

// s0 is a seed with a known draw: of two for "starter" it takes the one at place 1.
const s0 = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

// everyCard is a full hand, and faceDown how it looks with the numbers hidden.
var (
	everyCard = strings.Fields("F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 W1 W2 W3 W4 W5 W6 W7 W8 W9 W10 G1 G2 G3 G4 G5 G6 G7 G8 G9 G10")
	faceDown  = strings.Fields("F F F F F F F F F F W W W W W W W W W W G G G G G G G G G G")
)

// playing is a match in virtual time: deadlines run out to the moment, the referee says at once what he has to say.
// With each event a second match is folded from the JSON alone, and must look the same to everybody.
type playing struct {
	*testing.T
	m      *match.Match
	folded *match.Match
	now    time.Time
	facts  []fact
	log    []event.Fact // the same, as the log gives them back
}

// fact is an event with its faces open.
type fact struct {
	revision uint64
	kind     string
	public   string
	faces    []match.DraftFace
	opens    []match.Ref
}

// start starts a match with options as JSON.
func start(t *testing.T, options string) *playing {
	t.Helper()
	return startWith(t, options, s0)
}

// startWith starts a match with a seed.
func startWith(t *testing.T, options, hexSeed string) *playing {
	t.Helper()
	v, err := event.Parse(fmt.Appendf(nil, `{"game": "primal-pileup", "players": [{"id": "sensei", "name": "Sensei"},
		{"id": "herbert", "name": "Herbert"}], "roles": {"dmo": "herbert"}, "options": %s}`, options))
	require.NoError(t, err)
	setup, err := match.ParseSetup(match.Catalog{Game()}, v)
	require.NoError(t, err)
	setup.Options.Start = match.StartNow
	seed, err := hex.DecodeString(hexSeed)
	require.NoError(t, err)
	p := &playing{T: t, now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	drafts, warnings, err := match.Create("m", setup, seed, true, p.now)
	require.NoError(t, err)
	require.Empty(t, warnings)
	p.append(drafts)
	p.settle()
	return p
}

// started is a match in whose round 1 a player goes first.
func started(t *testing.T, first string) *playing {
	t.Helper()
	p := start(t, `{"hostSees": "all"}`)
	p.pick(first)
	return p
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
			require.NoError(p.T, err)
			p.m, p.folded = live, live.Clone()
		} else {
			f.Revision = uint64(p.m.Revision() + 1)
			p.m = p.m.Clone()
			require.NoError(p.T, p.m.ApplyDraft(f, d))
			require.NoError(p.T, p.folded.Apply(f))
		}
		p.log = append(p.log, f)
		kind := strings.TrimSuffix(strings.TrimPrefix(d.Type, "primal-pileup."), ".v1")
		p.facts = append(p.facts, fact{f.Revision, kind, string(d.Public), d.Faces, d.Opens})
	}
	for _, audience := range []string{match.Public, match.HostID, sensei, herbert} {
		require.Equal(p.T, p.m.View(audience), p.folded.View(audience))
	}
}

// fork returns the same match, which may go on in another way.
func (p *playing) fork() *playing {
	f := *p
	f.folded, f.facts, f.log = p.folded.Clone(), slices.Clone(p.facts), slices.Clone(p.log)
	return &f
}

func (p *playing) settle() {
	p.Helper()
	for drafts := p.m.Resolve(p.now); drafts != nil; drafts = p.m.Resolve(p.now) {
		p.append(drafts)
	}
}

// wait lets time pass.
func (p *playing) wait(d time.Duration) {
	p.Helper()
	to := p.now.Add(d)
	for due, ok := p.m.Deadline(); ok && !due.After(to); due, ok = p.m.Deadline() {
		p.now = due
		p.append(p.m.Expire(due))
		p.settle()
	}
	p.now = to
}

// submit submits JSON.
func (p *playing) submit(who, submission string) error {
	p.Helper()
	v, err := event.ParseLoose([]byte(submission))
	require.NoError(p.T, err)
	drafts, err := p.m.Submit(who, 0, false, v, p.now)
	if err == nil {
		p.append(drafts)
		p.settle()
	}
	return err
}

// refused demands that a submission is refused without effect, and gives the reason.
func (p *playing) refused(who, submission string) match.Code {
	p.Helper()
	before, _ := json.Marshal(p.m.View(match.HostID))
	err := p.submit(who, submission)
	var refusal *match.Refusal
	require.ErrorAs(p.T, err, &refusal, "%s is not refused", submission)
	after, _ := json.Marshal(p.m.View(match.HostID))
	require.JSONEq(p.T, string(before), string(after))
	return refusal.Code
}

func (p *playing) pick(first string) {
	p.Helper()
	require.NoError(p.T, p.submit(herbert, fmt.Sprintf(`{"type": "pick-starter", "player": %q}`, first)))
}

// play plays cards, written "F1 G10".
func (p *playing) play(who, list string) {
	p.Helper()
	require.NoError(p.T, p.submit(who, playOf(list)), "%s plays %s", who, list)
}

func playOf(list string) string {
	return `{"type": "play", "cards": ["` + strings.Join(strings.Fields(list), `", "`) + `"]}`
}

const passes = `{"type": "pass"}`

func (p *playing) pass(who string) {
	p.Helper()
	require.NoError(p.T, p.submit(who, passes), "%s passes", who)
}

// turns plays turns, each by the player whose turn it is: cards, or a pass where the list is empty.
func (p *playing) turns(lists ...string) {
	p.Helper()
	for _, list := range lists {
		if who := *p.table(match.Public).Turn; list == "" {
			p.pass(who)
		} else {
			p.play(who, list)
		}
	}
}

// table returns an audience's table as it reads it: through JSON.
func (p *playing) table(audience string) *table {
	p.Helper()
	data, err := json.Marshal(p.m.View(audience))
	require.NoError(p.T, err)
	v, err := match.Catalog{Game()}.ReadView(data)
	require.NoError(p.T, err)
	return v.Table.(*table)
}

// of returns the facts of a kind, in order.
func (p *playing) of(kind string) []fact {
	var found []fact
	for _, f := range p.facts {
		if f.kind == kind {
			found = append(found, f)
		}
	}
	return found
}

// list is a set of cards as JSON shows it.
func list(t *testing.T, c cards) []string {
	t.Helper()
	data, err := json.Marshal(c)
	require.NoError(t, err)
	var names []string
	require.NoError(t, json.Unmarshal(data, &names))
	require.NotNil(t, names)
	return names
}

// set is the cards written "F1 G10".
func set(t *testing.T, names string) cards {
	t.Helper()
	var c cards
	for _, name := range strings.Fields(names) {
		one, ok := parseCard(name)
		require.True(t, ok, name)
		c |= 1 << one
	}
	return c
}
