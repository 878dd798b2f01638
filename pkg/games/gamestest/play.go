package gamestest

import (
	"errors"
	"fmt"
	"time"

	"umpire/pkg/match"
)

// mostSteps bounds a random match; what takes more has no end.
const mostSteps = 3000

// mood is how the players and the host of one match behave, in per cent.
type mood struct {
	silence int // a clock is left to run out
	control int // the host pauses or extends
	change  int // a player changes his mind, where he can
	late    int // the timer fires late
}

func moodOf(pick Pick) mood {
	return mood{
		silence: []int{0, 2, 10, 40}[pick(4)],
		control: []int{0, 0, 3, 15}[pick(4)],
		change:  []int{0, 10, 30}[pick(3)],
		late:    []int{0, 0, 20}[pick(3)],
	}
}

// driver plays a session to its end.
type driver struct {
	*session
	mood
	pick Pick
	base map[string]*match.Match // by player: the match in which he last submitted in the open phase
	no   int                     // the phase that base is of
	each func(*session) error
}

// playing says what is done besides while a random match is played.
type playing struct {
	appended func(*session, *match.Match, []match.Draft) error // told of every commit; may be nil
	each     func(*session) error                              // called after the creation and every step; may be nil
	direct   bool                                              // bots look at views that have not been JSON
	bare     bool                                              // there is no log
}

// play plays a random match of a seed.
func (g *Game) play(seed uint64, p playing) (*session, error) {
	pick := chance(seed, forPlay)
	setup, err := setUp(g, pick)
	if err != nil {
		return nil, err
	}
	s, err := newSession(g, setup, seedOf(pick), seed)
	if err != nil {
		return nil, err
	}
	s.appended, s.direct, s.bare = p.appended, p.direct, p.bare
	d := driver{session: s, mood: moodOf(pick), pick: pick, each: p.each}
	return s, d.run()
}

func (d *driver) run() error {
	if err := d.create(); err != nil {
		return err
	}
	for seen := 0; ; {
		if d.each != nil && seen < len(d.past) {
			seen = len(d.past)
			if err := d.each(d.session); err != nil {
				return d.at(err)
			}
		}
		if d.now.Over() {
			return nil
		}
		if len(d.history.Steps) >= mostSteps {
			return d.at(fmt.Errorf("the match does not end"))
		}
		if err := d.step(); err != nil {
			return d.at(err)
		}
	}
}

// at says where in the match an error was met.
func (d *driver) at(err error) error {
	n := len(d.history.Steps)
	if n == 0 {
		return fmt.Errorf("at creation: %w", err)
	}
	last := d.history.Steps[n-1]
	return fmt.Errorf("after step %d (%s %s at %s): %w", n, last.Kind, last.Who, last.At, err)
}

// step does one random thing that is accepted.
func (d *driver) step() error {
	if d.now.Status() == match.Paused {
		return d.whilePaused()
	}
	if d.pick(100) < d.control {
		return d.byHost()
	}
	awaiting := d.now.Seats().IDs(d.now.Awaiting())
	due, timed := d.now.Deadline()
	if len(awaiting) == 0 && !timed {
		return errors.New("the match runs, awaits nobody and has no deadline")
	}
	if timed && (len(awaiting) == 0 || d.pick(100) < d.silence) && d.pick(100) >= d.change {
		return d.wait(due)
	}
	if who := d.mindChanger(); who != "" && (len(awaiting) == 0 || d.pick(100) < d.change) {
		return d.submit(who, d.base[who])
	}
	if len(awaiting) == 0 {
		return d.wait(due)
	}
	return d.submit(awaiting[d.pick(len(awaiting))], d.now)
}

// wait lets a deadline pass, perhaps noticed late.
func (d *driver) wait(due time.Time) error {
	at := max(due.Sub(epoch), d.after())
	if d.pick(100) < d.late {
		at += time.Duration(d.pick(3000)) * time.Millisecond
	}
	return d.do(Step{At: at, Kind: Deadline})
}

// submit lets the bot make a submission on a player's view of m, and sends it.
func (d *driver) submit(who string, m *match.Match) error {
	submission, err := d.bot(m, who, d.pick)
	if err != nil {
		return fmt.Errorf("the bot for %q: %w", who, err)
	}
	if d.no != d.now.PhaseNo() {
		d.no, d.base = d.now.PhaseNo(), map[string]*match.Match{}
	}
	d.base[who] = m
	return d.do(Step{At: d.moment(), Kind: Submit, Who: who, Submission: submission})
}

// moment returns a time before the next deadline, or behind it where the timer is late.
func (d *driver) moment() time.Duration {
	now := d.after()
	left := 10 * time.Second
	if due, ok := d.now.Deadline(); ok {
		left = due.Sub(epoch) - now
	}
	switch {
	case d.pick(100) < d.late:
		return max(now, now+left) + time.Duration(d.pick(2000))*time.Millisecond
	case left <= 0 || d.pick(4) == 0:
		return now
	case d.pick(8) == 0:
		return now + left - 1
	}
	return now + time.Duration(d.pick(int(left/10)+1))
}

// mindChanger returns a player who may replace his submission now, or "".
func (d *driver) mindChanger() string {
	v := d.now.View(match.Public)
	if v.Phase == nil || d.no != v.Phase.No || len(v.Phase.Submitted)+len(v.Phase.Awaiting) < 2 {
		return ""
	}
	var can []string
	for _, who := range v.Phase.Submitted {
		clock := v.Phase.Clocks[who]
		if d.base[who] != nil && (clock == nil || clock.Deadline.After(d.now.At())) {
			can = append(can, who)
		}
	}
	if len(can) == 0 {
		return ""
	}
	return can[d.pick(len(can))]
}

// byHost pauses or extends; where an extension can't be, somebody else's turn comes.
func (d *driver) byHost() error {
	if d.pick(2) == 0 {
		return d.do(Step{At: d.moment(), Kind: Pause})
	}
	return d.extend()
}

func (d *driver) whilePaused() error {
	at := d.after() + time.Duration(d.pick(90_000))*time.Millisecond
	if d.pick(3) > 0 {
		return d.do(Step{At: at, Kind: Resume})
	}
	return d.extend()
}

func (d *driver) extend() error {
	players := d.history.Players()
	err := d.do(Step{
		At: d.after(), Kind: Extend, Who: players[d.pick(len(players))],
		By: time.Duration(1+d.pick(20_000)) * time.Millisecond,
	})
	if errors.Is(err, errRefused) {
		return nil
	}
	return err
}
