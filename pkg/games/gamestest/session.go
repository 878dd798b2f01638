package gamestest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

// matchID is the id of every match that the suite plays.
const matchID = "suite"

// epoch is when a match is created.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// session is a match under way, with its log and all states that it has been in.
type session struct {
	game    *Game
	log     *memlog.Log
	journal *journal.Journal
	history *History
	now     *match.Match
	past    []*match.Match // after the creation, then after each step
	direct  bool           // bots look at views that have not been JSON
	bare    bool           // there is no log
	// appended is told of every commit: the match before it (nil: none) and what was decided. It may be nil.
	appended func(s *session, before *match.Match, drafts []match.Draft) error
}

// newSession returns a session in which nothing has happened. salt makes its secrets differ from another's.
func newSession(g *Game, setup map[string]any, seed []byte, salt uint64) (*session, error) {
	s := &session{game: g, log: memlog.New(), history: &History{Setup: setup, Seed: seed}}
	entropy := rand.NewChaCha8([32]byte{byte(salt), byte(salt >> 8), byte(salt >> 16), byte(salt >> 24), byte(salt >> 32)})
	vault, err := event.NewVault(make([]byte, event.MasterKeySize))
	if err != nil {
		return nil, err
	}
	s.journal = journal.New(s.log, s.catalog(), vault, entropy)
	return s, nil
}

func (s *session) catalog() match.Catalog { return match.Catalog{s.game.Rules} }

// create creates the match and opens its first phase.
func (s *session) create() error {
	raw, err := json.Marshal(s.history.Setup)
	if err != nil {
		return fmt.Errorf("Game.Setup is no JSON: %w", err)
	}
	v, err := event.Parse(raw)
	if err != nil {
		return fmt.Errorf("Game.Setup: %w", err)
	}
	setup, err := match.ParseSetup(s.catalog(), v)
	if err != nil {
		return fmt.Errorf("Game.Setup is refused: %w", err)
	}
	drafts, _, err := match.Create(matchID, setup, s.history.Seed, false, epoch)
	if err != nil {
		return fmt.Errorf("Game.Setup is refused: %w", err)
	}
	if err := s.append(drafts); err != nil {
		return err
	}
	if err := s.settle(epoch); err != nil {
		return err
	}
	s.past = append(s.past, s.now)
	return nil
}

// errRefused means that a step was refused and nothing has happened.
var errRefused = errors.New("refused")

// decide returns what a step brings; errRefused where it is refused.
func decide(m *match.Match, step *Step) ([]match.Draft, error) {
	at := epoch.Add(step.At)
	var drafts []match.Draft
	var err error
	switch step.Kind {
	case Submit:
		var v event.Value
		if v, err = value(step.Submission); err == nil {
			drafts, err = m.Submit(step.Who, 0, false, v, at)
		}
	case Deadline:
		if drafts = m.Expire(at); drafts == nil {
			err = errors.New("nothing is due")
		}
	case Pause:
		drafts, err = m.Pause(event.Host, "", at)
	case Resume:
		drafts, err = m.Resume(event.Host, "", at)
	case Extend:
		drafts, err = m.Extend(event.Host, step.Who, step.By, "", at)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s of %q at %s: %w", errRefused, step.Kind, step.Who, step.At, err)
	}
	return drafts, nil
}

// value returns what json.Marshal makes of a submission, as the machine reads it.
func value(submission any) (event.Value, error) {
	raw, err := json.Marshal(submission)
	if err != nil {
		return event.Value{}, fmt.Errorf("%T is no JSON: %w", submission, err)
	}
	return event.ParseLoose(raw)
}

// do takes a step, and all that follows from it at once.
func (s *session) do(step Step) error {
	drafts, err := decide(s.now, &step)
	if err != nil {
		return err
	}
	return s.commit(step, drafts)
}

// commit appends what was decided for a step, and all that follows from it at once.
func (s *session) commit(step Step, drafts []match.Draft) error {
	if step.Kind == Deadline {
		var passed struct{ Players []string }
		if err := json.Unmarshal(drafts[0].Public, &passed); err != nil {
			return err
		}
		step.Missed = passed.Players
	}
	open := s.now.PhaseNo()
	if err := s.append(drafts); err != nil {
		return err
	}
	if err := s.settle(epoch.Add(step.At)); err != nil {
		return err
	}
	step.Resolved = s.now.PhaseNo() != open
	s.history = s.history.with(step)
	s.past = append(s.past, s.now)
	return nil
}

func (s *session) settle(at time.Time) error {
	for range mostSteps {
		drafts := s.now.Resolve(at)
		if drafts == nil {
			return nil
		}
		if err := s.append(drafts); err != nil {
			return err
		}
	}
	return errors.New("the referee comes to no end")
}

func (s *session) append(drafts []match.Draft) error {
	before := s.now
	if s.bare {
		now, err := applied(s.catalog(), s.now, drafts)
		s.now = now
		return err
	}
	now, err := s.journal.Append(context.Background(), matchID, s.now, event.ID{}, drafts)
	if err != nil {
		return err
	}
	s.now = now
	if s.appended != nil {
		return s.appended(s, before, drafts)
	}
	return nil
}

// fork returns a session that has gone the same way for the first n steps, with a log of its own.
func (s *session) fork(n int, salt uint64) (*session, error) {
	f, err := newSession(s.game, s.history.Setup, s.history.Seed, salt)
	if err != nil {
		return nil, err
	}
	f.history, f.past, f.now = s.history.upTo(n), slices.Clone(s.past[:n+1]), s.past[n]
	stream := journal.Stream(matchID)
	for commit, err := range s.log.Read(context.Background(), stream, 0) {
		if err != nil {
			return nil, err
		}
		if int64(commit.First) > f.now.Revision() {
			break
		}
		if _, err := f.log.Append(context.Background(), stream, int64(commit.First)-1, commit.Events...); err != nil {
			return nil, err
		}
	}
	// The journal learns of the state that it would have folded itself.
	f.now, err = f.journal.Load(context.Background(), matchID)
	return f, err
}

// after returns how long after creation the match's last event was.
func (s *session) after() time.Duration { return s.now.At().Sub(epoch) }

// audiences returns whoever may look at the match.
func (s *session) audiences() []string {
	return append(s.history.Players(), match.Public, match.HostID)
}

// applied returns the match (nil: none yet) as a decision would leave it, without any log.
func applied(games match.Catalog, m *match.Match, drafts []match.Draft) (*match.Match, error) {
	var next *match.Match
	revision := uint64(0)
	if m != nil {
		next, revision = m.Clone(), uint64(m.Revision()+1)
	}
	for i := range drafts {
		d := &drafts[i]
		fact := event.Fact{
			Revision: revision + uint64(i), Type: d.Type, At: d.At, By: d.By, Public: d.Public,
			Faces: make([]event.Face, len(d.Faces)),
		}
		for place := range d.Faces {
			fact.Faces[place] = event.Face{To: d.Faces[place].To, Data: d.Faces[place].Data}
		}
		var err error
		if next == nil {
			next, err = match.Replay(games, fact)
		} else {
			err = next.ApplyDraft(fact, d)
		}
		if err != nil {
			return nil, err
		}
	}
	return next, nil
}

// resolves reports whether the phase would be resolved with a decision, without taking it.
func resolves(m *match.Match, drafts []match.Draft, at time.Time) (bool, error) {
	next, err := applied(nil, m, drafts)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(next.Resolve(at), func(d match.Draft) bool {
		return d.Type == "phase-opened.v1" || d.Type == "match-ended.v1"
	}), nil
}

// view returns an audience's view as JSON.
func view(m *match.Match, audience string) ([]byte, error) {
	v := m.View(audience)
	if v == nil {
		return nil, fmt.Errorf("there is no view for %q", audience)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("the view for %q is no JSON: %w", audience, err)
	}
	return raw, nil
}

// views returns the views of all audiences.
func (s *session) views(m *match.Match) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, audience := range s.audiences() {
		raw, err := view(m, audience)
		if err != nil {
			return nil, err
		}
		all[audience] = raw
	}
	return all, nil
}

// bot returns the submission that the game's bot makes, knowing nothing but the view as JSON.
func (s *session) bot(m *match.Match, who string, pick Pick) (map[string]any, error) {
	v := m.View(who)
	if !s.direct {
		raw, err := view(m, who)
		if err != nil {
			return nil, err
		}
		if v, err = s.catalog().ReadView(raw); err != nil {
			return nil, err
		}
	}
	return asJSON[map[string]any](s.catalog().Bot(v, pick))
}

// setUp returns a random set-up of the game with the options that every game has.
func setUp(g *Game, pick Pick) (map[string]any, error) {
	setup, err := asJSON[map[string]any](g.Setup(pick))
	if err != nil {
		return nil, err
	}
	options := maps.Clone(Object(setup, "options"))
	if options == nil {
		options = map[string]any{}
	}
	choose := func(name string, values ...string) {
		if n := pick(len(values) + 1); n > 0 {
			options[name] = values[n-1]
		}
	}
	choose("close", match.CloseWhenAllIn, match.CloseAtDeadline)
	options["hostSees"] = []string{match.HostSeesNeeded, match.HostSeesNeeded, match.HostSeesAll}[pick(3)]
	options["open"] = []string{match.OpenAtEnd, match.OpenNever}[pick(2)]
	options["start"] = match.StartNow
	if pick(2) == 0 {
		options["clock"] = map[string]any{
			"move":    (time.Duration(1+pick(100)) * 700 * time.Millisecond).String(),
			"reserve": (time.Duration(pick(4)) * 9500 * time.Millisecond).String(),
		}
	}
	setup["options"] = options
	return setup, nil
}

// seedOf returns the seed of the draws of a match.
func seedOf(pick Pick) []byte {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(pick(256))
	}
	return seed
}
