package match

import "fmt"

// Code says why something was refused; it is the same word in a script's answer and in an API's.
type Code string

// The codes, in the order in which they are tried where several hold.
const (
	UnknownPlayer    Code = "unknown-player"
	MatchOver        Code = "match-over"
	MatchPaused      Code = "match-paused"
	PhaseClosed      Code = "phase-closed"
	NotAwaited       Code = "not-awaited"
	AlreadySubmitted Code = "already-submitted"
	MalformedMove    Code = "malformed"
	IllegalMove      Code = "illegal-move"
	ConflictState    Code = "conflict"
	Claimed          Code = "claimed"
)

// Refusal is a player's or host's fault: coded, explained, and nothing was written.
type Refusal struct {
	Code   Code
	Detail string // a sentence that a player understands; it never holds a submission
}

// Error implements error.
func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Detail }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Malformed refuses what could never be right, whatever the state of the match.
func Malformed(format string, args ...any) error { return refuse(MalformedMove, format, args...) }

// Illegal refuses what the state of the match or the other values forbid.
func Illegal(format string, args ...any) error { return refuse(IllegalMove, format, args...) }

// SetupError says which field of a set-up is wrong, and how.
type SetupError struct {
	Field  string // as a path, "players[1].id"
	Detail string
}

// Error implements error.
func (e *SetupError) Error() string { return e.Field + ": " + e.Detail }

// BadSetup refuses a set-up for one of its fields.
func BadSetup(field, format string, args ...any) error {
	return &SetupError{Field: field, Detail: fmt.Sprintf(format, args...)}
}
