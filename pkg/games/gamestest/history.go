package gamestest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"time"

	"umpire/pkg/match"
)

// History is a match as it happened, without what the rules made of it.
type History struct {
	Setup map[string]any // as JSON: maps, lists, strings, float64; with the options that the suite chose
	Seed  []byte         // which also is the key of the draws
	Steps []Step
}

// Kind says what happened in a step.
type Kind string

// The kinds of step.
const (
	Submit   Kind = "submit"
	Deadline Kind = "deadline" // a deadline passed
	Pause    Kind = "pause"
	Resume   Kind = "resume"
	Extend   Kind = "extend"
)

// Step is one thing that happened. Refused submissions change nothing and are no steps.
type Step struct {
	At         time.Duration // since the match was created
	Kind       Kind
	Who        string         // Submit: a player, or "host"; Extend: whose clock
	Submission map[string]any // Submit; as JSON
	By         time.Duration  // Extend
	Missed     []string       // Deadline: who was still awaited
	Resolved   bool           // the phase that had been open was resolved with this step
}

// Type returns a submission's type.
func (s *Step) Type() string { return s.Text("type") }

// Text returns a string of the submission, "" for what is absent or null.
func (s *Step) Text(name string) string { return Text(s.Submission, name) }

// Whole returns a whole number of the submission.
func (s *Step) Whole(name string) int { return Whole(s.Submission, name) }

// Texts returns a list of strings of the submission.
func (s *Step) Texts(name string) []string { return Texts(s.Submission, name) }

// Object returns an object of the submission, nil for what is absent or null.
func (s *Step) Object(name string) map[string]any { return Object(s.Submission, name) }

// Text returns a string member of a JSON object, "" for what is absent or null.
func Text(object map[string]any, name string) string {
	s, _ := object[name].(string)
	return s
}

// Whole returns a member of a JSON object that is a whole number.
func Whole(object map[string]any, name string) int {
	n, _ := object[name].(float64)
	return int(n)
}

// Texts returns a member of a JSON object that is a list of strings.
func Texts(object map[string]any, name string) []string {
	list, _ := object[name].([]any)
	texts := make([]string, len(list))
	for i := range list {
		texts[i], _ = list[i].(string)
	}
	return texts
}

// Object returns a member of a JSON object that is an object itself, nil for what is absent or null.
func Object(object map[string]any, name string) map[string]any {
	member, _ := object[name].(map[string]any)
	return member
}

// Players returns the players' ids in seating order.
func (h *History) Players() []string {
	list, _ := h.Setup["players"].([]any)
	ids := make([]string, len(list))
	for i := range list {
		player, _ := list[i].(map[string]any)
		ids[i] = Text(player, "id")
	}
	return ids
}

// Role returns the player who has a role by the set-up.
func (h *History) Role(role string) string { return Text(Object(h.Setup, "roles"), role) }

// HostSeesAll reports whether the host of this match sees all, or only what his tasks need.
func (h *History) HostSeesAll() bool { return h.option("hostSees") == match.HostSeesAll }

// OpensAtEnd reports whether the match opens what its game opens when it has ended.
func (h *History) OpensAtEnd() bool { return h.option("open") == match.OpenAtEnd }

func (h *History) option(name string) string { return Text(Object(h.Setup, "options"), name) }

// Draw is the rulebook's draw, done once more: for i = 0, 1, ... x is the first 8 bytes of HMAC-SHA256(seed,
// label#i); the first x below floor(2^64/n)*n gives x mod n.
func (h *History) Draw(label string, n int) int {
	whole := new(big.Int).Lsh(big.NewInt(1), 64)
	by := big.NewInt(int64(n))
	bound := new(big.Int).Mul(new(big.Int).Div(whole, by), by)
	for i := 0; ; i++ {
		mac := hmac.New(sha256.New, h.Seed)
		fmt.Fprintf(mac, "%s#%d", label, i)
		if x := new(big.Int).SetBytes(mac.Sum(nil)[:8]); x.Cmp(bound) < 0 {
			return int(x.Mod(x, by).Int64())
		}
	}
}

// with returns the history that goes on with one more step; h keeps its own.
func (h *History) with(step Step) *History {
	return &History{Setup: h.Setup, Seed: h.Seed, Steps: append(slices.Clip(h.Steps), step)}
}

// upTo returns the history's first n steps.
func (h *History) upTo(n int) *History {
	return &History{Setup: h.Setup, Seed: h.Seed, Steps: h.Steps[:n:n]}
}

// asJSON returns v as JSON gives it back: maps, lists, strings, float64.
func asJSON[T any](v any) (T, error) {
	var out T
	data, err := json.Marshal(v)
	if err != nil {
		return out, fmt.Errorf("%T is not to be had as JSON: %w", v, err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("%T is not to be had as JSON: %w", v, err)
	}
	return out, nil
}
