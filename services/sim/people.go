package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/services/demo"
	"umpire/services/problem"
	"umpire/services/projector"
	"umpire/services/submission"
)

// table is one match and its people.
type table struct {
	id      string
	created *submission.Created
	people  []*person
	over    bool
}

// paused reports whether somebody at the table has seen the match paused.
func (t *table) paused() bool {
	for _, p := range t.people {
		if p.view != nil && p.view.Status == match.Paused {
			return true
		}
	}
	return false
}

// person holds a seat, the host's included. He knows what he was answered, and no more.
type person struct {
	table  *table
	id     string
	claim  string
	token  string
	view   *match.View
	asked  *ask // not answered yet
	silent int  // until this phase is over he says nothing
}

// ask is a submission under way.
type ask struct {
	phase int
	key   string
	move  any
	tries int
}

// request lets a client ask a service: the request or the answer may be lost, and it may come twice.
func (w *World) request(k kind, what string, do func(*replica) error) error {
	if w.down(theGateway) || w.down(theQueue) {
		return problem.New(problem.Unavailable, "away")
	}
	r := w.alive(k)
	if r == nil {
		return problem.New(problem.Unavailable, "nobody there")
	}
	err := w.call(r, what, func() error { return do(r) })
	if w.strikes(requestTwice) {
		if again := w.alive(k); again != nil {
			_ = w.call(again, what+", again", func() error { return do(again) })
		}
	}
	if errors.Is(err, errCrashed) || w.strikes(replyLost) {
		return problem.New(problem.Unavailable, "no answer")
	}
	return err
}

// codeOf is what a client sees of an error.
func codeOf(err error) problem.Code {
	if err == nil {
		return ""
	}
	p, _ := problem.Of(err)
	return p.Code
}

// illegalType is a type of submission that no game has.
const illegalType = "steal"

// seenOneIn is how many looks there are for one that is kept in the record.
const seenOneIn = 32

// drawGame prefers the two short games: the long ones cost as much as several runs.
func (w *World) drawGame() string {
	if at := w.rng.IntN(12); at < 10 {
		return w.games[at%2].Name
	}
	return w.games[2+w.rng.IntN(len(w.games)-2)].Name
}

// open creates a match.
func (w *World) open() {
	game := w.drawGame()
	setup := demo.Setup(game, w.rng.IntN)
	options := map[string]any{
		"clock": map[string]any{"move": (time.Duration(2+w.rng.IntN(60)) * time.Second).String(), "reserve": "20s"},
	}
	if w.rng.IntN(4) == 0 {
		options["close"] = match.CloseAtDeadline
	}
	if w.rng.IntN(3) == 0 {
		options["start"] = match.StartNow
	}
	setup["options"] = options
	body, err := json.Marshal(setup)
	if err != nil {
		panic(err)
	}
	var created *submission.Created
	err = w.request(theSubmission, "create", func(r *replica) (err error) {
		made, err := r.submission.Create(context.Background(), w.operator, body, "")
		if err == nil && created == nil {
			created = made
		}
		return err
	})
	if err != nil || created == nil {
		return // an operator who got no answer creates another match
	}
	t := &table{id: created.Match, created: created}
	w.record.Matches = append(w.record.Matches, t.id)
	for _, p := range setup["players"].([]map[string]string) {
		t.people = append(t.people, &person{table: t, id: p["id"], claim: created.Players[p["id"]].Claim})
	}
	t.people = append(t.people, &person{table: t, id: match.HostID, claim: created.Host.Claim})
	w.tables = append(w.tables, t)
	w.record.note("match %s of %s", t.id, game)
}

// act lets a person do the next thing.
func (w *World) act(p *person) {
	switch {
	case p.table.over:
	case p.token == "":
		w.sit(p)
	case p.asked != nil:
		w.submit(p)
	case p.view != nil && p.view.Revision >= w.ticked[p.table.id] && (w.calm || w.rng.IntN(16) > 0):
		// nothing has happened that he has been told of; now and then he looks all the same
	default:
		w.look(p)
		if p.view != nil && p.view.Awaits(p.id) {
			w.move(p)
		}
	}
}

// sit claims the seat; a claim that was used up without an answer is replaced by the operator.
func (w *World) sit(p *person) {
	body := fmt.Appendf(nil, `{"claim":%q}`, p.claim)
	err := w.request(theSubmission, "claim", func(r *replica) error {
		seated, err := r.submission.Claim(context.Background(), body)
		if err == nil {
			p.token = seated.Token
		}
		return err
	})
	if err != nil && codeOf(err) == problem.Unavailable {
		p.token = "" // the answer is what he would know it by
	}
	switch codeOf(err) {
	case problem.Code(match.MatchOver):
		p.table.over = true
	case problem.Code(match.Claimed):
		w.reissue(p)
	}
}

func (w *World) reissue(p *person) {
	body := fmt.Appendf(nil, `{"why":"lost","player":%q}`, p.id)
	err := w.request(theSubmission, "reissue", func(r *replica) error {
		answer, err := r.submission.Control(context.Background(), w.operator, p.table.id, "reissue", "", body)
		if err == nil {
			p.claim = answer.Claim
		}
		return err
	})
	if err == nil {
		p.token = ""
	}
	if codeOf(err) == problem.Code(match.MatchOver) {
		p.table.over = true
	}
}

// look asks for the person's own view.
func (w *World) look(p *person) {
	sampled := w.rng.IntN(seenOneIn) == 0
	if sampled {
		w.readFeed(p)
	}
	var seen *match.View
	err := w.request(theProjector, "view", func(r *replica) error {
		v, err := r.projector.View(context.Background(), p.token, p.table.id, &projector.Question{MinRevision: w.ticked[p.table.id]})
		if err != nil {
			return err
		}
		seen = v.(*match.View)
		if !w.record.listening() && !sampled {
			return nil
		}
		body, err := json.Marshal(v)
		if err == nil {
			w.saw(p.table.id, p.id, seenView, seen.Revision, body)
		}
		return err
	})
	if codeOf(err) == problem.Unauthorized { // a newer link was issued, and its answer lost
		w.reissue(p)
		return
	}
	if err != nil { // an answer that is lost shows nobody anything
		return
	}
	p.view = seen
	if p.view.Status == match.Ended || p.view.Status == match.Void {
		p.table.over = true
	}
}

// readFeed asks for a page of the person's own feed.
func (w *World) readFeed(p *person) {
	_ = w.request(theProjector, "events", func(r *replica) error {
		after := uint64(w.rng.IntN(8) + max(0, w.commits[journal.Stream(p.table.id)]-8)) //nolint:gosec // never negative
		page, err := r.projector.Events(context.Background(), p.token, p.table.id, &projector.Question{After: &after})
		if err != nil {
			return err
		}
		for line := range bytes.Lines(page.([]byte)) {
			after++
			w.saw(p.table.id, p.id, seenEvent, int64(after), line) //nolint:gosec // far from 2^63
		}
		return nil
	})
}

func (w *World) saw(id, audience, kind string, revision int64, body []byte) {
	w.record.Seen = append(w.record.Seen, Seen{id, audience, kind, revision, body})
	w.record.note("%s sees of %s: %s %d %s", audience, id, kind, revision, body)
}

// move decides what to submit, if anything.
func (w *World) move(p *person) {
	phase := p.view.Phase.No
	if p.silent == phase {
		return
	}
	if p.id != match.HostID && w.strikes(saySilent) { // a host's phase has no clock
		p.silent = phase
		return
	}
	p.asked = &ask{phase: phase, key: fmt.Sprintf("%s-%d", p.id, w.rng.Uint32()), move: w.games.Bot(p.view, w.rng.IntN)}
	switch {
	case w.strikes(moveIllegally):
		p.asked.move = map[string]any{"type": illegalType, "cups": w.rng.IntN(9)}
	case w.strikes(moveLate):
		p.asked.phase--
	}
	w.submit(p)
	if w.strikes(twoDevices) {
		other := *p
		other.asked = &ask{phase: phase, key: p.id + "-other", move: w.games.Bot(p.view, w.rng.IntN)}
		w.submit(&other)
	}
}

// submit sends what is asked, again until there is an answer.
func (w *World) submit(p *person) {
	a := p.asked
	a.tries++
	receipt, err := w.send(p, a)
	switch codeOf(err) {
	case problem.Unavailable:
		return // try again
	case "":
		w.acknowledge(p, a, receipt)
		if w.strikes(sameKey) {
			if again, err := w.send(p, a); err == nil && *again != *receipt {
				w.acknowledge(p, a, again) // a check will find two
			}
		}
		if w.strikes(otherContent) {
			b := *a
			b.move = w.games.Bot(p.view, w.rng.IntN)
			if other, err := w.send(p, &b); err == nil {
				w.acknowledge(p, &b, other)
			}
		}
	}
	p.asked = nil
}

func (w *World) send(p *person, a *ask) (receipt *submission.Receipt, err error) {
	body, err := json.Marshal(map[string]any{"phase": a.phase, "submission": a.move})
	if err != nil {
		panic(err)
	}
	w.record.Asked[Asked{p.table.id, p.id, a.phase, a.key}] = true
	err = w.request(theSubmission, "submit", func(r *replica) error {
		got, err := r.submission.Submit(context.Background(), p.token, p.table.id, a.key, body)
		if err == nil && receipt == nil {
			receipt = got
		}
		return err
	})
	if err != nil && codeOf(err) != problem.Unavailable {
		w.saw(p.table.id, p.id, seenRefusal, 0, []byte(err.Error()))
	}
	if err == nil && receipt == nil {
		err = problem.New(problem.Unavailable, "no answer")
	}
	return receipt, err
}

func (w *World) acknowledge(p *person, a *ask, r *submission.Receipt) {
	move, err := event.Canonical(a.move)
	if err != nil {
		panic(err)
	}
	w.record.Acks = append(w.record.Acks, Ack{
		Match: p.table.id, Player: p.id, Phase: a.phase, Key: a.key, Revision: r.Revision, Hash: r.Hash,
		Move: string(move), At: w.now,
	})
	w.record.note("ack %s %s %d %s", p.table.id, p.id, r.Revision, r.Hash)
}

// host lets a host use his controls.
func (w *World) host(t *table) {
	control := func(action, body string) {
		err := w.request(theSubmission, action, func(r *replica) error {
			_, err := r.submission.Control(context.Background(), w.operator, t.id, action, "", []byte(body))
			return err
		})
		w.record.note("host of %s: %s: %v", t.id, action, codeOf(err))
	}
	who := t.people[w.rng.IntN(len(t.people))]
	switch {
	case w.strikes(pauseMatch):
		control("pause", `{"why":"tea"}`)
	case w.strikes(extendClock):
		control("extend", fmt.Sprintf(`{"why":"a slow line","player":%q,"by":"%ds"}`, who.id, 1+w.rng.IntN(40)))
	case w.strikes(voidMatch):
		control("void", `{"why":"a quarrel"}`)
	case w.strikes(loseLink):
		w.reissue(who)
	case w.calm && t.paused() || !w.calm && w.rng.IntN(8) == 0:
		control("resume", `{"why":"tea is over"}`)
	}
}
