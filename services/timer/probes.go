package timer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/services/metrics"
)

// ProbesStream is where the log keeps when umpire could be reached, and when not.
const ProbesStream = "umpire-probes"

const (
	// probeEvery is how often a timer looks whether players can reach umpire.
	probeEvery = time.Second
	// A probe goes to the log every tenth of the time before the next deadline, within these bounds: the nearer a
	// deadline, the better it must be known how long an outage was. Each promises when the next one comes, so that
	// whoever reads the log knows a gap in it without knowing what deadlines there were.
	logOften  = 2 * time.Second
	logRarely = time.Minute
	// patience is for how long nobody may look, or write what he has promised, before that is taken for an outage.
	patience = 3 * probeEvery
	// rememberedOutages bounds how far back outages are remembered; older ones have been given long ago.
	rememberedOutages = 1000
)

// The public parts of the events of the stream.
type (
	probeReturned struct {
		Within string `json:"within"` // a Go duration: by then, at the latest, the next one stands in the log
	}
	outageEnded struct {
		From time.Time `json:"from"`
		To   time.Time `json:"to"`
	}
)

// probes is what a timer knows of umpire's own health.
type probes struct {
	keys *event.Keys

	mu      sync.Mutex
	read    bool      // the stream has been read since the process began
	failed  bool      // the last probe of this process failed
	lost    time.Time // since when probes fail, and when one did so last
	failing time.Time
	good    time.Time     // when players were last sure to reach umpire
	logged  time.Time     // the last proof of it in the stream
	promise time.Duration // how soon behind it the next one was to come
	head    int64         // of the stream
	hash    string
	known   []match.Outage
	// gaps lie before good: nobody was sure to reach umpire in them. They are to be accounted for.
	gaps    []match.Outage
	started bool
}

// learn takes in a commit of the stream. Whoever wrote it has judged the gap before it, so it proves no new one.
func (s *Service) learn(commit *eventlog.Commit) {
	p := &s.probes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.init()
	for i := range commit.Events {
		revision := int64(commit.First) + int64(i) //nolint:gosec // revisions are far from 2^63
		if revision <= p.head {
			continue
		}
		e := &commit.Events[i]
		p.head, p.hash = revision, e.Hash
		at := e.At
		if e.Type == "outage-ended.v1" {
			var o outageEnded
			if err := json.Unmarshal(e.Public, &o); err == nil {
				p.known = append(p.known, match.Outage{From: o.From, To: o.To})
				p.known = p.known[max(0, len(p.known)-rememberedOutages):]
				p.prove(o.From, true)
				p.mended(o.To) // what lies between stands in the log
				p.good = latest(p.good, o.To)
				at = o.To
			}
		}
		p.prove(at, true)
		p.logged = latest(p.logged, at)
		if e.Type == "probe-returned.v1" {
			var r probeReturned
			if err := json.Unmarshal(e.Public, &r); err == nil {
				p.promise, _ = time.ParseDuration(r.Within)
			}
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *probes) init() {
	if !p.started {
		p.started, p.head = true, eventlog.NoStream
	}
}

// saw takes in that somebody reached umpire, as the log says.
func (s *Service) saw(at time.Time) {
	p := &s.probes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.init()
	p.prove(at, false)
}

// prove takes in a proof, from the log. It tells when an outage was over, and not that there was none: a gap before it in
// which probes of our own failed, or in which nobody wrote any, is kept; who wrote a proof himself has judged that.
func (p *probes) prove(at time.Time, judged bool) {
	if !at.After(p.good) {
		return
	}
	failed := p.failed && at.After(p.lost)
	if failed || !p.good.IsZero() && !judged && p.broken(at) {
		p.missed(at)
	}
	p.mended(at)
	p.good = at
}

// missed notes that players were not sure to reach umpire from the last proof up to an instant.
func (p *probes) missed(to time.Time) {
	if n := len(p.gaps); n > 0 && p.gaps[n-1].To.Equal(p.good) {
		p.gaps[n-1].To = to
	} else {
		p.gaps = append(p.gaps, match.Outage{From: p.good, To: to})
	}
	p.good = to
}

// mended notes that probes of our own which failed before an instant have nothing to do with what follows it.
func (p *probes) mended(at time.Time) {
	if p.failed && at.After(p.lost) {
		p.failed, p.lost = p.failing.After(at), p.failing
	}
}

// broken reports whether a proof comes so late that no timer can have looked all the time before it: the next probe, which
// the last one in the stream promised, does not stand there.
func (p *probes) broken(at time.Time) bool {
	promised := p.logged
	if promised.IsZero() {
		promised = p.good
	}
	return at.Sub(p.good) > patience && at.Sub(promised) > p.within()+patience
}

// within is how soon behind the last proof in the stream a probe is to stand there.
func (p *probes) within() time.Duration {
	if p.promise == 0 {
		return logRarely
	}
	return p.promise
}

func (p *probes) outages() []match.Outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// due reports whether the next probe must go to the log where one is to stand there so often: as was promised, and at once
// where a clock began that runs out much sooner than any when that was promised.
func (p *probes) due(now time.Time, every time.Duration) bool {
	return now.Sub(p.logged) >= p.within() || 2*every < p.within()
}

// interval is how often a probe goes to the log where the next deadline is so far away.
func interval(away time.Duration) time.Duration { return min(max(away/10, logOften), logRarely) }

// Probe looks whether players can reach umpire, and keeps the account of when they could. An error means that they can't,
// or that the account could not be kept: nothing may be fired then.
func (s *Service) Probe(ctx context.Context) error {
	err := s.probe(ctx)
	if err != nil {
		metrics.ProbeFailures.Inc()
		p, now := &s.probes, s.o.Clock()
		p.mu.Lock()
		if !p.failed {
			p.lost = now
		}
		p.failed, p.failing = true, now
		p.mu.Unlock()
	}
	return err
}

func (s *Service) probe(ctx context.Context) error {
	p := &s.probes
	if err := s.readOn(ctx); err != nil { // what another timer promised is to be kept by all, however late the feed is
		return err
	}
	err := s.o.Path(ctx)
	now := s.o.Clock()
	p.mu.Lock()
	if p.good.IsZero() { // the first life of this log
		p.good = now
	}
	gap := now.Sub(p.good)
	suspicious := p.failed || len(p.gaps) > 0 || gap > patience
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("players can't reach umpire: %w", err)
	}
	if suspicious {
		return s.account(ctx)
	}
	if err := s.logProbe(ctx, now); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.good = now
	return nil
}

// logProbe writes a probe to the log where the last proof in it is too old.
func (s *Service) logProbe(ctx context.Context, now time.Time) error {
	p, every := &s.probes, s.every(now)
	p.mu.Lock()
	enough := now.Sub(p.logged) < every && !p.due(now, every)
	p.mu.Unlock()
	if enough {
		return nil
	}
	return s.writeProbe(ctx, now, every)
}

// every is how often a probe goes to the log, as the next deadline asks for.
func (s *Service) every(now time.Time) time.Duration {
	next, ok := s.Next()
	if !ok {
		return logRarely
	}
	return interval(next.Sub(now))
}

// writeProbe writes a probe; where another timer has written meanwhile, that proves as much.
func (s *Service) writeProbe(ctx context.Context, now time.Time, every time.Duration) error {
	err := s.write(ctx, "probe-returned.v1", probeReturned{every.String()}, now)
	var conflict *eventlog.Conflict
	if errors.As(err, &conflict) {
		return s.readOn(ctx)
	}
	return err
}

// catchUp reads the stream once in the life of the process.
func (s *Service) catchUp(ctx context.Context) error {
	s.probes.mu.Lock()
	s.probes.init()
	read := s.probes.read
	s.probes.mu.Unlock()
	if read {
		return nil
	}
	return s.readOn(ctx)
}

// readOn reads what the stream has that is not known yet.
func (s *Service) readOn(ctx context.Context) error {
	s.probes.mu.Lock()
	s.probes.init()
	from := uint64(s.probes.head + 1) //nolint:gosec // from -1 up
	s.probes.mu.Unlock()
	for commit, err := range s.o.Log.Read(ctx, ProbesStream, from) {
		if err != nil {
			return fmt.Errorf("reading %s: %w", ProbesStream, err)
		}
		s.learn(&commit)
	}
	s.probes.mu.Lock()
	defer s.probes.mu.Unlock()
	s.probes.read = true
	return nil
}

// write appends an event to the stream.
func (s *Service) write(ctx context.Context, kind string, public any, now time.Time) error {
	data, err := event.Canonical(public)
	if err != nil {
		return err
	}
	p := &s.probes
	p.mu.Lock()
	head, prev := p.head, p.hash
	p.mu.Unlock()
	e := event.Event{
		ID:   p.keys.Name(kind, strconv.FormatInt(head, 10), now.UTC().Format(time.RFC3339Nano)),
		Type: kind, At: now.UTC(), By: event.Timer, Public: data, Prev: prev,
	}
	e.Hash = e.ComputeHash()
	commit, err := s.o.Log.Append(ctx, ProbesStream, head, e)
	if err != nil {
		return fmt.Errorf("appending to %s: %w", ProbesStream, err)
	}
	s.learn(&commit)
	return nil
}
