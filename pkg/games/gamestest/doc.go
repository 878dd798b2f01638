// Package gamestest is the suite that every game passes: Run plays many random matches of a game and tries on each what
// all games promise.
//
//   - Random play ends. Each submission is the game's own Bot's, driven by nothing but its player's view as JSON; clocks
//     run out, the host pauses, resumes and extends, players change their minds. After each step the views of all
//     audiences agree in what is everybody's, and a decision has changed nothing.
//   - Replaying the log gives, revision by revision, the very views of the live match; commitments, openings and the
//     chain of hashes verify.
//   - What is malformed, illegal, late or from a stranger is refused with the rulebook's code, in its order, without
//     effect, and without a word of what was sent.
//   - Secrecy: twins. A match is played again with something hidden made different (a submission of somebody else, the
//     set-up, the seed). As long as an audience may not tell the two apart, by Game.Knows, its views, its feed and the
//     answers that it gets must be the same.
//   - A playthrough, testdata/playthrough.golden, shows every audience's view at every step of one match.
//
// Each part tells the seed of the match that failed; GAMESTEST_SEED=n plays that one alone, with everything tried on it.
// UMPIRE_LONG=1 plays 10,000 matches. -update writes the playthrough anew.
//
// Knows is where a game's test says once more what its sheet keeps secret. It is to be dumb: a plain walk over the raw
// history, sharing no code with the game, in the words of the sheet. It returns everything that the audience may have
// learned up to the end of the history, as one value for reflect.DeepEqual, and it never forgets: who can't tell two
// matches apart now could not do so before. What is the same in every twin need not be in it: the public part of the
// set-up, who submitted and when, deadlines, controls. Two mistakes are possible and both show: what knows too little
// makes an honest view fail, what knows too much leaves too few twins to compare (see Game.Hidden).
package gamestest
