package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/sqlitelog"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/client"
	"umpire/services/demo"
	"umpire/services/problem"
	"umpire/services/servicestest"
	"umpire/services/submission"
)

// operatorOf returns an operator's client of a server.
func operatorOf(t *testing.T, data, address string) *client.Client {
	t.Helper()
	var token []byte
	require.Eventually(t, func() bool {
		var err error
		token, err = os.ReadFile(filepath.Join(data, "operator.token"))
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &client.Client{
		Base: "http://" + address, Token: strings.TrimSpace(string(token)),
		HTTP: &http.Client{Transport: transport, Timeout: 20 * time.Second},
	}
}

func createMatch(t *testing.T, data, address string) *submission.Created {
	t.Helper()
	created, err := operatorOf(t, data, address).Create(t.Context(), demo.Setup("glass-full", rand.IntN))
	require.NoError(t, err)
	return created
}

// acknowledged is a submission that a player was told stands.
type acknowledged struct {
	match, player string
	receipt       submission.Receipt
	move          string
}

// crowd plays matches over HTTP while the server is killed under it: what fails is sent again with the same key.
type crowd struct {
	t        *testing.T
	operator *client.Client
	games    match.Catalog
	setup    func() map[string]any
	thinking time.Duration // at most, before each move
	missing  int           // a player sleeps through one phase in so many; 0 for none
	streams  bool          // players follow streams, and do not look again and again

	mu       sync.Mutex
	acks     []acknowledged
	matches  []string
	replaced int // how many links were
}

// table plays one match to its end; more says whether the next is to be played after it.
func (c *crowd) table(ctx context.Context, more func() bool) {
	for more() {
		setup := c.setup()
		created, err := insist(ctx, func() (*submission.Created, error) { return c.operator.Create(ctx, setup) })
		if err != nil {
			return
		}
		c.mu.Lock()
		c.matches = append(c.matches, created.Match)
		c.mu.Unlock()
		var seats sync.WaitGroup
		for player, link := range created.Players {
			seats.Go(func() { c.seat(ctx, created, player, link.Claim) })
		}
		if setup["game"] == "nothing-but-the-truth" { // whose tie-break asks the host, and waits for him without a clock
			seats.Go(func() { c.seat(ctx, created, match.HostID, created.Host.Claim) })
		}
		seats.Wait()
	}
}

// seat claims a seat and plays it, again where another link replaced his: that of a request to reissue which came late.
func (c *crowd) seat(ctx context.Context, created *submission.Created, player, claim string) {
	for replaced := true; replaced && ctx.Err() == nil; {
		token := c.claim(ctx, created, player, claim)
		if token == "" {
			return
		}
		replaced = c.play(ctx, c.operator.As(token), created.Match, player)
		if replaced {
			c.mu.Lock()
			c.replaced++
			c.mu.Unlock()
		}
	}
}

// claim returns the token of a seat, "" when its match is over. A claim whose answer was lost is gone, so the operator
// issues a new link.
func (c *crowd) claim(ctx context.Context, created *submission.Created, player, claim string) string {
	over := func(err error) bool {
		var p *problem.Problem
		return errors.As(err, &p) && p.Code == problem.Code(match.MatchOver) // it was played without him
	}
	for ctx.Err() == nil {
		seated, err := c.operator.As("").Claim(ctx, claim)
		if err == nil {
			return seated.Token
		}
		var p *problem.Problem
		if errors.As(err, &p) && p.Code == problem.Code(match.Claimed) {
			again, err := insist(ctx, func() (*submission.Controlled, error) {
				return c.operator.Control(ctx, created.Match, "reissue", map[string]any{"why": "lost", "player": player})
			})
			if over(err) {
				return ""
			}
			if err == nil {
				claim = again.Claim
			}
		}
		if over(err) {
			return ""
		}
		wait(ctx)
	}
	return ""
}

// play plays a seat to the match's end; it reports whether another link replaced his.
func (c *crowd) play(ctx context.Context, me *client.Client, id, player string) (replaced bool) {
	missed := 0 // the phase that this player sleeps through
	for raw, err := range c.views(ctx, me, id) {
		if err != nil {
			return true
		}
		v, err := c.games.ReadView(raw)
		if err != nil {
			c.t.Errorf("a view can't be read: %v", err)
			return false
		}
		if v.Status == match.Ended || v.Status == match.Void {
			return false
		}
		if v.Awaits(player) && v.Phase.No != missed {
			if c.missing > 0 && player != match.HostID && rand.IntN(c.missing) == 0 {
				missed = v.Phase.No
			} else {
				waitUpTo(ctx, c.thinking)
				c.move(ctx, me, v, player)
			}
		}
	}
	return false
}

// views yields a match's views: as the stream brings them, or as a player finds them who looks again and again. The one
// error that it yields says that the player's link was replaced.
func (c *crowd) views(ctx context.Context, me *client.Client, id string) iter.Seq2[json.RawMessage, error] {
	look := func(yield func(json.RawMessage, error) bool) { yield(me.View(ctx, id, "")) }
	if c.streams {
		look = me.Stream(ctx, id)
	}
	return func(yield func(json.RawMessage, error) bool) {
		for ctx.Err() == nil {
			for raw, err := range look {
				var p *problem.Problem
				if errors.As(err, &p) && p.Code == problem.Unauthorized {
					yield(nil, err)
					return
				}
				if err == nil && !yield(raw, nil) {
					return
				}
			}
			wait(ctx)
		}
	}
}

func (c *crowd) move(ctx context.Context, me *client.Client, v *match.View, player string) {
	move := c.games.Bot(v, rand.IntN)
	key := fmt.Sprintf("%s-%d-%d", player, v.Phase.No, rand.Uint64())
	receipt, err := insist(ctx, func() (*submission.Receipt, error) {
		return me.Submit(ctx, v.Match, v.Phase.No, key, move)
	})
	if err != nil {
		return // refused: the phase went on meanwhile
	}
	text, err := event.Canonical(move)
	require.NoError(c.t, err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acks = append(c.acks, acknowledged{v.Match, player, *receipt, string(text)})
}

func (c *crowd) acknowledged() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.acks)
}

// insist tries until there is an answer; a refusal is one, and so is the context's end.
func insist[T any](ctx context.Context, call func() (*T, error)) (*T, error) {
	for {
		answer, err := call()
		var p *problem.Problem
		refused := errors.As(err, &p)
		if err == nil || refused && p.Code != problem.Unavailable || ctx.Err() != nil {
			return answer, err
		}
		wait(ctx)
	}
}

// short is a little while.
const short = 30 * time.Millisecond

func wait(ctx context.Context) { waitUpTo(ctx, short) }

func waitUpTo(ctx context.Context, most time.Duration) {
	if most == 0 {
		return
	}
	timer := time.NewTimer(rand.N(most))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// TestKilledAtAnyMoment kills the running program at random moments under load, and then finds every acknowledged
// submission in the log, once, as it was acknowledged, and every match ended.
func TestKilledAtAnyMoment(t *testing.T) {
	kills, tables := 20, 8
	if os.Getenv("UMPIRE_LONG") != "" {
		kills = 200
	}
	data, address := t.TempDir(), servicestest.Address(t)
	s := serveAt(t, data, address)
	c := &crowd{t: t, operator: operatorOf(t, data, address), games: games.All(), missing: 100, setup: func() map[string]any {
		setup := demo.Setup("glass-full", rand.IntN)
		setup["options"] = map[string]any{"clock": map[string]any{"move": "1s"}}
		return setup
	}}
	killing, stopKilling := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	for range tables {
		playing.Go(func() { c.table(t.Context(), func() bool { return killing.Err() == nil }) })
	}
	for range kills {
		enough := c.acknowledged() + 1 + rand.IntN(60)
		require.Eventually(t, func() bool { return c.acknowledged() >= enough }, time.Minute, time.Millisecond,
			"nothing moves any more: %s", s.errs)
		s.kill()
		s = serveAt(t, data, address)
	}
	stopKilling()
	playing.Wait()
	assert.Equal(t, exitWell, s.stop(t), s.errs.String())
	t.Logf("%d kills, %d matches, %d submissions acknowledged", kills, len(c.matches), len(c.acks))
	log, err := sqlitelog.Open(filepath.Join(data, "umpire.db"))
	require.NoError(t, err)
	defer log.Close()
	vault := vaultIn(t, data)
	checkLog(t, journal.New(log, c.games, vault, nil), vault, c)
}

// vaultIn reads the master key in a folder.
func vaultIn(t *testing.T, data string) *event.Vault {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "master.key"))
	require.NoError(t, err)
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	vault, err := event.NewVault(key)
	require.NoError(t, err)
	return vault
}

// checkLog reads the log that is left and compares it with what was acknowledged.
func checkLog(t *testing.T, j *journal.Journal, vault *event.Vault, c *crowd) {
	t.Helper()
	said := map[string]map[uint64]acknowledged{}
	for _, a := range c.acks {
		if said[a.match] == nil {
			said[a.match] = map[uint64]acknowledged{}
		}
		_, twice := said[a.match][a.receipt.Revision]
		assert.False(t, twice, "two submissions were acknowledged at one revision")
		said[a.match][a.receipt.Revision] = a
	}
	for _, id := range c.matches {
		m, err := j.Load(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, match.Ended, m.Status(), "match %s", id)
		checkHistory(t, j, vault.Keys(journal.Stream(id)), id, said[id])
	}
}

// checkHistory walks one match's events: the chain holds, each acknowledged submission stands where it was said to
// stand, phases follow one another, and nothing stands twice.
func checkHistory(t *testing.T, j *journal.Journal, keys *event.Keys, id string, said map[uint64]acknowledged) {
	t.Helper()
	prev, phase := "", 0
	ids := map[event.ID]bool{}
	for r, err := range j.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		assert.Equal(t, prev, r.Prev)
		assert.Equal(t, r.ComputeHash(), r.Hash)
		assert.False(t, ids[r.ID], "match %s has one event twice", id)
		prev, ids[r.ID] = r.Hash, true
		switch r.Type {
		case "phase-opened.v1":
			var opened struct{ Phase int }
			require.NoError(t, json.Unmarshal(r.Public, &opened))
			phase++
			assert.Equal(t, phase, opened.Phase, "match %s resolved a phase twice or never", id)
		case "submission-accepted.v1", "submission-replaced.v1":
			if a, ok := said[r.Revision]; ok {
				f, err := keys.Open(r.ID, 0, r.Faces[0])
				require.NoError(t, err)
				assert.Equal(t, a.receipt.Hash, r.Hash)
				assert.Equal(t, []string{a.player}, f.To)
				assert.JSONEq(t, a.move, string(f.Data))
				delete(said, r.Revision)
			}
		}
	}
	assert.Zero(t, len(said), "match %s lost what was acknowledged", id) //nolint:testifylint // what was played stays secret
}
