package glassfull_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
	"umpire/pkg/rehearsal"
)

// script is a rehearsal of a match between Herbert, who is the DMO, and Sensei. Each line is played a second after the
// one before, unless a test lets time pass.
type script struct {
	t     *testing.T
	lines []string
	at    time.Duration
}

func newScript(t *testing.T) *script {
	t.Helper()
	return &script{t: t, lines: []string{`{"setup": {"game": "glass-full", "roles": {"dmo": "herbert"}, "players": [
		{"id": "sensei", "name": "Sensei"}, {"id": "herbert", "name": "Herbert"}], "options": {"open": "at-end"}}}`}}
}

// begun is a script in which bout 1 has begun and a player is to take the first turn.
func begun(t *testing.T, starter string) *script {
	t.Helper()
	return newScript(t).pick("herbert", starter)
}

// answer is what a line of the script brought.
type answer struct {
	OK    bool
	Error *struct{ Code match.Code }
	View  json.RawMessage
}

// output plays lines and returns what came out; events is as in rehearsal.Options.
func (s *script) output(lines []string, events string) []string {
	s.t.Helper()
	joined := make([]string, len(lines))
	for i := range lines {
		joined[i] = strings.ReplaceAll(lines[i], "\n", " ")
	}
	var out bytes.Buffer
	err := rehearsal.Play(s.t.Context(), strings.NewReader(strings.Join(joined, "\n")), &out, rehearsal.Options{
		Games: match.Catalog{glassfull.Game()}, Entropy: rand.Reader, Events: events,
	})
	require.NoError(s.t, err)
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

// play plays the script with one more line and returns what that line brought; all others must succeed.
func (s *script) play(line string) answer {
	s.t.Helper()
	lines := append(append([]string{}, s.lines...), line)
	answers := s.output(lines, "")
	require.Len(s.t, answers, len(lines))
	var last answer
	for i, text := range answers {
		last = answer{}
		require.NoError(s.t, json.Unmarshal([]byte(text), &last))
		require.True(s.t, i == len(lines)-1 || last.OK, "%s\nmeets\n%s", lines[i], text)
	}
	return last
}

func submission(at time.Duration, who, what string) string {
	return fmt.Sprintf(`{"at": %q, "as": %q, "submit": %s}`, at, who, what)
}

// submit goes on with a submission that is accepted.
func (s *script) submit(who, what string) *script {
	s.t.Helper()
	s.at += time.Second
	line := submission(s.at, who, what)
	require.True(s.t, s.play(line).OK, "%s of %s is refused", what, who)
	s.lines = append(s.lines, line)
	return s
}

// refused demands that a submission is refused; the script stays as it was.
func (s *script) refused(code match.Code, who, what string) {
	s.t.Helper()
	before := s.see(match.HostID)
	line := submission(s.at, who, what)
	a := s.play(line)
	require.NotNil(s.t, a.Error, "%s of %s is accepted", what, who)
	assert.Equal(s.t, code, a.Error.Code, what)
	assert.Equal(s.t, before, s.see(match.HostID))
}

// wait lets time pass.
func (s *script) wait(d time.Duration) *script {
	s.at += d
	s.lines = append(s.lines, fmt.Sprintf(`{"at": %q}`, s.at))
	return s
}

// until lets time pass up to a moment since the match's creation.
func (s *script) until(at time.Duration) *script { return s.wait(at - s.at) }

func (s *script) pick(who, starter string) *script {
	s.t.Helper()
	return s.submit(who, fmt.Sprintf(`{"type": "pick-starter", "player": %q}`, starter))
}

const (
	spongeIt  = `{"type": "sponge"}`
	challenge = `{"type": "challenge"}`
)

func cups(n int) string { return fmt.Sprintf(`{"type": "add", "cups": %d}`, n) }

// adds lets the players add in turn, beginning with who.
func (s *script) adds(who string, amounts ...int) *script {
	s.t.Helper()
	for _, n := range amounts {
		s.submit(who, cups(n))
		who = opponent(who)
	}
	return s
}

// loses lets a player lose the bout that he is to begin, by an overflow at a level of 20, on his turn or on the
// other's and then his: he adds 2 ten times over.
func (s *script) loses(who string) *script {
	s.t.Helper()
	return s.adds(who, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2).submit(who, cups(1))
}

func opponent(who string) string {
	if who == "sensei" {
		return "herbert"
	}
	return "sensei"
}

// seen is a view as a test reads it.
type seen struct {
	Status string
	Phase  *struct {
		Name     string
		Awaiting []string
		Clocks   map[string]*struct{ Deadline *time.Time }
	}
	Table struct {
		Bout                          int
		Starter, Turn                 *string
		Marks                         []string
		Wins, Strikes, Calls, Sponges map[string]int
		Bouts                         []ended
		You                           *struct {
			Sponges, Added int
			Moves          []made
			Hints          map[string]any
		}
		Host *struct {
			Level          *int
			Sponges, Added map[string]int
			Moves          map[string][]made
		}
	}
	Result *struct {
		Winner, Loser, By string
		Score             map[string]int
	}
}

type (
	ended struct {
		No         int
		Winner, By string
	}
	made struct {
		Bout int
		Type string
		Cups *int
	}
)

// see returns what an audience sees now.
func (s *script) see(audience string) seen {
	s.t.Helper()
	a := s.play(fmt.Sprintf(`{"at": %q, "view": %q}`, s.at, audience))
	require.NotEmpty(s.t, a.View)
	var v seen
	require.NoError(s.t, json.Unmarshal(a.View, &v))
	return v
}

// level is how many cups are in the tank.
func (s *script) level() int {
	s.t.Helper()
	return *s.see(match.HostID).Table.Host.Level
}

// deadline is when the clock of a player runs out, since the match's creation; 0 without.
func (v *seen) deadline(who string) time.Duration {
	if v.Phase == nil || v.Phase.Clocks[who] == nil {
		return 0
	}
	return v.Phase.Clocks[who].Deadline.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

func both(sensei, herbert int) map[string]int {
	return map[string]int{"sensei": sensei, "herbert": herbert}
}

func did(bout int, kind string, n int) made {
	if n == 0 {
		return made{bout, kind, nil}
	}
	return made{bout, kind, &n}
}
