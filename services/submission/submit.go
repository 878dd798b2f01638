package submission

import (
	"context"
	"errors"
	"strconv"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/problem"
)

// Receipt acknowledges a submission: it stands in the log, at that revision and with that hash.
type Receipt struct {
	Revision uint64 `json:"revision"`
	Hash     string `json:"hash"`
}

// order is what a player asks for.
type order struct {
	seat  token.Token
	phase int64
	named bool
	move  event.Value
	key   string   // the client's idempotency key; "" for none
	name  event.ID // of the submission's event, where the phase that it is for is known
}

// maxKey bounds an idempotency key in bytes.
const maxKey = 200

// Submit takes a seat's submission. The same key with the same content answers the same, with other content conflict;
// a key is one seat's and phase's. Where no phase is named, a key that the seat used in its latest submission, with the
// same content, is that submission tried again: a retry whose answer was lost must not become the next turn.
func (s *Service) Submit(ctx context.Context, bearer, id, key string, body []byte) (*Receipt, error) {
	seat, err := s.bearer(bearer)
	if err != nil {
		return nil, err
	}
	if seat.Role != token.Seat || seat.Match != id {
		return nil, problem.New(problem.Forbidden, "this token is for no seat of this match")
	}
	form, err := openBody(body)
	if err != nil {
		return nil, err
	}
	o := order{seat: seat, key: key}
	form.Exactly([]string{"submission"}, "phase")
	if form.Given("phase") {
		o.phase, o.named = form.WholeNumber("phase"), true
	}
	o.move = form.Value("submission")
	if len(key) > maxKey {
		form.Fail(match.Malformed("an Idempotency-Key has at most %d bytes", maxKey))
	}
	if form.Err() != nil {
		return nil, form.Err()
	}
	return s.submit(ctx, id, &o)
}

func (s *Service) submit(ctx context.Context, id string, o *order) (*Receipt, error) {
	keys := s.Journal.Keys(id)
	nonce := o.key
	if nonce == "" {
		nonce = string(s.random(16))
	}
	m, err := s.Journal.Load(ctx, id)
	for try := 0; err == nil && try < tries; try++ {
		place, err := s.seated(m, o.seat)
		if err != nil {
			if m, err = s.newer(ctx, m, err); err != nil {
				return nil, err
			}
			continue
		}
		receipt, err := s.repeated(keys, m, place, o)
		if receipt != nil {
			return receipt, nil
		}
		o.name = nameOf(keys, o.seat.Seat, m.PhaseNo(), nonce)
		var drafts []match.Draft
		if err == nil {
			drafts, err = m.Submit(o.seat.Seat, o.phase, o.named, o.move, s.Clock())
		}
		if err != nil {
			head, err := s.newer(ctx, m, err)
			if err != nil {
				return s.older(ctx, id, o, err)
			}
			m = head
			continue
		}
		next, err := s.append(ctx, id, m, o.name, drafts)
		if err == nil {
			return s.acknowledge(ctx, id, next, place, o)
		}
		if !isConflict(err) {
			return nil, err
		}
		if m, err = s.Journal.Refresh(ctx, id); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = eventlog.ErrUnavailable
	}
	return nil, err
}

// nameOf is the id of a submission's event.
func nameOf(keys *event.Keys, seat string, phase int, nonce string) event.ID {
	return keys.Name("submission", seat, strconv.Itoa(phase), nonce)
}

// seated finds the token's seat and refuses a token that a newer link has replaced.
func (s *Service) seated(m *match.Match, t token.Token) (int, error) {
	place, ok := m.Seat(t.Seat)
	if !ok {
		return 0, problem.New(problem.Unauthorized, "the token is for no seat of this match")
	}
	if issue, claimed := m.Issue(place); issue != t.Issue || !claimed {
		return 0, problem.New(problem.Unauthorized, "the token was replaced by a newer link's")
	}
	return place, nil
}

// newer returns the match at the log's head where that is newer than m; else why stands.
func (s *Service) newer(ctx context.Context, m *match.Match, why error) (*match.Match, error) {
	head, err := s.Journal.Refresh(ctx, m.ID())
	if err != nil {
		return nil, err
	}
	if head == m {
		return nil, why
	}
	return head, nil
}

// repeated recognises a submission that the match still remembers: the seat's latest.
func (s *Service) repeated(keys *event.Keys, m *match.Match, place int, o *order) (*Receipt, error) {
	last := m.LastReceipt(place)
	if o.key == "" || last.Phase == 0 || o.named && o.phase != int64(last.Phase) {
		return nil, nil
	}
	if nameOf(keys, o.seat.Seat, last.Phase, o.key).String() != last.ID {
		return nil, nil
	}
	if last.SameSubmission(o.move) {
		return &Receipt{last.Revision, last.Hash}, nil
	}
	if o.named || last.Phase == m.PhaseNo() {
		return nil, errOtherContent
	}
	return nil, nil
}

var errOtherContent error = problem.New(problem.Code(match.ConflictState),
	"this Idempotency-Key was used in this phase for another submission")

// acknowledge returns the receipt of what stands in the log under the order's name.
func (s *Service) acknowledge(ctx context.Context, id string, m *match.Match, place int, o *order) (*Receipt, error) {
	if last := m.LastReceipt(place); last.ID == o.name.String() {
		if !last.SameSubmission(o.move) {
			return nil, errOtherContent
		}
		return &Receipt{last.Revision, last.Hash}, nil
	}
	receipt, err := s.recorded(ctx, id, o, o.name)
	if receipt == nil && err == nil {
		err = errors.New("submission: an append was acknowledged that the log does not hold")
	}
	return receipt, err
}

// older looks through the match's history before a refusal stands: a command that went through long ago is answered as
// it was then.
func (s *Service) older(ctx context.Context, id string, o *order, why error) (*Receipt, error) {
	var refusal *match.Refusal
	if o.key == "" || !o.named || !errors.As(why, &refusal) {
		return nil, why
	}
	receipt, err := s.recorded(ctx, id, o, nameOf(s.Journal.Keys(id), o.seat.Seat, int(o.phase), o.key))
	if receipt == nil && err == nil {
		err = why
	}
	return receipt, err
}

// recorded returns the receipt of the event of that id, nil where there is none.
func (s *Service) recorded(ctx context.Context, id string, o *order, name event.ID) (*Receipt, error) {
	for r, err := range s.Journal.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if r.ID != name {
			continue
		}
		f, err := s.Journal.Keys(id).Open(r.ID, 0, r.Faces[0])
		if err != nil {
			return nil, err
		}
		if !match.SameValue(f.Data, o.move) {
			return nil, errOtherContent
		}
		return &Receipt{r.Revision, r.Hash}, nil
	}
	return nil, nil
}
