package serve_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games"
	"umpire/pkg/match"
	"umpire/services/client"
	"umpire/services/demo"
	"umpire/services/submission"
)

// play plays seats until the match is over: move gives a seat's submission to a view, nil for silence. It returns the
// last view that the public has.
func play(
	t *testing.T, operator *client.Client, created *submission.Created, claims map[string]string,
	move func(seat string, v *match.View) any,
) *match.View {
	t.Helper()
	catalog := games.All()
	var seats sync.WaitGroup
	for id, claim := range claims {
		seated, err := operator.As("").Claim(t.Context(), claim)
		require.NoError(t, err)
		me := operator.As(seated.Token)
		seats.Go(func() {
			acted := int64(-1)
			for raw, err := range me.Stream(t.Context(), created.Match) {
				if err != nil {
					t.Errorf("the stream of %s broke: %v", id, err)
					return
				}
				v, err := catalog.ReadView(raw)
				if err != nil {
					t.Errorf("%s can't read a view: %v", id, err)
					return
				}
				if v.Status == match.Ended {
					return
				}
				if !v.Awaits(id) || v.Revision == acted {
					continue
				}
				acted = v.Revision
				if m := move(id, v); m != nil {
					if _, err := me.Submit(t.Context(), v.Match, v.Phase.No, "", m); err != nil {
						t.Logf("%s was refused: %v", id, err)
					}
				}
			}
		})
	}
	seats.Wait()
	raw, err := operator.As("").View(t.Context(), created.Match, "")
	require.NoError(t, err)
	v, err := catalog.ReadView(raw)
	require.NoError(t, err)
	require.Equal(t, match.Ended, v.Status)
	return v
}

func claimsOf(created *submission.Created) map[string]string {
	claims := map[string]string{}
	for id, link := range created.Players {
		claims[id] = link.Claim
	}
	return claims
}

// TestAWholePaintClash plays eight players through all phases, one of whom never submits.
func TestAWholePaintClash(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	setup := demo.Setup("paint-clash", rand.IntN)
	setup["options"] = map[string]any{"clock": map[string]any{"move": "600ms"}, "close": "when-all-in"}
	created, err := operator.Create(t.Context(), setup)
	require.NoError(t, err)
	silent := setup["players"].([]map[string]string)[3]["id"]
	catalog := games.All()
	v := play(t, operator, created, claimsOf(created), func(id string, v *match.View) any {
		if id == silent {
			return nil
		}
		return catalog.Bot(v, rand.IntN)
	})
	phases := phasesOf(t, operator, created.Match)
	want := []string{"team", "start", "round", "round", "round", "round", "round", "round"}
	require.Greater(t, len(phases), len(want))
	assert.Equal(t, want, phases[:len(want)])
	assert.Equal(t, "choose-opponent", phases[len(phases)-1])
	var result struct {
		DecidedBy           string
		Candidate, Opponent *string
	}
	require.NoError(t, json.Unmarshal(v.Result, &result))
	assert.NotEmpty(t, result.DecidedBy)
	require.NotNil(t, result.Candidate)
	require.NotNil(t, result.Opponent)
	assert.NotEqual(t, *result.Candidate, *result.Opponent)
}

// phasesOf returns the names of a match's phases, from its public feed.
func phasesOf(t *testing.T, operator *client.Client, id string) []string {
	t.Helper()
	var names []string
	for raw, err := range operator.As("").Events(t.Context(), id, "") {
		require.NoError(t, err)
		var e struct {
			Type   string
			Public struct{ Name string }
		}
		require.NoError(t, json.Unmarshal(raw, &e))
		if e.Type == "phase-opened.v1" {
			names = append(names, e.Public.Name)
		}
	}
	return names
}

// TestAWholeNothingButTheTruth plays 13 cycles in which nobody places a stone, so that the host's questions decide.
func TestAWholeNothingButTheTruth(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	setup := demo.Setup("nothing-but-the-truth", rand.IntN)
	created, err := operator.Create(t.Context(), setup)
	require.NoError(t, err)
	players := setup["players"].([]map[string]string)
	first, second := players[0]["id"], players[1]["id"]
	claims := claimsOf(created)
	claims[match.HostID] = created.Host.Claim
	asked := 0
	v := play(t, operator, created, claims, func(id string, v *match.View) any {
		switch v.Phase.Name {
		case "order":
			return map[string]any{"type": "order", "order": []string{"A", "B", "C", "D"}}
		case "place":
			return map[string]any{"type": "place", "cells": []string{}}
		case "bid":
			return map[string]any{"type": "bid", "coins": 0}
		case "ask":
			asked++
			return map[string]any{"type": "ask", "question": fmt.Sprintf("Question %d?", asked)}
		case "answer":
			return map[string]any{"type": "answer", "text": "An answer of " + id}
		case "judge":
			if asked == 1 {
				return map[string]any{"type": "judge", "right": []string{first, second}}
			}
			return map[string]any{"type": "judge", "right": []string{second}}
		}
		return nil
	})
	assert.Equal(t, 2, asked, "both were right the first time, so there was another question")
	var result struct{ Winner, Loser, By string }
	require.NoError(t, json.Unmarshal(v.Result, &result))
	assert.Equal(t, second, result.Winner)
	assert.Equal(t, "tie-break", result.By)
	assert.Len(t, phasesOf(t, operator, created.Match), 13*3+2*3)
}

// TestAWholePrimalPileup plays the game that has a bank of reserve.
func TestAWholePrimalPileup(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	created, err := operator.Create(t.Context(), demo.Setup("primal-pileup", rand.IntN))
	require.NoError(t, err)
	catalog := games.All()
	v := play(t, operator, created, claimsOf(created), func(_ string, v *match.View) any { return catalog.Bot(v, rand.IntN) })
	assert.Contains(t, string(v.Result), `"by":"rounds"`)
}
