// Package view projects a match's events for its audiences: the feed of events with the faces that an audience may
// see, and the view of the match as they add up to it.
//
// Two matches that differ only in what an audience may not know give it the same feed and the same views, but for ids,
// salts, hashes and commitments. Whoever may see a face gets its data, its audiences and its salt; whoever may not
// gets its commitment, and none of the three.
package view
