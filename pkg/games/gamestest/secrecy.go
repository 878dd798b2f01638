package gamestest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"umpire/pkg/event"
	"umpire/pkg/match"
	feeds "umpire/pkg/view"
)

// counts are how many twins were made and how many could be compared, by what was made different and for whom.
type counts map[string]*[2]int

func (c counts) add(secret, audience string, compared int) {
	if audience != match.Public && audience != match.HostID {
		audience = "another player"
	}
	key := secret + " for " + audience
	if c[key] == nil {
		c[key] = &[2]int{}
	}
	c[key][0]++
	if compared > 0 {
		c[key][1]++
	}
}

const (
	twinsOfMatch = 8        // made of each match's submissions
	fewest       = 5 / slow // twins compared of each kind of secret, for the public and for other players
)

// secrecy is the part of the suite that compares twins.
func (s *suite) secrecy(t *testing.T) {
	t.Helper()
	made := counts{}
	for i, seed := range s.seeds {
		if !s.every(4, i) {
			continue
		}
		if err := s.twins(&window{patient: len(s.seeds) != normalSeeds}, seed, made); err != nil {
			failed(t, seed, err)
		}
	}
	for _, key := range sortedKeys(made) {
		t.Logf("%s: %d twins, %d compared", key, made[key][0], made[key][1])
	}
	if s.one() {
		return
	}
	secrets := append(slices.Clone(s.Hidden), theSeed)
	if s.Reshuffle != nil {
		secrets = append(secrets, theSetup)
	}
	for _, secret := range secrets {
		for _, audience := range []string{match.Public, "another player"} {
			if c := made[secret+" for "+audience]; c == nil || c[1] < fewest {
				t.Errorf("too few twins that differ in %s were compared for %s: does Knows tell too much?", secret, audience)
			}
		}
	}
}

// twins plays the match of a seed and compares twins of it.
func (s *suite) twins(w *window, seed uint64, made counts) error {
	one, err := s.play(seed, playing{direct: true})
	if err != nil {
		return err
	}
	pick := chance(seed, forTwins)
	submissions := map[string][]int{}
	for i, step := range one.history.Steps {
		if step.Kind == Submit {
			submissions[step.Type()] = append(submissions[step.Type()], i)
		}
	}
	types := sortedKeys(submissions)
	for i := range twinsOfMatch {
		if len(types) == 0 || len(s.Hidden) == 0 {
			break
		}
		places := submissions[types[pick(len(types))]]
		if hidden := submissions[s.Hidden[i%len(s.Hidden)]]; i < twinsOfMatch-1 && len(hidden) > 0 {
			places = hidden
		}
		at := places[pick(len(places))]
		step := one.history.Steps[at]
		audience := audienceBut(one, step.Who, pick)
		compared, err := w.bySubmission(one, audience, at, pick)
		if err != nil {
			return fmt.Errorf("twins that differ in the %s of %q in step %d: %w", step.Type(), step.Who, at+1, err)
		}
		made.add(step.Type(), audience, compared)
	}
	for _, audience := range []string{match.Public, audienceBut(one, match.Public, pick)} {
		if err := s.created(w, one, audience, pick, made); err != nil {
			return err
		}
	}
	return nil
}

// created compares twins that differ from the creation on.
func (s *suite) created(w *window, one *session, audience string, pick Pick, made counts) error {
	compared, err := w.byCreation(one, audience, one.history.Setup, seedOf(pick), pick)
	if err != nil {
		return fmt.Errorf("twins that differ in the seed: %w", err)
	}
	made.add(theSeed, audience, compared)
	if s.Reshuffle == nil {
		return nil
	}
	other, err := s.reshuffled(one, audience, pick)
	if err != nil || other == nil {
		return err
	}
	if compared, err = w.byCreation(one, audience, other, one.history.Seed, pick); err != nil {
		return fmt.Errorf("twins that differ in the set-up: %w", err)
	}
	made.add(theSetup, audience, compared)
	return nil
}

// shuffles is how often another set-up is sought that the audience can't tell from the match's own.
const shuffles = 50

// reshuffled returns such a set-up, or nil.
func (s *suite) reshuffled(one *session, audience string, pick Pick) (map[string]any, error) {
	begun := one.history.upTo(0)
	known := s.Knows(begun, audience)
	for range shuffles {
		other, err := asJSON[map[string]any](begun.Setup) // a deep copy
		if err == nil {
			other, err = asJSON[map[string]any](s.Reshuffle(other, pick))
		}
		if err != nil {
			return nil, err
		}
		if reflect.DeepEqual(other, begun.Setup) {
			continue
		}
		if reflect.DeepEqual(known, s.Knows(&History{Setup: other, Seed: begun.Seed}, audience)) {
			return other, nil
		}
	}
	return nil, nil
}

// audienceBut returns an audience other than who made what is hidden.
func audienceBut(s *session, who string, pick Pick) string {
	audiences := slices.DeleteFunc(s.audiences(), func(audience string) bool { return audience == who })
	if who != match.Public && pick(3) == 0 {
		return match.Public
	}
	return audiences[pick(len(audiences))]
}

// mostLeaky is how many matches are played until a planted leak must have been found.
const mostLeaky = 60

// plantedLeaks plants leaks and demands that the twins tell: what finds nothing would prove nothing.
func (s *suite) plantedLeaks(t *testing.T) {
	t.Helper()
	for name, w := range map[string]*window{
		"into the view": {leakView: func(s *session, n int, audience string, v *match.View) {
			if parity(s, n, audience) {
				v.Title += " "
			}
		}},
		"into the feed": {leakFeed: func(s *session, n int, audience string, e *feeds.Event) {
			if parity(s, n, audience) {
				e.By = event.Umpire
			}
		}},
		"into refusals": {leakRefusal: func(s *session, n int, audience string) string {
			if parity(s, n, audience) {
				return "!"
			}
			return ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(mostLeaky) {
				err := s.twins(w, seed+1, counts{})
				if found := new(leak); errors.As(err, &found) {
					return
				}
				if err != nil {
					failed(t, seed+1, err)
				}
			}
			t.Errorf("a leak was planted %s and not found in the twins of %d matches", name, mostLeaky)
		})
	}
}

// parity is one bit of all that others have submitted up to step n.
func parity(s *session, n int, audience string) bool {
	odd := false
	for i := range s.history.Steps[:n] {
		step := &s.history.Steps[i]
		if step.Kind != Submit || step.Who == audience {
			continue
		}
		raw, err := json.Marshal(step.Submission)
		if err != nil {
			panic(err) // it came from JSON
		}
		for _, b := range raw {
			odd = odd != (b%2 == 1)
		}
	}
	return odd
}
