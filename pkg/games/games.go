// Package games lists the games that umpire plays. Adding one means writing its package and naming it here.
package games

import (
	"umpire/pkg/games/glassfull"
	"umpire/pkg/games/nothingbutthetruth"
	"umpire/pkg/games/paintclash"
	"umpire/pkg/games/primalpileup"
	"umpire/pkg/match"
)

// All are the games, in the order in which they are offered.
func All() match.Catalog {
	return match.Catalog{
		glassfull.Game(),
		primalpileup.Game(),
		nothingbutthetruth.Game(),
		paintclash.Game(),
	}
}
