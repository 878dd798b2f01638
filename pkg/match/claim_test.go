package match_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// claim opens a seat's link.
func (p *play) claim(seat, issue int, random string) {
	p.t.Helper()
	drafts, err := p.m.Claim(seat, issue, []byte(random), p.now)
	require.NoError(p.t, err)
	p.take(drafts)
}

func (p *play) claimRefused(code match.Code, seat, issue int) {
	p.t.Helper()
	drafts, err := p.m.Claim(seat, issue, nil, p.now)
	assert.Nil(p.t, drafts)
	requireCode(p.t, code, err)
}

func waiting(t *testing.T, options string) *play {
	t.Helper()
	return createPlay(t, plan{phases: []match.Await{talkOf(match.Once, 0, 1, 2)}}.game(3), setupText(3, options))
}

// when-claimed: the match waits until every player's seat is claimed; the host's is not waited for.
func TestStartWhenClaimed(t *testing.T) {
	p := waiting(t, "")
	v := p.m.View("a")
	assert.Equal(t, match.Waiting, v.Status)
	assert.Nil(t, v.Phase)
	assert.NotNil(t, v.Table)
	p.refused(match.NotAwaited, "a", number(1))
	_, ok := p.m.Deadline()
	assert.False(t, ok)
	p.until(time.Hour)
	p.claim(match.HostSeat, 0, "")
	assert.Equal(t, event.Host, p.facts[len(p.facts)-1].By)
	assert.JSONEq(t, `{"player":"host","issue":0,"random":""}`, string(p.facts[len(p.facts)-1].Public))
	p.claim(2, 0, "c's")
	assert.Equal(t, event.Player, p.facts[len(p.facts)-1].By)
	assert.JSONEq(t, `{"player":"c","issue":0,"random":"632773"}`, string(p.facts[len(p.facts)-1].Public))
	p.claim(0, 0, "")
	assert.Equal(t, match.Waiting, p.m.Status())
	p.claim(1, 0, "")
	assert.Equal(t, match.Running, p.m.Status())
	assert.Equal(t, time.Hour+30*second, p.deadline("a"), "a clock never runs before the players could know")
	kinds := []string{}
	for _, fact := range p.facts[len(p.facts)-3:] {
		kinds = append(kinds, fact.Type)
	}
	assert.Equal(t, []string{"seat-claimed.v1", "match-started.v1", "phase-opened.v1"}, kinds)
	assert.Equal(t, event.Umpire, p.facts[len(p.facts)-2].By)
}

func TestALinkIsUsedOnce(t *testing.T) {
	p := waiting(t, "")
	p.claim(0, 0, "one")
	issue, claimed := p.m.Issue(0)
	assert.Equal(t, 0, issue)
	assert.True(t, claimed)
	p.claimRefused(match.Claimed, 0, 0)
	p.claimRefused(match.Claimed, 0, 1)
	p.claimRefused(match.Claimed, 1, 1)
	p.claim(match.HostSeat, 0, "")
	p.claimRefused(match.Claimed, match.HostSeat, 0)

	drafts, err := p.m.Reissue(event.Host, "a", "lost", p.now)
	require.NoError(t, err)
	p.take(drafts)
	assert.JSONEq(t, `{"player":"a","issue":1,"why":"lost"}`, string(p.facts[len(p.facts)-1].Public))
	issue, claimed = p.m.Issue(0)
	assert.Equal(t, 1, issue)
	assert.False(t, claimed)
	p.claimRefused(match.Claimed, 0, 0)
	p.claim(1, 0, "")
	p.claim(2, 0, "")
	assert.Equal(t, match.Waiting, p.m.Status(), "the seat is waited for once more")
	p.claim(0, 1, "two")
	assert.Equal(t, match.Running, p.m.Status())

	drafts, err = p.m.Reissue(event.Host, match.HostID, "", p.now)
	require.NoError(t, err)
	p.take(drafts)
	p.claim(match.HostSeat, 1, "")
	for _, id := range []string{"x", match.Public} {
		_, err = p.m.Reissue(event.Host, id, "", p.now)
		requireCode(t, match.UnknownPlayer, err)
	}
	drafts, err = p.m.VoidMatch(event.Host, "", p.now)
	require.NoError(t, err)
	p.take(drafts)
	_, err = p.m.Reissue(event.Host, "a", "", p.now)
	requireCode(t, match.MatchOver, err)
	_, err = p.m.Reissue(event.Host, "x", "", p.now)
	requireCode(t, match.UnknownPlayer, err)
	p.claimRefused(match.Claimed, 0, 0)
}

func TestStartNow(t *testing.T) {
	p := waiting(t, `"start":"now"`)
	assert.Equal(t, match.Running, p.m.Status())
	assert.Equal(t, 30*second, p.deadline("a"))
	p.claim(0, 0, "late")
	p.claim(1, 0, "")
	p.claim(2, 0, "")
	assert.Equal(t, 1, p.m.PhaseNo(), "claims start nothing any more")
}

func TestStartAtATime(t *testing.T) {
	p := waiting(t, `"start":"2000-01-01T02:00:00+01:00"`)
	due, ok := p.m.Deadline()
	require.True(t, ok)
	assert.Equal(t, epoch.Add(time.Hour), due)
	for seat := range 3 {
		p.claim(seat, 0, "")
	}
	assert.Equal(t, match.Waiting, p.m.Status(), "not before its time")
	assert.Nil(t, p.m.Expire(epoch.Add(time.Hour-1)))
	drafts := p.m.Expire(epoch.Add(time.Hour + second))
	require.Len(t, drafts, 1)
	assert.Equal(t, "match-started.v1", drafts[0].Type)
	assert.Equal(t, event.Umpire, drafts[0].By)
	p.until(time.Hour)
	assert.Equal(t, time.Hour+30*second, p.deadline("a"))

	for _, at := range []string{"1999-12-31T23:59:59Z", "2000-01-01T00:00:00Z"} {
		p = waiting(t, `"start":"`+at+`"`)
		assert.Equal(t, match.Running, p.m.Status(), "a time that has come is now")
	}
}

// The key of the draws is the seed, or with claims HMAC-SHA256(seed, the claims' bytes in seating order).
func TestTheKeyOfTheDraws(t *testing.T) {
	draw := func(key []byte) int { return int(match.DrawFrom(key)("phase/0", 1000)) }
	keyed := func(random string) []byte {
		mac := hmac.New(sha256.New, seed)
		mac.Write([]byte(random))
		return mac.Sum(nil)
	}
	for _, c := range []struct {
		name   string
		claims [3]string
		key    []byte
	}{
		{"no bytes", [3]string{"", "", ""}, seed},
		{"one player's", [3]string{"", "bbbb", ""}, keyed("bbbb")},
		{"in seating order", [3]string{"a's bytes", "b", "c's"}, keyed("a's bytesbc's")},
	} {
		p := waiting(t, "")
		for _, seat := range []int{2, 0, 1} {
			p.claim(seat, 0, c.claims[seat])
		}
		p.until(30 * second)
		assert.Equal(t, []int{draw(c.key)}, p.table().Draws, c.name)
	}

	p := waiting(t, "") // the host's bytes don't count, a lost link's neither
	p.claim(match.HostSeat, 0, "host")
	p.claim(0, 0, "old")
	drafts, err := p.m.Reissue(event.Host, "a", "", p.now)
	require.NoError(t, err)
	p.take(drafts)
	p.claim(1, 0, "b")
	p.claim(2, 0, "c")
	p.claim(0, 1, "new")
	p.until(30 * second)
	assert.Equal(t, []int{draw(keyed("newbc"))}, p.table().Draws)

	p = waiting(t, `"start":"2000-01-01T01:00:00Z"`) // seats that nobody has claimed add nothing, claims after the start neither
	p.claim(1, 0, "b")
	p.until(time.Hour)
	p.claim(0, 0, "late")
	p.until(2 * time.Hour)
	assert.Equal(t, []int{draw(keyed("b"))}, p.table().Draws)

	p = waiting(t, `"start":"now"`)
	p.claim(0, 0, "late")
	p.until(30 * second)
	assert.Equal(t, []int{draw(seed)}, p.table().Draws)
}

// The seed is committed to in public, sealed for nobody, and shown when the match has ended.
func TestTheSeed(t *testing.T) {
	p := newPlay(t, plan{phases: []match.Await{turnOf(0, match.Once)}}, 2, "")
	sum := sha256.Sum256(seed)
	v := p.m.View(match.HostID)
	assert.Equal(t, hex.EncodeToString(sum[:]), v.SeedCommitment)
	assert.Nil(t, v.Seed, "not even the host sees it")
	created := p.facts[0]
	assert.Contains(t, string(created.Public), `"seedCommitment":"`+v.SeedCommitment+`"`)
	assert.Contains(t, string(created.Public), `"insecureSeed":false`)
	assert.Contains(t, string(created.Public), `"setup":{}`, "a game that says nothing of the set-up")
	assert.Empty(t, created.Faces[0].To)
	assert.JSONEq(t, `{"seed":"`+hex.EncodeToString(seed)+`"}`, string(created.Faces[0].Data))
	p.say("a", 1)
	v = p.m.View(match.Public)
	require.NotNil(t, v.Seed)
	assert.Equal(t, hex.EncodeToString(seed), *v.Seed)

	setup, err := match.ParseSetup(p.games, parse(t, setupText(2, "")))
	require.NoError(t, err)
	drafts, warnings, err := match.Create("x", setup, seed, true, epoch)
	require.NoError(t, err)
	assert.Contains(t, string(drafts[0].Public), `"insecureSeed":true`)
	assert.Empty(t, warnings)
	setup, err = match.ParseSetup(p.games, parse(t, strings.Replace(setupText(2, ""), "hush", "weak", 1)))
	require.NoError(t, err)
	_, warnings, err = match.Create("x", setup, seed, false, epoch)
	require.NoError(t, err)
	assert.Equal(t, []string{"the secret is weak"}, warnings)
}
