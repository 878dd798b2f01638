package paintclash

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// s0 is the seed of most of the tests' matches, s1 of some others.
const (
	s0 = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	s1 = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
)

// everybody is awaited and looks, in seating order.
var everybody = []string{"p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"}

// The teams of most tests.
var (
	greens = everybody[:4]
	pinks  = everybody[4:]
)

// draws are those of s0.
func draws(label string, n uint64) uint64 { return drawsOf(s0)(label, n) }

func drawsOf(seed string) match.Draw {
	bytes, err := hex.DecodeString(seed)
	if err != nil {
		panic(err)
	}
	return match.DrawFrom(bytes)
}

// seeded changes the seed of a set-up.
func seeded(seed string) func(map[string]any) { return func(s map[string]any) { s["seed"] = seed } }

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

// setup is a set-up of p1 to p8 with five garnets each; change changes it.
func setup(change func(map[string]any)) map[string]any {
	list, garnets := []any{}, map[string]any{}
	for _, id := range everybody {
		list = append(list, map[string]any{"id": id, "name": strings.ToUpper(id)})
		garnets[id] = 5
	}
	s := map[string]any{
		"game": "paint-clash", "players": list, "garnets": garnets, "seed": s0,
		"options": map[string]any{"close": "when-all-in", "hostSees": "all"},
	}
	if change != nil {
		change(s)
	}
	return s
}

// option changes an option of a set-up.
func option(name string, value any) func(map[string]any) {
	return func(s map[string]any) { s["options"].(map[string]any)[name] = value }
}

// owning changes what p1 to p8 own.
func owning(garnets ...int) func(map[string]any) {
	return func(s map[string]any) {
		for i, n := range garnets {
			s["garnets"].(map[string]any)[everybody[i]] = n
		}
	}
}

// create creates a match from a set-up.
func create(tb testing.TB, s map[string]any) ([]match.Draft, error) {
	tb.Helper()
	raw, err := json.Marshal(s)
	require.NoError(tb, err)
	v, err := event.Parse(raw)
	require.NoError(tb, err)
	parsed, err := match.ParseSetup(match.Catalog{Game()}, v)
	if err != nil {
		return nil, err
	}
	drafts, warnings, err := match.Create("m", parsed, parsed.Seed, true, epoch)
	require.Empty(tb, warnings)
	return drafts, err
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// begun is a match in its first phase; change, where given, changes the set-up.
func begun(tb testing.TB, change ...func(map[string]any)) *playing {
	tb.Helper()
	drafts, err := create(tb, setup(func(s map[string]any) {
		for _, c := range change {
			c(s)
		}
	}))
	require.NoError(tb, err)
	p := &playing{TB: tb, now: epoch}
	p.append(drafts)
	p.settle()
	return p
}

// teamed is a match in which p1 to p4 are green and p5 to p8 pink, and nobody has paid.
func teamed(tb testing.TB, change ...func(map[string]any)) *playing {
	tb.Helper()
	p := begun(tb, change...)
	for i, id := range everybody {
		p.submit(id, teamOf([]string{"green", "pink"}[i/4], 0))
	}
	return p
}

// started is a match in round 1, with players at these cells.
func started(tb testing.TB, starts string, change ...func(map[string]any)) *playing {
	tb.Helper()
	p := teamed(tb, change...)
	for i, at := range strings.Fields(starts) {
		p.submit(everybody[i], startAt(at))
	}
	require.Equal(tb, 1, p.table(match.Public).Round)
	return p
}

// crowd is where players stand out of the way of a test that is about p1 and p5: their bursts stay in corners.
const crowd = "C4 A9 A9 A9 O14 Q9 Q9 Q9"

func teamOf(color string, bid int) string {
	return fmt.Sprintf(`{"type": "team", "color": %q, "bid": %d}`, color, bid)
}

func startAt(at string) string { return fmt.Sprintf(`{"type": "start", "cell": %q}`, at) }

// roundOf is "walk C5 1 E" or, without a direction, "squid C5 3" as a submission.
func roundOf(words string) string {
	w := strings.Fields(words)
	direction := ""
	if len(w) > 3 {
		direction = fmt.Sprintf(`, "direction": %q`, w[3])
	}
	return fmt.Sprintf(`{"type": "round", "move": {"mode": %q, "to": %q}, "shot": {"gun": %s%s}}`, w[0], w[1], w[2], direction)
}

func nominating(id string) string { return fmt.Sprintf(`{"type": "nominate", "player": %q}`, id) }

func choosing(id string) string { return fmt.Sprintf(`{"type": "choose-opponent", "player": %q}`, id) }

func (p *playing) append(drafts []match.Draft) {
	p.Helper()
	for i := range drafts {
		d := &drafts[i]
		f := factOf(d, 0)
		if p.m == nil {
			live, err := match.Replay(match.Catalog{Game()}, f)
			require.NoError(p, err)
			p.m, p.folded = live, live.Clone()
		} else {
			f.Revision = uint64(p.m.Revision() + 1)
			p.m = p.m.Clone()
			require.NoError(p, p.m.ApplyDraft(f, d))
			require.NoError(p, p.folded.Apply(f))
		}
		kind := strings.TrimSuffix(strings.TrimPrefix(d.Type, "paint-clash."), ".v1")
		p.facts = append(p.facts, fact{f.Revision, kind, string(d.Public), d.Faces, d.Opens})
	}
	for _, audience := range append([]string{match.Public, match.HostID}, everybody...) {
		require.Equal(p, p.m.View(audience), p.folded.View(audience))
	}
}

// factOf is a draft as it stands in the log.
func factOf(d *match.Draft, revision uint64) event.Fact {
	f := event.Fact{Revision: revision, Type: d.Type, At: d.At, By: d.By, Public: d.Public}
	for _, face := range d.Faces {
		f.Faces = append(f.Faces, event.Face{To: face.To, Data: face.Data})
	}
	return f
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

// try submits JSON.
func (p *playing) try(who, submission string) error {
	p.Helper()
	v, err := event.ParseLoose([]byte(submission))
	require.NoError(p, err)
	drafts, err := p.m.Submit(who, 0, false, v, p.now)
	if err == nil {
		p.append(drafts)
		p.settle()
	}
	return err
}

// submit submits what must be accepted.
func (p *playing) submit(who, submission string) {
	p.Helper()
	require.NoError(p, p.try(who, submission), "%s: %s", who, submission)
}

// refused demands that a submission is refused without effect, and gives the reason.
func (p *playing) refused(who, submission string) match.Code {
	p.Helper()
	before, _ := json.Marshal(p.m.View(match.HostID))
	err := p.try(who, submission)
	var refusal *match.Refusal
	require.ErrorAs(p, err, &refusal, submission)
	after, _ := json.Marshal(p.m.View(match.HostID))
	require.JSONEq(p, string(before), string(after))
	return refusal.Code
}

// round submits what these players do, written "walk C5 1 E", and lets the others miss.
func (p *playing) round(does map[string]string) {
	p.Helper()
	for _, id := range everybody {
		if words := does[id]; words != "" {
			p.submit(id, roundOf(words))
		}
	}
	p.close()
}

// close lets the open phase run out, unless all were in and it is closed already.
func (p *playing) close() {
	p.Helper()
	if p.m.Awaiting() != nil && len(p.m.View(match.Public).Phase.Submitted) > 0 {
		p.wait(moveTime)
	}
}

// phase is the name of the open phase, "" when the match is over.
func (p *playing) phase() string {
	v := p.m.View(match.Public)
	if v.Phase == nil {
		return ""
	}
	return v.Phase.Name
}

// table returns an audience's table as it reads it: through JSON.
func (p *playing) table(audience string) *table {
	p.Helper()
	data, err := json.Marshal(p.m.View(audience))
	require.NoError(p, err)
	v, err := match.Catalog{Game()}.ReadView(data)
	require.NoError(p, err)
	return v.Table.(*table)
}

func (p *playing) you(id string) *you { return p.table(id).You }

func (p *playing) result() result {
	p.Helper()
	var r result
	require.NoError(p, json.Unmarshal(p.m.View(match.Public).Result, &r))
	return r
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

// only is the fact of a kind of which there is one.
func (p *playing) only(kind string) fact {
	p.Helper()
	found := p.of(kind)
	require.Len(p, found, 1)
	return found[0]
}

// lanes are an armory that makes scores easy to plan: guns 4 and 6 paint two cells and the others one, so that eight
// players who each walk down a lane of their own paint the same in six rounds, but not at the same time.
var lanes = [][][2]int{{{0, 0}}, {{0, 0}}, {{0, 0}}, {{0, 0}, {1, 1}}, {{0, 0}}, {{0, 0}, {1, 1}}}

// level is an order of guns that paints one cell, but for two in rounds 4 and 5.
const level = "123465"

// raced is a match after round 6 in which every player has walked down a lane of his own, firing the guns in his order or
// in the one of "rest". In round 6 "lazy" steps back to where it is painted.
func raced(tb testing.TB, orders map[string]string, change ...func(map[string]any)) *playing {
	tb.Helper()
	p := started(tb, "A1 A3 A5 A7 Q17 Q15 Q13 Q11", append(change, option("armory", lanes))...)
	for n := range lastRound {
		does := map[string]string{}
		for i, id := range everybody {
			order := cmp.Or(orders[id], orders["rest"])
			back := 0
			if orders["lazy"] == id && n == lastRound-1 {
				back = 2
			}
			at, direction := place{n + 1 - back, 2*i + 2 + n - back}, "E"
			if i >= teamSize { // the same, upside down
				at, direction = place{rows - 2 - n + back, rows + 2*teamSize - 2*i - 1 - n + back}, "W"
			}
			does[id] = fmt.Sprintf("walk %c%d %c %s", 'A'+at.row, at.column, order[n], direction)
		}
		p.round(does)
	}
	return p
}

// won is a match in which green is one cell ahead after round 6 and nominates.
func won(tb testing.TB, change ...func(map[string]any)) *playing {
	tb.Helper()
	p := raced(tb, map[string]string{"rest": level, "lazy": "p8"}, change...)
	require.Equal(tb, nominate, p.phase())
	return p
}

// The bot plays legally to the end, seeing nothing but its player's view as JSON; it walks, swims and bids.
func TestBot(t *testing.T) {
	p := begun(t, owning(mostGarnets))
	pick := rand.New(rand.NewPCG(9, 10)).IntN
	did := map[string]bool{}
	for !p.m.Over() {
		for _, id := range p.m.View(match.Public).Phase.Awaiting {
			raw, err := json.Marshal(p.m.View(id))
			require.NoError(t, err)
			v, err := match.Catalog{Game()}.ReadView(raw)
			require.NoError(t, err)
			submission, err := json.Marshal(match.Catalog{Game()}.Bot(v, pick))
			require.NoError(t, err)
			p.submit(id, string(submission))
			for _, word := range []string{walk, squid, `"direction":null`, `"direction":"`, green.name(), pink.name()} {
				did[word] = did[word] || strings.Contains(string(submission), word)
			}
		}
	}
	for word, done := range did {
		require.True(t, done, word)
	}
}
