// Package match is the machine that every game runs on. It is pure: it knows no clock, no chance, no I/O and no
// goroutine; time and draws come in as arguments and go out recorded in events.
//
// A match is a sequence of phases. A phase awaits one private submission from each of a set of seats, each under a
// clock; when the last one is in, or a clock has run out, the referee resolves the phase: he states facts, some of
// them sealed for some, and opens the next phase or ends the match. A turn is a phase that awaits one seat.
//
// Everything that happens is an event, and the package has two halves. Deciding (Create, Claim, Submit, Control,
// Expire, Resolve) takes a Match as it stands and the time, and returns Drafts of the events that follow, or a Refusal;
// it changes nothing. Evolving (Apply) folds one event into a Match and decides nothing. A live match, a replay, an
// audit, a rehearsal and a simulation differ only in who calls which half.
//
// The caller's duties, in this order: decide on a Match at the stream's head; append the drafts at that revision; only
// when they are on disk, Apply them to a Clone. A Match that is shared is never changed.
//
// The events of the machine itself, which are the same in every game:
//
//	type                 by            public                                     faces
//	match-created        operator      game, title, players, options, setup, ...  the seed, to nobody; the game's
//	seat-claimed         player, host  seat, the random bytes given               -
//	seat-reissued        host          seat, why                                  -
//	match-started        umpire        -                                          -
//	phase-opened         resolver      phase, name, awaiting, clocks              -
//	submission-accepted  player, host  phase, player                              the submission, to who made it
//	submission-replaced  player        phase, player                              the submission, to who made it
//	deadline-passed      timer         phase, deadline, players                   -
//	match-paused         host, umpire  why                                        -
//	match-resumed        host, umpire  why                                        -
//	clock-extended       host, umpire  player, by, why                            -
//	match-voided         host, umpire  why                                        -
//	match-ended          resolver      result; opens the seed and what the game opens
//
// Rulings of ours:
//   - The key of the draws is fixed when the match starts, by the claims that have been made by then; seats that
//     nobody had claimed add nothing to it.
//   - A clock that has run out without its event yet (the timer is late) does not refuse a submission: what stands in
//     the log before the deadline's event counts.
//   - In a turn the clock stops with the submission, so no deadline can fall between it and its resolution.
//   - When a match is voided nothing opens: a fork may go on from it.
package match
