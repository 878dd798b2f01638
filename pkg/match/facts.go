package match

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"umpire/pkg/event"
)

// The public parts of the machine's own events.
type (
	matchCreated struct {
		Match        string      `json:"match"`
		Game         string      `json:"game"` // with the version of its rules
		Title        string      `json:"title"`
		Players      []Player    `json:"players"`
		Options      optionsJSON `json:"options"`
		Setup        any         `json:"setup"` // the game's
		SeedHash     string      `json:"seedCommitment"`
		InsecureSeed bool        `json:"insecureSeed"` // the seed was given from outside: whoever gave it knows the draws
		ForkedFrom   *string     `json:"forkedFrom"`
	}
	optionsJSON struct {
		Clock struct {
			Move    string `json:"move"`
			Reserve string `json:"reserve"`
		} `json:"clock"`
		Close    string `json:"close"`
		Start    string `json:"start"`
		Listed   bool   `json:"listed"`
		HostSees string `json:"hostSees"`
		Open     string `json:"open"`
	}
	seatClaimed struct {
		Player string `json:"player"`
		Issue  int    `json:"issue"`
		Random string `json:"random"` // hex; "" where none was given
	}
	seatReissued struct {
		Player string `json:"player"`
		Issue  int    `json:"issue"` // the number of the new link
		Why    string `json:"why"`
	}
	phaseOpened struct {
		Phase    int                   `json:"phase"`
		Name     string                `json:"name"`
		Awaiting []string              `json:"awaiting"`
		Kind     ClockKind             `json:"clock"`
		Clocks   map[string]*ClockView `json:"clocks"` // who has one, by id
	}
	submitted struct {
		Phase  int    `json:"phase"`
		Player string `json:"player"`
	}
	deadlinePassed struct {
		Phase    int       `json:"phase"`
		Deadline time.Time `json:"deadline"`
		Players  []string  `json:"players"` // those still awaited, perhaps none
	}
	controlled struct {
		Why string `json:"why"`
	}
	clockExtended struct {
		Player string     `json:"player"`
		By     string     `json:"by"` // a Go duration
		Why    string     `json:"why"`
		Reason string     `json:"reason"` // "host" or "outage"
		Until  *time.Time `json:"until"`  // of an outage: its end
	}
	matchEnded struct {
		Result json.RawMessage `json:"result"`
	}
	seedFace struct {
		Seed string `json:"seed"` // hex
	}
)

const (
	umpireRole   = event.Umpire
	timerRole    = event.Timer
	resolverRole = event.Resolver
)

// Draft is an event before it is named, salted, sealed and chained.
type Draft struct {
	Type   string // with its version
	At     time.Time
	By     event.Role
	Public json.RawMessage // canonical
	Faces  []DraftFace
	Opens  []Ref

	public any   // what Public was made from, so that applying it needs no decoding
	faces  []any // likewise
}

// DraftFace is a face before it is salted and sealed.
type DraftFace struct {
	To   []string
	Data json.RawMessage // canonical
}

// draft states an event of the machine's own at the clock's t.
func (m *Match) draft(t time.Time, kind string, by event.Role, public any, faces ...NewFace) Draft {
	d := Draft{Type: kind + ".v1", At: m.now(t), By: by, Public: canonical(public), public: public}
	for _, f := range faces {
		d.Faces = append(d.Faces, DraftFace{To: f.To, Data: canonical(f.Data)})
		d.faces = append(d.faces, f.Data)
	}
	return d
}

// canonical is event.Canonical for what the machine and the games state themselves: they state nothing that has no
// canonical form, and a failure is a bug.
func canonical(v any) json.RawMessage {
	data, err := event.Canonical(v)
	if err != nil {
		panic(err)
	}
	return data
}

// kindOf cuts a stored type into the game's name ("" for the machine's own), the kind and the version.
func kindOf(stored string) (game, kind, version string, err error) {
	parts := strings.Split(stored, ".")
	switch len(parts) {
	case 2:
		return "", parts[0], parts[1], nil
	case 3:
		return parts[0], parts[1], parts[2], nil
	}
	return "", "", "", fmt.Errorf("%w: %q is no event type", ErrUnknownEvent, stored)
}
