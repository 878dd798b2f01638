// Package rehearsal plays a match from a script in virtual time, with no server: the same rules, phases, clocks, views
// and events as the services use, so that a host can rehearse, a designer can try a ruling, and a fault can be sent as
// a file.
//
// A script is newline-delimited JSON: the set-up, then steps in order of time. Before a step acts, every deadline up to
// and including its time runs out; in virtual time the timer is never late.
package rehearsal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/view"
)

// matchID is the id of the match that a script plays.
const matchID = "rehearsal"

// maxLine bounds a line of a script in bytes: 52 statements of 500 code points, each written as an escape, fit.
const maxLine = 4 << 20

// epoch is when virtual time begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Options say how a script is played.
type Options struct {
	Games   match.Catalog
	Entropy io.Reader // for salts, and for the seed where the script gives none
	// Events asks for the log's events instead of the answers: EventsAll, or the audience whose feed it is.
	Events string
	// Trace tells people, instead of the answers, what each step brought.
	Trace bool
}

// EventsAll asks for every event with every face open.
const EventsAll = "all"

// ErrAudience means that the events were asked for as somebody sees them who is not in the match.
var ErrAudience = errors.New("there is no such audience in the match")

// Play plays a script and writes one line of JSON for each of its lines. The error is a *ScriptError where the script
// is not understood; what was answered before it has been written.
func Play(ctx context.Context, script io.Reader, out io.Writer, o Options) error {
	master := make([]byte, event.MasterKeySize)
	if _, err := io.ReadFull(o.Entropy, master); err != nil {
		return fmt.Errorf("no entropy: %w", err)
	}
	vault, err := event.NewVault(master)
	if err != nil {
		return err
	}
	log := memlog.New()
	defer log.Close()
	p := &player{Options: o, out: json.NewEncoder(out), now: epoch}
	p.out.SetEscapeHTML(false)
	if o.Trace {
		p.tracer = &tracer{out: out}
	}
	p.journal = journal.New(log, o.Games, vault, o.Entropy)
	err = p.lines(ctx, bufio.NewReaderSize(script, 64<<10))
	if o.Events == "" || p.match == nil {
		return err
	}
	return errors.Join(err, p.events(ctx))
}

// player plays one script.
type player struct {
	Options
	journal *journal.Journal
	out     *json.Encoder
	tracer  *tracer      // nil unless people read
	match   *match.Match // nil before the set-up
	now     time.Time
}

// answer is a line of the output.
type answer struct {
	Line     int         `json:"line"`
	OK       bool        `json:"ok,omitempty"`
	Revision *int64      `json:"revision,omitempty"`
	Warnings []string    `json:"warnings,omitempty"`
	View     *match.View `json:"view,omitempty"`
	Refused  *refused    `json:"error,omitempty"`
}

type refused struct {
	Code   match.Code `json:"code"`
	Detail string     `json:"detail"`
}

func (p *player) lines(ctx context.Context, script *bufio.Reader) error {
	for no := 1; ; no++ {
		line, err := readLine(script)
		last := errors.Is(err, io.EOF)
		if errors.Is(err, errLong) {
			return &ScriptError{no, err.Error()}
		}
		if err != nil && !last {
			return fmt.Errorf("reading line %d of the script: %w", no, err)
		}
		if len(bytes.Trim(line, " \t\r\n")) > 0 {
			if err := p.line(ctx, no, line); err != nil {
				return err
			}
		}
		if last {
			break
		}
	}
	if p.match == nil {
		return &ScriptError{1, "the script has no set-up"}
	}
	return nil
}

var errLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (p *player) line(ctx context.Context, no int, line []byte) error {
	v, err := event.ParseLoose(line)
	if err != nil {
		return &ScriptError{no, "not one JSON value: " + err.Error()}
	}
	a := answer{Line: no}
	var s *step
	if p.match == nil {
		err = p.setUp(ctx, v, &a)
	} else {
		s, err = p.step(ctx, v, &a)
	}
	if err != nil {
		if scripted := new(ScriptError); errors.As(err, &scripted) {
			scripted.Line = no
		}
		return err
	}
	if a.Refused == nil && a.View == nil {
		revision := p.match.Revision()
		a.OK, a.Revision = true, &revision
	}
	if p.tracer != nil {
		return p.trace(ctx, s, &a)
	}
	if p.Events != "" {
		return nil
	}
	if err := p.out.Encode(a); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

func (p *player) setUp(ctx context.Context, v event.Value, a *answer) error {
	asked, ok := v.Get("setup")
	if v.Kind != event.Object || !ok || len(v.Members()) != 1 {
		return &ScriptError{Detail: "the first line must be {\"setup\": {...}}"}
	}
	setup, err := match.ParseSetup(p.Games, asked)
	if err != nil {
		return setupRefused(err)
	}
	setup.Options.Start, setup.Options.StartAt = match.StartNow, time.Time{}
	setup.Options.HostSees = match.HostSeesAll
	seed := setup.Seed
	if seed == nil {
		seed = make([]byte, 32)
		if _, err := io.ReadFull(p.Entropy, seed); err != nil {
			return fmt.Errorf("no entropy: %w", err)
		}
	}
	drafts, warnings, err := match.Create(matchID, setup, seed, setup.Seed != nil, p.now)
	if err != nil {
		return setupRefused(err)
	}
	a.Warnings = warnings
	if err := p.append(ctx, drafts); err != nil {
		return err
	}
	return p.settle(ctx)
}

func setupRefused(err error) error {
	if refused := new(match.SetupError); errors.As(err, &refused) {
		return &ScriptError{Detail: "the set-up is refused: " + refused.Error()}
	}
	return err
}

func (p *player) step(ctx context.Context, v event.Value, a *answer) (*step, error) {
	s, err := parseStep(v)
	if err != nil {
		return nil, &ScriptError{Detail: err.Error()}
	}
	at := epoch.Add(s.at)
	if at.Before(p.now) {
		return nil, &ScriptError{Detail: "\"at\" goes back in time"}
	}
	if err := p.advance(ctx, at); err != nil {
		return nil, err
	}
	if s.kind == "view" {
		if a.View = p.match.View(s.who); a.View == nil {
			a.Refused = &refused{match.UnknownPlayer, "there is no such audience in this match"}
		}
		return &s, nil
	}
	drafts, err := p.decide(s)
	if refusal := new(match.Refusal); errors.As(err, &refusal) {
		a.Refused = &refused{refusal.Code, refusal.Detail}
		return &s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.append(ctx, drafts); err != nil {
		return nil, err
	}
	return &s, p.settle(ctx)
}

func (p *player) decide(s step) ([]match.Draft, error) {
	switch s.kind {
	case "submit":
		return p.match.Submit(s.who, s.phase, s.named, s.submit, p.now)
	case "do":
		switch s.do {
		case "pause":
			return p.match.Pause(event.Host, "", p.now)
		case "resume":
			return p.match.Resume(event.Host, "", p.now)
		default:
			return p.match.Extend(event.Host, s.who, s.by, "", p.now)
		}
	}
	return nil, nil
}

// advance lets every deadline up to and including to run out, in order of time.
func (p *player) advance(ctx context.Context, to time.Time) error {
	for {
		due, ok := p.match.Deadline()
		if !ok || due.After(to) {
			p.now = to
			return nil
		}
		p.now = due
		if err := p.append(ctx, p.match.Expire(due)); err != nil {
			return err
		}
		if err := p.settle(ctx); err != nil {
			return err
		}
	}
}

// settle lets the referee say what he has to say.
func (p *player) settle(ctx context.Context) error {
	for {
		drafts := p.match.Resolve(p.now)
		if drafts == nil {
			return nil
		}
		if err := p.append(ctx, drafts); err != nil {
			return err
		}
	}
}

func (p *player) append(ctx context.Context, drafts []match.Draft) (err error) {
	if len(drafts) > 0 {
		p.match, err = p.journal.Append(ctx, matchID, p.match, event.ID{}, drafts)
	}
	return err
}

// events writes the log's events as the audience asked for sees them.
func (p *player) events(ctx context.Context) error {
	audience := view.Of(p.match, p.Events)
	audience.Auditor = p.Events == EventsAll
	if !audience.Auditor && p.match.View(p.Events) == nil {
		return fmt.Errorf("%w: %q", ErrAudience, p.Events)
	}
	keys := p.journal.Keys(matchID)
	for r, err := range p.journal.Events(ctx, matchID, 0) {
		if err != nil {
			return err
		}
		shown, err := view.EventFor(keys, &r, audience)
		if err != nil {
			return err
		}
		if err := p.out.Encode(shown); err != nil {
			return fmt.Errorf("writing the events: %w", err)
		}
	}
	return nil
}
