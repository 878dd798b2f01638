// Package submission is the service that owns what people ask for: creating a match, claiming a seat, submitting, and
// the host's controls. It folds the match, accepts or refuses, appends, and answers only when that is on disk.
//
// Before it refuses it reads the log's head once more, for a player may have seen a view that is newer than its own
// copy of the match. It never resolves a phase: that is the resolver's alone.
package submission
