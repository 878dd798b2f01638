// Package services holds no code of its own: its tests keep the architecture of both modules.
//
// Each service is a package of the same shape, a Handle and a Run over the log's commits: submission takes what players
// and hosts send, timer says when a deadline has passed, resolver applies the rules, projector folds views, relay copies
// the log to the broker, director creates what a tournament plays next, and gateway is the HTTP API with the web app.
// They share nothing but the log, the queue and the packages of umpire/pkg, which know none of them. Package sim drives
// all of them under faults from one seed, and umpire is the one program that runs them, together or each by itself.
package services
