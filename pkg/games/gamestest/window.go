package gamestest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	feeds "umpire/pkg/view"
)

// window is all that an audience gets of a match. The suite's test of itself plants leaks into each of its parts.
type window struct {
	leakView    func(s *session, n int, audience string, v *match.View)
	leakFeed    func(s *session, n int, audience string, e *feeds.Event)
	leakRefusal func(s *session, n int, audience string) string
	patient     bool // twins are followed to their end
}

// reach returns for how many steps a twin is followed.
func (w *window) reach(usual int) int {
	if w.patient {
		return whole
	}
	return usual
}

// blank stands for what differs between matches and tells nothing: ids, salts, hashes, commitments.
const blank = "-"

// view returns what the audience sees after n steps.
func (w *window) view(s *session, n int, audience string) ([]byte, error) {
	v := s.past[n].View(audience)
	if v == nil {
		return nil, fmt.Errorf("there is no view for %q", audience)
	}
	v.SeedCommitment = blank
	if w.leakView != nil {
		w.leakView(s, n, audience, v)
	}
	return json.Marshal(v)
}

// feed returns the events that the audience gets from behind a revision up to the end of step n, with the sizes of
// their boxes.
func (w *window) feed(s *session, n int, audience string, behind int64) ([]string, error) {
	a := feeds.Of(s.now, audience)
	keys := s.journal.Keys(matchID)
	last := s.past[n].Revision()
	var fed []string
	for r, err := range s.journal.Events(context.Background(), matchID, uint64(behind+1)) {
		if err != nil {
			return nil, err
		}
		if int64(r.Revision) > last {
			break
		}
		line, err := w.event(s, n, keys, &r, a)
		if err != nil {
			return nil, err
		}
		fed = append(fed, line)
	}
	return fed, nil
}

func (w *window) event(s *session, n int, keys *event.Keys, r *journal.Recorded, a feeds.Audience) (string, error) {
	e, err := feeds.EventFor(keys, r, a)
	if err != nil {
		return "", err
	}
	if w.leakFeed != nil {
		w.leakFeed(s, n, a.ID, &e)
	}
	e.ID, e.Hash, e.Prev = blank, blank, blank
	sizes := make([]int, len(r.Faces))
	for i := range e.Faces {
		e.Faces[i].Commitment = blank
		sizes[i] = len(r.Faces[i].Box)
		if e.Faces[i].Opened != nil {
			e.Faces[i].Salt = blank
		}
	}
	for i := range e.Opens {
		e.Opens[i].Salt = blank
	}
	if r.Revision == 0 {
		var public map[string]json.RawMessage
		if err := json.Unmarshal(e.Public, &public); err != nil {
			return "", err
		}
		public["seedCommitment"] = json.RawMessage(`"` + blank + `"`)
		if e.Public, err = json.Marshal(public); err != nil {
			return "", err
		}
	}
	line, err := json.Marshal(struct {
		Event feeds.Event `json:"event"`
		Boxes []int       `json:"boxes"`
	}{e, sizes})
	return string(line), err
}

// answers returns what the audience is answered after n steps to a set of commands that depends on the first match's
// players and the submissions that all have made in it, not on what they hide: each type once.
func (w *window) answers(s *session, n int, audience string) []string {
	m, at := s.past[n], s.past[n].At().Add(time.Second)
	var answers []string
	say := func(drafts []match.Draft, err error) {
		answer := "accepted"
		for _, d := range drafts {
			answer += " " + d.Type
		}
		if err != nil {
			answer = err.Error()
		}
		if w.leakRefusal != nil {
			answer += w.leakRefusal(s, n, audience)
		}
		answers = append(answers, answer)
	}
	if audience == match.HostID {
		say(m.Pause(event.Host, "", at))
		say(m.Resume(event.Host, "", at))
		for _, who := range s.history.Players() {
			say(m.Extend(event.Host, who, time.Second, "", at))
		}
	}
	for _, submission := range s.game.Tries(s.history, n, audience) {
		if v, err := value(submission); err == nil {
			say(m.Submit(audience, 0, false, v, at))
		}
	}
	return answers
}

// Tries returns submissions for an audience to try: his own of the match's first steps, with one of each type.
func (g *Game) Tries(h *History, n int, audience string) []map[string]any {
	tries := []map[string]any{{}, {"type": "zq"}}
	var types []string
	for i := range h.Steps[:n] {
		step := &h.Steps[i]
		if step.Kind == Submit && step.Who == audience && !slices.Contains(types, step.Type()) {
			types = append(types, step.Type())
			tries = append(tries, step.Submission)
		}
	}
	return tries
}
