package event_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestIDsAreWrittenAsUUIDs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := event.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "id"))
		text := id.String()
		assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, text)
		back, err := event.ParseID(text)
		require.NoError(t, err)
		assert.Equal(t, id, back)
	})
	id, err := event.ParseID("00010203-0405-0607-0809-0a0b0c0d0e0f")
	require.NoError(t, err)
	assert.Equal(t, event.ID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, id)
	for _, text := range []string{
		"", "00010203-0405-0607-0809-0a0b0c0d0e0", "00010203-0405-0607-0809-0a0b0c0d0e0f0", "000102030405060708090a0b0c0d0e0f",
		"00010203x0405-0607-0809-0a0b0c0d0e0f", "00010203-0405x0607-0809-0a0b0c0d0e0f", "00010203-0405-0607x0809-0a0b0c0d0e0f",
		"00010203-0405-0607-0809x0a0b0c0d0e0f", "0001020g-0405-0607-0809-0a0b0c0d0e0f", "00010203-0405-0607-0809-0a0b0c0d0e-f",
	} {
		_, err := event.ParseID(text)
		assert.Error(t, err, text)
	}
}

// example is an event with everything in it.
func example() event.Event {
	e := event.Event{
		ID:     event.ID{0, 1, 2, 3, 4, 5, 0x86, 7, 0x88, 9, 10, 11, 12, 13, 14, 15},
		Type:   "glass-full.turn-taken.v1",
		At:     time.Date(2030, 1, 31, 20, 0, 0, 120_000_000, time.FixedZone("CET", 3600)),
		By:     event.Resolver,
		Public: json.RawMessage(`{"marks":["0-5"],"player":"sensei","title":"\"€\u0001"}`),
		Prev:   strings.Repeat("0f", 32),
	}
	for _, f := range []event.Face{face(`{"cups":3}`, "sensei"), face(`{"level":3}`)} {
		e.Faces = append(e.Faces, event.Sealed{Commitment: f.Commitment(), Box: []byte("a box is bytes")})
	}
	e.Faces = append(e.Faces, event.Sealed{Commitment: strings.Repeat("ab", 32)})
	e.Opens = []event.Opening{
		{Revision: 3, Index: 1, Face: face(`{"x":[1]}`, "sensei", "host")},
		{Revision: 0, Index: 0, Face: face(`null`)},
	}
	e.Hash = e.ComputeHash()
	return e
}

// TestTheHashIsForOthersToCompute keeps an event's stored form and its hash on file, so that programs in any language
// can rely on both: the hash is SHA-256 of the canonical object without "hash", each face being its commitment.
func TestTheHashIsForOthersToCompute(t *testing.T) {
	e := example()
	stored := string(e.AppendStored(nil))
	file := filepath.Join("testdata", "event.golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(stored+"\n"), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), stored+"\n")
	assert.Contains(t, stored, `"at":"2030-01-31T19:00:00.12Z"`, "in UTC, with a fraction only where there is one")
	assert.Contains(t, stored, `"hash":"`+e.Hash+`"`)

	canonical, err := event.Canonical(json.RawMessage(stored))
	require.NoError(t, err)
	assert.Equal(t, string(canonical), stored, "what is stored is canonical")
}

func TestTheHashIsOfAllThatIsPublic(t *testing.T) {
	hash := example().Hash
	for name, change := range map[string]func(*event.Event){
		"id":         func(e *event.Event) { e.ID[15]++ },
		"type":       func(e *event.Event) { e.Type += "0" },
		"at":         func(e *event.Event) { e.At = e.At.Add(1) },
		"by":         func(e *event.Event) { e.By = event.Host },
		"public":     func(e *event.Event) { e.Public = json.RawMessage(`{}`) },
		"commitment": func(e *event.Event) { e.Faces[0].Commitment = e.Faces[2].Commitment },
		"order":      func(e *event.Event) { e.Faces[0], e.Faces[1] = e.Faces[1], e.Faces[0] },
		"fewer":      func(e *event.Event) { e.Faces = e.Faces[:2] },
		"opens":      func(e *event.Event) { e.Opens = e.Opens[:1] },
		"opened":     func(e *event.Event) { e.Opens[1].Index++ },
		"revision":   func(e *event.Event) { e.Opens[1].Revision++ },
		"data":       func(e *event.Event) { e.Opens[0].Face.Data = json.RawMessage(`1`) },
		"to":         func(e *event.Event) { e.Opens[0].Face.To = nil },
		"salt":       func(e *event.Event) { e.Opens[0].Face.Salt = []byte{1} },
		"prev":       func(e *event.Event) { e.Prev = "" },
	} {
		e := example()
		change(&e)
		assert.NotEqual(t, hash, e.ComputeHash(), name)
	}
	e := example()
	e.Faces[0].Box, e.Hash, e.At = []byte("another box"), "", e.At.UTC()
	assert.Equal(t, hash, e.ComputeHash(), "the boxes, the hash itself and the zone are no part of it")
}

func TestStoredEventsAreReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := anyEvent(rt)
		stored := e.AppendStored([]byte("x"))[1:]
		v, err := event.Parse(stored)
		require.NoError(t, err)
		back, err := event.Decode(v)
		require.NoError(t, err)
		assert.Equal(t, string(stored), string(back.AppendStored(nil)))
		assert.Equal(t, e.ComputeHash(), back.ComputeHash())
		assert.True(t, e.At.Equal(back.At))
		back.At, e.At = time.Time{}, time.Time{}
		assert.Equal(t, e, back)
	})
}

func anyEvent(t *rapid.T) event.Event {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab-.\"\\\n\x00é€😀")), 0, 12, -1)
	e := event.Event{
		ID:     event.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")),
		Type:   text.Draw(t, "type"),
		At:     time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
		By:     event.Role(text.Draw(t, "by")),
		Public: json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"a":{"b":[1,"é"]}}`}).Draw(t, "public")),
		Prev:   rapid.SampledFrom([]string{"", strings.Repeat("a1", 32)}).Draw(t, "prev"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "faces") {
		s := event.Sealed{Commitment: strings.Repeat("c2", 32)}
		if rapid.Bool().Draw(t, "boxed") {
			s.Box = rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "box")
		}
		e.Faces = append(e.Faces, s)
	}
	for range rapid.IntRange(0, 3).Draw(t, "opens") {
		e.Opens = append(e.Opens, event.Opening{
			Revision: rapid.Uint64Range(0, 1<<53-1).Draw(t, "revision"), Index: rapid.IntRange(0, 64).Draw(t, "face"),
			Face: anyFace(t),
		})
	}
	e.Hash = e.ComputeHash()
	return e
}

func TestDecodeRefuses(t *testing.T) {
	e := example()
	good := string(e.AppendStored(nil))
	for name, change := range map[string][2]string{
		"no type":                  {`"type":`, `"typ":`},
		"a type that is none":      {`"type":"glass-full.turn-taken.v1"`, `"type":1`},
		"no role":                  {`"by":`, `"b":`},
		"no prev":                  {`"prev":"`, `"pre":"`},
		"no hash":                  {`"hash":"`, `"has":"`},
		"an id that is none":       {`"id":"00010203-`, `"id":"00010203`},
		"no id":                    {`"id":`, `"ID":`},
		"a time that is none":      {`"at":"2030-01-31T19`, `"at":"2030-01-31T29`},
		"no time":                  {`"at":`, `"aT":`},
		"no public part":           {`"public":{`, `"Public":{`},
		"a public part that is no": {`"public":{"marks":["0-5"],"player":"sensei","title":"\"€\u0001"}`, `"public":[]`},
		"no faces":                 {`"faces":[`, `"Faces":[`},
		"a face that is a number":  {`"faces":[{`, `"faces":[1,{`},
		"a face with no box":       {`"faces":[{"box":`, `"faces":[{"Box":`},
		"a box that is no base64":  {`"box":"YSBib3gg`, `"box":"YSBib3g*`},
		"no commitment":            {`"commitment":`, `"Commitment":`},
		"no opens":                 {`"opens":[`, `"Opens":[`},
		"an opening that is none":  {`"opens":[{`, `"opens":["x",{`},
		"an opening with no data":  {`"opens":[{"data":`, `"opens":[{"Data":`},
		"an opening of no face":    {`"face":1`, `"Face":1`},
		"of a negative face":       {`"face":1`, `"face":-1`},
		"of half a face":           {`"face":1`, `"face":1.5`},
		"of a huge face":           {`"face":1`, `"face":100000`},
		"of no revision":           {`"revision":3`, `"Revision":3`},
		"of a negative revision":   {`"revision":3`, `"revision":-3`},
		"of half a revision":       {`"revision":3`, `"revision":3.5`},
		"no salt":                  {`"salt":"`, `"Salt":"`},
		"a salt that is no hex":    {`"salt":"09`, `"salt":"0x`},
		"no audiences":             {`"to":[`, `"To":[`},
		"an audience that is none": {`"to":["sensei"`, `"to":[1,"sensei"`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, change[0], change[1], 1)
			require.NotEqual(t, good, bad)
			v, err := event.Parse([]byte(bad))
			require.NoError(t, err)
			got, err := event.Decode(v)
			require.ErrorContains(t, err, "can't be read")
			assert.NotContains(t, err.Error(), "sensei", "an error quotes no value")
			assert.Equal(t, event.Event{}, got)
		})
	}
	v, err := event.Parse([]byte(`[]`))
	require.NoError(t, err)
	_, err = event.Decode(v)
	require.Error(t, err)
}
