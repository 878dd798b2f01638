package event

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"slices"
)

// SaltSize is the number of random bytes that keep a face from being guessed from its commitment.
const SaltSize = 16

// Face is what some audiences may know of an event and others may not.
type Face struct {
	To   []string        // audiences: player ids, "host"; empty: nobody until it is opened
	Salt []byte          // SaltSize random bytes
	Data json.RawMessage // canonical JSON
}

// Commitment returns hex SHA-256(salt || canonical {"data", "to"}).
func (f *Face) Commitment() string {
	b := make([]byte, 0, 256)
	b = append(b, f.Salt...)
	b = append(b, `{"data":`...)
	b = append(b, f.Data...)
	b = append(b, `,"to":`...)
	b = append(appendStrings(b, f.To), '}')
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Opens reports whether f is the face that the commitment was made from.
func (f *Face) Opens(commitment string) bool {
	return subtle.ConstantTimeCompare([]byte(f.Commitment()), []byte(commitment)) == 1
}

// For reports whether the face is for that audience.
func (f *Face) For(audience string) bool { return slices.Contains(f.To, audience) }
