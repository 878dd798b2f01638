//go:build race

package sim

// seeds is how many are played in a test. A run has one goroutine: the race detector costs much and can find little.
const seeds = 24
