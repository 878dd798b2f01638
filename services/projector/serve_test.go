package projector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/problem"
)

// TestOverTheQueue asks as the gateway does.
func TestOverTheQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tokens := w.played("m", `{"start":"when-claimed"}`)
	w.handle(w.Service, w.Commits(0))
	stop, err := w.Run(t.Context(), w.nc, w.Logged.Logger())
	require.NoError(t, err)
	defer func() { assert.NoError(t, stop()) }()
	ask := func(subject, bearer, id, question string) queue.Reply {
		t.Helper()
		h := nats.Header{}
		h.Set(queue.HeaderToken, bearer)
		h.Set(queue.HeaderMatch, id)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		reply, err := queue.Request(ctx, w.nc, subject, h, []byte(question))
		require.NoError(t, err)
		return reply
	}
	m := w.Now("m")
	reply := ask(queue.View, "", "m", "")
	assert.Equal(t, 200, reply.Status)
	assert.JSONEq(t, toJSON(t, m.View(match.Public)), string(reply.Body))
	reply = ask(queue.View, tokens["ada"], "m", `{}`)
	assert.JSONEq(t, toJSON(t, m.View("ada")), string(reply.Body))
	reply = ask(queue.View, tokens["ada"], "m", `{"audience":"public","revision":0}`)
	assert.Contains(t, string(reply.Body), `"status":"waiting"`)
	reply = ask(queue.Events, tokens["ada"], "m", `{"after":1}`)
	assert.Equal(t, 200, reply.Status)
	assert.EqualValues(t, m.Revision()-1, bytes.Count(reply.Body, []byte("\n")), "one line an event")
	reply = ask(queue.Events, "", "m", `{"after":9999}`)
	assert.Equal(t, 200, reply.Status)
	assert.Empty(t, reply.Body)
	reply = ask(queue.Matches, "", "", `{"limit":1}`)
	assert.Contains(t, string(reply.Body), `"match":"m"`)
	for name, c := range map[string]struct {
		subject, bearer, id, question string
		code                          problem.Code
	}{
		"another's view":     {queue.View, tokens["ada"], "m", `{"audience":"bob"}`, problem.Forbidden},
		"another's feed":     {queue.Events, tokens["ada"], "m", `{"audience":"bob"}`, problem.Forbidden},
		"no such match":      {queue.View, "", "nosuchmatch", "", problem.NotFound},
		"no match":           {queue.View, "", "", "", problem.NotFound},
		"a bad token":        {queue.Events, "e30.e30.e30", "m", "", problem.Unauthorized},
		"a bad question":     {queue.View, "", "m", `{"revision":-1}`, "malformed"},
		"no question":        {queue.Matches, "", "", `7`, "malformed"},
		"a page of too much": {queue.Matches, "", "", `{"limit":1000}`, "malformed"},
	} {
		reply := ask(c.subject, c.bearer, c.id, c.question)
		var p problem.Problem
		require.NoError(t, json.Unmarshal(reply.Body, &p))
		assert.Equal(t, c.code, p.Code, name)
		assert.Equal(t, p.Status, reply.Status, name)
	}
	assert.Empty(t, w.Logged.String())
}
