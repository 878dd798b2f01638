//go:build !race

package sim

// seeds is how many are played in a test.
const seeds = 200
