package problem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
	"umpire/services/problem"
)

// secret stands in what must not be told.
const secret = "17 cups"

// codes reads the constants of a type Code out of a source file.
func codes(t *testing.T, path string) []problem.Code {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	var found []problem.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Code" {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		require.True(t, ok)
		text, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		found = append(found, problem.Code(text))
		return true
	})
	return found
}

// TestTheTableIsComplete: every code that there is has its status; the rulebook's and the protocol's are these.
func TestTheTableIsComplete(t *testing.T) {
	t.Parallel()
	want := map[problem.Code]int{
		"unknown-player": 404, "match-over": 409, "match-paused": 409, "phase-closed": 409, "not-awaited": 409,
		"already-submitted": 409, "malformed": 400, "illegal-move": 409, "conflict": 409, "claimed": 409,
		"invalid-setup": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404, "too-large": 413, "unavailable": 503,
	}
	all := append(codes(t, "../../pkg/match/refusal.go"), codes(t, "problem.go")...)
	require.Len(t, all, len(want), "%v", all)
	for _, code := range all {
		p := problem.New(code, "a sentence")
		assert.Equal(t, want[code], p.Status, "%s", code)
		assert.NotEmpty(t, p.Title, "%s", code)
		assert.Equal(t, "about:blank", p.Type)
		assert.Equal(t, code == problem.Unavailable, p.RetryAfter > 0, "%s", code)

		reply := p.Reply()
		assert.Equal(t, p.Status, reply.Status)
		assert.Equal(t, p, problem.Read(reply.Status, reply.Body), "a client gets the same error back")
	}
}

func TestWhatAnErrorIsToAClient(t *testing.T) {
	t.Parallel()
	given := problem.New(problem.Forbidden, "no")
	setup := match.BadSetup("players[1].id", "stands twice")
	for name, c := range map[string]struct {
		err     error
		code    problem.Code
		field   string
		isFault bool
	}{
		"a problem":             {given, problem.Forbidden, "", false},
		"a refusal":             {match.Illegal("not in your hand"), "illegal-move", "", false},
		"what is malformed":     {match.Malformed("no"), "malformed", "", false},
		"a set-up":              {setup, problem.InvalidSetup, "players[1].id", false},
		"no such match":         {journal.ErrNotFound, problem.NotFound, "", false},
		"a bad token":           {token.ErrInvalid, problem.Unauthorized, "", false},
		"over-size":             {eventlog.ErrTooLarge, problem.TooLarge, "", false},
		"a newer version":       {match.ErrUnknownEvent, problem.Unavailable, "", true},
		"a broken match":        {match.ErrBroken, problem.Unavailable, "", true},
		"the log is down":       {eventlog.ErrUnavailable, problem.Unavailable, "", true},
		"the log is corrupt":    {eventlog.ErrCorrupt, problem.Unavailable, "", true},
		"the log is closed":     {eventlog.ErrClosed, problem.Unavailable, "", true},
		"what no log takes":     {eventlog.ErrInvalid, problem.Unavailable, "", true},
		"a conflict":            {&eventlog.Conflict{Stream: secret}, problem.Unavailable, "", true},
		"whatever else happens": {errors.New(secret), problem.Unavailable, "", true},
	} {
		for _, err := range []error{c.err, fmt.Errorf("%s: %w", secret, c.err), errors.Join(errors.New(secret), c.err)} {
			p, isFault := problem.Of(err)
			assert.Equal(t, c.code, p.Code, name)
			assert.Equal(t, c.isFault, isFault, name)
			assert.Equal(t, c.field, p.Field, name)
			assert.NotEmpty(t, p.Detail, name)
			assert.NotZero(t, p.Status, name)
			assert.NotContains(t, string(p.Reply().Body), secret, "%s: what was wrapped around it is not for clients", name)
		}
	}
	assert.Equal(t, "forbidden: no", given.Error())
}

func TestReadWhatIsNoProblem(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "<html>502 Bad Gateway</html>", "{}", "null", `{"status":409}`, `{"code":7}`, "[]"} {
		p := problem.Read(502, []byte(body))
		assert.Equal(t, problem.Unavailable, p.Code, body)
		assert.Equal(t, 502, p.Status, body)
		assert.NotEmpty(t, p.Detail)
	}
}

// answer calls Answer and returns what was logged too.
func answer(t *testing.T, handle func() (any, error)) (queue.Reply, string) {
	t.Helper()
	var logged strings.Builder
	reply := problem.Answer(slog.New(slog.NewTextHandler(&logged, nil)), queue.Submit, handle)
	return reply, logged.String()
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	reply, logged := answer(t, func() (any, error) { return map[string]int{"revision": 3}, nil })
	assert.Equal(t, queue.Reply{Status: 200, Body: []byte(`{"revision":3}`)}, reply)
	assert.Empty(t, logged)

	reply, logged = answer(t, func() (any, error) { return []byte("{}\n{}\n"), nil })
	assert.Equal(t, queue.Reply{Status: 200, Body: []byte("{}\n{}\n")}, reply, "bytes stay as they are")
	assert.Empty(t, logged)

	reply, logged = answer(t, func() (any, error) { return nil, match.Illegal("not in your hand") })
	assert.Equal(t, 409, reply.Status)
	assert.Empty(t, logged, "what a client did is no fault")

	reply, logged = answer(t, func() (any, error) { return nil, fmt.Errorf("the disk: %w", eventlog.ErrUnavailable) })
	assert.Equal(t, 503, reply.Status)
	assert.NotContains(t, string(reply.Body), "the disk")
	assert.Equal(t, 1, strings.Count(logged, "\n"), logged)
	assert.Contains(t, logged, "the disk")
	assert.Contains(t, logged, "subject=umpire.submit")
}

// held is what rules hold when they fail.
type held struct{ Secret string }

// TestABugTellsNoValues panics in the ways in which Go can, with a secret at hand.
func TestABugTellsNoValues(t *testing.T) {
	t.Parallel()
	list, at := []int{}, 4711
	var missing map[string]int
	for name, c := range map[string]struct {
		fail func()
		kind string
	}{
		"a string":     {func() { panic(secret) }, "string"},
		"an error":     {func() { panic(errors.New(secret)) }, "*errors.errorString"},
		"a struct":     {func() { panic(held{secret}) }, "problem_test.held"},
		"an index":     {func() { list[at]++ }, "runtime.boundsError"},
		"a nil map":    {func() { missing[secret] = 1 }, "runtime."},
		"a conversion": {func() { _ = any(secret).(int) }, "*runtime.TypeAssertionError"},
	} {
		reply, logged := answer(t, func() (any, error) { c.fail(); return nil, nil })
		assert.Equal(t, 503, reply.Status, name)
		var p problem.Problem
		require.NoError(t, json.Unmarshal(reply.Body, &p))
		assert.Equal(t, problem.Unavailable, p.Code)
		for _, told := range []string{logged, string(reply.Body)} {
			assert.NotContains(t, told, secret, name)
			assert.NotContains(t, told, "4711", name)
		}
		assert.Equal(t, 1, strings.Count(logged, "\n"), name)
		assert.Contains(t, logged, c.kind, name)
		assert.Contains(t, logged, "TestABugTellsNoValues", "%s: where to look", name)
		assert.NotContains(t, string(reply.Body), "TestABug", "which is not for clients")
	}
}
