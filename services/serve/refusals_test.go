package serve_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/services/problem"
	"umpire/services/serve"
)

// answer is what the server said.
type answer struct {
	status int
	header http.Header
	body   []byte
	problem.Problem
}

// post sends a body as it stands.
func post(t *testing.T, base, path, token, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return send(t, req)
}

func get(t *testing.T, base, path string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
	require.NoError(t, err)
	return send(t, req)
}

func send(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := httpClient(t).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	a := answer{status: resp.StatusCode, header: resp.Header, body: body}
	if resp.StatusCode >= 400 {
		assert.Equal(t, "application/problem+json", resp.Header.Get("Content-Type"))
		require.NoError(t, json.Unmarshal(body, &a.Problem))
		assert.Equal(t, resp.StatusCode, a.Problem.Status)
		assert.NotEmpty(t, a.Problem.Detail)
	}
	assert.Regexp(t, `^\d{13}$`, resp.Header.Get("Server-Time"))
	return a
}

// TestCreationsRefused sends set-ups that can't be, each with the field that is to blame.
func TestCreationsRefused(t *testing.T) {
	t.Parallel()
	p, operator := start(t, nil)
	const ada, bob = `{"id":"ada","name":"Ada"}`, `{"id":"bob","name":"Bob"}`
	setup := func(players, more string) string {
		return `{"game":"glass-full","players":[` + players + `],"roles":{"dmo":"ada"}` + more + `}`
	}
	nine := strings.Repeat(ada+",", 8) + bob
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        problem.Code
		field       string
	}{
		"no token":          {"", setup(ada+","+bob, ""), 401, "unauthorized", ""},
		"a wrong token":     {"e30.e30.e30", setup(ada+","+bob, ""), 401, "unauthorized", ""},
		"no JSON":           {operator.Token, "{", 400, "malformed", ""},
		"nothing":           {operator.Token, "", 400, "malformed", ""},
		"no UTF-8":          {operator.Token, "{\"game\":\"\xff\"}", 400, "malformed", ""},
		"a name twice":      {operator.Token, `{"game":"glass-full","game":"glass-full"}`, 400, "malformed", ""},
		"over-size":         {operator.Token, setup(ada+","+bob, `,"title":"`+strings.Repeat("x", 300<<10)+`"`), 413, "too-large", ""},
		"no object":         {operator.Token, `[]`, 400, "invalid-setup", "setup"},
		"an unknown game":   {operator.Token, `{"game":"chess","players":[]}`, 400, "invalid-setup", "game"},
		"no game":           {operator.Token, `{"players":[]}`, 400, "invalid-setup", "game"},
		"one player":        {operator.Token, setup(ada, ""), 400, "invalid-setup", "players"},
		"nine players":      {operator.Token, setup(nine, ""), 400, "invalid-setup", "players"},
		"an id twice":       {operator.Token, setup(ada+","+ada, ""), 400, "invalid-setup", "players[1].id"},
		"a reserved id":     {operator.Token, setup(ada+`,{"id":"host","name":"H"}`, ""), 400, "invalid-setup", "players[1].id"},
		"an unseen name":    {operator.Token, setup(ada+`,{"id":"bob","name":" "}`, ""), 400, "invalid-setup", "players[1].name"},
		"a stranger's role": {operator.Token, `{"game":"glass-full","players":[` + ada + "," + bob + `],"roles":{"dmo":"eve"}}`, 400, "invalid-setup", "roles.dmo"},
		"a bad duration":    {operator.Token, setup(ada+","+bob, `,"options":{"clock":{"move":"soon"}}`), 400, "invalid-setup", "options.clock.move"},
		"no time at all":    {operator.Token, setup(ada+","+bob, `,"options":{"clock":{"move":"0s"}}`), 400, "invalid-setup", "options.clock.move"},
		"a seed":            {operator.Token, setup(ada+","+bob, `,"seed":"`+strings.Repeat("00", 32)+`"`), 400, "invalid-setup", "seed"},
		"another's field":   {operator.Token, setup(ada+","+bob, `,"garnets":{}`), 400, "invalid-setup", "garnets"},
		"a later option":    {operator.Token, setup(ada+","+bob, `,"options":{"appeal":"24h"}`), 400, "invalid-setup", "options.appeal"},
	} {
		t.Run(name, func(t *testing.T) {
			a := post(t, p.URL(), "/v1/matches", c.token, c.body)
			assert.Equal(t, c.status, a.status)
			assert.Equal(t, c.code, a.Code)
			assert.Equal(t, c.field, a.Field)
		})
	}
	list, err := operator.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, list.Matches, "nothing was written")
}

// TestSubmissionsRefused sends what no seat may send, or not now.
func TestSubmissionsRefused(t *testing.T) {
	t.Parallel()
	p, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	other, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	ada, bob := sit(t, operator, created, "ada"), sit(t, operator, created, "bob")
	stranger := sit(t, operator, other, "ada")
	ada.turn()
	before, err := operator.View(t.Context(), created.Match, "")
	require.NoError(t, err)

	const pick = `{"submission":{"type":"pick-starter","player":"ada"}}`
	for name, c := range map[string]struct {
		token, body string
		status      int
		code        problem.Code
	}{
		"no token":              {"", pick, 401, "unauthorized"},
		"a wrong token":         {ada.client.Token + "x", pick, 401, "unauthorized"},
		"the operator's token":  {operator.Token, pick, 403, "forbidden"},
		"another match's token": {stranger.client.Token, pick, 403, "forbidden"},
		"not awaited":           {bob.client.Token, pick, 409, "not-awaited"},
		"a closed phase":        {ada.client.Token, `{"phase":2,"submission":{"type":"challenge"}}`, 409, "phase-closed"},
		"no submission":         {ada.client.Token, `{}`, 400, "malformed"},
		"an unknown field":      {ada.client.Token, `{"submission":{"type":"challenge"},"note":1}`, 400, "malformed"},
		"a phase in words":      {ada.client.Token, `{"phase":"1","submission":{}}`, 400, "malformed"},
		"no object":             {ada.client.Token, `{"submission":"challenge"}`, 400, "malformed"},
		"an unknown type":       {ada.client.Token, `{"submission":{"type":"drain"}}`, 400, "malformed"},
		"a name twice":          {ada.client.Token, `{"submission":{"type":"sponge","type":"sponge"}}`, 400, "malformed"},
		"another phase's type":  {ada.client.Token, `{"submission":{"type":"add","cups":1}}`, 409, "illegal-move"},
		"over-size":             {ada.client.Token, `{"submission":"` + strings.Repeat("x", 300<<10) + `"}`, 413, "too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			a := post(t, p.URL(), "/v1/matches/"+created.Match+"/submissions", c.token, c.body)
			assert.Equal(t, c.status, a.status, "%s", a.Detail)
			assert.Equal(t, c.code, a.Code)
		})
	}
	after, err := operator.View(t.Context(), created.Match, "")
	require.NoError(t, err)
	assert.JSONEq(t, string(before), string(after), "nothing was written")
	a := post(t, p.URL(), "/v1/matches/nosuchmatchatall0/submissions", ada.client.Token, pick)
	assert.Equal(t, problem.Forbidden, a.Code)
}

// TestClaimsRefused uses claims that are none, or none any more.
func TestClaimsRefused(t *testing.T) {
	t.Parallel()
	p, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	claim := created.Players["ada"].Claim
	_, err = operator.As("").Claim(t.Context(), claim)
	require.NoError(t, err)
	forged := strings.Replace(created.Players["bob"].Claim, ".bob.", ".ada.", 1)
	for name, c := range map[string]struct {
		body   string
		status int
		code   problem.Code
	}{
		"a second time": {`{"claim":"` + claim + `"}`, 409, "claimed"},
		"forged":        {`{"claim":"` + forged + `"}`, 401, "unauthorized"},
		"nonsense":      {`{"claim":"x"}`, 401, "unauthorized"},
		"no claim":      {`{}`, 400, "malformed"},
		"short random":  {`{"claim":"` + created.Players["bob"].Claim + `","random":"00"}`, 400, "malformed"},
		"a type":        {`{"claim":"x","type":"y"}`, 400, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			a := post(t, p.URL(), "/v1/claims", "", c.body)
			assert.Equal(t, c.status, a.status)
			assert.Equal(t, c.code, a.Code)
		})
	}
}

// TestReadingRefused asks for what may not be seen or is not there.
func TestReadingRefused(t *testing.T) {
	t.Parallel()
	p, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(map[string]any{"listed": false}))
	require.NoError(t, err)
	ada := sit(t, operator, created, "ada")
	for path, want := range map[string]problem.Code{
		"/v1/matches/nosuchmatchatall0":                           problem.NotFound,
		"/v1/matches/nosuchmatchatall0/stream":                    problem.NotFound,
		"/v1/matches/nosuchmatchatall0/events":                    problem.NotFound,
		"/v1/matches/" + created.Match + "?audience=host":         problem.Forbidden,
		"/v1/matches/" + created.Match + "/stream?audience=ada":   problem.Forbidden,
		"/v1/matches/" + created.Match + "/events?audience=ada":   problem.Forbidden,
		"/v1/matches/" + created.Match + "?revision=x":            "malformed",
		"/v1/matches?limit=0":                                     "malformed",
		"/v1/matches?status=asleep":                               "malformed",
		"/v1/matches?cursor=!":                                    "malformed",
		"/nothing/here":                                           problem.NotFound,
		"/v1/matches/" + created.Match + "?min_revision=99999999": problem.Unavailable,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, get(t, p.URL(), path).Code)
		})
	}
	_, err = ada.client.View(t.Context(), created.Match, "?audience=bob")
	assert.Equal(t, problem.Forbidden, code(t, err))
	_, err = ada.client.View(t.Context(), created.Match, "?audience=public")
	require.NoError(t, err)
	list, err := operator.List(t.Context(), "")
	require.NoError(t, err)
	assert.Empty(t, list.Matches, "an unlisted match is not listed")
}

// TestTheListGoesOnPageByPage lists matches newest first, filtered and in pages.
func TestTheListGoesOnPageByPage(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	var made []string
	for range 5 {
		created, err := operator.Create(t.Context(), glassFull(nil))
		require.NoError(t, err)
		made = append([]string{created.Match}, made...)
		_, err = operator.View(t.Context(), created.Match, "?min_revision=0")
		require.NoError(t, err)
	}
	var seen []string
	require.Eventually(t, func() bool {
		list, err := operator.List(t.Context(), "?status=waiting&game=glass-full")
		return err == nil && len(list.Matches) == 5
	}, patience, tick)
	for cursor := ""; ; {
		list, err := operator.List(t.Context(), "?limit=2&cursor="+cursor)
		require.NoError(t, err)
		for _, m := range list.Matches {
			seen = append(seen, m.Match)
		}
		if cursor = list.Cursor; cursor == "" {
			break
		}
	}
	assert.Equal(t, made, seen)
	list, err := operator.List(t.Context(), "?status=ended")
	require.NoError(t, err)
	assert.Empty(t, list.Matches)
}

// TestServiceEndpoints reads what a program or a person looks at first.
func TestServiceEndpoints(t *testing.T) {
	t.Parallel()
	p, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(map[string]any{}))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"/healthz": `"ok":true`, "/readyz": `"resolver":"ok"`, "/openapi.yaml": "openapi: 3.0.3",
		"/": "umpire is running", "/m/" + created.Match: created.Match,
	} {
		a := get(t, p.URL(), path)
		assert.Equal(t, http.StatusOK, a.status, path)
		assert.Contains(t, string(a.body), want, path)
		assert.False(t, bytes.Contains(a.body, []byte(created.Players["ada"].Claim)), "%s holds a claim", path)
	}
}

// TestInsecureSeed takes a seed where the operator of the server has asked for it, and says so in public.
func TestInsecureSeed(t *testing.T) {
	t.Parallel()
	_, operator := start(t, func(o *serve.Options) { o.InsecureSeed = true })
	setup := glassFull(nil)
	setup["seed"] = strings.Repeat("00", 32)
	created, err := operator.Create(t.Context(), setup)
	require.NoError(t, err)
	for raw, err := range operator.As("").Events(t.Context(), created.Match, "") {
		require.NoError(t, err)
		assert.Contains(t, string(raw), `"insecureSeed":true`)
		break
	}
}
