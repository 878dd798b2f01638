package gamestest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// stranger is nobody's id.
const stranger = "x-stranger"

// wrongs is how many wrong submissions are tried on a match at a step, of the many that are made up.
const wrongs = 12

// refusals is the part of the suite that tries what must be refused.
func (s *suite) refusals(t *testing.T) {
	t.Helper()
	tried := map[match.Code]int{}
	for i, seed := range s.seeds {
		if !s.every(15, i) {
			continue
		}
		c := &checks{shown: map[*match.Match]map[string][]byte{}}
		p := &prober{suite: s, pick: chance(seed, forChecks), tried: tried, pool: map[string][]map[string]any{}}
		played, err := s.play(seed, playing{each: func(s *session) error {
			if err := c.step(s); err != nil {
				return err
			}
			return p.probe(s)
		}})
		if err == nil {
			err = c.unchanged(played) // a refusal is without effect
		}
		if err != nil {
			failed(t, seed, err)
		}
	}
	if s.one() {
		return
	}
	for _, code := range []match.Code{
		match.UnknownPlayer, match.MatchOver, match.MatchPaused, match.PhaseClosed, match.NotAwaited,
		match.AlreadySubmitted, match.MalformedMove, match.IllegalMove,
	} {
		if tried[code] == 0 {
			t.Errorf("no submission was to be refused %q: the matches are too short", code)
		}
	}
}

// prober sends a match what it must refuse.
type prober struct {
	*suite
	pick  Pick
	tried map[match.Code]int
	pool  map[string][]map[string]any // by phase: submissions that were accepted in it
}

// attempt is a submission and the codes by which its content may be refused; none for a legal one.
type attempt struct {
	text  []byte
	codes []match.Code
}

var (
	malformed = []match.Code{match.MalformedMove}
	illegal   = []match.Code{match.IllegalMove}
	either    = []match.Code{match.MalformedMove, match.IllegalMove}
)

func (p *prober) probe(s *session) error {
	v := s.now.View(match.Public)
	p.remember(s)
	if v.Phase != nil && v.Status == match.Running {
		for _, who := range v.Phase.Awaiting {
			if err := p.awaited(s, v, who); err != nil {
				return err
			}
		}
	}
	if v.Status == match.Running && p.pick(4) > 0 {
		return nil
	}
	return p.others(s, v)
}

// remember keeps what was accepted, to try it in other phases.
func (p *prober) remember(s *session) {
	n := len(s.history.Steps)
	if n == 0 || s.history.Steps[n-1].Kind != Submit {
		return
	}
	if name := s.past[n-1].View(match.Public).Phase.Name; len(p.pool[name]) < 20 {
		p.pool[name] = append(p.pool[name], s.history.Steps[n-1].Submission)
	}
}

// others tries submissions that are refused whatever they say, because of who sends them when.
func (p *prober) others(s *session, v *match.View) error {
	texts := []attempt{{[]byte(`{"type":"add"}`), nil}, {[]byte(`[]`), malformed}, {[]byte(`{"a":1,"a":2}`), malformed}}
	if len(s.history.Steps) > 0 && s.history.Steps[0].Kind == Submit {
		legal, err := json.Marshal(s.history.Steps[0].Submission)
		if err != nil {
			return err
		}
		texts = append(texts, attempt{legal, nil})
	}
	for _, who := range append(s.audiences(), stranger) {
		for _, a := range texts {
			if err := p.try(s, who, s.now, nil, a); err != nil {
				return err
			}
			no := int64(s.now.PhaseNo()) + int64(p.pick(3)) - 1
			if err := p.try(s, who, s.now, &no, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaited tries wrong submissions of a player who is awaited, and what he may not send a second time.
func (p *prober) awaited(s *session, v *match.View, who string) error {
	base, err := s.bot(s.now, who, p.pick)
	if err != nil {
		return err
	}
	legal, err := json.Marshal(base)
	if err != nil {
		return err
	}
	all := p.mutations(base, legal)
	for _, name := range sortedKeys(p.pool) {
		if name != v.Phase.Name {
			other, err := json.Marshal(p.pool[name][p.pick(len(p.pool[name]))])
			if err != nil {
				return err
			}
			all = append(all, attempt{other, illegal})
		}
	}
	if !p.one() {
		for i := range all {
			j := i + p.pick(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		all = all[:min(len(all), wrongs)]
	}
	if p.Illegal != nil {
		for _, w := range p.Illegal(s.now.View(who), p.pick) {
			text, err := json.Marshal(w.Submission)
			if err != nil {
				return err
			}
			all = append(all, attempt{text, []match.Code{w.Code}})
		}
	}
	for _, a := range all {
		if err := p.try(s, who, s.now, nil, a); err != nil {
			return err
		}
	}
	next := int64(v.Phase.No + 1)
	if err := p.try(s, who, s.now, &next, attempt{legal, nil}); err != nil {
		return err
	}
	return p.second(s, v, who, legal)
}

// second tries a second submission before the first is resolved: on a turn it is refused, else it replaces the first.
func (p *prober) second(s *session, v *match.View, who string, legal []byte) error {
	first, err := event.Parse(legal)
	if err != nil {
		return err
	}
	drafts, err := s.now.Submit(who, 0, false, first, s.now.At())
	if err != nil {
		return fmt.Errorf("the bot's submission for %q is refused: %w", who, err)
	}
	m, err := applied(nil, s.now, drafts)
	if err != nil {
		return err
	}
	if len(v.Phase.Awaiting)+len(v.Phase.Submitted) == 1 && !p.simultaneous(s) {
		for _, a := range []attempt{{legal, nil}, {[]byte(`{}`), malformed}} {
			if err := p.try(s, who, m, nil, a); err != nil {
				return err
			}
		}
		return nil
	}
	again, err := m.Submit(who, int64(v.Phase.No), true, first, s.now.At())
	if err != nil || len(again) != 1 || again[0].Type != "submission-replaced.v1" {
		return fmt.Errorf("%q can't replace a submission: %w", who, err)
	}
	return nil
}

// simultaneous reports whether the phase was opened for more than one, by the clocks of those who have missed.
func (p *prober) simultaneous(s *session) bool {
	clocks := 0
	for _, c := range s.now.View(match.Public).Phase.Clocks {
		if c != nil {
			clocks++
		}
	}
	return clocks > 1
}

// try sends a submission and demands the refusal that is due.
func (p *prober) try(s *session, who string, m *match.Match, no *int64, a attempt) error {
	v, err := event.ParseLoose(a.text)
	if err != nil {
		return fmt.Errorf("the suite made up what is no JSON: %w", err)
	}
	want := p.due(s, m, who, no)
	if want == nil {
		want = a.codes
	}
	if len(want) == 0 {
		return nil // it might be accepted
	}
	var phase int64
	if no != nil {
		phase = *no
	}
	drafts, err := m.Submit(who, phase, no != nil, v, s.now.At().Add(time.Millisecond))
	refusal := new(match.Refusal)
	switch {
	case err == nil:
		return fmt.Errorf("%s of %q is not refused", a.text, who)
	case !errors.As(err, &refusal) || drafts != nil:
		return fmt.Errorf("%s of %q meets no refusal but: %w", a.text, who, err)
	}
	if !slices.Contains(want, refusal.Code) {
		return fmt.Errorf("%s of %q is refused %q, not %q", a.text, who, refusal.Code, want)
	}
	p.tried[refusal.Code]++
	if told := told(refusal.Detail, v); told != "" {
		return fmt.Errorf("the refusal of %s tells what was submitted (%s): %q", a.text, told, refusal.Detail)
	}
	return nil
}

// due returns the refusals that are due for who sends it when; nil where the content decides.
func (p *prober) due(s *session, m *match.Match, who string, no *int64) []match.Code {
	v := m.View(match.Public)
	switch {
	case who != match.HostID && !slices.Contains(s.history.Players(), who):
		return []match.Code{match.UnknownPlayer}
	case v.Status == match.Ended:
		return []match.Code{match.MatchOver}
	case v.Status == match.Paused:
		return []match.Code{match.MatchPaused}
	case no != nil && *no != int64(v.Phase.No):
		return []match.Code{match.PhaseClosed}
	case slices.Contains(v.Phase.Awaiting, who):
		return nil
	case !slices.Contains(v.Phase.Submitted, who):
		return []match.Code{match.NotAwaited}
	case len(v.Phase.Awaiting)+len(v.Phase.Submitted) == 1 && !p.simultaneous(s):
		return []match.Code{match.AlreadySubmitted}
	}
	if clock := v.Phase.Clocks[who]; clock != nil && !clock.Deadline.After(m.At()) {
		return either[:0] // his clock may have run out, or be about to: left to the tests of the machine
	}
	return nil
}

// told returns a value of the submission that stands in a detail as a word, its type and short words excepted.
func told(detail string, v event.Value) string {
	words := strings.FieldsFunc(detail, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	var find func(name string, v event.Value) string
	find = func(name string, v event.Value) string {
		switch v.Kind {
		case event.String, event.Number:
			if name != "type" && len(v.Text()) > 2 && slices.Contains(words, v.Text()) {
				return v.Raw()
			}
		case event.Array:
			for _, item := range v.Items() {
				if found := find(name, item); found != "" {
					return found
				}
			}
		case event.Object:
			for _, m := range v.Members() {
				if found := find(m.Name, m.Value); found != "" {
					return found
				}
			}
		}
		return ""
	}
	return find("", v)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
