package serve_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"umpire/pkg/match"
	"umpire/services/client"
	"umpire/services/problem"
	"umpire/services/serve"
	"umpire/services/submission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts umpire as `umpire serve` does, at a free port, and returns an operator's client.
func start(t *testing.T, change func(*serve.Options)) (*serve.Program, *client.Client) {
	t.Helper()
	o := serve.Options{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(testWriter{t}, nil)),
	}
	if change != nil {
		change(&o)
	}
	p, err := serve.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.Stop()) })
	token, err := os.ReadFile(p.OperatorTokenPath())
	require.NoError(t, err)
	c := &client.Client{Base: p.URL(), Token: strings.TrimSpace(string(token)), HTTP: httpClient(t)}
	return p, c
}

// testWriter shows the program's log where a test fails.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

func glassFull(options map[string]any) map[string]any {
	if options == nil {
		options = map[string]any{}
	}
	return map[string]any{
		"game": "glass-full", "title": "A test", "roles": map[string]any{"dmo": "ada"}, "options": options,
		"players": []map[string]any{{"id": "ada", "name": "Ada"}, {"id": "bob", "name": "Bob"}},
	}
}

// seat is one player of a test: it follows its own stream.
type seat struct {
	t      *testing.T
	client *client.Client
	match  string
	id     string
	views  chan view
}

// view is what the tests read of a view.
type view struct {
	Revision int64        `json:"revision"`
	Status   match.Status `json:"status"`
	Seed     *string      `json:"seed"`
	Phase    *struct {
		No       int      `json:"no"`
		Name     string   `json:"name"`
		Awaiting []string `json:"awaiting"`
	} `json:"phase"`
	Table struct {
		Strikes map[string]int  `json:"strikes"`
		Calls   map[string]int  `json:"calls"`
		You     json.RawMessage `json:"you"`
	} `json:"table"`
	Result json.RawMessage `json:"result"`
}

// sit claims a seat, or looks on where there is no claim, and follows the stream.
func sit(t *testing.T, operator *client.Client, created *submission.Created, id string) *seat {
	t.Helper()
	s := &seat{t: t, client: operator.As(""), match: created.Match, id: id, views: make(chan view, 256)}
	if link, ok := created.Players[id]; ok {
		seated, err := s.client.Claim(t.Context(), link.Claim)
		require.NoError(t, err)
		assert.Equal(t, id, seated.Player)
		s.client = operator.As(seated.Token)
	}
	go func() {
		defer close(s.views)
		for raw, err := range s.client.Stream(t.Context(), s.match) {
			var v view
			if err != nil || json.Unmarshal(raw, &v) != nil {
				return
			}
			s.views <- v
		}
	}()
	return s
}

// until reads the seat's stream until a view fits.
func (s *seat) until(what string, fits func(view) bool) view {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case v, ok := <-s.views:
			require.True(s.t, ok, "the stream of %s ended before %s", s.id, what)
			if fits(v) {
				return v
			}
		case <-late:
			require.Fail(s.t, "too late", "%s never saw %s", s.id, what)
		}
	}
}

func (s *seat) turn() view {
	s.t.Helper()
	return s.until("its turn", func(v view) bool {
		return v.Phase != nil && len(v.Phase.Awaiting) == 1 && v.Phase.Awaiting[0] == s.id
	})
}

func (s *seat) submit(move map[string]any) *submission.Receipt {
	s.t.Helper()
	r, err := s.client.Submit(s.t.Context(), s.match, 0, "", move)
	require.NoError(s.t, err)
	return r
}

// code is the problem's code of an error, "" for none.
func code(t *testing.T, err error) problem.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var p *problem.Problem
	if !errors.As(err, &p) {
		require.NoError(t, err, "an error that is no problem")
	}
	return p.Code
}

// TestAWholeMatch plays Glass Full over HTTP and SSE, a clock's strikes included, to its result, and reads the log.
func TestAWholeMatch(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(map[string]any{"clock": map[string]any{"move": "500ms"}}))
	require.NoError(t, err)
	spectator := sit(t, operator, created, "public")
	assert.Equal(t, match.Waiting, spectator.until("the match", func(view) bool { return true }).Status)
	ada, bob := sit(t, operator, created, "ada"), sit(t, operator, created, "bob")

	ada.turn()
	ada.submit(map[string]any{"type": "pick-starter", "player": "bob"})
	bob.turn()
	receipt := bob.submit(map[string]any{"type": "add", "cups": 3})
	assert.NotEmpty(t, receipt.Hash)
	// Ada says nothing until she has two strikes.
	spectator.until("two strikes", func(v view) bool { return v.Table.Strikes["ada"] == 2 })
	ada.submit(map[string]any{"type": "challenge"})
	spectator.until("the challenge's strike", func(v view) bool {
		return v.Table.Strikes["ada"] == 3 && v.Table.Calls["ada"] == 1
	})
	// Then nobody says anything: it is Bob's turn, and five strikes of his end the match.
	end := spectator.until("the end", func(v view) bool { return v.Status == match.Ended })
	assert.JSONEq(t, `{"winner":"ada","loser":"bob","by":"strikes","score":{"ada":0,"bob":0}}`, string(end.Result))
	require.NotNil(t, end.Seed)
	checkFeeds(t, operator, created.Match, ada, receipt)
}

// checkFeeds reads the match's feed as the public and as a player see it.
func checkFeeds(t *testing.T, operator *client.Client, id string, ada *seat, receipt *submission.Receipt) {
	t.Helper()
	type line struct {
		Revision uint64 `json:"revision"`
		Type     string `json:"type"`
		Prev     string `json:"prev"`
		Hash     string `json:"hash"`
		Faces    []struct {
			Data json.RawMessage `json:"data"`
		} `json:"faces"`
		Opens []struct {
			Data json.RawMessage `json:"data"`
		} `json:"opens"`
	}
	read := func(c *client.Client) (lines []line) {
		prev := ""
		for raw, err := range c.Events(t.Context(), id, "") {
			require.NoError(t, err)
			var l line
			require.NoError(t, json.Unmarshal(raw, &l))
			assert.Equal(t, uint64(len(lines)), l.Revision)
			assert.Equal(t, prev, l.Prev, "the chain holds")
			prev = l.Hash
			lines = append(lines, l)
		}
		return lines
	}
	public := read(operator.As(""))
	require.Greater(t, uint64(len(public)), receipt.Revision)
	assert.Equal(t, receipt.Hash, public[receipt.Revision].Hash, "the receipt is the event's hash")
	for _, l := range public {
		for _, f := range l.Faces {
			assert.Empty(t, f.Data, "revision %d, %s: a face lies open to the public", l.Revision, l.Type)
		}
	}
	last := public[len(public)-1]
	assert.Equal(t, "match-ended.v1", last.Type)
	assert.Len(t, last.Opens, 3, "the seed, Bob's move and the level")
	own := 0
	for _, l := range read(ada.client) {
		for _, f := range l.Faces {
			if len(f.Data) > 0 {
				own++
			}
		}
	}
	assert.Equal(t, 2, own, "Ada sees her own two submissions and no other")
}

// TestOneKeyOneSubmission sends a submission again, as a client does that got no answer.
func TestOneKeyOneSubmission(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	ada, bob := sit(t, operator, created, "ada"), sit(t, operator, created, "bob")
	ada.turn()
	pick := map[string]any{"type": "pick-starter", "player": "bob"}
	first, err := ada.client.Submit(t.Context(), ada.match, 1, "k", pick)
	require.NoError(t, err)
	bob.turn()

	again, err := ada.client.Submit(t.Context(), ada.match, 1, "k", pick)
	require.NoError(t, err, "the phase is over, and the answer is the same")
	assert.Equal(t, first, again)
	again, err = ada.client.Submit(t.Context(), ada.match, 0, "k", pick)
	require.NoError(t, err, "where no phase is named too")
	assert.Equal(t, first, again)
	_, err = ada.client.Submit(t.Context(), ada.match, 1, "k", map[string]any{"type": "pick-starter", "player": "ada"})
	assert.Equal(t, problem.Code(match.ConflictState), code(t, err))

	bob.submit(map[string]any{"type": "add", "cups": 1})
	ada.turn()
	_, err = ada.client.Submit(t.Context(), ada.match, 1, "k", pick)
	require.NoError(t, err, "long after")
	_, err = ada.client.Submit(t.Context(), ada.match, 3, "k", map[string]any{"type": "add", "cups": 2})
	require.NoError(t, err, "a key is one phase's")
	_, err = ada.client.Submit(t.Context(), ada.match, 1, "k", pick)
	require.NoError(t, err, "and still")
}

// TestControls pauses, extends, resumes, reissues and voids, as host.
func TestControls(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	ada, bob := sit(t, operator, created, "ada"), sit(t, operator, created, "bob")
	seated, err := operator.As("").Claim(t.Context(), created.Host.Claim)
	require.NoError(t, err)
	host := operator.As(seated.Token)
	control := func(c *client.Client, action string, body map[string]any) problem.Code {
		_, err := c.Control(t.Context(), created.Match, action, body)
		return code(t, err)
	}
	why := map[string]any{"why": "lunch"}
	ada.turn()
	assert.Equal(t, problem.Forbidden, control(ada.client, "pause", why))
	assert.Equal(t, problem.Unauthorized, control(operator.As(""), "pause", why))
	assert.Empty(t, control(host, "pause", why))
	assert.Equal(t, problem.Code(match.MatchPaused), control(operator, "pause", why))
	_, err = ada.client.Submit(t.Context(), ada.match, 0, "", map[string]any{"type": "nonsense"})
	assert.Equal(t, problem.Code(match.MatchPaused), code(t, err))
	extend := map[string]any{"why": "slow line", "player": "ada", "by": "1m"}
	assert.Empty(t, control(host, "extend", extend))
	assert.Equal(t, problem.Code(match.NotAwaited), control(host, "extend", map[string]any{"why": "", "player": "bob", "by": "1m"}))
	assert.Equal(t, problem.Code(match.UnknownPlayer), control(host, "extend", map[string]any{"why": "", "player": "eve", "by": "1m"}))
	assert.Equal(t, problem.Code(match.MalformedMove), control(host, "extend", map[string]any{"player": "ada", "by": "1m"}))
	assert.Empty(t, control(host, "resume", why))
	assert.Equal(t, problem.Code(match.ConflictState), control(host, "resume", why))

	answer, err := host.Control(t.Context(), created.Match, "reissue", map[string]any{"why": "lost", "player": "bob"})
	require.NoError(t, err)
	_, err = bob.client.View(t.Context(), created.Match, "")
	assert.Equal(t, problem.Unauthorized, code(t, err), "the old token is void")
	_, err = bob.client.Submit(t.Context(), created.Match, 0, "", map[string]any{"type": "challenge"})
	assert.Equal(t, problem.Unauthorized, code(t, err))
	seated, err = operator.As("").Claim(t.Context(), answer.Claim)
	require.NoError(t, err)
	_, err = operator.As(seated.Token).View(t.Context(), created.Match, "?audience=bob")
	require.NoError(t, err)

	assert.Empty(t, control(host, "void", why))
	assert.Equal(t, problem.Code(match.MatchOver), control(host, "void", why))
	ada.until("the void", func(v view) bool { return v.Status == match.Void })
}

// TestViewsOfThePast reads a match as it stood, and as it will stand.
func TestViewsOfThePast(t *testing.T) {
	t.Parallel()
	_, operator := start(t, nil)
	created, err := operator.Create(t.Context(), glassFull(nil))
	require.NoError(t, err)
	ada := sit(t, operator, created, "ada")
	sit(t, operator, created, "bob")
	now := ada.turn()
	read := func(query string) (v view, err error) {
		raw, err := ada.client.View(t.Context(), created.Match, query)
		if err == nil {
			require.NoError(t, json.Unmarshal(raw, &v))
		}
		return v, err
	}
	then, err := read("?revision=0")
	require.NoError(t, err)
	assert.Equal(t, match.Waiting, then.Status)
	assert.Zero(t, then.Revision)
	_, err = read("?revision=999")
	assert.Equal(t, problem.NotFound, code(t, err))

	receipt := ada.submit(map[string]any{"type": "pick-starter", "player": "ada"})
	newer, err := read("?min_revision=" + json.Number(itoa(receipt.Revision+2)).String())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, newer.Revision, now.Revision+3, "the submission, the fact and the next phase")
}

// TestItGoesOnWhereItWas stops umpire and starts it again on the same folder.
func TestItGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first, operator := start(t, func(o *serve.Options) { o.Data = data })
	created, err := operator.Create(t.Context(), glassFull(map[string]any{"clock": map[string]any{"move": "700ms"}}))
	require.NoError(t, err)
	ada := sit(t, operator, created, "ada")
	sit(t, operator, created, "bob")
	ada.turn()
	began := time.Now()
	require.NoError(t, first.Stop())
	assert.Less(t, time.Since(began), 5*time.Second, "a graceful stop")

	_, operator = start(t, func(o *serve.Options) { o.Data = data })
	player := operator.As(ada.client.Token)
	_, err = player.Submit(t.Context(), ada.match, 1, "", map[string]any{"type": "pick-starter", "player": "ada"})
	require.NoError(t, err)
	spectator := sit(t, operator, created, "public")
	spectator.until("the end by strikes", func(v view) bool { return v.Status == match.Ended })
}

func itoa(n uint64) string { b, _ := json.Marshal(n); return string(b) }
