package match

import (
	"regexp"
	"slices"
	"unicode"
)

// The audiences besides the players.
const (
	Public = "public" // whoever looks
	HostID = "host"   // who runs the match
)

// HostSeat stands for the host where a seat is expected; players' seats count from 0 in seating order.
const HostSeat = -1

// Player is a seat and who is shown to sit in it.
type Player struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Roles []string `json:"roles"` // such as "dmo"; never null
}

// Seats are the players of a match in seating order.
type Seats []Player

// ID returns the id of a seat, "host" for HostSeat.
func (s Seats) ID(seat int) string {
	if seat == HostSeat {
		return HostID
	}
	return s[seat].ID
}

// Find returns the seat of a player's id.
func (s Seats) Find(id string) (seat int, ok bool) {
	seat = slices.IndexFunc(s, func(p Player) bool { return p.ID == id })
	return seat, seat >= 0
}

// With returns the seat that has a role; the set-up has seen to it that one has.
func (s Seats) With(role string) int {
	return slices.IndexFunc(s, func(p Player) bool { return slices.Contains(p.Roles, role) })
}

// IDs returns the ids of seats, in the order given.
func (s Seats) IDs(seats []int) []string {
	ids := make([]string, len(seats))
	for i, seat := range seats {
		ids[i] = s.ID(seat)
	}
	return ids
}

// All returns every seat in seating order.
func (s Seats) All() []int {
	all := make([]int, len(s))
	for i := range all {
		all[i] = i
	}
	return all
}

// ByID makes a map keyed by player id, as views have them: it holds every player.
func ByID[T any](s Seats, of func(seat int) T) map[string]T {
	m := make(map[string]T, len(s))
	for seat := range s {
		m[s[seat].ID] = of(seat)
	}
	return m
}

var playerID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

func validID(id string) bool {
	return playerID.MatchString(id) && id != HostID && id != Public
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// ValidName reports whether s can be shown as a name: 1 to most code points, at least one of them outside category Zs
// and the joiners; none of Cc, Cs, Co, Cn, Zl, Zp, and of Cf only the joiners.
func ValidName(s string, most int) bool {
	points, visible := 0, false
	for _, r := range s {
		points++
		isJoiner := r == nonJoiner || r == joiner
		if !isJoiner && !unicode.IsGraphic(r) { // graphic: categories L, M, N, P, S and Zs
			return false
		}
		visible = visible || !isJoiner && !unicode.Is(unicode.Zs, r)
	}
	return visible && points <= most
}
