package submission

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/token"
	"umpire/services/fault"
	"umpire/services/feed"
	"umpire/services/problem"
)

// Service is safe for concurrent use.
type Service struct {
	Journal   *journal.Journal
	Games     match.Catalog
	Authority *token.Authority
	Clock     func() time.Time
	Entropy   io.Reader // for ids and seeds; safe for concurrent use
	// Sleep waits before a fault is tried again; it returns false when the context ended first. feed.Pause unless told.
	Sleep func(ctx context.Context, d time.Duration) bool
	// InsecureSeed takes a seed from the set-up, for tests; it is shown in public.
	InsecureSeed bool
}

// tries bounds how often one command is decided anew after a conflict: each means that another's command went through.
const tries = 100

// faults bounds how often one append is tried where the log has a fault.
const faults = 3

// Link is what a seat is opened with.
type Link struct {
	Claim string `json:"claim"`
	Link  string `json:"link"` // with the claim in its fragment, which browsers don't send
}

// Created is the answer to a creation.
type Created struct {
	Match    string          `json:"match"`
	Revision int64           `json:"revision"`
	Warnings []string        `json:"warnings"`
	Players  map[string]Link `json:"players"`
	Host     Link            `json:"host"`
}

// Create makes a match of a set-up, for an operator. base is the address that links begin with.
func (s *Service) Create(ctx context.Context, bearer string, body []byte, base string) (*Created, error) {
	who, err := s.bearer(bearer)
	if err != nil {
		return nil, err
	}
	if who.Role != token.Operator {
		return nil, problem.New(problem.Forbidden, "only an operator may create matches")
	}
	v, err := event.Parse(body)
	if err != nil {
		return nil, match.Malformed("the body is not one JSON value: %v", err)
	}
	setup, err := match.ParseSetup(s.Games, v)
	if err != nil {
		return nil, err
	}
	if err := setup.CheckLive(); err != nil {
		return nil, err
	}
	if setup.Seed != nil && !s.InsecureSeed {
		return nil, match.BadSetup("seed", "a live match takes no seed from outside: nobody holds the dice")
	}
	seed := setup.Seed
	if seed == nil {
		seed = s.random(32)
	}
	id := s.newID()
	drafts, warnings, err := match.Create(id, setup, seed, setup.Seed != nil, s.Clock())
	if err != nil {
		return nil, err
	}
	m, err := s.append(ctx, id, nil, s.Journal.Keys(id).Name("create"), drafts)
	if err != nil {
		return nil, err
	}
	created := &Created{Match: id, Revision: m.Revision(), Warnings: append([]string{}, warnings...)}
	created.Host = s.link(base, id, match.HostID, 0)
	created.Players = match.ByID(m.Seats(), func(seat int) Link { return s.link(base, id, m.Seats().ID(seat), 0) })
	return created, nil
}

// append appends what was decided on m. After a fault it is unknown whether the log took it, so the same is tried again,
// which is never stored twice: whoever decided anew would meet his own work and refuse it.
func (s *Service) append(
	ctx context.Context, id string, m *match.Match, name event.ID, drafts []match.Draft,
) (*match.Match, error) {
	for n := 1; ; n++ {
		next, err := s.Journal.Append(ctx, id, m, name, drafts)
		fault.Point("submission.appended")
		if err == nil || !errors.Is(err, eventlog.ErrUnavailable) || n == faults {
			return next, err
		}
		if !s.rest(ctx, n) {
			return nil, err
		}
	}
}

func (s *Service) link(base, id, seat string, issue int) Link {
	claim := s.Authority.Claim(id, seat, issue)
	return Link{Claim: claim, Link: fmt.Sprintf("%s/m/%s#c=%s", base, id, claim)}
}

// Seated is the answer to a claim.
type Seated struct {
	Match    string `json:"match"`
	Player   string `json:"player"` // an id, or "host"
	Token    string `json:"token"`
	Revision int64  `json:"revision"`
}

// Claim exchanges a claim for its seat's token, once, in public.
func (s *Service) Claim(ctx context.Context, body []byte) (*Seated, error) {
	form, err := openBody(body)
	if err != nil {
		return nil, err
	}
	form.Exactly([]string{"claim"}, "random")
	claim := form.Text("claim")
	var random []byte
	if form.Given("random") {
		if random, err = hex.DecodeString(form.Text("random")); err != nil || len(random) != match.RandomSize {
			form.Fail(match.Malformed("\"random\" must be %d hex digits", 2*match.RandomSize))
		}
	}
	if form.Err() != nil {
		return nil, form.Err()
	}
	seat, err := s.Authority.ReadClaim(claim)
	if err != nil {
		return nil, err
	}
	if random == nil {
		random = s.random(match.RandomSize)
	}
	m, err := s.decide(ctx, seat.Match, "claim", func(m *match.Match) ([]match.Draft, error) {
		place, ok := m.Seat(seat.Seat)
		if !ok {
			return nil, token.ErrInvalid
		}
		return m.Claim(place, seat.Issue, random, s.Clock())
	})
	if err != nil {
		return nil, err
	}
	signed, err := s.Authority.Sign(seat, s.Clock())
	if err != nil {
		return nil, err
	}
	return &Seated{Match: seat.Match, Player: seat.Seat, Token: signed, Revision: m.Revision()}, nil
}

// rest waits a little longer after each fault.
func (s *Service) rest(ctx context.Context, fault int) bool {
	sleep := s.Sleep
	if sleep == nil {
		sleep = feed.Pause
	}
	return sleep(ctx, time.Duration(fault)*50*time.Millisecond)
}

// decide loads a match, lets what is asked for be decided on it, and appends that; after a conflict it begins again at
// the log's head. A refusal is given only at the log's head.
func (s *Service) decide(
	ctx context.Context, id, what string, decision func(*match.Match) ([]match.Draft, error),
) (*match.Match, error) {
	name := s.Journal.Keys(id).Name(what, string(s.random(16)))
	m, err := s.Journal.Load(ctx, id)
	for try := 0; err == nil && try < tries; try++ {
		var drafts []match.Draft
		if drafts, err = decision(m); err != nil {
			head, refreshErr := s.Journal.Refresh(ctx, id)
			if refreshErr != nil {
				return nil, refreshErr
			}
			if head == m {
				return nil, err
			}
			m, err = head, nil
			continue
		}
		next, appendErr := s.append(ctx, id, m, name, drafts)
		if !isConflict(appendErr) {
			return next, appendErr
		}
		m, err = s.Journal.Refresh(ctx, id)
	}
	if err == nil {
		err = fmt.Errorf("%w: match %s was changed by others %d times in a row", eventlog.ErrUnavailable, id, tries)
	}
	return nil, err
}

// isConflict reports whether another's command went through first: what was asked for is to be decided anew.
func isConflict(err error) bool {
	var conflict *eventlog.Conflict
	return errors.As(err, &conflict)
}

// bearer verifies a token.
func (s *Service) bearer(signed string) (token.Token, error) {
	if signed == "" {
		return token.Token{}, problem.New(problem.Unauthorized, "this call needs a token")
	}
	return s.Authority.Verify(signed, s.Clock())
}

// openBody reads a request's body strictly, but for what stands inside a submission, which is the rules' to judge.
func openBody(body []byte) (*match.Form, error) {
	v, err := event.ParseLoose(body)
	if err == nil {
		err = v.FaultOutside("submission")
	}
	if err != nil {
		return nil, match.Malformed("the body is not one JSON value: %v", err)
	}
	return match.OpenForm(v), nil
}

func (s *Service) random(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(fmt.Errorf("submission: no entropy: %w", err)) // the system's never ends
	}
	return b
}

const idLetters = "abcdefghijklmnopqrstuvwxyz234567"

// newID returns a match id of 100 random bits.
func (s *Service) newID() string {
	id := s.random(20)
	for i := range id {
		id[i] = idLetters[id[i]%32]
	}
	return string(id)
}
