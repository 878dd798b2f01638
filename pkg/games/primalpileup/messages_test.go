package primalpileup

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"umpire/pkg/match"
)

// TestMalformed tries what could never be right, in the phase that it would belong to and in the other.
func TestMalformed(t *testing.T) {
	for _, submission := range []string{
		`[]`, `"pass"`, `null`, `7`, `{}`,
		`{"type": "Pass"}`, `{"type": null}`, `{"type": 1}`, `{"type": "fold"}`, `{"Type": "pass"}`,
		`{"type": "pass", "type": "pass"}`, `{"type": "pass", "cards": []}`, `{"type": "pass", "cards": null}`,
		`{"type": "pass", "phase": 1}`,
		`{"type": "pick-starter"}`, `{"type": "pick-starter", "player": "nobody"}`,
		`{"type": "pick-starter", "player": "Sensei"}`, `{"type": "pick-starter", "player": "host"}`,
		`{"type": "pick-starter", "player": null}`, `{"type": "pick-starter", "player": 0}`,
		`{"type": "pick-starter", "player": ["sensei"]}`, `{"type": "pick-starter", "player": "sensei", "cards": ["F1"]}`,
		`{"type": "pick-starter", "player": "sensei", "player": "sensei"}`,
		`{"type": "play"}`, `{"type": "play", "cards": null}`, `{"type": "play", "cards": "F1"}`,
		`{"type": "play", "cards": {"F1": true}}`, `{"type": "play", "cards": [1]}`, `{"type": "play", "cards": [null]}`,
		`{"type": "play", "cards": [["F1"]]}`, `{"type": "play", "Cards": ["F1"]}`, `{"type": "play", "card": "F1"}`,
		`{"type": "play", "cards": ["F1"], "player": "sensei"}`, `{"type": "play", "cards": ["F1", "\ud800"]}`,
		`{"type": "play", "cards": ["F0"]}`, `{"type": "play", "cards": ["F11"]}`, `{"type": "play", "cards": ["F01"]}`,
		`{"type": "play", "cards": ["f1"]}`, `{"type": "play", "cards": ["X1"]}`, `{"type": "play", "cards": ["F"]}`,
		`{"type": "play", "cards": [""]}`, `{"type": "play", "cards": ["F1 "]}`, `{"type": "play", "cards": ["F1", "F1", "H1"]}`,
		`{"type": "play", "cards": ["1F"]}`, `{"type": "play", "cards": ["F-1"]}`, `{"type": "play", "cards": ["F1W1"]}`,
	} {
		picking := start(t, `{}`)
		assert.Equal(t, match.MalformedMove, picking.refused(herbert, submission), submission)
		taking := started(t, sensei)
		assert.Equal(t, match.MalformedMove, taking.refused(sensei, submission), submission)
	}
}

// TestIllegal tries what the state or the other values forbid.
func TestIllegal(t *testing.T) {
	picking := start(t, `{}`)
	for _, submission := range []string{passes, playOf("F1"), `{"type": "play", "cards": []}`, playOf("F1 F1")} {
		assert.Equal(t, match.IllegalMove, picking.refused(herbert, submission), submission)
	}
	taking := started(t, sensei)
	taking.turns("F1 W1", "G1")
	for _, submission := range []string{
		`{"type": "pick-starter", "player": "sensei"}`, // belongs to another phase
		`{"type": "play", "cards": []}`,                // no card
		playOf("F2 F2"),                                // one twice
		playOf("F2 W2 F2"),                             // likewise
		playOf("F1"),                                   // not in hand any more
		playOf("F2 F3 W1"),                             // likewise
		playOf("F1 F1"),                                // both
	} {
		assert.Equal(t, match.IllegalMove, taking.refused(sensei, submission), submission)
	}
}

// A play of no card is refused: who wants to pass says pass.
func TestAPlayOfNoCardIsRefused(t *testing.T) {
	p := started(t, sensei)
	assert.Equal(t, match.IllegalMove, p.refused(sensei, `{"type": "play", "cards": []}`))
	assert.False(t, p.table(match.Public).LastTurn)
}

func TestRefusalsInTheirOrder(t *testing.T) {
	p := started(t, sensei)
	assert.Equal(t, match.UnknownPlayer, p.refused("stranger", passes))
	assert.Equal(t, match.NotAwaited, p.refused(herbert, passes))
	assert.Equal(t, match.NotAwaited, p.refused(herbert, `{"type": "nonsense"}`))
	assert.Equal(t, match.NotAwaited, p.refused(match.HostID, passes))
	assert.Equal(t, match.MalformedMove, p.refused(sensei, playOf("F1 F1 F99")))
}
