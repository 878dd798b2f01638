package rehearsal

import (
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
)

// ScriptError says that a script is not understood: exit status 2.
type ScriptError struct {
	Line   int // from 1, blank lines counted
	Detail string
}

// Error implements error.
func (e *ScriptError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Detail) }

// step is a line behind the set-up.
type step struct {
	at     time.Duration
	kind   string // "", "submit", "view" or "do"
	who    string // as, the audience of a view, or whose clock is extended
	submit event.Value
	phase  int64
	named  bool // a phase is named
	do     string
	by     time.Duration
}

// kinds are the fields that a step of each kind has besides "at", the first naming the kind; the last list is optional.
var kinds = []struct{ required, optional []string }{
	{[]string{"submit", "as"}, []string{"phase"}},
	{[]string{"view"}, nil},
	{[]string{"do"}, []string{"player", "by"}},
}

// parseStep reads a step; the detail of an error is a sentence.
func parseStep(v event.Value) (step, error) {
	if v.Kind != event.Object {
		return step{}, fmt.Errorf("a step must be a JSON object")
	}
	if err := v.FaultOutside("submit"); err != nil {
		return step{}, err
	}
	s := step{}
	allowed := []string{"at"}
	for _, kind := range kinds {
		if _, ok := v.Get(kind.required[0]); !ok {
			continue
		}
		if s.kind != "" {
			return step{}, fmt.Errorf("a step can't be both %q and %q", s.kind, kind.required[0])
		}
		s.kind = kind.required[0]
		allowed = slices.Concat(allowed, kind.required, kind.optional)
		for _, name := range kind.required {
			if _, ok := v.Get(name); !ok {
				return step{}, fmt.Errorf("a step with %q needs %q", s.kind, name)
			}
		}
	}
	for _, m := range v.Members() {
		if !slices.Contains(allowed, m.Name) {
			return step{}, fmt.Errorf("%q is not a field of such a step", m.Name)
		}
	}
	var err error
	if s.at, err = span(v, "at"); err != nil {
		return step{}, err
	}
	switch s.kind {
	case "submit":
		err = s.parseSubmit(v)
	case "view":
		s.who, err = text(v, "view")
	case "do":
		err = s.parseDo(v)
	}
	return s, err
}

func (s *step) parseSubmit(v event.Value) (err error) {
	s.submit, _ = v.Get("submit")
	if phase, ok := v.Get("phase"); ok {
		if s.phase, s.named = phase.Int(); !s.named {
			return fmt.Errorf("\"phase\" must be a whole number")
		}
	}
	s.who, err = text(v, "as")
	return err
}

func (s *step) parseDo(v event.Value) (err error) {
	if s.do, err = text(v, "do"); err != nil {
		return err
	}
	_, player := v.Get("player")
	_, by := v.Get("by")
	switch s.do {
	case "pause", "resume":
		if player || by {
			return fmt.Errorf("%q has no \"player\" and no \"by\"", s.do)
		}
	case "extend":
		if s.who, err = text(v, "player"); err != nil {
			return err
		}
		s.by, err = span(v, "by")
	default:
		err = fmt.Errorf("\"do\" must be pause, resume or extend")
	}
	return err
}

func text(v event.Value, name string) (string, error) {
	member, ok := v.Get(name)
	if !ok || member.Kind != event.String {
		return "", fmt.Errorf("%q must be a string", name)
	}
	return member.Text(), nil
}

func span(v event.Value, name string) (time.Duration, error) {
	s, err := text(v, name)
	if err != nil {
		return 0, err
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q must be a duration such as \"1m30s\"", name)
	}
	return d, nil
}
