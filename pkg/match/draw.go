package match

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Draw returns a number from 0 to n-1 that depends on the match's key and the label alone, so draws don't depend on
// each other's order and anyone can check one. n is at least 1.
type Draw func(label string, n uint64) uint64

// DrawFrom returns the draws of a key: for i = 0, 1, ... x is the first 8 bytes, big-endian, of HMAC-SHA256(key, label
// + "#" + decimal i); the first x below floor(2^64/n)*n gives x mod n.
func DrawFrom(key []byte) Draw {
	return func(label string, n uint64) uint64 {
		rest := -n % n // 2^64 mod n
		for i := 0; ; i++ {
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte(label + "#" + strconv.Itoa(i)))
			x := binary.BigEndian.Uint64(mac.Sum(nil))
			if x <= ^rest || rest == 0 {
				return x % n
			}
		}
	}
}

// drawKey is the seed, or with claims HMAC-SHA256(seed, the claims' bytes in seating order).
func drawKey(seed []byte, claims [][]byte) []byte {
	mac := hmac.New(sha256.New, seed)
	some := false
	for _, random := range claims {
		some = some || len(random) > 0
		mac.Write(random)
	}
	if !some {
		return seed
	}
	return mac.Sum(nil)
}
