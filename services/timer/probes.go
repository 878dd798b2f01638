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
)

// ProbesStream is where the log keeps when umpire could be reached, and when not.
const ProbesStream = "umpire-probes"

const (
	// probeEvery is how often a timer looks whether players can reach umpire.
	probeEvery = time.Second
	// A probe goes to the log a tenth of the time before the next deadline, within these bounds, unless players'
	// submissions prove as much: the nearer a deadline, the better it must be known how long an outage was.
	logOften  = 2 * time.Second
	logRarely = time.Minute
	// rememberedOutages bounds how far back outages are remembered; older ones have been given long ago.
	rememberedOutages = 1000
)

// The public parts of the events of the stream.
type (
	probeReturned struct{}
	outageEnded   struct {
		From time.Time `json:"from"`
		To   time.Time `json:"to"`
	}
)

// probes is what a timer knows of umpire's own health.
type probes struct {
	keys *event.Keys

	mu      sync.Mutex
	read    bool      // the stream has been read since the process began
	fresh   bool      // no probe of this process has come back yet
	failed  bool      // the last probe of this process failed
	good    time.Time // when players were last sure to reach umpire
	logged  time.Time // the last proof of it that stands in the log
	head    int64     // of the stream
	hash    string
	known   []match.Outage
	started bool
}

// learn takes in a commit of the stream.
func (p *probes) learn(commit *eventlog.Commit) {
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
				at = o.To
			}
		}
		p.prove(at)
	}
}

func (p *probes) init() {
	if !p.started {
		p.started, p.fresh, p.head = true, true, eventlog.NoStream
	}
}

// saw takes in that somebody reached umpire, as the log says.
func (p *probes) saw(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.init()
	p.prove(at)
}

func (p *probes) prove(at time.Time) {
	if at.After(p.good) {
		p.good = at
	}
	if at.After(p.logged) {
		p.logged = at
	}
}

func (p *probes) outages() []match.Outage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

// interval is how often a probe goes to the log where the next deadline is so far away.
func interval(away time.Duration) time.Duration { return min(max(away/10, logOften), logRarely) }

// Probe looks whether players can reach umpire, and keeps the account of when they could. An error means that they can't,
// or that the account could not be kept: nothing may be fired then.
func (s *Service) Probe(ctx context.Context) error {
	err := s.probe(ctx)
	if err != nil {
		s.probes.mu.Lock()
		s.probes.failed = true
		s.probes.mu.Unlock()
	}
	return err
}

func (s *Service) probe(ctx context.Context) error {
	p := &s.probes
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	err := s.o.Path(ctx)
	now := s.o.Clock()
	p.mu.Lock()
	if p.good.IsZero() { // the first life of this log
		p.good = now
	}
	gap := now.Sub(p.good)
	suspicious := p.failed || gap > 3*probeEvery || p.fresh && s.o.Alone && gap > 0
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
	p.good, p.fresh = now, false
	return nil
}

// account decides whether a gap was an outage, and if so writes it down and gives it to the clocks that ran in it.
func (s *Service) account(ctx context.Context) error {
	p := &s.probes
	for {
		if err := s.readOn(ctx); err != nil { // others may have been awake
			return err
		}
		now := s.o.Clock()
		p.mu.Lock()
		gap := match.Outage{From: p.good, To: now}
		real := s.real(now.Sub(p.good))
		p.mu.Unlock()
		if !real {
			break
		}
		err := s.write(ctx, "outage-ended.v1", outageEnded{gap.From, gap.To}, now)
		var conflict *eventlog.Conflict
		if errors.As(err, &conflict) {
			continue
		}
		if err != nil {
			return err
		}
		s.o.Logger.Warn("players could not reach umpire; their clocks get it back", "from", gap.From, "to", gap.To)
		s.giveAll(ctx)
		break
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.good, p.failed, p.fresh = s.o.Clock(), false, false
	return nil
}

// real says whether a gap without proof was an outage. Probes of our own that failed prove it. Where this process was
// not there to send any, another timer would have written to the log twice by now, if there was one.
func (s *Service) real(gap time.Duration) bool {
	p := &s.probes
	if p.failed || s.o.Alone {
		return gap > 0
	}
	away := logRarely * 10
	if next, ok := s.Next(); ok {
		away = next.Sub(p.good)
	}
	return gap > max(2*interval(away), 3*probeEvery)
}

// giveAll gives what is owed to all matches that have a clock; who is missed gets it before he is fired.
func (s *Service) giveAll(ctx context.Context) {
	for _, id := range s.open() {
		if err := s.Fire(ctx, id, time.Time{}); err != nil && ctx.Err() == nil {
			s.o.Logger.Warn("a match gets an outage back later", "match", id, "error", err)
		}
	}
}

// logProbe writes a probe to the log where the last proof in it is too old.
func (s *Service) logProbe(ctx context.Context, now time.Time) error {
	p := &s.probes
	next, ok := s.Next()
	every := logRarely
	if ok {
		every = interval(next.Sub(now))
	}
	p.mu.Lock()
	old := now.Sub(p.logged)
	p.mu.Unlock()
	if old < every {
		return nil
	}
	return s.writeProbe(ctx, now)
}

// writeProbe writes a probe; where another timer has written meanwhile, that proves as much.
func (s *Service) writeProbe(ctx context.Context, now time.Time) error {
	err := s.write(ctx, "probe-returned.v1", probeReturned{}, now)
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
	if err := s.readOn(ctx); err != nil {
		return err
	}
	s.probes.mu.Lock()
	defer s.probes.mu.Unlock()
	s.probes.read = true
	return nil
}

// readOn reads what the stream has that is not known yet.
func (s *Service) readOn(ctx context.Context) error {
	s.probes.mu.Lock()
	from := uint64(s.probes.head + 1) //nolint:gosec // from -1 up
	s.probes.mu.Unlock()
	for commit, err := range s.o.Log.Read(ctx, ProbesStream, from) {
		if err != nil {
			return fmt.Errorf("reading %s: %w", ProbesStream, err)
		}
		s.probes.learn(&commit)
	}
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
	p.learn(&commit)
	return nil
}
