package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"umpire/pkg/event"
)

// tracer tells people what each step brought: who acted, and what became public.
type tracer struct {
	out  io.Writer
	next uint64 // the first revision that has not been told yet
	err  error
}

func (t *tracer) say(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format+"\n", args...)
	}
}

// step tells of the events since the last step, and of a refusal or a view.
func (p *player) trace(ctx context.Context, s *step, a *answer) error {
	t := p.tracer
	for r, err := range p.journal.Events(ctx, matchID, t.next) {
		if err != nil {
			return err
		}
		t.next = r.Revision + 1
		t.event(&r.Event)
	}
	switch {
	case a.Refused != nil:
		t.say("%s  refused to %s: %s (%s)", clockTime(p.now), s.actor(), a.Refused.Detail, a.Refused.Code)
	case a.View != nil:
		t.say("%s  what %s sees: %s", clockTime(p.now), s.who, compact(a.View.Table))
	}
	for _, warning := range a.Warnings {
		t.say("%s  warning: %s", clockTime(p.now), warning)
	}
	return t.err
}

// actor is who a step acts as.
func (s *step) actor() string {
	if s != nil && s.kind != "do" {
		return s.who
	}
	return "the host"
}

// clockTime writes a virtual time as the time since the match was created.
func clockTime(at time.Time) string { return fmt.Sprintf("%8s", at.Sub(epoch).Round(time.Millisecond)) }

// event tells of one event what is public of it.
func (t *tracer) event(e *event.Event) {
	var public map[string]any
	if err := json.Unmarshal(e.Public, &public); err != nil {
		t.err = fmt.Errorf("tracing %s: %w", e.Type, err)
		return
	}
	name := strings.TrimSuffix(e.Type, ".v1")
	what := ""
	switch name {
	case "match-created":
		what = fmt.Sprintf("%s: %s", public["game"], public["title"])
	case "match-started":
		what = "the match begins"
	case "phase-opened":
		what = fmt.Sprintf("phase %v, %s, awaits %s%s", public["phase"], public["name"], list(public["awaiting"]), deadlines(public["clocks"]))
	case "submission-accepted":
		what = fmt.Sprintf("%s has submitted, in private", public["player"])
	case "submission-replaced":
		what = fmt.Sprintf("%s has replaced the submission, in private", public["player"])
	case "deadline-passed":
		what = "a deadline has passed; nobody was still awaited"
		if late := list(public["players"]); late != "nobody" {
			what = "a deadline has passed; too late: " + late
		}
	case "match-ended":
		what = "the match has ended: " + compact(public["result"])
	default:
		_, kind, of := strings.Cut(name, ".")
		if !of {
			kind = name
		}
		what = kind + ": " + compact(public)
	}
	if len(e.Opens) > 0 {
		what += fmt.Sprintf(" (%d sealed faces are opened)", len(e.Opens))
	}
	t.say("%s  %s", clockTime(e.At), what)
}

func list(v any) string {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return "nobody"
	}
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = fmt.Sprint(item)
	}
	return strings.Join(words, ", ")
}

// deadlines says when the clocks of a phase run out.
func deadlines(v any) string {
	clocks, ok := v.(map[string]any)
	if !ok || len(clocks) == 0 {
		return ""
	}
	var ends []string
	for _, c := range clocks {
		if one, ok := c.(map[string]any); ok {
			at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(one["deadline"]))
			if err == nil {
				ends = append(ends, strings.TrimSpace(clockTime(at)))
			}
		}
	}
	slices.Sort(ends)
	return ", until " + strings.Join(slices.Compact(ends), ", ")
}

// compact writes a value as JSON of one line, its names sorted.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "?" // what was JSON a moment ago always is
	}
	return string(text)
}
