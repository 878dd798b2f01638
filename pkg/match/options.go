package match

import (
	"slices"
	"time"

	"umpire/pkg/event"
)

func (s *Setup) parseOptions(v event.Value) error {
	s.Options = Options{
		Clock: s.Game.clock, AtDeadline: s.Game.atDeadline,
		Listed: true, HostSees: HostSeesNeeded, Open: OpenAtEnd,
	}
	options, given := v.Get("options")
	if given && options.Kind != event.Object {
		return BadSetup("options", "must be an object")
	}
	s.options = options
	allowed := []string{
		"clock", "close", "start", "listed", "hostSees", "open",
		"absent", "spectatorDelay", "appeal",
	}
	if err := onlyFields("options.", options, append(allowed, s.Game.options...)); err != nil {
		return err
	}
	if err := s.parseClock(options); err != nil {
		return err
	}
	s.Options.Start = StartWhenClaimed
	if s.Options.Clock.Move >= slowClock {
		s.Options.Start = StartNow
	}
	if err := s.parseStart(options); err != nil {
		return err
	}
	if listed, given := options.Get("listed"); given {
		if listed.Kind != event.Bool {
			return BadSetup("options.listed", "must be true or false")
		}
		s.Options.Listed = listed.True()
	}
	way := CloseWhenAllIn
	if s.Options.AtDeadline {
		way = CloseAtDeadline
	}
	for _, choice := range []struct {
		name   string
		target *string
		values []string
	}{
		{"close", &way, []string{CloseWhenAllIn, CloseAtDeadline}},
		{"hostSees", &s.Options.HostSees, []string{HostSeesNeeded, HostSeesAll}},
		{"open", &s.Options.Open, []string{OpenAtEnd, OpenNever, OpenAfterSeries}},
	} {
		if err := parseChoice(options, choice.name, choice.target, choice.values); err != nil {
			return err
		}
	}
	s.Options.AtDeadline = way == CloseAtDeadline
	return nil
}

func parseChoice(options event.Value, name string, target *string, values []string) error {
	v, given := options.Get(name)
	if !given {
		return nil
	}
	if v.Kind != event.String || !slices.Contains(values, v.Text()) {
		return BadSetup("options."+name, "must be one of %q", values)
	}
	*target = v.Text()
	return nil
}

func (s *Setup) parseClock(options event.Value) error {
	clock, given := options.Get("clock")
	if !given {
		return nil
	}
	if clock.Kind != event.Object {
		return BadSetup("options.clock", "must be an object {\"move\", \"reserve\"}")
	}
	if err := onlyFields("options.clock.", clock, []string{"move", "reserve"}); err != nil {
		return err
	}
	if err := parseSpan(clock, "move", &s.Options.Clock.Move, 1); err != nil {
		return err
	}
	return parseSpan(clock, "reserve", &s.Options.Clock.Reserve, 0)
}

func parseSpan(clock event.Value, name string, target *time.Duration, least time.Duration) error {
	v, given := clock.Get(name)
	if !given {
		return nil
	}
	span, err := time.ParseDuration(v.Text())
	if v.Kind != event.String || err != nil {
		return BadSetup("options.clock."+name, "must be a duration such as \"30s\" or \"24h\"")
	}
	if span < least {
		return BadSetup("options.clock."+name, "is too short")
	}
	if span > maxDuration {
		return BadSetup("options.clock."+name, "is longer than %s", maxDuration)
	}
	*target = span
	return nil
}

func (s *Setup) parseStart(options event.Value) error {
	start, given := options.Get("start")
	if !given {
		return nil
	}
	s.Options.Start = start.Text()
	if start.Kind == event.String && (start.Text() == StartWhenClaimed || start.Text() == StartNow) {
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, start.Text())
	if start.Kind != event.String || err != nil {
		return BadSetup("options.start", "must be \"when-claimed\", \"now\" or a time such as \"2030-01-31T20:00:00Z\"")
	}
	s.Options.StartAt = at.UTC()
	return nil
}

// CheckLive refuses the options that a rehearsal passes over and a live match can't keep its word on.
func (s *Setup) CheckLive() error {
	for _, name := range []string{"absent", "spectatorDelay", "appeal"} {
		if _, given := s.options.Get(name); given {
			return BadSetup("options."+name, "is not offered for live matches")
		}
	}
	return nil
}
