package match_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
)

const goodSetup = `{"game":"plan","title":"T","players":[{"id":"a","name":"A"},{"id":"b","name":"B"}],
	"roles":{"first":"b"},"secret":"hush","seed":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F",
	"options":{"clock":{"move":"30s","reserve":"1m"},"close":"at-deadline","start":"now","listed":false,
	"hostSees":"all","open":"never","absent":null,"spectatorDelay":"1h","appeal":{},"loud":true}}`

func planCatalog() match.Catalog { return match.Catalog{plan{}.game(2)} }

func TestSetup(t *testing.T) {
	s, err := match.ParseSetup(planCatalog(), parse(t, goodSetup))
	require.NoError(t, err)
	assert.Equal(t, "plan@1", s.Game.ID())
	assert.Equal(t, "T", s.Title)
	assert.Equal(t, match.Seats{{ID: "a", Name: "A", Roles: []string{"black"}}, {ID: "b", Name: "B", Roles: []string{"white", "first"}}}, s.Seats)
	assert.Equal(t, match.Options{
		Clock:      match.Clocking{Move: 30 * time.Second, Reserve: time.Minute},
		AtDeadline: true, Start: "now", Listed: false, HostSees: "all", Open: "never",
	}, s.Options)
	require.Len(t, s.Seed, 32)
	assert.Equal(t, byte(0x1f), s.Seed[31])
	secret, ok := s.Field("secret")
	assert.True(t, ok)
	assert.Equal(t, "hush", secret.Text())
	_, ok = s.Field("garnets")
	assert.False(t, ok)
	loud, ok := s.Option("loud")
	assert.True(t, ok)
	assert.True(t, loud.True())
	_, ok = s.Option("armory")
	assert.False(t, ok)
}

func TestSetupDefaults(t *testing.T) {
	text := `{"game":"plan","players":[{"id":"a","name":"A"},{"id":"b","name":"B"}],"roles":{"first":"a"}}`
	s, err := match.ParseSetup(planCatalog(), parse(t, text))
	require.NoError(t, err)
	assert.Equal(t, "A Plan", s.Title)
	assert.Nil(t, s.Seed)
	assert.Equal(t, match.Options{
		Clock: match.Clocking{Move: 30 * time.Second}, Start: "when-claimed", Listed: true, HostSees: "needed", Open: "at-end",
	}, s.Options)
	games := match.Catalog{plan{close: true, bank: time.Minute}.game(2)}
	s, err = match.ParseSetup(games, parse(t, text))
	require.NoError(t, err)
	assert.True(t, s.Options.AtDeadline, "the game's own way to close")
	assert.Equal(t, time.Minute, s.Options.Clock.Reserve)
	withOptions := func(options string) *match.Setup {
		t.Helper()
		s, err := match.ParseSetup(games, parse(t, strings.TrimSuffix(text, "}")+`,"options":{`+options+`}}`))
		require.NoError(t, err)
		return s
	}
	assert.False(t, withOptions(`"close":"when-all-in"`).Options.AtDeadline)
	assert.Equal(t, "after-series", withOptions(`"open":"after-series"`).Options.Open)
	assert.Equal(t, "when-claimed", withOptions(`"clock":{"move":"59m59s"}`).Options.Start, "a clock under an hour waits")
	assert.Equal(t, "now", withOptions(`"clock":{"move":"1h"}`).Options.Start)
	assert.Equal(t, "when-claimed", withOptions(`"clock":{"move":"24h"},"start":"when-claimed"`).Options.Start)
	at := withOptions(`"start":"2030-01-31T21:00:00.5+01:00"`).Options
	assert.Equal(t, time.Date(2030, 1, 31, 20, 0, 0, 500_000_000, time.UTC), at.StartAt)
	assert.Equal(t, 8760*time.Hour, withOptions(`"clock":{"move":"8760h","reserve":"8760h"}`).Options.Clock.Reserve)
	assert.Equal(t, time.Nanosecond, withOptions(`"clock":{"move":"1ns","reserve":"0s"}`).Options.Clock.Move)
	assert.Zero(t, withOptions(`"clock":{"reserve":"0s"}`).Options.Clock.Reserve)
}

// Every field of a set-up, with what is wrong with it.
func TestSetupRefusals(t *testing.T) {
	const players = `"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}]`
	for _, c := range []struct{ field, old, new string }{
		{"game", `"game":"plan"`, `"game":"chess"`},
		{"game", `"game":"plan"`, `"game":1`},
		{"game", `"game":"plan",`, ``},
		{"Game", `"game":"plan"`, `"game":"plan","Game":"plan"`},
		{"garnets", `"secret":"hush"`, `"garnets":{}`},
		{"secret", `"secret":"hush"`, `"secret":1`},
		{"setup", `"secret":"hush"`, `"secret":"hush","secret":"hush"`},
		{"setup", `"secret":"hush"`, `"secret":"\ud800"`},
		{"title", `"title":"T"`, `"title":null`},
		{"title", `"title":"T"`, `"title":""`},
		{"title", `"title":"T"`, `"title":" "`},
		{"title", `"title":"T"`, `"title":"` + strings.Repeat("x", 201) + `"`},
		{"players", players, `"players":{}`},
		{"players", players + ",", ``},
		{"players", players, `"players":[{"id":"a","name":"A"}]`},
		{"players", players, `"players":[{"id":"a","name":"A"},{"id":"b","name":"B"},{"id":"c","name":"C"}]`},
		{"players[1]", players, `"players":[{"id":"a","name":"A"},"b"]`},
		{"players[0].Id", players, `"players":[{"Id":"a","name":"A"},{"id":"b","name":"B"}]`},
		{"players[0].id", players, `"players":[{"name":"A"},{"id":"b","name":"B"}]`},
		{"players[0].id", players, `"players":[{"id":1,"name":"A"},{"id":"b","name":"B"}]`},
		{"players[1].id", players, `"players":[{"id":"a","name":"A"},{"id":"a","name":"B"}]`},
		{"players[1].name", players, `"players":[{"id":"a","name":"A"},{"id":"b"}]`},
		{"players[1].name", players, `"players":[{"id":"a","name":"A"},{"id":"b","name":null}]`},
		{"players[1].name", players, `"players":[{"id":"a","name":"A"},{"id":"b","name":"\u200d"}]`},
		{"players[1].name", players, `"players":[{"id":"a","name":"A"},{"id":"b","name":"` + strings.Repeat("x", 65) + `"}]`},
		{"players[0].roles", players, `"players":[{"id":"a","name":"A","roles":[]},{"id":"b","name":"B"}]`},
		{"roles", `"roles":{"first":"b"}`, `"roles":[]`},
		{"roles.first", `"roles":{"first":"b"}`, `"roles":{}`},
		{"roles.first", `"roles":{"first":"b"},`, ``},
		{"roles.first", `"roles":{"first":"b"}`, `"roles":{"first":"c"}`},
		{"roles.first", `"roles":{"first":"b"}`, `"roles":{"first":1}`},
		{"roles.first", `"roles":{"first":"b"}`, `"roles":{"first":null}`},
		{"roles.dmo", `"roles":{"first":"b"}`, `"roles":{"first":"b","dmo":"a"}`},
		{"seed", `1d1e1F"`, `1d1e"`},
		{"seed", `1d1e1F"`, `1d1e1F00"`},
		{"seed", `1d1e1F"`, `1d1e1G"`},
		{"seed", `"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"`, `7`},
		{"seed", `"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"`, `null`},
		{"seed", `"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1F"`, strings.Repeat("1", 64)},
		{"options.armory", `"loud":true`, `"armory":[]`},
		{"options.Close", `"close":`, `"Close":`},
		{"options.clock", `"clock":{"move":"30s","reserve":"1m"}`, `"clock":"30s"`},
		{"options.clock.bank", `"reserve":"1m"`, `"bank":"1m"`},
		{"options.clock.move", `"move":"30s"`, `"move":"0s"`},
		{"options.clock.move", `"move":"30s"`, `"move":"-1s"`},
		{"options.clock.move", `"move":"30s"`, `"move":"8760h1ns"`},
		{"options.clock.move", `"move":"30s"`, `"move":30`},
		{"options.clock.move", `"move":"30s"`, `"move":"30"`},
		{"options.clock.move", `"move":"30s"`, `"move":""`},
		{"options.clock.move", `"move":"30s"`, `"move":"99999999h"`},
		{"options.clock.reserve", `"reserve":"1m"`, `"reserve":"-1ns"`},
		{"options.clock.reserve", `"reserve":"1m"`, `"reserve":"8761h"`},
		{"options.clock.reserve", `"reserve":"1m"`, `"reserve":null`},
		{"options.clock.reserve", `"reserve":"1m"`, `"reserve":0`},
		{"options.close", `"close":"at-deadline"`, `"close":"At-deadline"`},
		{"options.close", `"close":"at-deadline"`, `"close":null`},
		{"options.start", `"start":"now"`, `"start":"soon"`},
		{"options.start", `"start":"now"`, `"start":1`},
		{"options.start", `"start":"now"`, `"start":"2030-01-31 20:00"`},
		{"options.listed", `"listed":false`, `"listed":"no"`},
		{"options.listed", `"listed":false`, `"listed":0`},
		{"options.hostSees", `"hostSees":"all"`, `"hostSees":"some"`},
		{"options.open", `"open":"never"`, `"open":false`},
	} {
		bad := strings.Replace(goodSetup, c.old, c.new, 1)
		require.NotEqual(t, goodSetup, bad, c.new)
		setup, err := match.ParseSetup(planCatalog(), parse(t, bad))
		if err == nil { // the game's own fields are checked when the match is created
			_, _, err = match.Create("m", setup, seed, false, epoch)
		}
		var refused *match.SetupError
		require.ErrorAs(t, err, &refused, "%s is accepted", c.new)
		assert.Equal(t, c.field, refused.Field, c.new)
		assert.NotEmpty(t, refused.Detail)
		assert.Equal(t, refused.Field+": "+refused.Detail, err.Error())
	}
	for _, text := range []string{`[]`, `"plan"`, `null`, `1`} {
		_, err := match.ParseSetup(planCatalog(), parse(t, text))
		require.ErrorContains(t, err, "setup: must be an object")
	}
	bad := strings.Replace(goodSetup, `"options":{`, `"options":[{`, 1)
	_, err := match.ParseSetup(planCatalog(), parse(t, strings.TrimSuffix(bad, "}")+"]}"))
	require.ErrorContains(t, err, "options: must be an object")
}

// A player's id is ^[a-z0-9][a-z0-9-]{0,31}$; host and public are reserved.
func TestPlayerIDs(t *testing.T) {
	accepted := func(id string) bool {
		text := strings.Replace(goodSetup, `{"id":"a"`, `{"id":"`+id+`"`, 1)
		_, err := match.ParseSetup(planCatalog(), parse(t, text))
		return err == nil
	}
	for _, id := range []string{"x", "0", "a-", "a--b", "hosts", "public-1", "7-of-9", strings.Repeat("x", 32)} {
		assert.True(t, accepted(id), id)
	}
	for _, id := range []string{
		"", "-a", "A", "é", "a b", "a_b", "a.b", "host", "public", strings.Repeat("x", 33), `a\n`, "ａ",
	} {
		assert.False(t, accepted(id), id)
	}
}

// A name has 1 to so many code points, at least one of them outside category Zs and the joiners; none of Cc, Cs, Co, Cn,
// Zl, Zp, and of Cf only the joiners.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"x", " x ", "Ζoë-Çelik 李", "\u00a0.", "\U0001f468\u200d\U0001f469", "نام\u200cها", "a\u0301", "№1", "x\u3000y",
		strings.Repeat("😀", 64), "\u0301",
	} {
		assert.True(t, match.ValidName(name, 64), "%+q", name)
	}
	for _, name := range []string{
		"", " ", "\u00a0\u3000", "\u200c", "\u200d \u200c", "a\x00", "a\nb", "a\tb", "\x7f", "\u0085", // Cc
		"a\u2028", "a\u2029", // Zl, Zp
		"a\u200b", "a\u200e", "a\u202e", "\ufeffa", "a\u00ad", "a\u2066", "a\U000e0041", // Cf
		"a\ue000", "a\U000f0000", // Co
		"a\u0378", "a\U000effff", "a\uffff", // Cn
		strings.Repeat("x", 65), "a\xff\ufffe",
	} {
		assert.False(t, match.ValidName(name, 64), "%+q", name)
	}
}

// What a rehearsal passes over and a live match can't keep is refused there, by name.
func TestCheckLive(t *testing.T) {
	s, err := match.ParseSetup(planCatalog(), parse(t, setupText(2, "")))
	require.NoError(t, err)
	require.NoError(t, s.CheckLive())
	for _, name := range []string{"absent", "spectatorDelay", "appeal"} {
		s, err := match.ParseSetup(planCatalog(), parse(t, setupText(2, `"`+name+`":1`)))
		require.NoError(t, err)
		var refused *match.SetupError
		require.ErrorAs(t, s.CheckLive(), &refused)
		assert.Equal(t, "options."+name, refused.Field)
	}
}

// What a set-up says is what match-created says, and what is read back.
func TestCreatedSaysWhatWasSetUp(t *testing.T) {
	games := planCatalog()
	setup, err := match.ParseSetup(games, parse(t, goodSetup))
	require.NoError(t, err)
	drafts, _, err := match.Create("id", setup, setup.Seed, true, epoch)
	require.NoError(t, err)
	require.Len(t, drafts, 2, "it starts now")
	assert.JSONEq(t, `{"match":"id","game":"plan@1","title":"T","players":[{"id":"a","name":"A","roles":["black"]},
		{"id":"b","name":"B","roles":["white","first"]}],"options":{"clock":{"move":"30s","reserve":"1m0s"},
		"close":"at-deadline","start":"now","listed":false,"hostSees":"all","open":"never"},"setup":{"loud":true},
		"seedCommitment":"630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd","insecureSeed":true,
		"forkedFrom":null}`, string(drafts[0].Public))
	assert.NotContains(t, string(drafts[0].Public), "hush")
	p := &play{t: t, games: games}
	p.fold(drafts[:1])
	assert.Equal(t, setup.Options, p.m.Options())
	assert.Equal(t, setup.Seats, p.m.Seats())
	assert.Equal(t, "T", p.m.Title())
	assert.True(t, p.table().Loud, "the game has read its part")
	assert.Equal(t, "id", p.m.ID())
	assert.Equal(t, games[0], p.m.Game())
	p.replay()
}

func TestCatalog(t *testing.T) {
	one, two := plan{}.game(2), plan{}.game(2)
	two.Version = 2
	games := match.Catalog{two, one}
	assert.Equal(t, two, games.Find("plan"), "the newest")
	assert.Equal(t, two, match.Catalog{one, two}.Find("plan"))
	assert.Equal(t, one, games.Version("plan@1"))
	assert.Nil(t, games.Version("plan@3"))
	assert.Nil(t, games.Find("chess"))
	_, err := match.ParseSetup(games, parse(t, `{"game":"chess"}`))
	require.ErrorContains(t, err, "there are plan, plan")
	assert.Panics(t, func() { match.Rules[int, int, int]{Name: "empty"}.Game() })
}
