// Package problem is the one table of what goes wrong: from errors to codes and HTTP statuses (RFC 9457), for the server
// and for its clients.
package problem

import (
	"encoding/json"
	"errors"
	"log/slog"

	"umpire/pkg/eventlog"
	"umpire/pkg/journal"
	"umpire/pkg/match"
	"umpire/pkg/queue"
	"umpire/pkg/token"
)

// Code is a machine's word for what is wrong.
type Code string

// The codes besides those of package match.
const (
	InvalidSetup Code = "invalid-setup"
	Unauthorized Code = "unauthorized"
	Forbidden    Code = "forbidden"
	NotFound     Code = "not-found"
	TooLarge     Code = "too-large"
	Unavailable  Code = "unavailable"
)

// statuses is the table.
var statuses = map[Code]int{
	Code(match.UnknownPlayer): 404, Code(match.MatchOver): 409, Code(match.MatchPaused): 409,
	Code(match.PhaseClosed): 409, Code(match.NotAwaited): 409, Code(match.AlreadySubmitted): 409,
	Code(match.MalformedMove): 400, Code(match.IllegalMove): 409, Code(match.ConflictState): 409,
	Code(match.Claimed): 409,
	InvalidSetup:        400, Unauthorized: 401, Forbidden: 403, NotFound: 404, TooLarge: 413, Unavailable: 503,
}

// retryAfter is how many seconds a client should wait after Unavailable.
const retryAfter = 2

// Problem is an error as a client gets it: application/problem+json.
type Problem struct {
	Type       string `json:"type"` // "about:blank": the code says it all
	Title      string `json:"title"`
	Status     int    `json:"status"`
	Code       Code   `json:"code"`
	Detail     string `json:"detail,omitempty"`
	Field      string `json:"field,omitempty"`      // of an invalid set-up
	RetryAfter int    `json:"retryAfter,omitempty"` // seconds
}

// Error implements error.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// New returns the problem of a code; detail is a sentence for people.
func New(code Code, detail string) *Problem {
	p := &Problem{Type: "about:blank", Title: titles[code], Status: statuses[code], Code: code, Detail: detail}
	if p.Title == "" {
		p.Title = string(code)
	}
	if code == Unavailable {
		p.RetryAfter = retryAfter
	}
	return p
}

var titles = map[Code]string{
	InvalidSetup: "The set-up is not valid", Unauthorized: "A valid token is needed",
	Forbidden: "This token does not allow that", NotFound: "There is no such thing", TooLarge: "The body is too large",
	Unavailable: "The service can't answer now",
}

// Of returns the problem that an error is to a client. isFault says that it is no client's doing: its detail stays here,
// and it is to be logged.
func Of(err error) (p *Problem, isFault bool) {
	var problem *Problem
	var refusal *match.Refusal
	var setup *match.SetupError
	switch {
	case errors.As(err, &problem):
		return problem, false
	case errors.As(err, &refusal):
		return New(Code(refusal.Code), refusal.Detail), false
	case errors.As(err, &setup):
		p := New(InvalidSetup, setup.Error())
		p.Field = setup.Field
		return p, false
	case errors.Is(err, journal.ErrNotFound):
		return New(NotFound, "there is no such match"), false
	case errors.Is(err, token.ErrInvalid):
		return New(Unauthorized, "the token or claim is not valid"), false
	case errors.Is(err, eventlog.ErrTooLarge):
		return New(TooLarge, "that is more than the log takes at once"), false
	case errors.Is(err, match.ErrUnknownEvent):
		return New(Unavailable, "this match was written by a newer version of umpire; update this one"), true
	case errors.Is(err, match.ErrBroken):
		return New(Unavailable, "umpire can't read this match; its operator has been told"), true
	}
	return New(Unavailable, "the log or a service can't be reached now; nothing is lost, try again"), true
}

// Reply returns the problem as the reply to a request.
func (p *Problem) Reply() queue.Reply {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return queue.Reply{Status: p.Status, Body: body}
}

// Read returns the problem in the body of an answer with that status.
func Read(status int, body []byte) *Problem {
	p := &Problem{}
	if err := json.Unmarshal(body, p); err != nil || p.Code == "" {
		p = New(Unavailable, "an answer that is no problem document")
		p.Status = status
	}
	return p
}

// Answer makes a request's reply of what a service says. A fault is logged here, once, without the request's content; a
// panic is a bug of one request and stops no other.
func Answer(log *slog.Logger, subject string, handle func() (any, error)) (reply queue.Reply) {
	defer func() {
		if broken := recover(); broken != nil {
			log.Error("a request met a bug", "subject", subject, "bug", Bug(broken))
			reply = New(Unavailable, "umpire met a bug; its operator has been told").Reply()
		}
	}()
	answer, err := handle()
	if err != nil {
		p, isFault := Of(err)
		if isFault {
			log.Error("a request met a fault", "subject", subject, "error", err)
		}
		return p.Reply()
	}
	body, ok := answer.([]byte)
	if !ok {
		if body, err = json.Marshal(answer); err != nil {
			panic(err) // our own answers always have a JSON form
		}
	}
	return queue.Reply{Status: 200, Body: body}
}
