package primalpileup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// FuzzDecode: a submission is read without a panic, the same from its canonical form, and refused as malformed alone.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"type": "pick-starter", "player": "sensei"}`, `{"type": "pick-starter", "player": "nobody"}`,
		`{"type": "play", "cards": ["F1", "G10", "W5"]}`, `{"type": "play", "cards": []}`,
		`{"type": "play", "cards": ["F1", "F1"]}`, `{"type": "play", "cards": ["F11", 7, null]}`,
		`{"type": "play", "cards": "F1"}`, `{"cards": ["\u0046\u0031"], "type": "play"}`,
		`{"type": "pass"}`, `{"type": "pass", "why": {"because": [1e400]}}`, `{"type": 3}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	s := &state{seats: match.Seats{{ID: sensei}, {ID: herbert}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := event.Parse(data)
		if err != nil || v.Kind != event.Object { // the machine refuses these before it asks the game
			return
		}
		m, err := decode(s, v)
		if err != nil {
			var refusal *match.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, match.MalformedMove, refusal.Code)
			return
		}
		canonical, err := v.AppendCanonical(nil)
		require.NoError(t, err)
		again, err := event.Parse(canonical)
		require.NoError(t, err)
		same, err := decode(s, again)
		require.NoError(t, err)
		require.Equal(t, m, same)
	})
}

// FuzzSetup: a set-up is taken or refused for one of its fields, and what is taken begins and can be looked at.
func FuzzSetup(f *testing.F) {
	const players = `{"game": "primal-pileup", "players": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}], `
	for _, seed := range []string{
		players + `"roles": {"dmo": "b"}}`,
		players + `"roles": {"dmo": "c"}}`,
		players + `"roles": {"dmo": ["a"]}}`,
		players + `"roles": {"dmo": "a"}, "options": {"clock": {"move": "1ns", "reserve": "8760h"}, "close": "at-deadline"}}`,
		players + `"roles": {"dmo": "a"}, "options": {"clock": {"move": "0", "reserve": 5}}}`,
		players + `"roles": {"dmo": "a"}, "seed": "00", "statements": []}`,
		`{"game": "primal-pileup", "players": [{"id": "a", "name": "A"}], "roles": {"dmo": "a"}}`,
		`{"game": "primal-pileup"}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	games := match.Catalog{Game()}
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := event.ParseLoose(data)
		if err != nil {
			return
		}
		bad := new(match.SetupError)
		setup, err := match.ParseSetup(games, v)
		if err != nil {
			require.ErrorAs(t, err, &bad)
			return
		}
		drafts, _, err := match.Create("m", setup, make([]byte, 32), false, now)
		if err != nil {
			require.ErrorAs(t, err, &bad)
			return
		}
		created := event.Fact{Type: drafts[0].Type, At: drafts[0].At, Public: drafts[0].Public}
		for _, face := range drafts[0].Faces {
			created.Faces = append(created.Faces, event.Face{To: face.To, Data: face.Data})
		}
		m, err := match.Replay(games, created)
		require.NoError(t, err)
		for _, audience := range append(setup.Seats.IDs(setup.Seats.All()), match.Public, match.HostID) {
			require.NotNil(t, m.View(audience))
		}
	})
}
