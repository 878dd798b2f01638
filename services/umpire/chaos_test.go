package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/demo"
	"umpire/services/gateway"
)

// chaosFor is how long processes are killed, chaosSeed draws which and when; `make chaos` sets both.
const (
	chaosFor  = "UMPIRE_CHAOS_FOR"
	chaosSeed = "UMPIRE_CHAOS_SEED"
)

// How many matches are played through it all: by `make chaos`, and in the 30 s of it that every test run has.
const (
	chaosMatches = 200
	fewerMatches = 60
)

// TestChaos plays matches on two of each service, a real NATS server and a double of EventStoreDB, each in a process of
// its own, while one after another is killed and started again, and JetStream's folder is wiped once. Then every
// submission that was acknowledged stands in the log, once, no phase was resolved twice, nobody was flagged while he could
// not have submitted, all matches have ended, and the log gives the final views byte for byte.
func TestChaos(t *testing.T) {
	lasting, seed, matches := 30*time.Second, rand.Uint64(), fewerMatches
	if text := os.Getenv(chaosFor); text != "" {
		var err error
		lasting, err = time.ParseDuration(text)
		require.NoError(t, err, chaosFor)
		matches = chaosMatches
	}
	if text := os.Getenv(chaosSeed); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, chaosSeed)
	}
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it is to be the same again
	s := newSystem(t, plan{replicas: 2, hostile: seed})
	s.startAll(draw)
	s.awaitReady()

	c := &crowd{t: t, operator: s.operator, games: games.All(), streams: true, missing: 200, setup: chaosSetup}
	var playing sync.WaitGroup
	atTable, sendHome := context.WithCancel(t.Context())
	defer sendHome()
	for range matches {
		once := true
		playing.Go(func() { c.table(atTable, func() bool { was := once; once = false; return was }) })
	}
	watching, stopWatching := context.WithCancel(t.Context())
	reach := &reachability{gateways: s.gateways}
	var watchers sync.WaitGroup
	watchers.Go(func() { reach.watch(watching) })

	kills := s.havoc(draw, lasting)
	s.awaitReady()
	ended := make(chan struct{})
	go func() { playing.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(3 * time.Minute):
		if left := s.open(t, c.matches); strings.Count(left, "\n") == 1 { // all are over, and some bot has not seen it
			sendHome()
			<-ended
			break
		}
		require.Fail(t, "matches do not end", "%v\n%s\n%s", s.ready(t.Context()), s.stacks(t), s.open(t, c.matches))
	}
	stopWatching()
	watchers.Wait()
	t.Logf("%d kills, %d matches, %d submissions acknowledged, %d links replaced late, umpire out of reach %d times for %s",
		kills, len(c.matches), len(c.acks), c.replaced, len(reach.outages), reach.total())

	s.awaitReady()
	s.stopAll()
	j, vault := s.openJournal(t)
	checkLog(t, j, vault, c)
	struck := checkStrikes(t, j, c.matches, reach.outages)
	assert.NotZero(t, struck, "nobody was ever late, so nothing was shown of it")
	assert.True(t, slices.ContainsFunc(reach.outages, func(o match.Outage) bool { return o.To.Sub(o.From) >= noticed }),
		"there was no outage that umpire had to notice")
	t.Logf("%d deadlines struck", struck)
	s.verifyViews(t)
}

// chaosSetup is a match of any game, with clocks that run out while the test runs.
func chaosSetup() map[string]any {
	name := "glass-full" // whose matches are short
	if all := games.All(); rand.IntN(5) == 0 {
		name = all[rand.IntN(len(all))].Name
	}
	setup := demo.Setup(name, rand.IntN)
	options, ok := setup["options"].(map[string]any)
	if !ok {
		options = map[string]any{}
		setup["options"] = options
	}
	options["clock"], options["close"] = map[string]any{"move": "3s", "reserve": "3s"}, "when-all-in"
	return setup
}

// longOutage is how long NATS is away when it loses its disk.
const longOutage = 9 * time.Second

// havoc kills and starts processes again for a while, and returns how often. At one moment in the middle NATS loses its
// disk.
func (s *system) havoc(draw *rand.Rand, lasting time.Duration) (kills int) {
	until := time.Now().Add(lasting)
	wiped := false
	for time.Now().Before(until) {
		waitUpTo(s.t.Context(), 400*time.Millisecond)
		p := s.parts[draw.IntN(len(s.parts))]
		wipe := !wiped && time.Until(until) < lasting/2
		if wipe {
			p = s.byName["nats"]
		}
		p.kill()
		kills++
		if wipe {
			wiped = true
			require.NoError(s.t, os.RemoveAll(s.jetStreamDir()))
			<-time.After(longOutage) // deadlines fall into it
		}
		waitUpTo(s.t.Context(), 700*time.Millisecond)
		p.start(s.t)
	}
	require.True(s.t, wiped)
	return kills
}

// stacks tells what the services that are not ready are doing.
func (s *system) stacks(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for name, address := range s.admin {
		if s.asks(t.Context(), address, "/readyz") == nil {
			continue
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/debug/pprof/goroutine?debug=1", nil)
		require.NoError(t, err)
		if resp, err := http.DefaultClient.Do(req); err == nil {
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			fmt.Fprintf(&all, "%s\n%s\n%s\n", name, s.told(name), body)
		}
	}
	return all.String()
}

// open tells of the matches that have not ended.
func (s *system) open(t *testing.T, ids []string) string {
	t.Helper()
	j, _ := s.openJournal(t)
	var all strings.Builder
	fmt.Fprintf(&all, "%d matches begun, at %s\n", len(ids), time.Now().UTC().Format(time.RFC3339Nano))
	for _, id := range ids {
		m, err := j.Load(t.Context(), id)
		if err == nil && m.Over() {
			continue
		}
		fmt.Fprintf(&all, "%s: %v", id, err)
		if err == nil {
			due, ok := m.Deadline()
			fmt.Fprintf(&all, " %s revision %d, %s, at %s, due %s %v", m.Game().Name, m.Revision(), m.Status(), m.At(), due, ok)
			if phase := m.View(match.Public).Phase; phase != nil {
				fmt.Fprintf(&all, ", phase %d %s awaits %v", phase.No, phase.Name, phase.Awaiting)
			}
		}
		all.WriteString("\n")
	}
	return all.String()
}

// reachability notes when players could not have submitted, as seen from where they are.
type reachability struct {
	gateways []string
	outages  []match.Outage
}

// watch sends probes the way that submissions go, through each gateway, until the context ends.
func (r *reachability) watch(ctx context.Context) {
	var since, still time.Time // when umpire was found out of reach, and when it was so last: not a moment is overstated
	for ctx.Err() == nil {
		began := time.Now()
		switch ok := r.reached(ctx); {
		case ok && still.After(since):
			r.outages = append(r.outages, match.Outage{From: since, To: still})
			fallthrough
		case ok:
			since, still = time.Time{}, time.Time{}
		case since.IsZero():
			since = time.Now()
		default:
			still = began
		}
		wait(ctx)
	}
}

// reached asks all gateways at once: one that hangs does not hide that another answers.
func (r *reachability) reached(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	answers := make(chan bool, len(r.gateways))
	for _, address := range r.gateways {
		go func() { answers <- answersProbe(ctx, address) }()
	}
	reached := false
	for range r.gateways {
		if <-answers {
			reached = true
			cancel() // the others need not be waited for
		}
	}
	return reached
}

func answersProbe(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+gateway.ProbePath, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (r *reachability) total() (all time.Duration) {
	for _, o := range r.outages {
		all += o.To.Sub(o.From)
	}
	return all.Round(time.Millisecond)
}

const (
	// noticed is how long an outage must last for umpire to be sure to notice it: its probes are a second apart, and three
	// must be missing.
	noticed = 4 * time.Second
	// onItsWay is how long after a probe has come back the deadline that it was for may still be on its way to the log.
	onItsWay = time.Second
)

// checkStrikes finds no deadline that fell into an outage, or was declared in one, and returns how many were declared at
// all.
func checkStrikes(t *testing.T, j *journal.Journal, ids []string, outages []match.Outage) (struck int) {
	t.Helper()
	for _, id := range ids {
		for r, err := range j.Events(t.Context(), id, 0) {
			require.NoError(t, err)
			if r.Type != "deadline-passed.v1" {
				continue
			}
			var passed struct {
				Players  []string
				Deadline time.Time
			}
			require.NoError(t, json.Unmarshal(r.Public, &passed))
			if len(passed.Players) == 0 {
				continue
			}
			struck++
			for _, o := range outages {
				for what, at := range map[string]time.Time{"struck": r.At, "due": passed.Deadline} {
					assert.False(t, o.To.Sub(o.From) >= noticed && at.After(o.From.Add(onItsWay)) && at.Before(o.To),
						"match %s, revision %d: %s %s into an outage of %s", id, r.Revision, what, at.Sub(o.From), o.To.Sub(o.From))
				}
			}
		}
	}
	return struck
}
