package match

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
)

// Setup is a checked set-up: what somebody who creates a match asks for.
type Setup struct {
	Game    *Game
	Title   string
	Seats   Seats
	Options Options
	Seed    []byte // 32 bytes given, or nil: to be drawn
	fields  event.Value
	options event.Value
}

// Field returns one of the game's own fields; ok is false where it is absent.
func (s *Setup) Field(name string) (v event.Value, ok bool) { return s.fields.Get(name) }

// Option returns one of the game's own options; ok is false where it is absent.
func (s *Setup) Option(name string) (v event.Value, ok bool) { return s.options.Get(name) }

// Options are the choices of a match that every game has.
type Options struct {
	Clock      Clocking
	AtDeadline bool // options.close is at-deadline
	Start      string
	StartAt    time.Time // where Start is a time
	Listed     bool
	HostSees   string
	Open       string
}

// The values of options.start, options.hostSees, options.open and options.close.
const (
	StartWhenClaimed = "when-claimed"
	StartNow         = "now"
	HostSeesNeeded   = "needed"
	HostSeesAll      = "all"
	OpenAtEnd        = "at-end"
	OpenNever        = "never"
	OpenAfterSeries  = "after-series"
	CloseWhenAllIn   = "when-all-in"
	CloseAtDeadline  = "at-deadline"
	slowClock        = time.Hour // from here on a match starts at once: nobody is hurried
)

// ParseSetup checks a set-up in the form that scripts and the API share, every field of it. Errors are *SetupError.
func ParseSetup(games Catalog, v event.Value) (*Setup, error) {
	if v.Kind != event.Object {
		return nil, BadSetup("setup", "must be an object")
	}
	if err := v.Fault(); err != nil {
		return nil, BadSetup("setup", "%v", err)
	}
	name, err := text(v, "game")
	if err != nil {
		return nil, err
	}
	s := &Setup{Game: games.Find(name), fields: v}
	if s.Game == nil {
		return nil, BadSetup("game", "there is no game of that name here; there are %s", games.names())
	}
	allowed := append([]string{"game", "title", "players", "roles", "options", "seed"}, s.Game.fields...)
	if err := onlyFields("", v, allowed); err != nil {
		return nil, err
	}
	for _, parse := range []func(event.Value) error{s.parseTitle, s.parsePlayers, s.parseRoles, s.parseSeed, s.parseOptions} {
		if err := parse(v); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (c Catalog) names() string {
	names := ""
	for i, g := range c {
		if i > 0 {
			names += ", "
		}
		names += g.Name
	}
	return names
}

func (s *Setup) parseTitle(v event.Value) error {
	s.Title = s.Game.Title
	if _, given := v.Get("title"); !given {
		return nil
	}
	title, err := text(v, "title")
	if err != nil {
		return err
	}
	if !ValidName(title, maxTitlePoints) {
		return BadSetup("title", "must have 1 to %d visible characters", maxTitlePoints)
	}
	s.Title = title
	return nil
}

func (s *Setup) parsePlayers(v event.Value) error {
	list, ok := v.Get("players")
	if !ok || list.Kind != event.Array {
		return BadSetup("players", "must be a list of players, each {\"id\", \"name\"}")
	}
	if len(list.Items()) != s.Game.Players {
		return BadSetup("players", "%s is for %d players, not %d", s.Game.Title, s.Game.Players, len(list.Items()))
	}
	for i, item := range list.Items() {
		at := fmt.Sprintf("players[%d]", i)
		if item.Kind != event.Object {
			return BadSetup(at, "must be an object {\"id\", \"name\"}")
		}
		if err := onlyFields(at+".", item, []string{"id", "name"}); err != nil {
			return err
		}
		id, _ := item.Get("id")
		name, _ := item.Get("name")
		if id.Kind != event.String || !validID(id.Text()) {
			return BadSetup(at+".id", "must be 1 to 32 of a-z, 0-9 and -, not beginning with -, and not host or public")
		}
		if _, twice := s.Seats.Find(id.Text()); twice {
			return BadSetup(at+".id", "stands twice")
		}
		if name.Kind != event.String || !ValidName(name.Text(), maxNamePoints) {
			return BadSetup(at+".name", "must have 1 to %d visible characters", maxNamePoints)
		}
		player := Player{ID: id.Text(), Name: name.Text(), Roles: []string{}}
		if i < len(s.Game.seatRoles) {
			player.Roles = append(player.Roles, s.Game.seatRoles[i])
		}
		s.Seats = append(s.Seats, player)
	}
	return nil
}

func (s *Setup) parseRoles(v event.Value) error {
	roles, given := v.Get("roles")
	if given && roles.Kind != event.Object {
		return BadSetup("roles", "must be an object")
	}
	if err := onlyFields("roles.", roles, s.Game.roles); err != nil {
		return err
	}
	for _, role := range s.Game.roles {
		id, _ := roles.Get(role)
		seat, ok := s.Seats.Find(id.Text())
		if id.Kind != event.String || !ok {
			return BadSetup("roles."+role, "must be the id of a player of this match")
		}
		s.Seats[seat].Roles = append(s.Seats[seat].Roles, role)
	}
	return nil
}

func (s *Setup) parseSeed(v event.Value) error {
	seed, given := v.Get("seed")
	if !given {
		return nil
	}
	bytes, err := hex.DecodeString(seed.Text())
	if seed.Kind != event.String || err != nil || len(bytes) != seedSize {
		return BadSetup("seed", "must be %d hex digits", 2*seedSize)
	}
	s.Seed = bytes
	return nil
}

// onlyFields refuses members with other names; prefix is the path to v with its dot.
func onlyFields(prefix string, v event.Value, allowed []string) error {
	for _, m := range v.Members() {
		if !slices.Contains(allowed, m.Name) {
			return BadSetup(prefix+m.Name, "is not a field here")
		}
	}
	return nil
}

func text(v event.Value, name string) (string, error) {
	member, ok := v.Get(name)
	if !ok || member.Kind != event.String {
		return "", BadSetup(name, "must be a string")
	}
	return member.Text(), nil
}
