package event

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// MasterKeySize is the size of an installation's master key in bytes.
const MasterKeySize = 32

// boxSize is what a face's stored size is a multiple of, so that sizes don't tell one face from another.
const boxSize = 256

// Vault derives the keys of every match from the installation's master key. It is safe for concurrent use.
type Vault struct{ master []byte }

// NewVault takes the installation's master key, MasterKeySize bytes kept outside the log.
func NewVault(master []byte) (*Vault, error) {
	if len(master) != MasterKeySize {
		return nil, fmt.Errorf("event: a master key has %d bytes, this one has %d", MasterKeySize, len(master))
	}
	return &Vault{master: master}, nil
}

// Derive returns 32 bytes bound to a purpose, by HKDF-SHA256.
func (v *Vault) Derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, v.master, nil, "umpire "+purpose, 32)
	if err != nil {
		panic(err) // 32 bytes are always to be had of SHA-256
	}
	return key
}

// Keys are the secrets of one stream: one seals its faces, one names its events. They are safe for concurrent use.
type Keys struct {
	aead   cipher.AEAD
	naming []byte
}

// Keys returns the keys of a stream.
func (v *Vault) Keys(stream string) *Keys {
	block, err := aes.NewCipher(v.Derive("seal " + stream))
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has blocks of 16 bytes
	}
	return &Keys{aead: aead, naming: v.Derive("name " + stream)}
}

// MAC returns HMAC-SHA256 of the parts under the stream's naming secret; the parts can't run into each other.
func (k *Keys) MAC(parts ...string) []byte {
	mac := hmac.New(sha256.New, k.naming)
	var size [8]byte
	for _, part := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		io.WriteString(mac, part)
	}
	return mac.Sum(nil)
}

// Name returns the event id of what the parts identify: the same parts always give the same id.
func (k *Keys) Name(parts ...string) ID {
	id := ID(k.MAC(parts...)[:16])
	id[6] = id[6]&0x0f | 0x80 // UUID version 8, for ids made by one's own rule
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Seal encrypts a face of the event named id, at place index among its faces. The nonce is read from entropy.
func (k *Keys) Seal(entropy io.Reader, id ID, index int, f *Face) (Sealed, error) {
	plain := make([]byte, 0, 2*boxSize)
	plain = append(plain, `{"data":`...)
	plain = append(plain, f.Data...)
	plain = append(plain, `,"salt":"`...)
	plain = hex.AppendEncode(plain, f.Salt)
	plain = append(plain, `","to":`...)
	plain = append(appendStrings(plain, f.To), '}')
	for len(plain)%boxSize != 0 {
		plain = append(plain, ' ')
	}
	box := make([]byte, k.aead.NonceSize(), k.aead.NonceSize()+len(plain)+k.aead.Overhead())
	if _, err := io.ReadFull(entropy, box); err != nil {
		return Sealed{}, fmt.Errorf("event: no entropy for a nonce: %w", err)
	}
	box = k.aead.Seal(box, box, plain, binding(id, index))
	return Sealed{Commitment: f.Commitment(), Box: box}, nil
}

// ErrBox means that a box was not sealed with these keys for this place, or was altered since.
var ErrBox = errors.New("event: a sealed face can't be opened: the master key is another one, or the face was altered")

// Open decrypts a face.
func (k *Keys) Open(id ID, index int, s Sealed) (Face, error) {
	n := k.aead.NonceSize()
	if len(s.Box) < n {
		return Face{}, ErrBox
	}
	plain, err := k.aead.Open(nil, s.Box[:n], s.Box[n:], binding(id, index))
	if err != nil {
		return Face{}, ErrBox
	}
	v, err := Parse(plain)
	if err != nil {
		return Face{}, ErrBox
	}
	r := reader{value: v}
	f := r.face()
	if r.err != nil {
		return Face{}, ErrBox
	}
	return f, nil
}

func binding(id ID, index int) []byte { return append(id[:], byte(index>>8), byte(index)) }

// Reveal returns the event at that revision with its faces open.
func (k *Keys) Reveal(revision uint64, e *Event) (Fact, error) {
	fact := Fact{
		Revision: revision, ID: e.ID, Type: e.Type, At: e.At, By: e.By, Public: e.Public, Opens: e.Opens, Hash: e.Hash,
	}
	for i, s := range e.Faces {
		f, err := k.Open(e.ID, i, s)
		if err != nil {
			return Fact{}, fmt.Errorf("revision %d, face %d: %w", revision, i, err)
		}
		fact.Faces = append(fact.Faces, f)
	}
	return fact, nil
}
