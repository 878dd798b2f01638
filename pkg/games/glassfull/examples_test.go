package glassfull_test

import (
	"testing"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/games/gamestest"
	"umpire/pkg/games/glassfull"
	"umpire/pkg/match"
)

// TestExamples replays what earlier versions have written.
func TestExamples(t *testing.T) {
	(&gamestest.Examples{
		Rules: glassfull.Game(),
		Dir:   "testdata/events",
		Types: []string{
			"glass-full.starter-picked.v1", "glass-full.turn-taken.v1", "glass-full.challenge-failed.v1",
			"glass-full.strike-given.v1", "glass-full.bout-ended.v1",
			"match-created.v1", "seat-claimed.v1", "seat-reissued.v1", "match-started.v1", "phase-opened.v1",
			"submission-accepted.v1", "deadline-passed.v1", "match-paused.v1", "match-resumed.v1", "clock-extended.v1",
			"match-ended.v1", "match-voided.v1",
		},
		Plays: map[string]func(*gamestest.Example){"1-two-bouts": twoBouts, "1-void": void},
	}).Run(t)
}

const exampleSetup = `{"game": "glass-full", "title": "An example", "roles": {"dmo": "herbert"},
	"players": [{"id": "sensei", "name": "Sensei"}, {"id": "herbert", "name": "Herbert"}]}`

func claim(seat, issue int) func(*match.Match, time.Time) ([]match.Draft, error) {
	return func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Claim(seat, issue, []byte("sixteen bytes of"), at)
	}
}

// twoBouts is a whole match with everything in it: sponges, a call in vain, strikes, both ways to lose a bout.
func twoBouts(x *gamestest.Example) {
	x.Create(exampleSetup)
	x.Do(claim(0, 0))
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Reissue(event.Host, "herbert", "the link was lost", at)
	})
	x.Do(claim(match.HostSeat, 0))
	x.Do(claim(1, 1))
	x.Wait(35 * time.Second)
	x.Submit("herbert", `{"type": "pick-starter", "player": "sensei"}`)
	who := "sensei"
	for _, n := range []int{3, 2, 3, 2, 3} {
		x.Submit(who, cups(n))
		who = opponent(who)
	}
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) { return m.Pause(event.Host, "dinner", at) })
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) { return m.Resume(event.Umpire, "", at) })
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.Extend(event.Host, "herbert", 10*time.Second, "slow link", at)
	})
	x.Submit("herbert", challenge)
	x.Submit("sensei", spongeIt)
	for _, n := range []int{3, 3, 2} {
		x.Submit(who, cups(n))
		who = opponent(who)
	}
	x.Submit("sensei", challenge)
	x.Submit("herbert", `{"type": "pick-starter", "player": "herbert"}`)
	who = "herbert"
	for range 7 {
		x.Submit(who, cups(3))
		who = opponent(who)
	}
}

// void is a match that its host has ended.
func void(x *gamestest.Example) {
	x.Create(exampleSetup)
	x.Do(claim(1, 0))
	x.Do(claim(0, 0))
	x.Submit("herbert", `{"type": "pick-starter", "player": "sensei"}`)
	x.Do(func(m *match.Match, at time.Time) ([]match.Draft, error) {
		return m.VoidMatch(event.Host, "a false start", at)
	})
}
