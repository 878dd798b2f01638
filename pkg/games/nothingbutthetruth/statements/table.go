package statements

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// The names that the columns may have.
var (
	textColumn  = []string{"text", "statement"}
	truthColumn = []string{"truth"}
)

// truthWords are the words for a truth, in lower case.
var truthWords = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "0": false,
}

// table is a table with a header while it is read.
type table struct {
	file        *File
	known       bool // the header has been read
	width       int  // of the header
	text, truth int  // columns
}

// readTable reads a table with a header.
func (f *File) readTable(text string) {
	t := &table{file: f}
	more := false
	if comma := separator(text); comma == '\t' {
		more = t.readTabs(text)
	} else {
		more = t.readCSV(text, comma)
	}
	if more && !t.known {
		f.fault(0, "the file is empty: it needs a header with the columns \"text\" and \"truth\"")
	}
}

// separator is the one of comma, tab and semicolon that the header has most of.
func separator(text string) rune {
	header, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
	best := ','
	for _, r := range []rune{'\t', ';'} {
		if strings.Count(header, string(r)) > strings.Count(header, string(best)) {
			best = r
		}
	}
	return best
}

// readTabs reads a table whose fields tabs separate; more is false where its header won't do. Most programs write such
// a table without quotes, so a quotation mark may stand anywhere.
func (t *table) readTabs(text string) (more bool) {
	for i, line := range strings.Split(text, "\n") {
		row := strings.Split(line, "\t")
		for i := range row {
			row[i] = unquote(row[i])
		}
		if !t.row(i+1, row) {
			return false
		}
	}
	return true
}

// unquote takes the quotes off a field that is quoted as spreadsheets do it.
func unquote(field string) string {
	inner, opened := strings.CutPrefix(strings.TrimSpace(field), `"`)
	inner, closed := strings.CutSuffix(inner, `"`)
	if !opened || !closed || strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
		return field
	}
	return strings.ReplaceAll(inner, `""`, `"`)
}

// readCSV is readTabs for the other separators.
func (t *table) readCSV(text string, comma rune) (more bool) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = comma
	r.FieldsPerRecord = -1
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return true
		}
		if broken := new(csv.ParseError); errors.As(err, &broken) {
			t.file.fault(broken.StartLine,
				"quotation marks that don't fit: put the field into \"...\" and double each one that stands within")
			if !t.known {
				return false
			}
			continue
		}
		line, _ := r.FieldPos(0)
		if !t.row(line, row) {
			return false
		}
	}
}

// row reads the header or a row; more is false where the header won't do.
func (t *table) row(line int, row []string) (more bool) {
	switch {
	case !slices.ContainsFunc(row, Visible): // an empty row
		return true
	case !t.known:
		return t.header(line, row)
	}
	t.statement(line, row)
	return true
}

func (t *table) header(line int, row []string) (ok bool) {
	t.known, t.width = true, len(row)
	text, hasText := t.column(line, row, textColumn)
	truth, hasTruth := t.column(line, row, truthColumn)
	t.text, t.truth = text, truth
	return hasText && hasTruth
}

// column finds a column by its names; the header must have it once.
func (t *table) column(line int, row, names []string) (at int, ok bool) {
	found := 0
	for i, title := range row {
		if slices.Contains(names, strings.ToLower(strings.TrimSpace(title))) {
			at = i
			found++
		}
	}
	switch found {
	case 0:
		t.file.fault(line, "the header has no column %q", names[0])
	case 1:
		return at, true
	default:
		t.file.fault(line, "the header has the column %q more than once", names[0])
	}
	return 0, false
}

func (t *table) statement(line int, row []string) {
	const separators = "a text that holds the separator must stand in quotes"
	switch {
	case len(row) <= max(t.text, t.truth):
		t.file.fault(line, "the row has fewer fields than it needs")
		return
	case slices.ContainsFunc(row[min(t.width, len(row)):], Visible):
		t.file.fault(line, "the row has more fields than the header: "+separators)
		return
	}
	truth, known := truthWords[strings.ToLower(strings.TrimSpace(row[t.truth]))]
	if !known {
		t.file.fault(line, "the truth must be true or false (or t, f, yes, no, y, n, 1, 0); "+separators)
		return
	}
	t.file.add(line, row[t.text], truth)
}
