package gamestest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"umpire/pkg/match"
)

// plays is the part of the suite that plays whole matches and looks at each step.
func (s *suite) plays(t *testing.T) {
	t.Helper()
	for i, seed := range s.seeds {
		c := &checks{plain: !s.every(3, i)}
		if s.every(10, i) {
			c.shown = map[*match.Match]map[string][]byte{}
		}
		if s.every(15, i) { // of these none is plain
			c.fold = &fold{}
		}
		if err := c.match(&s.Game, seed); err != nil {
			failed(t, seed, err)
		}
	}
}

// checks look at a match as it is played.
type checks struct {
	shown map[*match.Match]map[string][]byte // every state's views when they were first built; nil: not kept
	fold  *fold                              // nil: not checked
	plain bool                               // the rules are exercised alone, without JSON and log
	phase int
}

func (c *checks) match(g *Game, seed uint64) error {
	var appended func(*session, *match.Match, []match.Draft) error
	if c.fold != nil {
		appended = c.fold.commit
	}
	s, err := g.play(seed, playing{appended: appended, each: c.step, direct: c.plain, bare: c.plain})
	if err != nil {
		return err
	}
	if c.fold != nil {
		if err := c.fold.end(s); err != nil {
			return err
		}
	}
	return c.unchanged(s)
}

// step looks at a match after a step.
func (c *checks) step(s *session) error {
	if c.shown != nil {
		all, err := s.views(s.now)
		if err != nil {
			return err
		}
		c.shown[s.now] = all
		if err := agree(s, all); err != nil {
			return err
		}
	}
	v := s.now.View(match.Public)
	if err := consistent(s, v); err != nil {
		return err
	}
	if v.Phase != nil && v.Phase.No != c.phase {
		if v.Phase.No != c.phase+1 {
			return fmt.Errorf("phase %d follows phase %d", v.Phase.No, c.phase)
		}
		c.phase = v.Phase.No
	}
	return nil
}

// unchanged demands that no state has changed since it was first shown: deciding changes nothing, and what is evolved
// is a copy that shares nothing with its original.
func (c *checks) unchanged(s *session) error {
	if c.shown == nil {
		return nil
	}
	for _, m := range s.past {
		if err := branch(s, m); err != nil {
			return err
		}
	}
	for i, m := range s.past {
		was := c.shown[m]
		if was == nil {
			continue
		}
		is, err := s.views(m)
		if err != nil {
			return err
		}
		for _, audience := range s.audiences() {
			if !bytes.Equal(was[audience], is[audience]) {
				return fmt.Errorf("the state after step %d has changed since, in the view for %q: %s",
					i, audience, differences(was[audience], is[audience]))
			}
		}
	}
	return nil
}

// branch lets a state go another way than it went, twice: memory that it shares with what has become of it shows.
func branch(s *session, m *match.Match) error {
	step := Step{At: m.At().Sub(epoch), Kind: Deadline}
	if due, ok := m.Deadline(); ok {
		step.At = max(step.At, due.Sub(epoch))
	}
	steps := []Step{step}
	if awaiting := m.Awaiting(); len(awaiting) > 0 {
		step := Step{At: m.At().Sub(epoch), Kind: Submit, Who: m.Seats().ID(awaiting[0])}
		var err error
		if step.Submission, err = s.bot(m, step.Who, func(n int) int { return n - 1 }); err != nil {
			return err
		}
		steps = append(steps, step)
	}
	for _, step := range steps {
		drafts, err := decide(m, &step)
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			return err
		}
		next, err := applied(nil, m, drafts)
		if err != nil {
			return err
		}
		if _, err := applied(nil, next, next.Resolve(epoch.Add(step.At))); err != nil {
			return err
		}
	}
	return nil
}

// agree demands that all views have the same public part: what stands beside the table, and the table but for "you"
// in a player's and "host" in the host's.
func agree(s *session, all map[string][]byte) error {
	public, publicTable, err := parts(all[match.Public])
	if err != nil {
		return err
	}
	for audience, raw := range all {
		back, err := s.catalog().ReadView(raw)
		if err != nil {
			return err
		}
		again, err := json.Marshal(back)
		if err != nil {
			return err
		}
		if !bytes.Equal(again, raw) {
			return fmt.Errorf("the view for %q is another when it has been read: %s", audience, differences(raw, again))
		}
		top, table, err := parts(raw)
		if err != nil {
			return err
		}
		own := "you"
		if audience == match.HostID {
			own = "host"
		}
		if _, has := table[own]; has == (audience == match.Public) {
			return fmt.Errorf("the table for %q and its %q", audience, own)
		}
		delete(table, own)
		if name := differing(top, public); name != "" {
			return fmt.Errorf("%q is not the same for %q as for the public", name, audience)
		}
		if name := differing(table, publicTable); name != "" {
			return fmt.Errorf("%q of the table is not the same for %q as for the public", name, audience)
		}
	}
	return nil
}

// parts returns a view's public fields and its table's fields.
func parts(raw []byte) (top, table map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(top["table"], &table); err != nil {
		return nil, nil, err
	}
	delete(top, "audience")
	delete(top, "table")
	return top, table, nil
}

// differing returns the name of a member in which two objects differ, or "".
func differing(a, b map[string]json.RawMessage) string {
	for name := range a {
		if other, has := b[name]; !has || !bytes.Equal(a[name], other) {
			return name
		}
	}
	for name := range b {
		if _, has := a[name]; !has {
			return name
		}
	}
	return ""
}

// consistent looks at the public part of a view.
func consistent(s *session, v *match.View) error {
	players := s.history.Players()
	if v.Revision != s.now.Revision() || v.Match != matchID || v.Game != s.game.Rules.Name {
		return errors.New("the head of the view is of another match")
	}
	if over := v.Status == match.Ended; over != s.now.Over() || over != (v.Phase == nil) || over != (v.Result != nil) {
		return fmt.Errorf("status %s, phase %v, result %s", v.Status, v.Phase, v.Result)
	}
	commitment := sha256.Sum256(s.history.Seed)
	if v.SeedCommitment != hex.EncodeToString(commitment[:]) {
		return errors.New("the seed's commitment is not its hash")
	}
	if v.Status == match.Ended {
		if v.Seed == nil || *v.Seed != hex.EncodeToString(s.history.Seed) {
			return errors.New("the match has ended and its seed is not shown")
		}
		return nil
	}
	if v.Seed != nil {
		return errors.New("the seed is shown before the match has ended")
	}
	return consistentPhase(s, v, players)
}

func consistentPhase(s *session, v *match.View, players []string) error {
	p := v.Phase
	if !seatingOrder(p.Awaiting, players) || !seatingOrder(p.Submitted, players) {
		return fmt.Errorf("awaiting %q and submitted %q are not in seating order", p.Awaiting, p.Submitted)
	}
	for _, who := range p.Submitted {
		if slices.Contains(p.Awaiting, who) {
			return fmt.Errorf("%q is awaited and has submitted", who)
		}
	}
	if v.Status == match.Running && !slices.Equal(s.now.Seats().IDs(s.now.Awaiting()), p.Awaiting) {
		return fmt.Errorf("the view awaits %q, the match awaits others", p.Awaiting)
	}
	if len(p.Awaiting) == 0 && v.Status == match.Running {
		if _, timed := s.now.Deadline(); !timed || !s.now.Options().AtDeadline {
			return errors.New("a phase that awaits nobody is still open")
		}
	}
	if len(p.Clocks) != len(players) {
		return fmt.Errorf("there are clocks for %d of %d players", len(p.Clocks), len(players))
	}
	for _, who := range players {
		clock, listed := p.Clocks[who]
		if !listed {
			return fmt.Errorf("there is no clock for %q", who)
		}
		if clock != nil && v.Status == match.Paused && slices.Contains(p.Awaiting, who) && !clock.Deadline.IsZero() {
			return fmt.Errorf("the match is paused and the clock of %q shows a deadline", who)
		}
		if clock != nil && clock.ReserveFrom != nil && clock.ReserveFrom.After(clock.Deadline.Time) {
			return fmt.Errorf("the bank of %q runs from a time behind the deadline", who)
		}
	}
	return nil
}

// seatingOrder reports whether ids stand in the order of the players, each once; or it is the host alone.
func seatingOrder(ids, players []string) bool {
	if slices.Equal(ids, []string{match.HostID}) {
		return true
	}
	last := -1
	for _, id := range ids {
		place := slices.Index(players, id)
		if place <= last {
			return false
		}
		last = place
	}
	return true
}
