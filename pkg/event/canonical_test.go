package event_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/event"
)

// The vectors of RFC 8785 and of its author's test data, as far as they hold no number that is not whole.
func TestCanonicalVectors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"sorting, section 3.2.3",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
				"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
				`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
		},
		{
			"strings and literals, section 3.2.2",
			`{"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null, true, false]}`,
			`{"literals":[null,true,false],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			"weird names",
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\u000a":"Newline","1":"One","\u0080":"Control\u007f",
				"\ud83d\ude02":"Smiley","\u00f6":"Latin","\ufb33":"Hebrew","</script>":"Browser Challenge"}`,
			`{"\n":"Newline","\r":"Carriage Return","1":"One","</script>":"Browser Challenge","` + "\u0080" +
				`":"Control` + "\u007f" + `","ö":"Latin","€":"Euro Sign","😂":"Smiley","` + "\ufb33" + `":"Hebrew"}`,
		},
		{
			"structures",
			`{"1":{"f":{"f":"hi","F":5},"\n":56},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}`,
			`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
		},
		{
			"French", `{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but","sin":"canonical"}`,
			`{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but","sin":"canonical"}`,
		},
		{"nothing is normalised", `{"Unnormalized Unicode":"A\u030a"}`, `{"Unnormalized Unicode":"A` + "\u030a" + `"}`},
		{"arrays keep their order", "[\n56,\n{\"d\":true,\"10\":null,\"1\":[]}]", `[56,{"1":[],"10":null,"d":true}]`},
		{"every escape", `"\u0000\u0001\b\t\n\u000b\f\r\u001f \u0022\u002f\u005c\u007f"`,
			`"\u0000\u0001\b\t\n\u000b\f\r\u001f \"/\\` + "\u007f" + `"`},
		{"HTML is left alone", `"<&>\u2028\u2029"`, "\"<&>\u2028\u2029\""},
		{"a prefix comes first", `{"aa":1,"a":2,"":3,"ab":4}`, `{"":3,"a":2,"aa":1,"ab":4}`},
		{"minus nothing", `[-0,0]`, `[0,0]`},
		{"the largest", `[9007199254740991,-9007199254740991]`, `[9007199254740991,-9007199254740991]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := event.Parse([]byte(c.text))
			require.NoError(t, err)
			got, err := v.AppendCanonical([]byte("before"))
			require.NoError(t, err)
			assert.Equal(t, "before"+c.want, string(got))
			made, err := event.Canonical(json.RawMessage(c.text))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(made))
		})
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, text := range []string{
		"1.5", "1.0", "1e3", "9007199254740992", "-9007199254740992", "1e400", "1000000000000000000000000000000",
		`[1,[2.5]]`, `{"a":{"b":1.0}}`,
	} {
		v, err := event.Parse([]byte(text))
		require.NoError(t, err)
		_, err = v.AppendCanonical(nil)
		require.ErrorContains(t, err, "not a whole number", text)
	}
	_, err := event.Canonical(make(chan int))
	require.ErrorContains(t, err, "no JSON can be made of chan int")
	_, err = event.Canonical(0.5)
	require.Error(t, err)
	_, err = event.Canonical(json.RawMessage(`{"a":1,"a":2}`))
	require.ErrorContains(t, err, "stands twice")
	type nested struct{ A any }
	deep := any(nil)
	for range 70 {
		deep = nested{deep}
	}
	_, err = event.Canonical(deep)
	require.ErrorContains(t, err, "too deep")
}

func TestCanonicalOfGoValues(t *testing.T) {
	type inner struct {
		Z int    `json:"z"`
		A string `json:"a"`
	}
	got, err := event.Canonical(struct {
		List  []inner        `json:"list"`
		Map   map[string]int `json:"map"`
		Empty []string       `json:"empty"`
		None  *int           `json:"none"`
	}{[]inner{{1, "<&>"}}, map[string]int{"b": 2, "a": 1}, []string{}, nil})
	require.NoError(t, err)
	want := `{"empty":[],"list":[{"a":"<&>","z":1}],"map":{"a":1,"b":2},"none":null}`
	assert.Equal(t, want, string(got))
}

// Names are sorted by UTF-16 code units, which is not the order of their bytes beyond the basic plane.
func TestCanonicalSortsByUTF16(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chars := rapid.SampledFrom([]rune("a\u00e9\u07ff\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600\U0010ffff\x01\""))
		names := rapid.SliceOfNDistinct(rapid.StringOfN(chars, 0, 4, -1), 0, 8, rapid.ID[string]).Draw(t, "names")
		object := map[string]int{}
		for i, name := range names {
			object[name] = i
		}
		got, err := event.Canonical(object)
		require.NoError(t, err)
		v, err := event.Parse(got)
		require.NoError(t, err)
		var order []string
		for _, m := range v.Members() {
			order = append(order, m.Name)
		}
		slices.SortFunc(names, func(a, b string) int {
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		})
		require.Equal(t, strings.Join(names, "\x00"), strings.Join(order, "\x00"))
	})
}

// Making the canonical form leaves the value as it was written.
func TestCanonicalLeavesTheValueAlone(t *testing.T) {
	v, err := event.Parse([]byte(`{"b":1,"a":{"d":2,"c":3}}`))
	require.NoError(t, err)
	for range 2 {
		got, err := v.AppendCanonical(nil)
		require.NoError(t, err)
		want := `{"a":{"c":3,"d":2},"b":1}`
		assert.Equal(t, want, string(got))
		assert.Equal(t, "b", v.Members()[0].Name)
		inner, _ := v.Get("a")
		assert.Equal(t, "d", inner.Members()[0].Name)
	}
}
