package match

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// View is what one audience may see of a match. Every field is listed here: what is not cannot be seen.
type View struct {
	Match          string          `json:"match"`
	Game           string          `json:"game"`
	Title          string          `json:"title"`
	Audience       string          `json:"audience"`
	Revision       int64           `json:"revision"`
	Status         Status          `json:"status"`
	Players        []Player        `json:"players"`
	SeedCommitment string          `json:"seedCommitment"`
	Seed           *string         `json:"seed"` // null until the match has ended
	Phase          *PhaseView      `json:"phase"`
	Table          any             `json:"table"` // the game's own
	Result         json.RawMessage `json:"result"`
}

// PhaseView is the open phase as everybody sees it.
type PhaseView struct {
	No        int                   `json:"no"`
	Name      string                `json:"name"`
	Awaiting  []string              `json:"awaiting"`
	Submitted []string              `json:"submitted"`
	Clocks    map[string]*ClockView `json:"clocks"` // every player; null for who has none
}

// ClockView is a running clock; its times are null while the match is paused.
type ClockView struct {
	Deadline    Instant  `json:"deadline"`
	ReserveFrom *Instant `json:"reserveFrom,omitempty"` // only with a bank of reserve
}

// Instant is a time in UTC, null where there is none.
type Instant struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i.IsZero() {
		return []byte("null"), nil
	}
	return i.UTC().MarshalJSON()
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *Instant) UnmarshalJSON(data []byte) error { return i.Time.UnmarshalJSON(data) }

// UnmarshalJSON implements json.Unmarshaler. A reserveFrom of null, as a paused clock shows it, is kept apart from none.
func (c *ClockView) UnmarshalJSON(data []byte) error {
	var shown struct {
		Deadline    Instant         `json:"deadline"`
		ReserveFrom json.RawMessage `json:"reserveFrom"`
	}
	if err := json.Unmarshal(data, &shown); err != nil {
		return err
	}
	*c = ClockView{Deadline: shown.Deadline}
	if shown.ReserveFrom == nil {
		return nil
	}
	c.ReserveFrom = &Instant{}
	return json.Unmarshal(shown.ReserveFrom, c.ReserveFrom)
}

func (c clock) view() *ClockView {
	v := &ClockView{Deadline: Instant{c.deadline}}
	if !c.from.IsZero() {
		v.ReserveFrom = &Instant{c.from}
	}
	return v
}

// View returns what an audience sees: "public", "host" or a player's id. It returns nil for an id that is none.
func (m *Match) View(audience string) *View {
	w := watch{state: m.state, seats: m.seats, host: audience == HostID, all: m.options.HostSees == HostSeesAll}
	if !w.host && audience != Public {
		seat, ok := m.seats.Find(audience)
		if !ok {
			return nil
		}
		w.seat, w.playing = seat, true
	}
	v := &View{
		Match: m.id, Game: m.game.Name, Title: m.title, Audience: audience, Revision: m.revision, Status: m.status,
		Players: m.seats, SeedCommitment: m.seedHash, Phase: m.phaseView(), Result: m.result,
	}
	if m.phase != nil {
		w.subs, w.phase = m.phase.subs, m.phase.name
	}
	if m.status == Ended {
		seed := hex.EncodeToString(m.seed)
		v.Seed = &seed
	}
	v.Table = m.game.table(w)
	if w.playing {
		m.game.hints(v)
	}
	return v
}

func (m *Match) phaseView() *PhaseView {
	p := m.phase
	if p == nil {
		return nil
	}
	v := &PhaseView{
		No: p.no, Name: p.name, Awaiting: m.seats.IDs(p.awaiting()), Submitted: []string{},
		Clocks: ByID(m.seats, func(int) *ClockView { return nil }),
	}
	for _, s := range p.subs {
		v.Submitted = append(v.Submitted, m.seats.ID(s.seat))
	}
	for i, seat := range p.seats {
		c := p.clocks[i]
		if seat == HostSeat || c.deadline.IsZero() {
			continue
		}
		shown := c.view()
		if m.status == Paused && c.runs() {
			shown.Deadline = Instant{}
			if shown.ReserveFrom != nil {
				shown.ReserveFrom = &Instant{}
			}
		}
		v.Clocks[m.seats[seat].ID] = shown
	}
	return v
}

// Awaits reports whether the view's own player can submit now.
func (v *View) Awaits(id string) bool {
	if v.Phase == nil || v.Status != Running {
		return false
	}
	for _, awaited := range v.Phase.Awaiting {
		if awaited == id {
			return true
		}
	}
	return false
}

// ReadView reads a view as JSON, its table as the game's own type.
func (c Catalog) ReadView(data []byte) (*View, error) {
	var head struct {
		Game string `json:"game"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("match: a view can't be read: %w", scrub(err))
	}
	game := c.Find(head.Game)
	if game == nil {
		return nil, fmt.Errorf("match: a view of an unknown game %q", head.Game)
	}
	v := &View{Table: game.newView()}
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("match: a view can't be read: %w", scrub(err))
	}
	return v, nil
}

// Bot returns a random legal submission for the player whose view this is and who is awaited; pick(n) gives 0..n-1.
func (c Catalog) Bot(v *View, pick func(n int) int) any { return c.Find(v.Game).bot(v, pick) }
