package match_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"umpire/pkg/match"
)

// The vectors that every implementation of the rulebook's draws must give.
func TestDrawVectors(t *testing.T) {
	s0 := make([]byte, 32)
	for i := range s0 {
		s0[i] = byte(i)
	}
	s1 := bytes.Repeat([]byte{0xff}, 32)
	for _, c := range []struct {
		key   []byte
		label string
		n     uint64
		want  uint64
	}{
		{s0, "starter", 2, 1},
		{s0, "gun/3/p-1", 4, 2},
		{s1, "start/elara", 30, 8},
		{s0, "a", 9223372036854775809, 5154757723525571573}, // i = 0, 1 and 2 are refused
		{s1, "candidate", 8, 6},
		{s1, "anything", 1, 0},
	} {
		assert.Equal(t, c.want, match.DrawFrom(c.key)(c.label, c.n), c.label)
	}
	sum := sha256.Sum256(s0)
	assert.Equal(t, "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd", hex.EncodeToString(sum[:]))
}

func TestDrawsAreInRangeAndIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")
		n := rapid.Uint64Range(1, 1<<64-1).Draw(t, "n")
		draw := match.DrawFrom(key)
		one := draw("one", n)
		assert.Less(t, one, n)
		draw("two", n)
		assert.Equal(t, one, draw("one", n), "a draw depends on no other")
	})
}

// Small draws are fair: a thousand labels over eight places.
func TestDrawsAreFair(t *testing.T) {
	draw := match.DrawFrom(seed)
	var counts [8]int
	for i := range 8000 {
		counts[draw("label/"+string(rune('a'+i%26))+string(rune('0'+i/26)), 8)]++
	}
	for _, n := range counts {
		assert.InDelta(t, 1000, n, 150)
	}
}
