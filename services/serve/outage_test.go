package serve_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/services/client"
	"umpire/services/serve"
)

// TestNobodyIsPunishedForOurOutage stops umpire while a clock runs and starts it an hour later: the hour is given back,
// in public, before anybody is answered and anything is flagged, and not a second more.
func TestNobodyIsPunishedForOurOutage(t *testing.T) {
	t.Parallel()
	const away = time.Hour
	data := t.TempDir()
	first, operator := start(t, func(o *serve.Options) { o.Data = data })
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	ada := sit(t, operator, created, "ada")
	sit(t, operator, created, "bob")
	ada.turn()
	require.NoError(t, first.Stop())

	_, operator = start(t, func(o *serve.Options) {
		o.Data = data
		o.Clock = func() time.Time { return time.Now().Add(away) }
	})
	given := extension(t, operator, created.Match)
	assert.Equal(t, "ada", given.Player)
	assert.Equal(t, "outage", given.Reason)
	by, err := time.ParseDuration(given.By)
	require.NoError(t, err)
	assert.InDelta(t, away.Seconds(), by.Seconds(), 10, "what it lasted, and how long this test took")

	me := operator.As(ada.client.Token)
	_, err = me.Submit(t.Context(), ada.match, 1, "", map[string]any{"type": "pick-starter", "player": "ada"})
	require.NoError(t, err, "she is still awaited")
	raw, err := me.View(t.Context(), ada.match, "")
	require.NoError(t, err)
	var v view
	require.NoError(t, json.Unmarshal(raw, &v))
	assert.Zero(t, v.Table.Strikes["ada"])
}

type extended struct{ Player, By, Reason string }

// extension returns the match's first clock-extended, which stands there now, and fails on a deadline that passed before it.
func extension(t *testing.T, operator *client.Client, id string) (public extended) {
	t.Helper()
	for raw, err := range operator.As("").Events(t.Context(), id, "") {
		require.NoError(t, err)
		var e struct {
			Type   string
			Public json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &e))
		require.NotEqual(t, "deadline-passed.v1", e.Type, "flagged before the outage was given back")
		if e.Type == "clock-extended.v1" {
			require.NoError(t, json.Unmarshal(e.Public, &public))
			return public
		}
	}
	require.Fail(t, "the outage is not given back when players are answered")
	return public
}
