package services_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the tree may be, checked on every file that is or could be committed. Each check is a function from sources or
// paths to complaints, so that the tables below can show it both a good and a bad example: a check that can't fail
// checks nothing. The fences between packages are in tidy_fences_test.go.
//
// Go's cache of test results doesn't see changes outside this module, so run this package with -count=1.

const (
	maxFunctionLines = 70
	maxFileLines     = 400
	maxTestFileLines = 600
)

// source is one Go file.
type source struct {
	path string // from the root of the repository, with slashes
	text string
	fset *token.FileSet
	file *ast.File
}

func parse(name, text string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return source{path: name, text: text, fset: fset, file: file}, err
}

func (s source) dir() string         { return path.Dir(s.path) }
func (s source) line(n ast.Node) int { return s.fset.Position(n.Pos()).Line }

func (s source) generated() bool { return strings.HasSuffix(s.path, ".gen.go") }

// test says whether the file is test code: a test, or a part of a suite that tests import, such as eventlogtest.
func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") || isSuite(s.dir()) }

func isSuite(dir string) bool { return strings.HasSuffix(path.Base(dir), "test") }

func (s source) complain(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, line, fmt.Sprintf(format, args...))
}

// sourceChecks look at one file at a time.
var sourceChecks = []struct {
	name  string
	check func(source) []string
}{
	{"imports", checkImports},
	{"size", checkSize},
	{"names", checkNames},
	{"leftovers", checkLeftovers},
	{"sleeps and skips", checkPatience},
}

func TestSources(t *testing.T) {
	all := sources(t)
	for _, c := range sourceChecks {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range all {
				report(t, c.check(s))
			}
		})
	}
	t.Run("package docs", func(t *testing.T) {
		byDir := map[string][]source{}
		for _, s := range all {
			byDir[s.dir()] = append(byDir[s.dir()], s)
		}
		for dir, files := range byDir {
			report(t, checkDoc(dir, files))
		}
	})
}

func TestTree(t *testing.T) {
	names := committable(t)
	t.Run("top level", func(t *testing.T) { report(t, checkTopLevel(names)) })
	t.Run("two modules", func(t *testing.T) { report(t, checkModules(names)) })
	t.Run("games alike", func(t *testing.T) { report(t, checkGames(names)) })
	t.Run("private paths", func(t *testing.T) {
		for _, name := range names {
			report(t, checkPrivate(name, read(t, name)))
		}
	})
}

func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// checkSize keeps functions and files short enough to be read at one go.
func checkSize(s source) []string {
	if s.generated() {
		return nil
	}
	var out []string
	limit := maxFileLines
	if s.test() {
		limit = maxTestFileLines
	}
	if lines := strings.Count(s.text, "\n"); lines > limit {
		out = append(out, s.complain(limit, "the file has %d lines, at most %d are allowed: split it by subject", lines, limit))
	}
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || s.test() {
			continue
		}
		if lines := s.fset.Position(f.End()).Line - s.line(f.Name) + 1; lines > maxFunctionLines {
			out = append(out, s.complain(s.line(f), "%s has %d lines, at most %d are allowed", f.Name.Name, lines, maxFunctionLines))
		}
	}
	return out
}

// vague names tell nothing of what a package is for, so everything ends up in it.
var vague = []string{"utils", "util", "common", "helpers", "helper", "misc", "base", "shared", "lib"}

func checkNames(s source) []string {
	name := strings.TrimSuffix(s.file.Name.Name, "_test")
	for _, word := range append(strings.Split(s.dir(), "/"), name) {
		if slices.Contains(vague, word) {
			return []string{s.complain(1, "a package named %q says nothing of what it is for: name it after that", word)}
		}
	}
	return nil
}

var leftover = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)

func checkLeftovers(s source) []string {
	if s.generated() {
		return nil
	}
	var out []string
	for i, line := range strings.Split(s.text, "\n") {
		if found := leftover.FindString(line); found != "" {
			out = append(out, s.complain(i+1, "%s: finish it, or open an issue for it", found))
		}
	}
	return out
}

// checkPatience refuses tests that sleep (slow on a good day, wrong on a bad one) or skip without a word.
func checkPatience(s source) []string {
	if !s.test() {
		return nil
	}
	var out []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch {
		case s.calls(f, "time", "Sleep"):
			out = append(out, s.complain(s.line(n), "a test must not sleep: wait for what it waits for, or pass a clock in"))
		case isTestingT(f.X) && (f.Sel.Name == "SkipNow" || f.Sel.Name == "Skip" && saysNothing(call.Args)):
			out = append(out, s.complain(s.line(n), "a test that skips must say why"))
		}
		return true
	})
	return out
}

// calls says whether f is that function of a package of the standard library, under whatever name it was imported.
func (s source) calls(f *ast.SelectorExpr, pkg, name string) bool {
	x, ok := f.X.(*ast.Ident)
	if !ok || f.Sel.Name != name {
		return false
	}
	for _, spec := range s.file.Imports {
		if importPath(spec) == pkg {
			return spec.Name == nil && x.Name == path.Base(pkg) || spec.Name != nil && x.Name == spec.Name.Name
		}
	}
	return false
}

func isTestingT(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"t", "b", "f", "tb"}, x.Name)
	case *ast.CallExpr: // a suite's s.T()
		f, ok := x.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "T"
	}
	return false
}

func saysNothing(args []ast.Expr) bool {
	if len(args) == 0 {
		return true
	}
	text, ok := args[0].(*ast.BasicLit)
	return ok && text.Kind == token.STRING && strings.TrimSpace(strings.Trim(text.Value, "\"`")) == ""
}

// checkDoc wants a package to say what it is for.
func checkDoc(dir string, files []source) []string {
	var want *regexp.Regexp
	for _, s := range files {
		if s.generated() || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		want = regexp.MustCompile(`^Package ` + s.file.Name.Name + `\b`)
		if s.file.Name.Name == "main" {
			want = regexp.MustCompile(`^(?i:Command )?(?i:` + regexp.QuoteMeta(path.Base(dir)) + `)\b`)
		}
		if s.file.Doc != nil && want.MatchString(s.file.Doc.Text()) {
			return nil
		}
	}
	if want == nil {
		return nil // tests alone
	}
	return []string{fmt.Sprintf("%s: no file has a package comment that matches %q", dir, want)}
}

var topLevel = []string{
	"services", "pkg", "deploy", "docker-compose.yml", "go.work", "go.work.sum", "README.md", "Makefile", "LICENSE",
	"SECURITY.md", "bin",
}

func checkTopLevel(names []string) []string {
	var out []string
	for _, name := range names {
		top, _, _ := strings.Cut(name, "/")
		complaint := top + ": the top level is for what a newcomer looks for first; put this into a folder that is there"
		if !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) && !slices.Contains(out, complaint) {
			out = append(out, complaint)
		}
	}
	return out
}

func checkModules(names []string) []string {
	var out []string
	for _, name := range names {
		if path.Base(name) == "go.mod" && name != "pkg/go.mod" && name != "services/go.mod" {
			out = append(out, name+": two modules are enough; each more must be kept in step with them")
		}
	}
	return out
}

// checkGames wants the games to be alike: who has read one finds his way in the next.
func checkGames(names []string) []string {
	files := map[string][]string{}
	for _, name := range names {
		dir, file := path.Split(name)
		dir = path.Clean(dir)
		if path.Dir(dir) == "pkg/games" && !isSuite(dir) && path.Ext(file) == ".go" {
			files[dir] = append(files[dir], file)
		}
	}
	var out []string
	for dir, have := range files {
		for _, want := range []string{"doc.go", "messages.go", "decide.go", "evolve.go", "view.go"} {
			if !slices.Contains(have, want) {
				out = append(out, fmt.Sprintf("%s: every game has a %s", dir, want))
			}
		}
	}
	return out
}

// A path that exists on one person's machine only. The pattern is in parts so that it doesn't find itself.
var private = regexp.MustCompile(`(^|[^\w.-])/(wo` + `rk|ro` + `ot)/`)

func checkPrivate(name, text string) []string {
	if strings.Contains(text, "\x00") {
		return nil
	}
	var out []string
	for i, line := range strings.Split(text, "\n") {
		if private.MatchString(line) {
			out = append(out, fmt.Sprintf("%s:%d: a path of somebody's own machine", name, i+1))
		}
	}
	return out
}

var root = sync.OnceValues(func() (string, error) { return filepath.Abs("..") })

// list names the files that are committed or could be, from the root, with slashes.
var list = sync.OnceValues(func() ([]string, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	git := exec.CommandContext(context.Background(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	git.Dir = dir
	if out, err := git.Output(); err == nil {
		names := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
		slices.Sort(names)
		return slices.Compact(names), nil // a file in a merge conflict is listed twice
	}
	return walk(dir) // an unpacked archive
})

func walk(dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "node_modules", "umpire-data"}, d.Name()) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func committable(t *testing.T) []string {
	t.Helper()
	names, err := list()
	require.NoError(t, err)
	require.Contains(t, names, "services/tidy_test.go", "the list of files is of some other folder")
	return names
}

// read returns a file's text, and none for one that was removed but is not yet committed so.
func read(t *testing.T, name string) string {
	t.Helper()
	dir, err := root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(bytes.ToValidUTF8(text, nil))
}

// sources parses the Go files of both modules.
func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	for _, name := range committable(t) {
		if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		text := read(t, name)
		if text == "" {
			continue
		}
		s, err := parse(name, text)
		if assert.NoError(t, err) {
			out = append(out, s)
		}
	}
	return out
}

// expect wants a complaint that says so, or none at all.
func expect(t *testing.T, want string, complaints []string) {
	t.Helper()
	if want == "" {
		assert.Empty(t, complaints)
		return
	}
	assert.Contains(t, strings.Join(complaints, "\n"), want)
}

func TestSourceChecksTellGoodFromBad(t *testing.T) {
	long := func(lines int) string { return strings.Repeat("\n", lines) }
	for _, c := range []struct {
		name  string
		check func(source) []string
		path  string
		text  string
		want  string
	}{
		{"a function of 70 lines", checkSize, "pkg/a/a.go", "package a\nfunc f() {" + long(69) + "}\n", ""},
		{"a function of 71 lines", checkSize, "pkg/a/a.go", "package a\nfunc f() {" + long(70) + "}\n", "f has 71 lines"},
		{"a test of 71 lines", checkSize, "pkg/a/a_test.go", "package a\nfunc f() {" + long(70) + "}\n", ""},
		{"a file of 400 lines", checkSize, "pkg/a/a.go", "package a" + long(400), ""},
		{"a file of 401 lines", checkSize, "pkg/a/a.go", "package a" + long(401), "has 401 lines"},
		{"a generated file", checkSize, "pkg/a/a.gen.go", "package a" + long(4000), ""},
		{"a test file of 600 lines", checkSize, "pkg/a/a_test.go", "package a" + long(600), ""},
		{"a test file of 601 lines", checkSize, "pkg/a/a_test.go", "package a" + long(601), "has 601 lines"},
		{"a suite of 600 lines", checkSize, "pkg/atest/a.go", "package atest" + long(600), ""},
		{"a telling name", checkNames, "pkg/token/token.go", "package token", ""},
		{"a vague package", checkNames, "pkg/token/token.go", "package utils", `"utils"`},
		{"a vague test package", checkNames, "pkg/token/token_test.go", "package common_test", `"common"`},
		{"a vague folder", checkNames, "pkg/lib/token/token.go", "package token", `"lib"`},
		{"an unfinished line", checkLeftovers, "pkg/a/a.go", "package a // TO" + "DO: all of it", "finish it"},
		{"a word that only looks so", checkLeftovers, "pkg/a/a.go", "package a // TO" + "DOS, X" + "XXL", ""},
		{"a test that sleeps", checkPatience, "pkg/a/a_test.go",
			`package a; import z "time"; func f() { z.Sleep(1) }`, "must not sleep"},
		{"a suite that sleeps", checkPatience, "pkg/atest/a.go",
			`package a; import "time"; func f() { time.Sleep(1) }`, "must not sleep"},
		{"a service that sleeps", checkPatience, "pkg/a/a.go", `package a; import "time"; func f() { time.Sleep(1) }`, ""},
		{"another's Sleep", checkPatience, "pkg/a/a_test.go", `package a; import "b/time"; func f() { time.Sleep(1) }`, ""},
		{"a silent skip", checkPatience, "pkg/a/a_test.go", `package a; func f() { t.Skip() }`, "say why"},
		{"an empty reason", checkPatience, "pkg/a/a_test.go", `package a; func f() { b.Skip(" ") }`, "say why"},
		{"a skip at once", checkPatience, "pkg/a/a_test.go", `package a; func f() { s.T().SkipNow() }`, "say why"},
		{"a skip with its reason", checkPatience, "pkg/a/a_test.go", `package a; func f() { t.Skip("needs a server") }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.path, c.text)
			require.NoError(t, err)
			expect(t, c.want, c.check(s))
		})
	}
}

func TestTreeChecksTellGoodFromBad(t *testing.T) {
	game := func(files ...string) (names []string) {
		for _, f := range append(files, "doc.go", "messages.go", "decide.go", "evolve.go", "rules_test.go") {
			names = append(names, "pkg/games/chess/"+f)
		}
		return append(names, "pkg/games/games.go", "pkg/games/gamestest/suite.go", "pkg/games/chess/testdata/a/a.go")
	}
	expect(t, "", checkGames(game("view.go", "moves.go")))
	expect(t, "pkg/games/chess: every game has a view.go", checkGames(game("moves.go")))

	expect(t, "", checkTopLevel([]string{".ci/run", "pkg/main.go", "README.md"}))
	expect(t, "docs: the top level", checkTopLevel([]string{"docs/a.md", "docs/b.md"}))
	expect(t, "", checkModules([]string{"pkg/go.mod", "services/go.mod"}))
	expect(t, "two modules", checkModules([]string{"services/gateway/go.mod"}))

	for _, bad := range []string{"/wo" + "rk/main", "see /ro" + "ot/.cache", "file:///wo" + "rk/x", `"/ro` + `ot/go"`} {
		expect(t, "README.md:2: a path", checkPrivate("README.md", "# umpire\n"+bad))
	}
	expect(t, "", checkPrivate("README.md", "the /work of many, example.org/ro"+"ot/x, team/wo"+"rk/x"))
}

// An unpacked archive has no index, but the same files.
func TestWalkFindsWhatIsListed(t *testing.T) {
	dir, err := root()
	require.NoError(t, err)
	walked, err := walk(dir)
	require.NoError(t, err)
	require.Contains(t, walked, "services/tidy_test.go")
	for _, name := range walked {
		require.NotContains(t, strings.Split(name, "/"), ".git")
	}
}

func TestDocCheckTellsGoodFromBad(t *testing.T) {
	for _, c := range []struct{ name, path, text, want string }{
		{"documented", "pkg/token/token.go", "// Package token says who may do what.\npackage token", ""},
		{"undocumented", "pkg/token/token.go", "package token", "pkg/token: no file has"},
		{"of another", "pkg/token/token.go", "// Package tokens says who may do what.\npackage token", "pkg/token: no file has"},
		{"a test's comment", "pkg/token/token_test.go", "// Package token is tested.\npackage token", ""},
		{"a command", "services/umpire/main.go", "// Umpire hosts matches.\npackage main", ""},
		{"a command by its title", "services/umpire/main.go", "// Command umpire hosts matches.\npackage main", ""},
		{"a command as a package", "services/umpire/main.go", "// Package main hosts matches.\npackage main", "no file has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.path, c.text)
			require.NoError(t, err)
			expect(t, c.want, checkDoc(s.dir(), []source{s}))
		})
	}
}
