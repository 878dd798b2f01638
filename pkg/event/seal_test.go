package event_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
)

// keysOf returns the keys of a stream under a master key that counts from n.
func keysOf(t *testing.T, n byte, stream string) *event.Keys {
	t.Helper()
	master := make([]byte, event.MasterKeySize)
	for i := range master {
		master[i] = n + byte(i)
	}
	vault, err := event.NewVault(master)
	require.NoError(t, err)
	return vault.Keys(stream)
}

func face(data string, to ...string) event.Face {
	return event.Face{To: to, Salt: bytes.Repeat([]byte{9}, event.SaltSize), Data: json.RawMessage(data)}
}

func TestCommitment(t *testing.T) {
	f := face(`{"cups":3,"type":"add"}`, "sensei", "host")
	// Sixteen tabs, then {"data":{"cups":3,"type":"add"},"to":["sensei","host"]}, through sha256sum.
	const want = "de4cfd592d557bb85e1562b71927170c7a794832d92c6a246726a43a9508b6e7"
	assert.Len(t, f.Commitment(), 64)
	assert.Equal(t, want, f.Commitment())
	assert.True(t, f.Opens(f.Commitment()))
	for name, other := range map[string]event.Face{
		"data":    face(`{"cups":2,"type":"add"}`, "sensei", "host"),
		"order":   face(`{"cups":3,"type":"add"}`, "host", "sensei"),
		"fewer":   face(`{"cups":3,"type":"add"}`, "sensei"),
		"nobody":  face(`{"cups":3,"type":"add"}`),
		"no data": {To: f.To, Salt: f.Salt},
		"no salt": {To: f.To, Data: f.Data},
		"salt":    {To: f.To, Salt: bytes.Repeat([]byte{8}, event.SaltSize), Data: f.Data},
	} {
		assert.False(t, other.Opens(f.Commitment()), name)
	}
	assert.False(t, f.Opens(""))
	assert.False(t, f.Opens(strings.ToUpper(f.Commitment())))
	assert.Equal(t, (&event.Face{Salt: f.Salt, Data: f.Data}).Commitment(), (&event.Face{To: []string{}, Salt: f.Salt, Data: f.Data}).Commitment())
}

func TestFor(t *testing.T) {
	f := face(`1`, "sensei", "host")
	assert.True(t, f.For("sensei"))
	assert.True(t, f.For("host"))
	assert.False(t, f.For("herbert"))
	assert.False(t, f.For("public"))
	assert.False(t, f.For(""))
	nobody := face(`1`)
	assert.False(t, nobody.For("host"))
}

func TestVaultWantsAWholeKey(t *testing.T) {
	for _, size := range []int{0, 16, 31, 33, 64} {
		_, err := event.NewVault(make([]byte, size))
		require.ErrorContains(t, err, "32 bytes")
	}
	vault, err := event.NewVault(make([]byte, 32))
	require.NoError(t, err)
	assert.Len(t, vault.Derive("token"), 32)
	assert.NotEqual(t, vault.Derive("token"), vault.Derive("tokens"))
	again, err := event.NewVault(make([]byte, 32))
	require.NoError(t, err)
	assert.Equal(t, vault.Derive("token"), again.Derive("token"))
}

func TestSealAndOpen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		keys := keysOf(t, 1, "match-a")
		f := anyFace(rt)
		id := event.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "id"))
		place := rapid.IntRange(0, 65535).Draw(rt, "place")
		sealed, err := keys.Seal(rand.Reader, id, place, &f)
		require.NoError(t, err)
		assert.Equal(t, f.Commitment(), sealed.Commitment)
		assert.Zero(t, (len(sealed.Box)-12-16)%256, "the plain text is padded")
		back, err := keys.Open(id, place, sealed)
		require.NoError(t, err)
		assert.Equal(t, string(f.Data), string(back.Data))
		assert.Equal(t, f.Salt, back.Salt)
		assert.True(t, slices.Equal(f.To, back.To))
		assert.True(t, back.Opens(sealed.Commitment))
	})
}

func TestOpenRefuses(t *testing.T) {
	keys := keysOf(t, 1, "match-a")
	id := event.ID{1, 2, 3}
	f := face(`{"secret":"fourteen cups"}`, "sensei")
	sealed, err := keys.Seal(rand.Reader, id, 1, &f)
	require.NoError(t, err)
	refused := func(name string, keys *event.Keys, id event.ID, place int, box []byte) {
		got, err := keys.Open(id, place, event.Sealed{Commitment: sealed.Commitment, Box: box})
		require.ErrorIs(t, err, event.ErrBox, name)
		assert.Equal(t, event.Face{}, got, name)
		assert.NotContains(t, err.Error(), "fourteen")
	}
	refused("another master key", keysOf(t, 2, "match-a"), id, 1, sealed.Box)
	refused("another stream's key", keysOf(t, 1, "match-b"), id, 1, sealed.Box)
	refused("moved to another event", keys, event.ID{1, 2, 4}, 1, sealed.Box)
	refused("moved to another place", keys, id, 0, sealed.Box)
	refused("moved to a place far away", keys, id, 1+256, sealed.Box)
	refused("no box", keys, id, 1, nil)
	for n := range len(sealed.Box) {
		refused("cut short", keys, id, 1, sealed.Box[:n])
		altered := slices.Clone(sealed.Box)
		altered[n] ^= 1
		refused("altered", keys, id, 1, altered)
	}
	refused("lengthened", keys, id, 1, append(slices.Clone(sealed.Box), 0))
}

// A box tells by its size neither what is in it nor whom it is for, as long as that fits.
func TestBoxesAreOfOneSize(t *testing.T) {
	keys := keysOf(t, 1, "match-a")
	for n := range 130 {
		for _, to := range [][]string{nil, {"a"}, {"a-player-with-a-long-name", "host"}} {
			f := face(`"`+strings.Repeat("x", n)+`"`, to...)
			sealed, err := keys.Seal(rand.Reader, event.ID{}, 0, &f)
			require.NoError(t, err)
			require.Len(t, sealed.Box, 12+256+16)
		}
	}
	long := face(`"` + strings.Repeat("x", 256) + `"`)
	sealed, err := keys.Seal(rand.Reader, event.ID{}, 0, &long)
	require.NoError(t, err)
	require.Len(t, sealed.Box, 12+512+16)
}

func TestSealTwiceIsNeverTheSame(t *testing.T) {
	keys := keysOf(t, 1, "match-a")
	f := face(`1`)
	one, err := keys.Seal(rand.Reader, event.ID{}, 0, &f)
	require.NoError(t, err)
	two, err := keys.Seal(rand.Reader, event.ID{}, 0, &f)
	require.NoError(t, err)
	assert.NotEqual(t, one.Box, two.Box)
	assert.NotContains(t, string(one.Box), `"data"`)
}

func TestSealNeedsEntropy(t *testing.T) {
	keys := keysOf(t, 1, "match-a")
	f := face(`1`)
	_, err := keys.Seal(bytes.NewReader(make([]byte, 11)), event.ID{}, 0, &f)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = keys.Seal(failing{}, event.ID{}, 0, &f)
	require.ErrorIs(t, err, errNone)
}

var errNone = errors.New("none left")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errNone }

func TestNames(t *testing.T) {
	a, b := keysOf(t, 1, "match-a"), keysOf(t, 1, "match-b")
	assert.Equal(t, a.Name("submission", "1", "key"), keysOf(t, 1, "match-a").Name("submission", "1", "key"))
	seen := map[event.ID]string{}
	for what, id := range map[string]event.ID{
		"parts":          a.Name("ab", "c"),
		"cut elsewhere":  a.Name("a", "bc"),
		"in one":         a.Name("abc"),
		"with an empty":  a.Name("ab", "c", ""),
		"another stream": b.Name("ab", "c"),
		"none":           a.Name(),
		"one empty":      a.Name(""),
		"another master": keysOf(t, 2, "match-a").Name("ab", "c"),
	} {
		assert.Empty(t, seen[id], "%s is the same as %s", what, seen[id])
		seen[id] = what
		assert.Equal(t, byte(0x80), id[6]&0xf0, "version 8")
		assert.Equal(t, byte(0x80), id[8]&0xc0, "the variant of RFC 9562")
	}
	assert.Len(t, a.MAC("x"), 32)
	assert.NotEqual(t, a.MAC("x", "y"), a.MAC("xy"))
}

func TestReveal(t *testing.T) {
	keys := keysOf(t, 1, "match-a")
	e := event.Event{ID: event.ID{7}, Type: "x.v1", By: event.Resolver, Public: json.RawMessage(`{}`), Hash: "h", Prev: "p"}
	faces := []event.Face{face(`1`, "sensei"), face(`{"b":2}`), face(`[3]`, "host")}
	for place := range faces {
		sealed, err := keys.Seal(rand.Reader, e.ID, place, &faces[place])
		require.NoError(t, err)
		e.Faces = append(e.Faces, sealed)
	}
	e.Opens = []event.Opening{{Revision: 3, Index: 1, Face: face(`4`)}}
	fact, err := keys.Reveal(12, &e)
	require.NoError(t, err)
	for place := range faces {
		assert.True(t, fact.Faces[place].Opens(e.Faces[place].Commitment))
	}
	fact.Faces = nil
	assert.Equal(t, event.Fact{
		Revision: 12, ID: e.ID, Type: "x.v1", By: event.Resolver, Public: e.Public, Opens: e.Opens, Hash: "h",
	}, fact)

	e.Faces[1], e.Faces[2] = e.Faces[2], e.Faces[1]
	_, err = keys.Reveal(12, &e)
	require.ErrorIs(t, err, event.ErrBox)
	assert.ErrorContains(t, err, "revision 12, face 1")
}

func anyFace(t *rapid.T) event.Face {
	data := rapid.SampledFrom([]string{
		`null`, `1`, `"é\n"`, `{}`, `{"a":[1,2,{"b":null}]}`, `"` + strings.Repeat("z", 300) + `"`, `[]`,
	}).Draw(t, "data")
	f := event.Face{
		Salt: rapid.SliceOfN(rapid.Byte(), event.SaltSize, event.SaltSize).Draw(t, "salt"),
		Data: json.RawMessage(data),
	}
	if to := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9-]{1,8}`), 0, 3).Draw(t, "to"); len(to) > 0 {
		f.To = to
	}
	return f
}
