package view

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/journal"
	"umpire/pkg/match"
)

// Audience is who looks at a match.
type Audience struct {
	ID string // "public", "host" or a player's
	// All lets a host see every face that is for anybody, as options.hostSees = all says.
	All bool
	// Auditor sees every face, also those that are for nobody until they are opened.
	Auditor bool
}

// Of returns the audience of an id in a match.
func Of(m *match.Match, id string) Audience {
	return Audience{ID: id, All: id == match.HostID && m.Options().HostSees == match.HostSeesAll}
}

// sees reports whether the face is for the audience.
func (a Audience) sees(f *event.Face) bool {
	return a.Auditor || a.All && len(f.To) > 0 || a.ID != match.Public && f.For(a.ID)
}

// Event is an event as an audience sees it.
type Event struct {
	Revision uint64          `json:"revision"`
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	At       time.Time       `json:"at"`
	By       event.Role      `json:"by"`
	Public   json.RawMessage `json:"public"`
	Faces    []Face          `json:"faces"`
	Opens    []Opening       `json:"opens"`
	Prev     string          `json:"prev"`
	Hash     string          `json:"hash"`
}

// Face is a face as an audience sees it: a commitment, and the rest together or not at all.
type Face struct {
	Commitment string `json:"commitment"`
	*Opened
}

// Opened is a face's content.
type Opened struct {
	To   []string        `json:"to"`
	Salt string          `json:"salt"` // hex
	Data json.RawMessage `json:"data"`
}

// Opening is an earlier face made public.
type Opening struct {
	Revision uint64 `json:"revision"`
	Face     int    `json:"face"`
	Opened
}

func open(f *event.Face) Opened {
	to := f.To
	if to == nil {
		to = []string{}
	}
	return Opened{To: to, Salt: hex.EncodeToString(f.Salt), Data: f.Data}
}

// EventFor returns an event of a match as the audience sees it.
func EventFor(keys *event.Keys, r *journal.Recorded, a Audience) (Event, error) {
	out := Event{
		Revision: r.Revision, ID: r.ID.String(), Type: r.Type, At: r.At.UTC(), By: r.By, Public: r.Public,
		Faces: make([]Face, len(r.Faces)), Opens: make([]Opening, len(r.Opens)), Prev: r.Prev, Hash: r.Hash,
	}
	for i := range r.Faces {
		out.Faces[i].Commitment = r.Faces[i].Commitment
		if a.ID == match.Public && !a.Auditor {
			continue
		}
		f, err := keys.Open(r.ID, i, r.Faces[i])
		if err != nil {
			return Event{}, fmt.Errorf("revision %d, face %d: %w", r.Revision, i, err)
		}
		if a.sees(&f) {
			opened := open(&f)
			out.Faces[i].Opened = &opened
		}
	}
	for i := range r.Opens {
		o := &r.Opens[i]
		out.Opens[i] = Opening{Revision: o.Revision, Face: o.Index, Opened: open(&o.Face)}
	}
	return out, nil
}
