package statements_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/games/nothingbutthetruth"
	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// pool is a list of statements, true and false in turn as the pattern says.
func pool(n int, pattern string) []statements.Statement {
	list := make([]statements.Statement, n)
	for i := range list {
		list[i] = statements.Statement{Text: fmt.Sprintf("Statement %d", i+1), Truth: pattern[i%len(pattern)] == 'T'}
	}
	return list
}

// table is a list as a file with a header.
func table(separator string, list []statements.Statement) string {
	var b strings.Builder
	b.WriteString("text" + separator + "truth\n")
	for _, s := range list {
		fmt.Fprintf(&b, "%s%s%t\n", s.Text, separator, s.Truth)
	}
	return b.String()
}

func read(t *testing.T, content string) *statements.File {
	t.Helper()
	f, err := statements.Read(strings.NewReader(content))
	require.NoError(t, err)
	return f
}

func printed(problems []statements.Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return lines
}

func TestFormats(t *testing.T) {
	t.Parallel()
	list := pool(52, "TFFT")
	plain := table(",", list)
	asJSON, err := json.Marshal(list)
	require.NoError(t, err)
	for _, c := range []struct{ name, content string }{
		{"CSV", plain},
		{"TSV", table("\t", list)},
		{"semicolons", table(";", list)},
		{"a byte order mark", "\ufeff" + plain},
		{"CR LF", strings.ReplaceAll(plain, "\n", "\r\n")},
		{"CR", strings.ReplaceAll(plain, "\n", "\r")},
		{"no line end at the end", strings.TrimSuffix(plain, "\n")},
		{"empty lines", "\n\n" + strings.ReplaceAll(plain, "\n", "\n\n") + " \n,\n,,,\n"},
		{"capitals", "TEXT,Truth" + strings.ToUpper(plain[10:])},
		{"blanks", strings.ReplaceAll(strings.ReplaceAll(plain, ",", " , "), "\n", " \n ")},
		{"more columns", "source," + strings.ReplaceAll(strings.TrimSuffix(plain, "\n"), "\n", ",note\n\"a, b\",") + ",note"},
		{"a JSON list", string(asJSON)},
		{"JSON by a byte order mark", "\ufeff \r\n" + string(asJSON)},
		{"a set-up", `{"game": "nothing-but-the-truth", "statements": ` + string(asJSON) + `}`},
		{"what Encode gives", string(statements.Encode(list))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := read(t, c.content)
			assert.Empty(t, printed(f.ForMatch()))
			assert.Empty(t, printed(f.ForPool()))
			want := list
			if c.name == "capitals" {
				want = nil
				for _, s := range list {
					want = append(want, statements.Statement{Text: strings.ToUpper(s.Text), Truth: s.Truth})
				}
			}
			assert.Equal(t, want, f.Statements)
		})
	}
}

func TestTruthWords(t *testing.T) {
	t.Parallel()
	f := read(t, "truth,statement\nTrue,a\nT,b\nyes,c\nY,d\n1,e\nFALSE,f\nf,g\nNo,h\nn,i\n0,j\n")
	require.Empty(t, f.Problems)
	for i, s := range f.Statements {
		assert.Equal(t, string(rune('a'+i)), s.Text)
		assert.Equal(t, i < 5, s.Truth)
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	want := []statements.Statement{{Text: `He said "no", twice`, Truth: true}, {Text: `"A" and "B"`}, {Text: `"`}, {Text: `5" long`}}
	for _, c := range []string{
		"text,truth\n\"He said \"\"no\"\", twice\",true\n\"\"\"A\"\" and \"\"B\"\"\",\"false\"\n\"\"\"\",0\n\"5\"\" long\",0",
		"text\ttruth\n\"He said \"\"no\"\", twice\"\ttrue\n\"\"\"A\"\" and \"\"B\"\"\"\t\"false\"\n\"\"\"\"\t0\n\"5\"\" long\"\t0",
		"text\ttruth\nHe said \"no\", twice\ttrue\n\"A\" and \"B\"\tfalse\n\"\t0\n5\" long\t0",
	} {
		f := read(t, c)
		assert.Empty(t, printed(f.Problems))
		assert.Equal(t, want, f.Statements)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	const words = "the truth must be true or false (or t, f, yes, no, y, n, 1, 0); a text that holds the separator must stand in quotes"
	const quotes = "quotation marks that don't fit: put the field into \"...\" and double each one that stands within"
	long := strings.Repeat("ü", 500)
	for _, c := range []struct {
		name, content string
		read          int
		want          []string
	}{
		{"nothing", "", 0, []string{`the file is empty: it needs a header with the columns "text" and "truth"`}},
		{"blanks alone", " \n\t\n", 0, []string{`the file is empty: it needs a header with the columns "text" and "truth"`}},
		{"no header", "Water is wet,true\n", 0, []string{
			`line 1: the header has no column "text"`, `line 1: the header has no column "truth"`}},
		{"no truth", "\ntext,answer\nx,true\n", 0, []string{`line 2: the header has no column "truth"`}},
		{"no text", "question,truth\nx,true\n", 0, []string{`line 1: the header has no column "text"`}},
		{"no truth between tabs", "text\tnote\nx\ttrue\n", 0, []string{`line 1: the header has no column "truth"`}},
		{"a column twice", "text,truth,Statement\nx,true,y\n", 0, []string{`line 1: the header has the column "text" more than once`}},
		{"a header with a quotation mark", "text,\"truth\nx,true\n", 0, []string{"line 1: " + quotes}},
		{"an unknown truth", "text,truth\na,true\nb,maybe\nc,\nd,TRUE!\n", 1, []string{
			"line 3: " + words, "line 4: " + words, "line 5: " + words}},
		{"no truth in a row", "text,truth\na\nb,true\n", 1, []string{"line 2: the row has fewer fields than it needs"}},
		{"a comma in a text", "text,truth\na, b,true\ntruth,f\n", 1, []string{
			"line 2: the row has more fields than the header: a text that holds the separator must stand in quotes"}},
		{"a comma in a text behind the truth", "truth,text\ntrue,a, b\nf,c,\n", 1, []string{
			"line 2: the row has more fields than the header: a text that holds the separator must stand in quotes"}},
		{"a quotation mark", "text,truth\na \"b\" c,true\nd,true\n", 1, []string{"line 2: " + quotes}},
		{"a quotation that isn't closed", "text,truth\n\"a,true\nd,true\n", 0, []string{"line 2: " + quotes}},
		{"an empty text", "text,truth\n,true\n \u00a0,true\n\u200b,true\n", 0, []string{
			"line 2: the text is empty", "line 3: the text is empty", "line 4: the text is empty"}},
		{"a long text", "text,truth\n" + long + ",true\nx" + long + ",f\n", 1, []string{
			"line 3: the text has 501 characters, at most 500 are allowed"}},
		{"a line break in a text", "text,truth\n\"a\r\nb\",true\nc,f\n", 1, []string{
			"line 2: the text holds a character that can't be displayed, U+000A"}},
		{"what can't be displayed", "text,truth\na\u202eb,true\na\u0007b,f\na\u200db,f\n\ue000,f\n", 1, []string{
			"line 2: the text holds a character that can't be displayed, U+202E",
			"line 3: the text holds a character that can't be displayed, U+0007",
			"line 5: the text is empty"}},
		{"the same text", "text,truth\na  b,true\nc,f\n A B,t\nC,t\n", 4, []string{
			"line 4: the same text as in line 2", "line 5: the same text as in line 3, but there it is false"}},
		{"not UTF-8", "text,truth\na,true\n\xfc,true\nb,\xff\n", 0, []string{
			"line 3: not UTF-8: save the file as UTF-8", "line 4: not UTF-8: save the file as UTF-8"}},
		{"UTF-16", "\xff\xfet\x00", 0, []string{"the file is UTF-16: save it as UTF-8"}},
		{"UTF-16, the other way", "\xfe\xff\x00t", 0, []string{"the file is UTF-16: save it as UTF-8"}},

		{"broken JSON", "[", 0, []string{"line 1: not one JSON value: the JSON value is missing or cut short, at byte 2"}},
		{"two JSON values", "[]\n[]", 0, []string{"line 2: not one JSON value: something follows the JSON value, at byte 4"}},
		{"a comma forgotten", "[\n{\"text\": \"a\", \"truth\": true}\n\n{}]", 0, []string{
			"line 4: not one JSON value: a comma or a closing bracket is expected, at byte 33"}},
		{"nested too deep", strings.Repeat("[", 99) + strings.Repeat("]", 99), 0, []string{
			"not one JSON value: nested too deep, at byte 66"}},
		{"an object without statements", `{"text": "a"}`, 0, []string{
			`the JSON must be a list of {"text", "truth"}, or an object with such a list as its "statements"`}},
		{"statements twice", `{"statements": [{"text": "a", "truth": true}], "statements": []}`, 1, []string{
			`the name "statements" stands twice in one object`}},
		{"faults of JSON items", `[
			{"text": "a", "truth": true}, "b",
			{"text": "c"}, {"truth": true},
			{"text": "d",
			 "truth": "true"},
			{"text": "e", "truth": true, "source": ""}, {"text": 1, "truth": true}, {"text": "f", "text": "g", "truth": true},
			{"text": "\ud800", "truth": true}, {"text": "", "truth": true}, {"text": "a", "truth": true}
		]`, 2, []string{
			`line 2: a statement must be an object {"text", "truth"}`,
			`line 3: "truth" must be there and be true or false, without quotes`,
			`line 3: "text" must be there and be a string`,
			`line 4: "truth" must be there and be true or false, without quotes`,
			`line 6: a statement has "text" and "truth" and nothing else`,
			`line 6: "text" must be there and be a string`,
			`line 6: the name "text" stands twice in one object`,
			`line 7: a lone surrogate stands in a string`,
			`line 7: the text is empty`,
			`line 7: the same text as in line 2`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := read(t, c.content)
			assert.Len(t, f.Statements, c.read)
			assert.Equal(t, c.want, printed(f.Problems))
			assert.False(t, statements.Passes(f.Problems))
		})
	}
}

func TestTheWholeListForAMatch(t *testing.T) {
	t.Parallel()
	cycles := pool(52, "TTFF")
	for _, i := range []int{8, 9, 10, 11} {
		cycles[i].Truth = true
	}
	for _, i := range []int{48, 49, 50, 51} {
		cycles[i].Truth = false
	}
	for _, c := range []struct {
		name string
		list []statements.Statement
		want []string
	}{
		{"well", pool(52, "TTFF"), nil},
		{"51", pool(51, "TTFF"), []string{"a match takes exactly 52 statements; 51 could be read"}},
		{"56", append(pool(52, "TTFF"), statements.Statement{Text: "a"}, statements.Statement{Text: "b"},
			statements.Statement{Text: "c"}, statements.Statement{Text: "d"}),
			[]string{"a match takes exactly 52 statements; 56 could be read"}},
		{"none", nil, []string{"a match takes exactly 52 statements; 0 could be read"}},
		{"cycles of one kind", cycles, []string{
			"cycle 3 (lines 10 to 13) is all true: each four must hold at least one true and one false",
			"cycle 13 (lines 50 to 53) is all false: each four must hold at least one true and one false"}},
		{"lopsided", pool(52, "TFFF"), []string{
			"warning: 13 of 52 statements are true; a share of 40-60% makes the better game"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := read(t, table(",", c.list))
			require.Empty(t, f.Problems)
			problems := f.ForMatch()
			assert.Equal(t, c.want, printed(problems))
			assert.Equal(t, len(c.want) == 0 || strings.HasPrefix(c.want[0], "warning"), statements.Passes(problems))
		})
	}
	f := read(t, "text,truth\n,t\n")
	assert.Equal(t, []string{"line 2: the text is empty", "a match takes exactly 52 statements; 0 could be read"},
		printed(f.ForMatch()))
	assert.Len(t, f.Problems, 1, "asking changes nothing")
}

func TestTheLimitsOfAFile(t *testing.T) {
	t.Parallel()
	_, err := statements.Read(io.MultiReader(strings.NewReader("text,truth\n"), strings.NewReader(strings.Repeat(" ", 4<<20))))
	require.EqualError(t, err, "the file is larger than 4 MiB")
	_, err = statements.Read(iotest.ErrReader(errors.New("the disk is gone")))
	require.EqualError(t, err, "reading the statements: the disk is gone")
	f := read(t, "text,truth\n"+strings.Repeat("x,perhaps\n", 1500))
	assert.Len(t, f.Problems, 1001)
	assert.Equal(t, "line 1002: there are more problems than are listed here", f.Problems[1000].String())
}

// created reports whether a match can be created of a list.
func created(list []byte) error {
	v, err := event.Parse(append(append([]byte(`{"game": "nothing-but-the-truth", "players": [{"id": "a", "name": "A"},
		{"id": "b", "name": "B"}], "statements": `), list...), '}'))
	if err != nil {
		return err
	}
	setup, err := match.ParseSetup(match.Catalog{nothingbutthetruth.Game()}, v)
	if err == nil {
		_, _, err = match.Create("m", setup, make([]byte, 32), false, time.Time{})
	}
	return err
}

func FuzzRead(f *testing.F) {
	short := "text,truth" // short, for the fuzzer to be quick
	for i := range 52 {
		short += fmt.Sprintf("\n%d,%d", i, i%2)
	}
	f.Add([]byte(short), "seed")
	f.Add([]byte(strings.ReplaceAll(short, ",", "\t")+"\nx\ty"), "")
	f.Add([]byte("text;truth\n\"a\";1\n"), "0")
	f.Add([]byte(`{"statements": [{"text": "a", "truth": true}, {"text": "a", "truth": 0}, []]}`), "x")
	f.Add([]byte("\ufefftruth,text\r\ntrue,\"a\nb\"\r\"\",\"\""), "")
	f.Fuzz(func(t *testing.T, content []byte, seed string) {
		file, err := statements.Read(bytes.NewReader(content))
		if err != nil {
			t.Skip("too large to be read")
		}
		lines := 1 + bytes.Count(content, []byte("\n")) + bytes.Count(content, []byte("\r"))
		for _, p := range file.Problems {
			if p.Line < 0 || p.Line > lines || p.Detail == "" {
				t.Fatalf("%d lines, problem %q", lines, p)
			}
		}
		encoded := statements.Encode(file.Statements)
		again, err := statements.Read(bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(again.Statements) != fmt.Sprint(file.Statements) {
			t.Fatalf("%+v encodes to %+v", file.Statements, again.Statements)
		}
		if statements.Passes(file.ForMatch()) {
			if err := created(encoded); err != nil {
				t.Fatal(err)
			}
		}
		if arranged, err := statements.Arrange(file.Statements, seed); err == nil {
			if err := created(statements.Encode(arranged)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
