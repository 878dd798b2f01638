package match_test

import (
	"testing"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/games/gamestest"
	"umpire/pkg/match"
)

// TestExamples replays what earlier versions of the machine have written.
func TestExamples(t *testing.T) {
	game := plan{phases: []match.Await{
		talkOf(match.Once, 0, 1), turnOf(0, match.Repeat), turnOf(1, match.Reserve), hostPhase(),
	}, bank: 10 * time.Second}
	(&gamestest.Examples{
		Rules: game.game(2),
		Dir:   "testdata/events",
		Types: []string{
			"match-created.v1", "seat-claimed.v1", "seat-reissued.v1", "match-started.v1", "phase-opened.v1",
			"submission-accepted.v1", "submission-replaced.v1", "deadline-passed.v1", "match-paused.v1", "match-resumed.v1",
			"clock-extended.v1", "match-ended.v1", "match-voided.v1",
		},
		Plays: map[string]func(*gamestest.Example){"1-ended": exampleEnded, "1-void": exampleVoid},
	}).Run(t)
}

type decision = func(m *match.Match, at time.Time) ([]match.Draft, error)

func claims(seat, issue int) decision {
	return func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Claim(seat, issue, []byte{1, 2, 3, byte(seat)}, at)
	}
}

func exampleEnded(x *gamestest.Example) {
	x.Create(setupText(2, `"close":"at-deadline"`))
	x.Do(claims(0, 0))
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Reissue(event.Host, "a", "lost", at)
	})
	x.Do(claims(match.HostSeat, 0))
	x.Do(claims(1, 0))
	x.Do(claims(0, 1))
	x.Submit("a", number(1))
	x.Submit("a", number(2))
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) { return m.Pause(event.Host, "dinner", at) })
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) { return m.Resume(event.Host, "", at) })
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Extend(event.Host, "b", 20*time.Second, "slow link", at)
	})
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Give(match.Outage{From: at.Add(-2 * time.Second), To: at}, at), nil
	})
	x.Wait(time.Minute)
	x.Wait(35 * time.Second)
	x.Submit("a", number(3))
	x.Wait(35 * time.Second)
	x.Submit("b", number(4))
	x.Submit(match.HostID, number(5))
}

func exampleVoid(x *gamestest.Example) {
	x.Create(setupText(2, `"start":"now"`))
	x.Submit("a", number(1))
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.VoidMatch(event.Host, "a false start", at)
	})
}
