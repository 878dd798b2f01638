package submission_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/services/problem"
	"umpire/services/servicestest"
	"umpire/services/submission"
)

// TestOverTheQueue asks for everything as the gateway does.
func TestOverTheQueue(t *testing.T) {
	t.Parallel()
	nc, _ := servicestest.Queue(t)
	w := newWorld(t)
	stop, err := w.Run(t.Context(), nc, w.Logged.Logger())
	require.NoError(t, err)

	ask := func(subject string, body []byte, out any, headers ...string) int {
		t.Helper()
		h := nats.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		reply, err := queue.Request(ctx, nc, subject, h, body)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(reply.Body, out))
		return reply.Status
	}
	var created submission.Created
	require.Equal(t, 200, ask(queue.Create, []byte(setup("glass-full", "")), &created, queue.HeaderToken, w.operator, queue.HeaderBase, base))
	assert.Equal(t, base+"/m/"+created.Match+"#c="+created.Host.Claim, created.Host.Link)
	var ada, bob submission.Seated
	require.Equal(t, 200, ask(queue.Claim, body(map[string]any{"claim": created.Players["ada"].Claim}), &ada))
	require.Equal(t, 200, ask(queue.Claim, body(map[string]any{"claim": created.Players["bob"].Claim}), &bob))
	w.Resolve(created.Match)
	var receipt, again submission.Receipt
	submit := []string{queue.HeaderToken, ada.Token, queue.HeaderMatch, created.Match, queue.HeaderKey, "k"}
	require.Equal(t, 200, ask(queue.Submit, move(1, pickBob), &receipt, submit...))
	require.Equal(t, 200, ask(queue.Submit, move(1, pickBob), &again, submit...))
	assert.Equal(t, receipt, again)
	var p problem.Problem
	require.Equal(t, 409, ask(queue.Submit, move(1, pickAda), &p, submit...))
	assert.Equal(t, problem.Code(match.ConflictState), p.Code)
	var done submission.Controlled
	control := []string{queue.HeaderToken, w.operator, queue.HeaderMatch, created.Match, queue.HeaderAction, "reissue", queue.HeaderBase, base}
	require.Equal(t, 200, ask(queue.Control, body(map[string]any{"why": "", "player": "ada"}), &done, control...))
	assert.Contains(t, done.Link, base)
	require.Equal(t, 401, ask(queue.Create, []byte("{}"), &p))
	assert.Equal(t, problem.Unauthorized, p.Code)

	require.NoError(t, w.Log.Close())
	require.Equal(t, 503, ask(queue.Create, []byte(setup("glass-full", "")), &p, queue.HeaderToken, w.operator))
	assert.Equal(t, problem.Unavailable, p.Code)
	require.NoError(t, stop())
	assert.Equal(t, 1, w.Logged.Count("\n"), "a fault is logged, a refusal is not: %s", w.Logged.String())
}
