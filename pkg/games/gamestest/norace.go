//go:build !race

package gamestest

// slow thins nothing out.
const slow = 1
