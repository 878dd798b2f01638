package statements_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games/nothingbutthetruth/statements"
)

// mixed is a pool with so many true and so many false statements.
func mixed(trueOnes, falseOnes int) []statements.Statement {
	return append(pool(trueOnes, "T"), func() []statements.Statement {
		list := pool(falseOnes, "F")
		for i := range list {
			list[i].Text = "Not so: " + list[i].Text
		}
		return list
	}()...)
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ trueOnes, falseOnes, want int }{
		{26, 26, 26}, {500, 500, 26}, {13, 39, 13}, {39, 13, 39}, {13, 1000, 13}, {1000, 13, 39}, {20, 60, 20}, {60, 20, 32},
		{22, 30, 22}, {30, 22, 30}, {26, 27, 26}, {27, 25, 27},
	} {
		for seed := range 20 {
			given := mixed(c.trueOnes, c.falseOnes)
			list, err := statements.Arrange(given, fmt.Sprint(seed))
			require.NoError(t, err)
			assert.Equal(t, mixed(c.trueOnes, c.falseOnes), given, "the pool is left as it is")
			require.Len(t, list, 52)
			trueOnes := 0
			for i, s := range list {
				assert.Contains(t, given, s)
				assert.NotContains(t, list[:i], s)
				if s.Truth {
					trueOnes++
				}
			}
			assert.Equal(t, c.want, trueOnes, "as near to half of them true as the pool allows")
			cycle, _ := statements.Uniform(list)
			assert.Zero(t, cycle)
		}
	}
}

func TestArrangeDependsOnPoolAndSeedAlone(t *testing.T) {
	t.Parallel()
	list, err := statements.Arrange(mixed(26, 26), "spring")
	require.NoError(t, err)
	again, err := statements.Arrange(mixed(26, 26), "spring")
	require.NoError(t, err)
	assert.Equal(t, list, again)
	other, err := statements.Arrange(mixed(26, 26), "autumn")
	require.NoError(t, err)
	assert.NotEqual(t, list, other)
	var first []string
	for _, s := range list[:4] {
		first = append(first, s.Text)
	}
	assert.Equal(t, []string{"Statement 16", "Statement 26", "Statement 19", "Not so: Statement 16"}, first,
		"the same on every machine, in every version")
}

// TestArrangeFavoursNoPlace looks for a place or a cycle that is true more often than others.
func TestArrangeFavoursNoPlace(t *testing.T) {
	t.Parallel()
	const runs = 500
	var trueAt [52]int
	kept := map[string]int{}
	for seed := range runs {
		list, err := statements.Arrange(mixed(40, 40), fmt.Sprint(seed))
		require.NoError(t, err)
		for i, s := range list {
			kept[s.Text]++
			if s.Truth {
				trueAt[i]++
			}
		}
	}
	for i, n := range trueAt {
		assert.InDelta(t, runs/2, n, 60, "place %d", i) // five standard deviations
	}
	assert.Len(t, kept, 80)
	for text, n := range kept { // 26 of 40 each
		assert.InDelta(t, runs*26/40, n, 60, text)
	}
}

func TestArrangeWhereItCantBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trueOnes, falseOnes int
		want                string
	}{
		{26, 25, "a match takes 52 statements, and the pool has only 51"},
		{0, 0, "a match takes 52 statements, and the pool has only 0"},
		{12, 100, "each of the 13 cycles needs a true statement, and only 12 of the pool are true"},
		{100, 12, "each of the 13 cycles needs a false statement, and only 12 of the pool are false"},
	} {
		given := mixed(c.trueOnes, c.falseOnes)
		list, err := statements.Arrange(given, "")
		assert.Nil(t, list)
		require.EqualError(t, err, c.want)
		f := read(t, table(";", given))
		assert.Equal(t, []string{c.want}, printed(f.ForPool()))
	}
	assert.Empty(t, read(t, table(";", mixed(13, 39))).ForPool())
}

func TestEncode(t *testing.T) {
	t.Parallel()
	list := []statements.Statement{{Text: "<b> & \"ü\" \\ \u2028", Truth: true}, {Text: "b"}}
	got := string(statements.Encode(list))
	const want = "[\n  {\"text\":\"<b> & \\\"ü\\\" \\\\ \u2028\",\"truth\":true},\n  {\"text\":\"b\",\"truth\":false}\n]\n"
	assert.Equal(t, want, got) //nolint:testifylint // byte by byte, one a line
	var back []statements.Statement
	require.NoError(t, json.Unmarshal([]byte(got), &back))
	assert.Equal(t, list, back)
	assert.Equal(t, "[\n]\n", string(statements.Encode(nil)))
	assert.NoError(t, created(statements.Encode(pool(52, "TF"))))
}

func TestUniform(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		cycle   int
		truth   bool
	}{
		{"", 0, false}, {"TTT", 0, false}, {"TTTT", 1, true}, {"FFFF", 1, false}, {"TTTFFFFTTTTT", 3, true}, {"FFTTFFFFTTTT", 2, false},
		{"TFFFFFF", 0, false},
	} {
		var list []statements.Statement
		for _, r := range c.pattern {
			list = append(list, statements.Statement{Truth: r == 'T'})
		}
		cycle, truth := statements.Uniform(list)
		assert.Equal(t, c.cycle, cycle, c.pattern)
		assert.Equal(t, c.truth, truth, c.pattern)
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, " ": false, "\t\n\r\u0085\u00a0\u2003\u3000": false, "\u200b\u200c\u200d\u2060": false, "\x00\x1f": false,
		"x": true, " \u00e9 ": true, "0": true, "\U0001f37a": true, "?": true, "\u0301": true,
	} {
		assert.Equal(t, want, statements.Visible(text), "%q", text)
	}
}

func TestOfCycle(t *testing.T) {
	t.Parallel()
	list := pool(52, "TF")
	var back []statements.Statement
	for cycle := 1; cycle <= 13; cycle++ {
		four := statements.OfCycle(list, cycle)
		assert.Len(t, four, 4)
		assert.True(t, strings.HasSuffix(four[3].Text, fmt.Sprint(4*cycle)))
		back = append(back, slices.Clip(four)...)
	}
	assert.Equal(t, list, back)
}
