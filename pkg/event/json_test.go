package event_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
)

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "missing or cut short"},
		{"blanks", " \t\r\n", "missing or cut short"},
		{"trailing value", `{} {}`, "something follows"},
		{"trailing byte", `1 x`, "something follows"},
		{"trailing NUL", "1\x00", "something follows"},
		{"a byte order mark", "\ufeff1", "not JSON"},
		{"a form feed", "\f1", "not JSON"},
		{"a no-break space", "\u00a01", "not JSON"},
		{"a word", `nul`, "not JSON"},
		{"a word too long", `nulls`, "something follows"},
		{"a word in capitals", `True`, "not JSON"},
		{"NaN", `NaN`, "not JSON"},
		{"a comment", `/**/1`, "not JSON"},
		{"single quotes", `'a'`, "not JSON"},

		{"a plus", `+1`, "not JSON"},
		{"a minus alone", `-`, "not a number"},
		{"a minus and a word", `-Infinity`, "not a number"},
		{"a leading zero", `01`, "something follows"},
		{"minus and a leading zero", `-01`, "something follows"},
		{"a point alone", `.5`, "not JSON"},
		{"a point at the end", `1.`, "after the point"},
		{"an exponent cut short", `1e`, "in the exponent"},
		{"an exponent's sign alone", `1e+`, "in the exponent"},
		{"two signs in the exponent", `1e+-1`, "in the exponent"},
		{"hex", `0x1`, "something follows"},
		{"underscores", `1_0`, "something follows"},

		{"a string cut short", `"a`, "cut short"},
		{"a string cut short after an escape", `"a\n`, "cut short"},
		{"an escape cut short", `"\`, "cut short"},
		{"an unknown escape", `"\x41"`, "unknown escape"},
		{"an escaped quote of the other kind", `"\'"`, "unknown escape"},
		{"a control character", "\"a\nb\"", "control character"},
		{"a control character after an escape", "\"\\n\x01\"", "control character"},
		{"NUL in a string", "\"\x00\"", "control character"},
		{"three hex digits", `"\u12"`, "four hex digits"},
		{"hex digits cut short", `"\u12`, "four hex digits"},
		{"a sign among hex digits", `"\u+123"`, "four hex digits"},
		{"an underscore among hex digits", `"\u1_23"`, "four hex digits"},
		{"a bad second half", `"\ud83d\u12"`, "four hex digits"},

		{"a list cut short", `[1`, "comma or a closing bracket"},
		{"a list that only opens", `[`, "missing or cut short"},
		{"a comma at a list's end", `[1,]`, "not JSON"},
		{"a comma at a list's start", `[,1]`, "not JSON"},
		{"no comma in a list", `[1 2]`, "comma or a closing bracket"},
		{"an object cut short", `{"a":1`, "comma or a closing brace"},
		{"an object that only opens", `{`, "a name in quotes"},
		{"a comma at an object's end", `{"a":1,}`, "a name in quotes"},
		{"a name without quotes", `{a:1}`, "a name in quotes"},
		{"a name that is a number", `{1:1}`, "a name in quotes"},
		{"no colon", `{"a" 1}`, "a colon"},
		{"no value", `{"a":}`, "not JSON"},
		{"a name cut short", `{"a`, "cut short"},
		{"a bad value in an object", `{"a":[01]}`, "comma or a closing bracket"},
		{"closed by the wrong bracket", `[1}`, "comma or a closing bracket"},

		{"too deep", strings.Repeat("[", 66) + strings.Repeat("]", 66), "too deep"},
		{"too deep in objects", strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), "too deep"},

		{"invalid UTF-8", "\"\xff\"", "not valid UTF-8"},
		{"an overlong form", "\"\xc0\xaf\"", "not valid UTF-8"},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", "not valid UTF-8"},
		{"UTF-8 cut short", "\"\xe2\x82\"", "not valid UTF-8"},
		{"invalid UTF-8 behind the value", "1 \xff", "not valid UTF-8"},

		{"a duplicate name", `{"a":1,"a":1}`, `"a" stands twice`},
		{"a duplicate name by an escape", `{"a":1,"\u0061":2}`, `"a" stands twice`},
		{"a duplicate empty name", `{"":1,"":1}`, `"" stands twice`},
		{"a duplicate name inside", `[{"x":{"b":1,"c":2,"b":3}}]`, `"b" stands twice`},
		{"a lone high surrogate", `"\ud83d"`, "lone surrogate"},
		{"a lone low surrogate", `"\ude00"`, "lone surrogate"},
		{"surrogates in the wrong order", `"\ude00\ud83d"`, "lone surrogate"},
		{"a high surrogate and a letter", `"\ud83dx"`, "lone surrogate"},
		{"a high surrogate and another escape", `"\ud83d\n"`, "lone surrogate"},
		{"a high surrogate and a plain escape", `"\ud83d\u0041"`, "lone surrogate"},
		{"two high surrogates", `"\ud83d\ud83d\ude00"`, "lone surrogate"},
		{"a lone surrogate in a name", `{"\ud83d":1}`, "lone surrogate"},
		{"a lone surrogate inside", `{"a":["\ud83d"]}`, "lone surrogate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := event.Parse([]byte(c.text))
			assert.ErrorContains(t, err, c.says)
		})
	}
}

func TestParseTellsWhere(t *testing.T) {
	for text, says := range map[string]string{`[1 2]`: "at byte 4", ``: "at byte 1", `{"a":01}`: "at byte 7", "\"é\x01\"": "at byte 4"} {
		_, err := event.Parse([]byte(text))
		require.ErrorContains(t, err, says, text)
	}
}

func TestParseReads(t *testing.T) {
	for _, c := range []struct {
		text string
		kind event.Kind
		says string // the content of a string, a number's literal, a word
	}{
		{` null `, event.Null, "null"},
		{`true`, event.Bool, "true"},
		{"\tfalse\r\n", event.Bool, "false"},
		{`0`, event.Number, "0"},
		{`-0`, event.Number, "-0"},
		{`-12.50e-3`, event.Number, "-12.50e-3"},
		{`1E+2`, event.Number, "1E+2"},
		{`""`, event.String, ""},
		{`"a b"`, event.String, "a b"},
		{`"\"\\\/\b\f\n\r\t"`, event.String, "\"\\/\b\f\n\r\t"},
		{`"x\u0000\u00e9\u20acy"`, event.String, "x\x00é€y"},
		{`"\ud83d\ude00"`, event.String, "😀"},
		{`"\uD83D\uDE00!"`, event.String, "😀!"},
		{`"😀\n😀"`, event.String, "😀\n😀"},
		{"\"\x7f\"", event.String, "\x7f"},
		{`"\ufffd"`, event.String, "\ufffd"},
	} {
		v, err := event.Parse([]byte(c.text))
		require.NoError(t, err, c.text)
		assert.Equal(t, c.kind, v.Kind, c.text)
		assert.Equal(t, c.says, v.Text(), c.text)
		assert.Equal(t, strings.Trim(c.text, " \t\r\n"), v.Raw())
		assert.Equal(t, c.text == "true", v.True())
	}
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	_, err := event.Parse([]byte(deep))
	require.NoError(t, err, "64 levels inside the first")
}

func TestParseReadsWhatIsNested(t *testing.T) {
	v, err := event.Parse([]byte(` { "b" : [ 1 , { } , [ ] ] , "a" : { "c" : "d" } } `))
	require.NoError(t, err)
	require.Len(t, v.Members(), 2)
	assert.Equal(t, "b", v.Members()[0].Name, "in the order written")
	list, ok := v.Get("b")
	require.True(t, ok)
	require.Len(t, list.Items(), 3)
	assert.Equal(t, `[ 1 , { } , [ ] ]`, list.Raw())
	assert.Equal(t, event.Object, list.Items()[1].Kind)
	assert.Empty(t, list.Items()[1].Members())
	assert.Equal(t, event.Array, list.Items()[2].Kind)
	a, _ := v.Get("a")
	c, ok := a.Get("c")
	require.True(t, ok)
	assert.Equal(t, "d", c.Text())
	for _, name := range []string{"A", "", "c"} {
		_, ok = v.Get(name)
		assert.False(t, ok, "names are exact")
	}
	_, ok = list.Get("b")
	assert.False(t, ok, "a list has no members")
}

func TestParseLooseTellsFaults(t *testing.T) {
	v, err := event.ParseLoose([]byte(`{"good":{"a":1},"bad":[{"a":1,"a":2}],"worse":"\ud800"}`))
	require.NoError(t, err)
	require.ErrorContains(t, v.Fault(), "stands twice")
	good, _ := v.Get("good")
	require.NoError(t, good.Fault())
	require.Error(t, v.FaultOutside("bad"))
	require.Error(t, v.FaultOutside("worse"))

	v, err = event.ParseLoose([]byte(`{"at":1,"submit":{"a":1,"a":2,"b":"\udc00"}}`))
	require.NoError(t, err)
	require.NoError(t, v.FaultOutside("submit"))
	require.Error(t, v.FaultOutside("at"))
	v, err = event.ParseLoose([]byte(`{"submit":1,"submit":1}`))
	require.NoError(t, err)
	require.Error(t, v.FaultOutside("submit"), "the name twice is no fault inside it")
	v, err = event.ParseLoose([]byte(`"x\ud800y"`))
	require.NoError(t, err)
	assert.Equal(t, "x\ufffdy", v.Text())
	_, err = event.ParseLoose([]byte(`{"a":1,}`))
	require.Error(t, err, "loose is not lax")
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"12", 12, true},
		{"-7", -7, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"9223372036854775808", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"-9223372036854775809", math.MinInt64, true},
		{"1000000000000000000000000000000", math.MaxInt64, true},
		{"-1000000000000000000000000000000", math.MinInt64, true},
		{"2.0", 0, false},
		{"2e0", 0, false},
		{"2E0", 0, false},
		{"-1.5", 0, false},
		{`"2"`, 0, false},
		{"null", 0, false},
		{"true", 0, false},
		{"[2]", 0, false},
		{"{}", 0, false},
	} {
		v, err := event.Parse([]byte(c.text))
		require.NoError(t, err)
		n, ok := v.Int()
		assert.Equal(t, c.ok, ok, c.text)
		assert.Equal(t, c.n, n, c.text)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, name := range map[event.Kind]string{
		event.Null: "null", event.Bool: "a boolean", event.Number: "a number", event.String: "a string",
		event.Array: "a list", event.Object: "an object",
	} {
		assert.Equal(t, name, kind.String())
	}
}

// An object with very many names takes no longer than it is long: it could come from anybody. Where each name is compared
// with each, this one takes minutes.
func TestManyNamesAreNoWeapon(t *testing.T) {
	const names = 150_000
	var b strings.Builder
	for i := range names {
		b.WriteString(`,"` + strings.Repeat("a", i%7) + jsonNumber(i) + `":0`)
	}
	read := make(chan error, 1)
	go func() {
		v, err := event.Parse([]byte("{" + b.String()[1:] + "}"))
		if err == nil && len(v.Members()) != names {
			err = fmt.Errorf("there are %d names", len(v.Members()))
		}
		read <- err
	}()
	select {
	case err := <-read:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		t.Fatal("it has not been read in 30 seconds")
	}
	for _, n := range []int{1, 15, 16, 17, 40} { // the first name, again behind so many
		text := `{"x":0`
		for i := range n - 1 {
			text += `,"` + jsonNumber(i) + `":0`
		}
		_, err := event.Parse([]byte(text + "}"))
		require.NoError(t, err)
		for _, name := range []string{"x", jsonNumber(n - 2)} {
			if n > 1 || name == "x" {
				_, err = event.Parse([]byte(text + `,"` + name + `":0}`))
				require.ErrorContains(t, err, "stands twice")
			}
		}
	}
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// FuzzParse compares with encoding/json, which is laxer: what is strict here is well-formed there and the same value,
// and what is well-formed there, UTF-8, not too deep and free of faults is taken here.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,true,null,"x\ud83d\ude00"],"b":{}}`, `"\u0041\n"`, ` [ ] `, `{"a":1,"a":2}`, `"\ud800"`, `1e+9`,
		`[[[[[[]]]]]]`, "\"\xff\"", `{"\r":1,"1":2,"\u0080":3,"\ufb33":4,"\ud83d\ude02":5}`, `-0`, `9007199254740993`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := event.ParseLoose(data)
		if err != nil {
			if json.Valid(data) && utf8.Valid(data) {
				require.ErrorContains(t, err, "too deep")
			}
			return
		}
		require.True(t, json.Valid(data), "encoding/json refuses it")
		var theirs any
		if decoder := json.NewDecoder(strings.NewReader(string(data))); v.Fault() == nil {
			decoder.UseNumber()
			require.NoError(t, decoder.Decode(&theirs))
			require.Equal(t, theirs, asAny(v))
		}
		canonical, err := v.AppendCanonical(nil)
		if err != nil || v.Fault() != nil {
			return
		}
		again, err := event.Parse(canonical)
		require.NoError(t, err)
		twice, err := again.AppendCanonical(nil)
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(twice), "the canonical form of a canonical form is itself")
		made, err := event.Canonical(json.RawMessage(data))
		require.NoError(t, err)
		require.Equal(t, string(canonical), string(made))
	})
}

// asAny returns the value as encoding/json would with UseNumber.
func asAny(v event.Value) any {
	switch v.Kind {
	case event.Bool:
		return v.True()
	case event.Number:
		return json.Number(v.Text())
	case event.String:
		return v.Text()
	case event.Array:
		list := make([]any, len(v.Items()))
		for i, item := range v.Items() {
			list[i] = asAny(item)
		}
		return list
	case event.Object:
		object := map[string]any{}
		for _, m := range v.Members() {
			object[m.Name] = asAny(m.Value)
		}
		return object
	default:
		return nil
	}
}
