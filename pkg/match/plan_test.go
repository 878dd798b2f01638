package match_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/match"
)

// A plan is a game for tests: phases in the order in which a test wants them, whatever is submitted. Who speaks says a
// number from 0 to 9; a draw is made in every phase; deadlines of a Repeat clock are counted.
type plan struct {
	phases []match.Await
	bank   time.Duration // of the game, where the set-up says nothing
	close  bool          // at the deadline
	opens  bool          // something is public from the beginning
	broken string        // what panics: "resolve", "evolve"
}

type (
	planState struct {
		seats  match.Seats
		loud   bool
		secret string
		next   int
		over   bool
		said   []map[string]int
		draws  []int
		missed map[string]int
		banks  []int // in ms, as the last phase left them
	}
	say       struct{ number int }
	planTable struct {
		Loud   bool             `json:"loud"`
		Next   int              `json:"next"`
		Said   []map[string]int `json:"said"`
		Draws  []int            `json:"draws"`
		Missed map[string]int   `json:"missed"`
		Banks  []int            `json:"banks"`
		You    *planYou         `json:"you,omitempty"`
		Host   *planHost        `json:"host,omitempty"`
	}
	planYou struct {
		Says  *int            `json:"says"`
		Raw   json.RawMessage `json:"raw"`
		Hints string          `json:"hints"`
	}
	planHost struct {
		Secret string         `json:"secret"`
		Says   map[string]int `json:"says"`
	}
	resolved struct {
		Said  map[string]int `json:"said"`
		Draw  int            `json:"draw"`
		Banks []int          `json:"banks"`
	}
	clockMissed struct {
		Players []string `json:"players"`
	}
	secretFace struct {
		Secret string `json:"secret"`
	}
)

func (p plan) game(players int) *match.Game {
	var open func(*match.Turn[planState, say])
	if p.opens {
		open = func(t *match.Turn[planState, say]) {
			t.EmitOpening("opened", struct{}{}, []match.Ref{match.SetupFace(0)})
		}
	}
	return match.Rules[planState, say, planTable]{
		Name: "plan", Title: "A Plan", Version: 1, Players: players, Move: 30 * time.Second, Bank: p.bank,
		Roles: []string{"first"}, SeatRoles: []string{"black", "white"}, Fields: []string{"secret"},
		Options: []string{"loud"}, AtDeadline: p.close,
		Prepare: prepare, Begin: begin, Clone: clonePlan, Open: open, Await: p.await, Decode: decode, Check: check,
		Missed: func(t *match.Turn[planState, say], seats []int) { t.Emit("missed", clockMissed{t.Seats.IDs(seats)}) },
		Resolve: func(t *match.Turn[planState, say]) {
			if p.broken == "resolve" {
				panic("a rule is broken: " + t.State.secret)
			}
			resolvePlan(t)
		},
		Evolve: func(s *planState, f *match.Fact[say]) {
			if p.broken == "evolve" {
				panic("a rule is broken")
			}
			evolvePlan(s, f)
		},
		Opens: func(kind string, face int) bool {
			return face == 0 && (kind == "resolved" || kind == "submission/talk")
		},
		Result: func(s *planState) any { return map[string]int{"phases": s.next} },
		View:   viewPlan,
		Hints:  func(v *match.View, t *planTable) { t.You.Hints = "you are " + v.Audience },
		Bot: func(_ *match.View, _ *planTable, pick func(int) int) any {
			return map[string]any{"type": "say", "number": pick(10)}
		},
	}.Game()
}

func prepare(s *match.Setup) (match.Prepared, error) {
	secret, given := s.Field("secret")
	if given && secret.Kind != event.String {
		return match.Prepared{}, match.BadSetup("secret", "must be a string")
	}
	p := match.Prepared{Faces: []match.NewFace{{To: []string{match.HostID}, Data: secretFace{secret.Text()}}}}
	if loud, given := s.Option("loud"); given {
		p.Public = map[string]bool{"loud": loud.True()}
	}
	if secret.Text() == "weak" {
		p.Warnings = []string{"the secret is weak"}
	}
	return p, nil
}

func begin(s match.Start) planState {
	if s.Seats.With("first") < 0 {
		panic("the set-up has seen to it that somebody has the role")
	}
	return planState{
		loud:  match.Read[map[string]bool](s.Setup)["loud"] && s.Clock.Move > 0,
		seats: s.Seats, secret: match.Read[secretFace](s.Faces[0]).Secret,
		missed: match.ByID(s.Seats, func(int) int { return 0 }),
	}
}

func clonePlan(s *planState) *planState {
	c := *s
	c.said, c.draws, c.banks = slices.Clip(s.said), slices.Clip(s.draws), slices.Clone(s.banks)
	c.missed = match.ByID(s.seats, func(seat int) int { return s.missed[s.seats.ID(seat)] })
	return &c
}

func (p plan) await(s *planState) match.Await {
	if s.next == len(p.phases) || s.over {
		return match.Await{}
	}
	return p.phases[s.next]
}

func decode(_ *planState, v event.Value) (say, error) {
	form := match.OpenForm(v)
	form.Choice("type", "say")
	form.Fields([]string{"number"})
	return say{int(form.Whole("number", 0, 1<<60))}, form.Err()
}

func check(_ *match.View, _ *planTable, m say) error {
	if m.number > 9 {
		return match.Illegal("that is too much")
	}
	return nil
}

func resolvePlan(t *match.Turn[planState, say]) {
	fact := resolved{Said: map[string]int{}}
	for _, m := range t.Moves {
		fact.Said[t.Seats.ID(m.Seat)] = m.Move.number
	}
	for seat := range t.Seats {
		fact.Banks = append(fact.Banks, int(t.Bank(seat)/time.Millisecond))
	}
	fact.Draw = int(t.Draw(fmt.Sprintf("phase/%d", t.State.next), 1000))
	face := match.NewFace{To: []string{}, Data: secretFace{t.State.secret}}
	if t.State.next == 0 { // the secret of the set-up is open from the first phase on
		t.EmitOpening("resolved", fact, []match.Ref{match.SetupFace(0)}, face)
		return
	}
	t.Emit("resolved", fact, face)
}

func evolvePlan(s *planState, f *match.Fact[say]) {
	switch f.Kind {
	case "opened":
		s.draws = append(s.draws, -1)
	case "missed":
		for _, id := range match.Read[clockMissed](f.Public).Players {
			s.missed[id]++
			s.over = s.over || s.missed[id] >= 5
		}
	case "resolved":
		r := match.Read[resolved](f.Public)
		for seat, id := range s.seats.IDs(s.seats.All()) {
			m, made := f.Moves.Of(seat)
			if said, stated := r.Said[id]; made != stated || m.number != said || int(f.Bank(seat)/time.Millisecond) != r.Banks[seat] {
				panic("a fact is not folded in the phase that it resolves")
			}
		}
		s.said, s.draws, s.banks = append(s.said, r.Said), append(s.draws, r.Draw), r.Banks
		s.next++
	default:
		panic("unknown fact " + f.Kind)
	}
}

func viewPlan(w *match.Watch[planState, say]) *planTable {
	s := w.State
	t := &planTable{Loud: s.loud, Next: s.next, Said: s.said, Draws: s.draws, Missed: s.missed, Banks: s.banks}
	if w.Playing {
		t.You = &planYou{}
		if m, ok := w.Moves.Of(w.Seat); ok {
			t.You.Says = &m.number
			t.You.Raw = w.Moves.Raw(w.Seat)
		} else if w.Moves.Raw(w.Seat) != nil {
			panic("a submission that is none")
		}
	}
	if w.Host {
		t.Host = &planHost{Says: map[string]int{}}
		if w.All {
			t.Host.Secret = s.secret
			for _, m := range w.Moves {
				t.Host.Says[s.seats.ID(m.Seat)] = m.Move.number
			}
		}
	}
	return t
}

// turnOf is a phase for one seat, talkOf one for several, hostPhase one for the host.
func turnOf(seat int, kind match.ClockKind) match.Await {
	return match.Await{Phase: "turn", Seats: []int{seat}, Clock: kind}
}

func talkOf(kind match.ClockKind, seats ...int) match.Await {
	return match.Await{Phase: "talk", Seats: seats, Clock: kind}
}

func hostPhase() match.Await {
	return match.Await{Phase: "judge", Seats: []int{match.HostSeat}, Clock: match.None}
}
