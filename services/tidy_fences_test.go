package services_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// fence says who may import a package and what lies below it.
type fence struct {
	path  string
	below []string // the folders that may
	why   string
}

var fences = []fence{
	{"github.com/EventStore", []string{"pkg/eventlog/esdblog"},
		"the log is a port: nothing but its adapter may know the EventStoreDB client"},
	{"github.com/kurrent-io", nil,
		"this client and the EventStoreDB client register the same protobuf names and can't be linked into one binary"},
	{"modernc.org/sqlite", []string{"pkg/eventlog/sqlitelog"},
		"the log is a port: nothing but its adapter may know SQLite"},
	{"github.com/nats-io", []string{"pkg/queue", "services"},
		"only the queue and the services talk to NATS: rules, log and views must work without a broker"},
	{"github.com/labstack", []string{"services/gateway"},
		"only the gateway speaks HTTP: what another service needs of it belongs into pkg"},
	{"umpire/services", []string{"services"},
		"pkg is a library that services import: it knows none of them"},
}

// rules are the folders of pure code: time and draws come in as arguments and go out recorded in events, so that replay,
// audit, rehearsal and simulation run the code that runs in production.
var rules = []string{"pkg/match", "pkg/games", "pkg/tournament"}

// pure are the rules and the vocabulary that they speak. They import the standard library and one another alone.
var pure = append([]string{"pkg/event"}, rules...)

// impure are packages of the standard library that pure code may not import, each with what it would bring in.
var impure = []struct {
	path  string
	event bool // pkg/event may not either
	why   string
}{
	{"math/rand", true, "chance: draws come in as arguments"},
	{"crypto/rand", true, "chance: draws, salts and nonces come in as arguments"},
	{"hash/maphash", true, "chance: its seed differs from process to process"},
	{"os", true, "the machine it runs on"},
	{"net", true, "the network"},
	{"io/ioutil", true, "the machine it runs on"},
	{"log", true, "an output: return what is to be told"},
	{"syscall", true, "the machine it runs on"},
	{"runtime", true, "the machine it runs on"},
	{"unsafe", true, "the machine it runs on"},
	{"sync", false, "concurrency: a state belongs to one caller at a time"},
}

// within says whether a folder or an import path is that one or lies below it.
func within(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

func withinAny(path string, tops []string) bool {
	return slices.ContainsFunc(tops, func(top string) bool { return within(path, top) })
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has seen that it is a string
	return p
}

func checkImports(s source) []string {
	var out []string
	for _, spec := range s.file.Imports {
		imported := importPath(spec)
		for _, why := range importFaults(s, imported) {
			out = append(out, s.complain(s.line(spec), "%s may not import %s: %s", s.dir(), imported, why))
		}
	}
	return out
}

func importFaults(s source, imported string) []string {
	var out []string
	for _, f := range fences {
		if within(imported, f.path) && !withinAny(s.dir(), f.below) {
			out = append(out, f.why)
		}
	}
	if s.test() {
		return out
	}
	if within(imported, "github.com/stretchr") || within(imported, "umpire") && isSuite(imported) {
		out = append(out, "it is for tests, and this is none")
	}
	if !withinAny(s.dir(), pure) {
		return out
	}
	first, _, _ := strings.Cut(imported, "/")
	inside := first == "umpire" && withinAny(strings.TrimPrefix(imported, "umpire/"), pure)
	if !inside && (first == "umpire" || first == "C" || strings.Contains(first, ".")) {
		out = append(out, "pure code imports the standard library and other pure packages alone")
	}
	for _, p := range impure {
		if within(imported, p.path) && (p.event || withinAny(s.dir(), rules)) {
			out = append(out, "pure code must not depend on "+p.why)
		}
	}
	return out
}

// clock are the names in package time that read a clock, wait for one, or depend on where the program runs.
var clock = []string{
	"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep", "Local", "LoadLocation",
}

// orderFree excuses one loop over a map; the reason is for the reader.
var orderFree = regexp.MustCompile(`^// order-free: \S`)

// purity looks at one package with its types.
type purity struct {
	pkg     *packages.Package
	rules   bool // not only the clock, but all that could make two runs differ
	excused map[int]bool
	seen    map[string]bool
	out     []string
}

func checkPurity(pkg *packages.Package, isRules bool) []string {
	p := &purity{pkg: pkg, rules: isRules, seen: map[string]bool{}}
	for _, file := range pkg.Syntax {
		p.excused = map[int]bool{}
		for _, group := range file.Comments {
			for _, c := range group.List {
				if orderFree.MatchString(c.Text) {
					line := pkg.Fset.Position(c.Pos()).Line
					p.excused[line], p.excused[line+1] = true, true
				}
			}
		}
		ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
			p.clock(n)
			if p.rules {
				p.concurrency(n)
				p.floats(n)
				p.mapOrder(n, stack)
			}
			return true
		})
	}
	return p.out
}

func (p *purity) complain(n ast.Node, what string) {
	at := p.pkg.Fset.Position(n.Pos())
	complaint := fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, what)
	if !p.seen[complaint] {
		p.seen[complaint] = true
		p.out = append(p.out, complaint)
	}
}

func (p *purity) clock(n ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok {
		return
	}
	used := p.pkg.TypesInfo.Uses[id]
	if used == nil || used.Pkg() == nil || used.Pkg().Path() != "time" || !slices.Contains(clock, used.Name()) {
		return
	}
	if f, ok := used.(*types.Func); ok && f.Signature().Recv() != nil && f.Name() != "Local" {
		return // a method on a time that was given, such as t.After(u)
	}
	p.complain(n, "pure code knows no clock and no place, so no time."+used.Name()+": take the time as an argument")
}

func (p *purity) concurrency(n ast.Node) {
	const why = ": rules run in one goroutine, so that every run is the same"
	switch n := n.(type) {
	case *ast.GoStmt:
		p.complain(n, "a go statement"+why)
	case *ast.SelectStmt:
		p.complain(n, "a select statement"+why)
	case *ast.ChanType, *ast.SendStmt:
		p.complain(n, "a channel"+why)
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			p.complain(n, "a channel"+why)
		}
	}
}

func (p *purity) floats(n ast.Node) {
	x, ok := n.(ast.Expr)
	if !ok {
		return
	}
	t := p.pkg.TypesInfo.TypeOf(x)
	if t == nil {
		return
	}
	if basic, ok := t.Underlying().(*types.Basic); ok && basic.Info()&(types.IsFloat|types.IsComplex) != 0 {
		p.complain(n, "floating point rounds differently elsewhere, in JSON too: count in whole numbers")
	}
}

func (p *purity) mapOrder(n ast.Node, stack []ast.Node) {
	const why = "a map has another order in every run: sort the keys, or write // order-free: and why the order can't show"
	switch n := n.(type) {
	case *ast.RangeStmt:
		if p.isMap(n.X) && !p.excused[p.line(n)] {
			p.complain(n, why)
		}
	case *ast.CallExpr:
		if p.isFunc(n.Fun, "maps", "Keys", "Values", "All") && !p.excused[p.line(n)] && !p.sorted(stack) {
			p.complain(n, why)
		}
	}
}

func (p *purity) line(n ast.Node) int { return p.pkg.Fset.Position(n.Pos()).Line }

// isMap says whether x is a map, or of a type parameter that may be one.
func (p *purity) isMap(x ast.Expr) bool {
	t := p.pkg.TypesInfo.TypeOf(x)
	if t == nil {
		return false
	}
	if _, ok := t.Underlying().(*types.Map); ok {
		return true
	}
	set, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for embedded := range set.EmbeddedTypes() {
		union, ok := embedded.(*types.Union)
		if !ok {
			continue
		}
		for term := range union.Terms() {
			if _, ok := term.Type().Underlying().(*types.Map); ok {
				return true
			}
		}
	}
	return false
}

// sorted says whether the innermost call around is one that sorts.
func (p *purity) sorted(stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	call, ok := stack[len(stack)-1].(*ast.CallExpr)
	return ok && p.isFunc(call.Fun, "slices", "Sorted", "SortedFunc", "SortedStableFunc")
}

func (p *purity) isFunc(x ast.Expr, pkg string, names ...string) bool {
	if generic, ok := x.(*ast.IndexExpr); ok {
		x = generic.X
	}
	f, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	used := p.pkg.TypesInfo.Uses[f.Sel]
	return used != nil && used.Pkg() != nil && used.Pkg().Path() == pkg && slices.Contains(names, used.Name())
}

// load type-checks packages from source, and what they import from the compiler's export data.
func load(t *testing.T, dir string, env []string, patterns ...string) []*packages.Package {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(),
		Dir:     dir,
		Env:     append(os.Environ(), env...),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, patterns...)
	require.NoError(t, err)
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 { // the first one will do, the compiler tells them all
			t.Errorf("%s can't be checked, for it doesn't compile: %v", pkg.PkgPath, pkg.Errors[0])
		}
	}
	return loaded
}

func TestPurity(t *testing.T) {
	dirs := map[string]bool{}
	for _, s := range sources(t) {
		if withinAny(s.dir(), pure) && !s.test() {
			dirs[s.dir()] = true
		}
	}
	var patterns []string
	for dir := range dirs {
		patterns = append(patterns, "./"+strings.TrimPrefix(dir, "pkg/"))
	}
	require.NotEmpty(t, patterns)
	top, err := root()
	require.NoError(t, err)
	loaded := load(t, filepath.Join(top, "pkg"), nil, patterns...)
	require.Len(t, loaded, len(dirs))
	for _, pkg := range loaded {
		for _, complaint := range checkPurity(pkg, withinAny(strings.TrimPrefix(pkg.PkgPath, "umpire/"), rules)) {
			t.Error(strings.TrimPrefix(complaint, top+string(filepath.Separator)))
		}
	}
}

func TestFencesTellGoodFromBad(t *testing.T) {
	for _, c := range []struct{ name, path, imports, want string }{
		{"EventStoreDB in its adapter", "pkg/eventlog/esdblog/log.go", "github.com/EventStore/EventStore-Client-Go/v4/esdb", ""},
		{"EventStoreDB elsewhere", "services/relay/relay.go", "github.com/EventStore/EventStore-Client-Go/v4/esdb", "nothing but its adapter"},
		{"EventStoreDB in a test elsewhere", "services/sim/sim_test.go", "github.com/EventStore/EventStore-Client-Go/v4/esdb", "nothing but its adapter"},
		{"EventStoreDB beside its adapter", "pkg/eventlog/esdblogs/log.go", "github.com/EventStore/EventStore-Client-Go/v4/esdb", "nothing but its adapter"},
		{"the other client", "pkg/eventlog/esdblog/log.go", "github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb", "can't be linked"},
		{"SQLite in its adapter", "pkg/eventlog/sqlitelog/log.go", "modernc.org/sqlite", ""},
		{"SQLite elsewhere", "pkg/audit/audit.go", "modernc.org/sqlite/lib", "nothing but its adapter"},
		{"NATS in the queue", "pkg/queue/embedded.go", "github.com/nats-io/nats-server/v2/server", ""},
		{"NATS in a service", "services/timer/timer.go", "github.com/nats-io/nats.go/jetstream", ""},
		{"NATS in a view", "pkg/view/view.go", "github.com/nats-io/nats.go", "without a broker"},
		{"echo in the gateway", "services/gateway/gateway.go", "github.com/labstack/echo/v4", ""},
		{"echo elsewhere", "services/umpire/main.go", "github.com/labstack/echo/v4/middleware", "only the gateway"},
		{"a service in a service", "services/sim/sim.go", "umpire/services/timer", ""},
		{"a service in pkg", "pkg/audit/audit_test.go", "umpire/services/timer", "knows none of them"},
		{"a suite in a test", "pkg/eventlog/memlog/log_test.go", "umpire/pkg/eventlog/eventlogtest", ""},
		{"a suite in production", "pkg/eventlog/memlog/log.go", "umpire/pkg/eventlog/eventlogtest", "it is for tests"},
		{"testify in a suite", "pkg/games/gamestest/suite.go", "github.com/stretchr/testify/require", ""},
		{"testify in production", "services/timer/timer.go", "github.com/stretchr/testify/require", "it is for tests"},
		{"pure in pure", "pkg/games/glassfull/decide.go", "umpire/pkg/match", ""},
		{"a port in pure", "pkg/match/decide.go", "umpire/pkg/eventlog", "other pure packages alone"},
		{"a foreign module in pure", "pkg/tournament/bracket.go", "github.com/google/uuid", "other pure packages alone"},
		{"cgo in pure", "pkg/event/seal.go", "C", "other pure packages alone"},
		{"a foreign module in a pure test", "pkg/match/decide_test.go", "pgregory.net/rapid", ""},
		{"randomness in a game", "pkg/games/paintclash/decide.go", "math/rand/v2", "depend on chance"},
		{"randomness in an event", "pkg/event/seal.go", "crypto/rand", "depend on chance"},
		{"randomness in the suite for games", "pkg/games/gamestest/suite.go", "math/rand/v2", ""},
		{"the environment in a match", "pkg/match/limits.go", "os", "depend on the machine"},
		{"a URL in a match", "pkg/match/setup.go", "net/url", "depend on the network"},
		{"a log in an event", "pkg/event/wire.go", "log/slog", "depend on an output"},
		{"a lock in a match", "pkg/match/match.go", "sync/atomic", "depend on concurrency"},
		{"a lock in an event", "pkg/event/wire.go", "sync", ""},
		{"a hash in a match", "pkg/match/draws.go", "crypto/hmac", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.path, fmt.Sprintf("package p\nimport _ %q\n", c.imports))
			require.NoError(t, err)
			expect(t, c.want, checkImports(s))
		})
	}
}

// impurities are the bodies of packages, each with what the checker must say of it.
var impurities = []struct{ name, text, want string }{
	{"given", `import "time"; func F(t, u time.Time) bool { return t.UTC().After(u.Add(time.Minute)) }`, ""},
	{"now", `import "time"; func F() time.Time { return time.Now() }`, "no time.Now"},
	{"renamed", `import x "time"; func F(t x.Time) x.Duration { return x.Since(t) }`, "no time.Since"},
	{"value", `import "time"; var now = time.Now; func F() time.Time { return now() }`, "no time.Now"},
	{"local", `import "time"; func F(t time.Time) string { return t.Local().String() }`, "no time.Local"},
	{"gone", `func F(f func()) { go f() }`, "a go statement"},
	{"selects", `func F() { select {} }`, "a select statement"},
	{"channel", `func F(c chan<- int) { c <- 1 }`, "a channel"},
	{"float", `func F(a, b int) int { return int(float64(a) / float64(b)) }`, "floating point"},
	{"literal", `const Half = 1 / 2.0`, "floating point"},
	{"hidden", `import "time"; func F(d time.Duration) bool { return d.Seconds() > 1 }`, "floating point"},
	{"whole", `func F(list []int) (n int) { for _, x := range list { n += x / 2 }; return n }`, ""},
	{"maprange", `func F(m map[string]int) (out []string) { for k := range m { out = append(out, k) }; return out }`, "sort the keys"},
	{"named", `type M map[int]int; func F(m M) (last int) { for _, v := range m { last = v }; return last }`, "sort the keys"},
	{"generic", `func F[M ~map[int]int](m M) (last int) { for _, v := range m { last = v }; return last }`, "sort the keys"},
	{"keys", `import "maps"; func F(m map[int]int) (last int) { for k := range maps.Keys(m) { last = k }; return last }`, "sort the keys"},
	{"collected", `import ("maps"; "slices"); func F(m map[int]int) []int { return slices.Collect(maps.Values(m)) }`, "sort the keys"},
	{"sorted", `import ("maps"; "slices"); func F(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }`, ""},
	{"excused", "func F(m map[int]int) (n int) {\n// order-free: a sum\nfor _, v := range m { n += v }\nreturn n }", ""},
	{"beside", "func F(m map[int]int) (n int) {\nfor _, v := range m { // order-free: a sum\nn += v }\nreturn n }", ""},
	{"unexplained", "func F(m map[int]int) (n int) {\n// order-free:\nfor _, v := range m { n += v }\nreturn n }", "sort the keys"},
	{"elsewhere", "func F(m map[int]int) (n int) {\n// order-free: a sum\n\nfor _, v := range m { n += v }\nreturn n }", "sort the keys"},
}

func TestPurityTellsGoodFromBad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("go.mod", "module example\n\ngo 1.26\n")
	for _, c := range impurities {
		write(c.name+"/p.go", "package "+c.name+"\n"+c.text+"\n")
	}
	byName := map[string]*packages.Package{}
	for _, pkg := range load(t, dir, []string{"GOWORK=off", "GOFLAGS="}, "./...") {
		byName[pkg.Name] = pkg
	}
	for _, c := range impurities {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, byName, c.name)
			expect(t, c.want, checkPurity(byName[c.name], true))
		})
	}
	t.Run("an event may count in a map", func(t *testing.T) { expect(t, "", checkPurity(byName["maprange"], false)) })
	t.Run("an event knows no clock either", func(t *testing.T) { expect(t, "no time.Now", checkPurity(byName["now"], false)) })
}
