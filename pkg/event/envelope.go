package event

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Role says in which capacity somebody acted. It never names a person.
type Role string

// The roles. A timer may say that time is over, only a resolver may resolve: an audit checks who did what.
const (
	Operator Role = "operator"
	Host     Role = "host"
	Player   Role = "player"
	Timer    Role = "timer"
	Resolver Role = "resolver"
	Umpire   Role = "umpire"
)

// Event is a fact as the log keeps it. Nothing in it tells a sealed face's content or whom it is for.
type Event struct {
	ID     ID
	Type   string // with its version, "glass-full.turn-taken.v1"
	At     time.Time
	By     Role
	Public json.RawMessage // canonical JSON
	Faces  []Sealed
	Opens  []Opening
	Prev   string // hex; the hash of the event before in the stream, "" for the first
	Hash   string // hex
}

// Sealed is a face as it is stored.
type Sealed struct {
	Commitment string // hex
	Box        []byte // AEAD; nil in what leaves for those who may not open it
}

// Opening makes a face of an earlier event of the stream public.
type Opening struct {
	Revision uint64 // of the event
	Index    int    // of the face in it, from 0
	Face     Face
}

// Fact is an event read with its faces open: what the rules fold.
type Fact struct {
	Revision uint64
	ID       ID
	Type     string
	At       time.Time
	By       Role
	Public   json.RawMessage
	Faces    []Face
	Opens    []Opening
	Hash     string
}

// ID names an event and makes it one: the same command gives the same id, so a retry is the same event. It is an HMAC
// under a secret of the match, so nothing can be guessed back from it. Written as a UUID.
type ID [16]byte

// String writes the id as a UUID.
func (id ID) String() string {
	var b [36]byte
	hex.Encode(b[:8], id[:4])
	hex.Encode(b[9:13], id[4:6])
	hex.Encode(b[14:18], id[6:8])
	hex.Encode(b[19:23], id[8:10])
	hex.Encode(b[24:], id[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// ParseID reads what String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return id, fmt.Errorf("event: %q is no event id", s)
	}
	if _, err := hex.Decode(id[:], []byte(s[:8]+s[9:13]+s[14:18]+s[19:23]+s[24:])); err != nil {
		return id, fmt.Errorf("event: %q is no event id", s)
	}
	return id, nil
}
