package gateway_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func contractText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	return string(text)
}

// TestTheCodeIsTheContracts generates the server's code anew: what is in the tree must be that, to the byte.
func TestTheCodeIsTheContracts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	anew, how := filepath.Join(dir, "server.gen.go"), filepath.Join(dir, "generate.yaml")
	config, err := os.ReadFile("generate.yaml")
	require.NoError(t, err)
	elsewhere := strings.Replace(string(config), "output: server.gen.go", "output: "+anew, 1)
	require.NotEqual(t, string(config), elsewhere)
	require.NoError(t, os.WriteFile(how, []byte(elsewhere), 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "tool", "oapi-codegen", "-config", how, "openapi.yaml")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	want, err := os.ReadFile(anew)
	require.NoError(t, err)
	have, err := os.ReadFile("server.gen.go")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, have), "server.gen.go is not what openapi.yaml says: make generate")
}

// operations are those of the contract, such as "GET /v1/matches/{match}": by the indentation that its own form has.
func operations(t *testing.T) (list []string) {
	t.Helper()
	_, paths, ok := strings.Cut(contractText(t), "\npaths:\n")
	require.True(t, ok)
	paths, _, ok = strings.Cut(paths, "\ncomponents:\n")
	require.True(t, ok)
	line := regexp.MustCompile(`^(  (/\S*):|    (get|post|put|patch|delete|head|options|trace):)$`)
	path := ""
	for l := range strings.Lines(paths) {
		found := line.FindStringSubmatch(strings.TrimRight(l, "\n"))
		switch {
		case found == nil:
		case found[2] != "":
			path = found[2]
		default:
			list = append(list, strings.ToUpper(found[3])+" "+path)
		}
	}
	require.Len(t, list, strings.Count(paths, "operationId:"), "every operation was found")
	return list
}

// TestEveryOperationHasARoute: what the contract lists is answered, and in its own words.
func TestEveryOperationHasARoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.end() // streams are not to be waited for
	all := operations(t)
	require.Contains(t, all, "POST /v1/matches/{match}/submissions")
	for _, operation := range all {
		method, path, _ := strings.Cut(operation, " ")
		resp := w.call(method, strings.ReplaceAll(path, "{match}", "m"), strings.NewReader("{}"))
		assert.Less(t, resp.StatusCode, 300, operation)
	}
	resp, body := w.read(http.MethodGet, "/openapi.yaml", nil)
	assert.Equal(t, "application/yaml", resp.Header.Get("Content-Type"))
	assert.Equal(t, contractText(t), body, "it serves the contract that it was made from")
}
