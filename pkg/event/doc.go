// Package event is the vocabulary of the log: the envelope of an event, its public part and its sealed faces.
//
// One fact is one event. What everybody may know stands in its public part; what only some may know stands in a
// face, and a face is sealed by default: the stored event holds an encrypted box and a commitment, and nothing of
// the face's data or of whom it is for. A later event may open a face, and anyone can then check that it is what was
// committed to.
//
//   - Canonical JSON is RFC 8785, restricted to whole numbers that a double holds exactly (no rule needs others).
//   - A face's commitment is SHA-256(salt || canonical {"data": ..., "to": [...]}), the salt being 16 random bytes.
//   - An event's hash is SHA-256 of the canonical {at, by, faces, id, opens, prev, public, type}, where faces are
//     their commitments and prev is the hash of the stream's event before ("" for the first).
//   - A box is AES-256-GCM over the canonical {"data", "salt", "to"}, padded with spaces to a multiple of 256 bytes,
//     under a key of the match (HKDF from the installation's master key); the event's id and the face's place are
//     bound to it.
//
// The package imports the standard library alone and knows no clock and no chance: time and entropy are handed in.
package event
