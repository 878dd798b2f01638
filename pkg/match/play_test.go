package match_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// epoch is when the matches of these tests are created.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// seed is the seed of the matches of these tests.
var seed = []byte("0123456789abcdef0123456789ABCDEF")

// play is a match under way, without a log. When its test ends it is replayed from its events as JSON, and must have
// come out the same.
type play struct {
	t     *testing.T
	games match.Catalog
	m     *match.Match
	now   time.Time
	facts []event.Fact
}

// newPlay creates a match of a plan for the players a, b, c, ... options are JSON members, such as `"close":"..."`.
func newPlay(t *testing.T, p plan, players int, options string) *play {
	t.Helper()
	return createPlay(t, p.game(players), setupText(players, `"start":"now",`+options))
}

func setupText(players int, options string) string {
	list := make([]string, players)
	for i := range list {
		id := string(rune('a' + i))
		list[i] = fmt.Sprintf(`{"id":%q,"name":%q}`, id, strings.ToUpper(id))
	}
	return fmt.Sprintf(`{"game":"plan","players":[%s],"roles":{"first":"b"},"secret":"hush","options":{%s}}`,
		strings.Join(list, ","), strings.TrimSuffix(options, ","))
}

func createPlay(t *testing.T, game *match.Game, text string) *play {
	t.Helper()
	p := &play{t: t, games: match.Catalog{game}, now: epoch}
	setup, err := match.ParseSetup(p.games, parse(t, text))
	require.NoError(t, err)
	drafts, _, err := match.Create("test", setup, seed, false, epoch)
	require.NoError(t, err)
	p.take(drafts)
	t.Cleanup(p.replay)
	return p
}

func parse(t *testing.T, text string) event.Value {
	t.Helper()
	v, err := event.ParseLoose([]byte(text))
	require.NoError(t, err, text)
	return v
}

// take folds what was decided, and what follows from it.
func (p *play) take(drafts []match.Draft) {
	p.t.Helper()
	for n := 0; len(drafts) > 0; n++ {
		require.Less(p.t, n, 100, "the referee comes to no end")
		p.fold(drafts)
		drafts = p.m.Resolve(p.now)
	}
}

// fold folds what was decided and no more.
func (p *play) fold(drafts []match.Draft) {
	p.t.Helper()
	if p.m != nil {
		p.m = p.m.Clone()
	}
	for i := range drafts {
		d := &drafts[i]
		fact := event.Fact{
			Revision: uint64(len(p.facts)), ID: event.ID{byte(len(p.facts))}, Type: d.Type, At: d.At, By: d.By,
			Public: d.Public, Hash: fmt.Sprintf("hash-%d", len(p.facts)),
		}
		for _, f := range d.Faces {
			fact.Faces = append(fact.Faces, event.Face{To: f.To, Data: f.Data})
		}
		p.facts = append(p.facts, fact)
		var err error
		if p.m == nil {
			p.m, err = match.Replay(p.games, fact)
		} else {
			err = p.m.ApplyDraft(fact, d)
		}
		require.NoError(p.t, err)
	}
}

// replay replays the match from its events.
func (p *play) replay() {
	m, err := match.Replay(p.games, p.facts[0])
	require.NoError(p.t, err)
	for _, fact := range p.facts[1:] {
		require.NoError(p.t, m.Apply(fact))
	}
	for _, audience := range append(m.Seats().IDs(m.Seats().All()), match.Public, match.HostID) {
		was, err := json.Marshal(p.m.View(audience))
		require.NoError(p.t, err)
		is, err := json.Marshal(m.View(audience))
		require.NoError(p.t, err)
		assert.Equal(p.t, string(was), string(is))
	}
	one, oneOK := p.m.Deadline()
	two, twoOK := m.Deadline()
	assert.Equal(p.t, oneOK, twoOK)
	assert.True(p.t, one.Equal(two))
	assert.Equal(p.t, p.m.Hash(), m.Hash())
	for _, seat := range append(m.Seats().All(), match.HostSeat) {
		assert.Equal(p.t, p.m.LastReceipt(seat), m.LastReceipt(seat))
	}
}

// until lets time pass up to and including a moment since creation, with all deadlines in it.
func (p *play) until(d time.Duration) {
	p.t.Helper()
	to := epoch.Add(d)
	before := len(p.facts)
	for due, ok := p.m.Deadline(); ok && !due.After(to); due, ok = p.m.Deadline() {
		require.Less(p.t, len(p.facts), before+1000, "deadlines come to no end")
		p.now = due
		drafts := p.m.Expire(due)
		require.NotEmpty(p.t, drafts)
		p.take(drafts)
	}
	p.now = to
}

// skip lets time pass with no timer: deadlines go unnoticed.
func (p *play) skip(d time.Duration) { p.now = epoch.Add(d) }

func number(n int) string { return fmt.Sprintf(`{"type":"say","number":%d}`, n) }

// say submits a number, which must be accepted.
func (p *play) say(who string, n int) {
	p.t.Helper()
	drafts, err := p.m.Submit(who, 0, false, parse(p.t, number(n)), p.now)
	require.NoError(p.t, err)
	p.take(drafts)
}

// refused demands that a submission is refused with a code.
func (p *play) refused(code match.Code, who, text string) {
	p.t.Helper()
	drafts, err := p.m.Submit(who, 0, false, parse(p.t, text), p.now)
	assert.Nil(p.t, drafts)
	requireCode(p.t, code, err)
}

func requireCode(t *testing.T, code match.Code, err error) {
	t.Helper()
	var refusal *match.Refusal
	require.ErrorAs(t, err, &refusal, "refused %q was expected, not %v", code, err)
	require.Equal(t, code, refusal.Code, refusal.Detail)
	assert.NotEmpty(t, refusal.Detail)
	assert.Equal(t, string(code)+": "+refusal.Detail, err.Error())
}

func (p *play) pause() {
	p.t.Helper()
	drafts, err := p.m.Pause(event.Host, "a reason", p.now)
	require.NoError(p.t, err)
	p.take(drafts)
}

func (p *play) resume() {
	p.t.Helper()
	drafts, err := p.m.Resume(event.Host, "", p.now)
	require.NoError(p.t, err)
	p.take(drafts)
}

func (p *play) extend(who string, by time.Duration) {
	p.t.Helper()
	drafts, err := p.m.Extend(event.Host, who, by, "slow link", p.now)
	require.NoError(p.t, err)
	p.take(drafts)
}

func (p *play) extendRefused(code match.Code, who string, by time.Duration) {
	p.t.Helper()
	drafts, err := p.m.Extend(event.Host, who, by, "", p.now)
	assert.Nil(p.t, drafts)
	requireCode(p.t, code, err)
}

// table returns the public table.
func (p *play) table() *planTable { return p.m.View(match.Public).Table.(*planTable) }

// phase returns the open phase as everybody sees it.
func (p *play) phase() *match.PhaseView {
	p.t.Helper()
	v := p.m.View(match.Public)
	require.NotNil(p.t, v.Phase, "no phase is open")
	return v.Phase
}

// deadline returns when the clock of a player runs out, since creation; -1 for null, -2 where there is no clock.
func (p *play) deadline(who string) time.Duration {
	p.t.Helper()
	clock := p.phase().Clocks[who]
	switch {
	case clock == nil:
		return -2
	case clock.Deadline.IsZero():
		return -1
	}
	return clock.Deadline.Sub(epoch)
}

// reserveFrom returns when the bank of a player begins to run, likewise.
func (p *play) reserveFrom(who string) time.Duration {
	p.t.Helper()
	clock := p.phase().Clocks[who]
	switch {
	case clock == nil || clock.ReserveFrom == nil:
		return -2
	case clock.ReserveFrom.IsZero():
		return -1
	}
	return clock.ReserveFrom.Sub(epoch)
}

// waits demands who is awaited and who has submitted.
func (p *play) waits(awaiting, submitted []string) {
	p.t.Helper()
	assert.Equal(p.t, awaiting, p.phase().Awaiting)
	assert.Equal(p.t, submitted, p.phase().Submitted)
}

func ids(list ...string) []string { return append([]string{}, list...) }

const (
	null = time.Duration(-1)
	none = time.Duration(-2)
)
