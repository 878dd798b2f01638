package statements

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"umpire/pkg/match"
)

// The limits of a file.
const (
	maxFile     = 4 << 20 // bytes
	maxProblems = 1000    // of lines; who has more has another kind of file
)

// File is what a statements file holds.
type File struct {
	// Statements are those that could be read, in the order of the file.
	Statements []Statement
	// Problems are those of single lines, in the order of the file.
	Problems []Problem

	lines []int // as Statements: where each stands
}

// Problem is something that the host should mend.
type Problem struct {
	Line    int // from 1; 0 where the file as a whole is meant
	Warning bool
	Detail  string // a sentence without its full stop
}

// String gives the problem as a line to print.
func (p Problem) String() string {
	where, kind := "", ""
	if p.Line > 0 {
		where = fmt.Sprintf("line %d: ", p.Line)
	}
	if p.Warning {
		kind = "warning: "
	}
	return where + kind + p.Detail
}

// Passes reports whether there is no problem but warnings.
func Passes(problems []Problem) bool {
	return !slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning })
}

// Read reads a statements file, whose format it tells by its content. The error says that nothing could be read; all
// that the host can mend is among the file's problems.
func Read(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the statements: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("the file is larger than %d MiB", maxFile>>20)
	}
	f := &File{}
	text, ok := f.decode(data)
	if !ok {
		return f, nil
	}
	if start := strings.TrimLeft(text, " \t\n"); strings.HasPrefix(start, "[") || strings.HasPrefix(start, "{") {
		f.readJSON(text)
	} else {
		f.readTable(text)
	}
	f.findDuplicates()
	slices.SortStableFunc(f.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return f, nil
}

// decode gives the file as text with LF at the ends of its lines.
func (f *File) decode(data []byte) (text string, ok bool) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		f.fault(0, "the file is UTF-16: save it as UTF-8")
		return "", false
	}
	text = strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	ok = true
	for i, line := range strings.Split(text, "\n") {
		if !utf8.ValidString(line) {
			f.fault(i+1, "not UTF-8: save the file as UTF-8")
			ok = false
		}
	}
	return text, ok
}

// fault notes a problem of a line.
func (f *File) fault(line int, format string, args ...any) {
	switch {
	case len(f.Problems) < maxProblems:
		f.Problems = append(f.Problems, Problem{Line: line, Detail: fmt.Sprintf(format, args...)})
	case len(f.Problems) == maxProblems:
		f.Problems = append(f.Problems, Problem{Line: line, Detail: "there are more problems than are listed here"})
	}
}

// add takes a statement from a line, unless its text won't do.
func (f *File) add(line int, text string, truth bool) {
	text = strings.TrimSpace(text)
	switch points := utf8.RuneCountInString(text); {
	case !Visible(text):
		f.fault(line, "the text is empty")
		return
	case points > MaxPoints:
		f.fault(line, "the text has %d characters, at most %d are allowed", points, MaxPoints)
		return
	}
	for _, r := range text {
		if !match.ValidName("x"+string(r), 2) {
			f.fault(line, "the text holds a character that can't be displayed, %U", r)
			return
		}
	}
	f.Statements = append(f.Statements, Statement{Text: text, Truth: truth})
	f.lines = append(f.lines, line)
}

// findDuplicates names each statement whose text stands further up already.
func (f *File) findDuplicates() {
	first := make(map[string]int, len(f.Statements))
	for i, s := range f.Statements {
		key := strings.ToLower(strings.Join(strings.Fields(s.Text), " "))
		earlier, twice := first[key]
		switch {
		case !twice:
			first[key] = i
		case f.Statements[earlier].Truth != s.Truth:
			f.fault(f.lines[i], "the same text as in line %d, but there it is %t", f.lines[earlier], !s.Truth)
		default:
			f.fault(f.lines[i], "the same text as in line %d", f.lines[earlier])
		}
	}
}

// ForMatch returns what is wrong with the file as the statements of a match, in their order: the problems of its lines
// and those of the whole.
func (f *File) ForMatch() []Problem {
	problems := slices.Clone(f.Problems)
	whole := func(warning bool, format string, args ...any) {
		problems = append(problems, Problem{Warning: warning, Detail: fmt.Sprintf(format, args...)})
	}
	if n := len(f.Statements); n != Count {
		whole(false, "a match takes exactly %d statements; %d could be read", Count, n)
	}
	for cycle := 1; cycle*PerCycle <= min(len(f.Statements), Count); cycle++ {
		if truth, all := uniform(f.Statements, cycle); all {
			lines := f.lines[(cycle-1)*PerCycle : cycle*PerCycle]
			whole(false, "cycle %d (lines %d to %d) is all %t: each four must hold at least one true and one false",
				cycle, slices.Min(lines), slices.Max(lines), truth)
		}
	}
	if warning := Lopsided(f.Statements); warning != "" {
		whole(true, "%s", warning)
	}
	return problems
}

// ForPool returns what is wrong with the file as a pool for Arrange: the problems of its lines, and what would make
// Arrange fail.
func (f *File) ForPool() []Problem {
	problems := slices.Clone(f.Problems)
	if err := arrangeable(f.Statements); err != nil {
		problems = append(problems, Problem{Detail: err.Error()})
	}
	return problems
}
