package match

import "time"

// The limits of a set-up and of what is said in a match.
const (
	maxNamePoints  = 64  // code points of a display name
	maxTitlePoints = 200 // code points of a title
	maxWhyPoints   = 500 // code points of a host's reason
	maxDuration    = 8760 * time.Hour
	seedSize       = 32 // bytes
	// RandomSize is how many bytes of a player's own go into the key of the draws when he claims his seat.
	RandomSize = 16
)
