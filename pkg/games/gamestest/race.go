//go:build race

package gamestest

// slow thins the expensive parts out under the race detector, which makes them ten times as slow and has nothing to find
// in them: a match is played in one goroutine.
const slow = 5
