package submission

import (
	"context"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
)

// Controlled is the answer to a control.
type Controlled struct {
	Revision int64 `json:"revision"`
	// Claim and Link are a reissued seat's.
	Claim string `json:"claim,omitempty"`
	Link  string `json:"link,omitempty"`
}

// wish is a control as it was asked for.
type wish struct {
	action string
	by     event.Role
	why    string
	player string
	span   time.Duration
}

// Control carries out a control of the match's host or an operator: pause, resume, extend, void, reissue.
func (s *Service) Control(ctx context.Context, bearer, id, action, base string, body []byte) (*Controlled, error) {
	who, err := s.bearer(bearer)
	if err != nil {
		return nil, err
	}
	w, err := readWish(action, body)
	if err != nil {
		return nil, err
	}
	m, err := s.decide(ctx, id, action, func(m *match.Match) ([]match.Draft, error) {
		if w.by, err = s.mayControl(m, who); err != nil {
			return nil, err
		}
		return w.decide(m, s.Clock())
	})
	if err != nil {
		return nil, err
	}
	answer := &Controlled{Revision: m.Revision()}
	if action == "reissue" {
		place, _ := m.Seat(w.player)
		issue, _ := m.Issue(place)
		link := s.link(base, id, w.player, issue)
		answer.Claim, answer.Link = link.Claim, link.Link
	}
	return answer, nil
}

// mayControl returns in which role the bearer controls the match.
func (s *Service) mayControl(m *match.Match, who token.Token) (event.Role, error) {
	if who.Role == token.Operator {
		return event.Operator, nil
	}
	if who.Role != token.Seat || who.Match != m.ID() || who.Seat != match.HostID {
		return "", problem.New(problem.Forbidden, "only the match's host or an operator may do that")
	}
	if _, err := s.seated(m, who); err != nil {
		return "", err
	}
	return event.Host, nil
}

func readWish(action string, body []byte) (*wish, error) {
	form, err := openBody(body)
	if err != nil {
		return nil, err
	}
	w := &wish{action: action}
	switch action {
	case "pause", "resume", "void":
		form.Exactly([]string{"why"})
	case "reissue":
		form.Exactly([]string{"why", "player"})
		w.player = form.Text("player")
	case "extend":
		form.Exactly([]string{"why", "player", "by"})
		w.player = form.Text("player")
		if w.span, err = time.ParseDuration(form.Text("by")); err != nil {
			form.Fail(match.Malformed("\"by\" must be a duration such as \"30s\""))
		}
	default:
		return nil, problem.New(problem.NotFound, "there is no such control")
	}
	w.why = form.Text("why")
	return w, form.Err()
}

func (w *wish) decide(m *match.Match, now time.Time) ([]match.Draft, error) {
	switch w.action {
	case "pause":
		return m.Pause(w.by, w.why, now)
	case "resume":
		return m.Resume(w.by, w.why, now)
	case "void":
		return m.VoidMatch(w.by, w.why, now)
	case "reissue":
		return m.Reissue(w.by, w.player, w.why, now)
	default:
		return m.Extend(w.by, w.player, w.span, w.why, now)
	}
}
