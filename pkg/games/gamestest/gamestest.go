package gamestest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"umpire/pkg/match"
)

// Pick gives a number from 0 to n-1.
type Pick = func(n int) int

// Game is a game and what its test says of it.
type Game struct {
	Rules *match.Game
	// Setup returns a random set-up that match.ParseSetup takes, without a seed. The suite adds the options that every
	// game has; Players makes the players.
	Setup func(pick Pick) map[string]any
	// Reshuffle returns a set-up that may differ from the one given in what is sealed at creation and in nothing else;
	// it changes a copy. Nil where a set-up holds no secret.
	Reshuffle func(setup map[string]any, pick Pick) map[string]any
	// Illegal returns submissions, besides those that the suite makes up itself, that must be refused to the player who
	// sees this view and is awaited. May be nil.
	Illegal func(v *match.View, pick Pick) []Wrong
	// Optional names the fields of submissions, at any depth, that the rulebook lets be null or absent at times.
	Optional []string
	// Knows returns what an audience ("public", "host" or a player) may know at the end of a history. See the package
	// comment.
	Knows func(h *History, audience string) any
	// Hidden names the types of submission whose content is not public at once: the suite fails unless it has compared
	// twins that differ in each of them.
	Hidden []string
}

// Wrong is a submission and the code of the refusal that it must meet.
type Wrong struct {
	Submission any // what json.Marshal takes; json.RawMessage for what can't be had of a Go value
	Code       match.Code
}

// Players returns n players with random ids and names, for a set-up.
func Players(n int, pick Pick) []any {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	players := make([]any, n)
	for i := range players {
		id := fmt.Sprintf("%c%c-%d", letters[pick(26)], letters[pick(26)], i)
		players[i] = map[string]any{"id": id, "name": "Player " + id}
	}
	return players
}

// ID returns the id of the player at a place of a set-up's players.
func ID(players []any, place int) string {
	player, _ := players[place].(map[string]any)
	return Text(player, "id")
}

var update = flag.Bool("update", false, "write golden files anew")

// Update reports whether golden files are to be written anew.
func Update() bool { return *update }

// Run runs the suite.
func Run(t *testing.T, g Game) {
	t.Helper()
	s := suite{Game: g, seeds: seeds(t)}
	s.run(t)
}

func (s *suite) run(t *testing.T) {
	t.Helper()
	for _, part := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"play", s.plays},
		{"refusals", s.refusals},
		{"secrecy", s.secrecy},
		{"planted leaks", s.plantedLeaks},
		{"playthrough", s.playthrough},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t)
		})
	}
}

// suite is a run of the suite.
type suite struct {
	Game
	seeds []uint64
}

// one reports whether a single seed is played, with everything tried on it.
func (s *suite) one() bool { return len(s.seeds) == 1 }

// every reports whether something expensive is to be tried on the i-th seed: on one of n, or where it is the only one.
func (s *suite) every(n, i int) bool { return s.one() || i%(n*slow) == 0 }

const (
	normalSeeds = 300
	longSeeds   = 10_000
)

func seeds(t *testing.T) []uint64 {
	t.Helper()
	if one := os.Getenv("GAMESTEST_SEED"); one != "" {
		seed, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			t.Fatalf("GAMESTEST_SEED is no seed: %v", err)
		}
		return []uint64{seed}
	}
	n := normalSeeds
	if os.Getenv("UMPIRE_LONG") != "" {
		n = longSeeds
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(i + 1)
	}
	return list
}

// failed reports what is wrong with the match of a seed.
func failed(t *testing.T, seed uint64, err error) {
	t.Helper()
	t.Fatalf("GAMESTEST_SEED=%d: %v", seed, err)
}

// chance gives the picks of a seed; purpose keeps those for one thing from changing those for another.
func chance(seed, purpose uint64) Pick {
	return rand.New(rand.NewPCG(seed, purpose)).IntN
}

// The purposes of chance.
const (
	forPlay uint64 = iota
	forChecks
	forTwins
)
