package glassfull_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
)

// FuzzDecode sends anything at all: what is accepted is one of the few submissions that there are, in the phase that
// they belong to, and all of these are accepted.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type":"add","cups":1}`, `{"cups":3,"type":"add"}`, spongeIt, challenge, `{"type":"pick-starter","player":"a"}`,
		`{"type":"add","cups":1e0}`, `{"type":"add","cups":10}`, `{"type":"add","cups":-0}`, `{"type":"\u0061dd","cups":1}`,
		`{"type":"add","cups":1,"cups":1}`, `{"type":"add\ud800","cups":1}`, `[]`, `null`, `{"type":"challenge","x":{}}`,
		` { "type" : "pick-starter" , "player" : "b" } `, `{"type":"pick-starter","player":"A"}`, "{\"type\":\"\u00e4dd\"}",
	} {
		f.Add([]byte(seed))
	}
	picking := newMatch(f)
	turn := submits(f, picking, "a", parsed(f, `{"type": "pick-starter", "player": "a"}`))
	good := map[*match.Match][]string{
		picking: {`{"player":"a","type":"pick-starter"}`, `{"player":"b","type":"pick-starter"}`},
		turn: {
			`{"cups":1,"type":"add"}`, `{"cups":2,"type":"add"}`, `{"cups":3,"type":"add"}`, `{"type":"challenge"}`,
		},
	}
	well := append(slices.Concat(good[picking], good[turn]), `{"type":"sponge"}`) // well-formed
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := event.ParseLoose(data)
		if err != nil {
			return
		}
		canonical, err := v.AppendCanonical(nil)
		strict := err == nil && v.Fault() == nil
		for m, legal := range good {
			drafts, err := m.Submit("a", 0, false, v, m.At())
			if strict && slices.Contains(legal, string(canonical)) {
				require.NoError(t, err)
				require.Len(t, drafts, 1)
				require.Equal(t, string(canonical), string(drafts[0].Faces[0].Data))
				continue
			}
			want := match.MalformedMove
			if strict && slices.Contains(well, string(canonical)) {
				want = match.IllegalMove
			}
			var refusal *match.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, want, refusal.Code)
		}
	})
}

// FuzzSetup tries set-ups: what is accepted begins, and what is refused is told why.
func FuzzSetup(f *testing.F) {
	for _, seed := range []string{
		`{"game":"glass-full","roles":{"dmo":"a"},"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`,
		`{"game":"glass-full","title":"T","roles":{"dmo":"b"},"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}],
			"options":{"clock":{"move":"10s","reserve":"1h"},"close":"at-deadline","start":"now","listed":false,
			"hostSees":"all","open":"never"},"seed":"0000000000000000000000000000000000000000000000000000000000000000"}`,
		`{"game":"glass-full","roles":{},"players":[]}`, `{"game":"chess"}`, `{"game":"glass-full","":[]}`, `{}`, `[]`, `{"game":"glass-full"}`,
		`{"game":"glass-full","garnets":{},"roles":{"dmo":"a"},"players":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}`,
	} {
		f.Add([]byte(seed))
	}
	games := match.Catalog{glassfull.Game()}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := event.ParseLoose(data)
		if err != nil {
			return
		}
		setup, err := match.ParseSetup(games, v)
		var refused *match.SetupError
		if errors.As(err, &refused) {
			require.NotEmpty(t, refused.Detail)
			return
		}
		require.NoError(t, err)
		require.Len(t, setup.Seats, 2)
		drafts, warnings, err := match.Create("m", setup, make([]byte, 32), false, created)
		require.NoError(t, err)
		require.Empty(t, warnings)
		m := fold(t, nil, drafts)
		require.Equal(t, setup.Options, m.Options())
		require.NotNil(t, m.View(setup.Seats[0].ID))
	})
}
