// Package glassfull is the game Glass Full, a death match for two: players fill a tank with water to the brim without
// knowing the exact volume of water.
//
// # Phases
//
//	phase         awaits                                 submission                       then
//	pick-starter  bout 1: the DMO; later: the loser      {"type":"pick-starter","player"} turn of the player picked
//	              of the bout before
//	turn          the player to move                     {"type":"add","cups":1..3},      the other player's turn, the
//	                                                     {"type":"sponge"},               next pick-starter, or the end
//	                                                     {"type":"challenge"}
//
// The clock is Repeat, 30 s in both phases: each deadline missed is a strike, until the player submits.
//
// # Events
//
//	starter-picked    public: bout, player
//	turn-taken        public: player, marks, sponges      faces: what was done, to the player; the level, to nobody
//	challenge-failed  public: player
//	strike-given      public: player, strikes, reason (time, challenge)
//	bout-ended        public: bout, winner, by            face: what the last mover did, to him
//
// Turns that add and turns that sponge differ in no event's type, number or public part but for the marks.
//
// # Rulings
//
// Each completes the sentence of the sheet that it quotes, and has the test named.
//
//   - "instead of taking an action": a failed challenge uses up the turn. TestAFailedChallengeUsesUpTheTurn
//   - "specific markings on the tank can be read": the marks are read from the water as it stands, so they go down when
//     it does. TestMarksGoDownWithTheWater
//   - "If a player exceeds this time limit": a submission at the very instant of its deadline is late.
//     TestAtTheInstantIsLate
//   - "3 bouts": the match ends when a player has won two; the third is played only at 1-1. TestTwoBoutsEndTheMatch
//   - "If a player receives five strikes, they lose": at once, from either cause; strikes carry over between bouts.
//     TestFiveStrikesFromEitherCause
//   - "to stop any game stalling": the 30 seconds and their strikes hold for pick-starter too.
//     TestPickStarterHasStrikesToo
//   - "without knowing the exact volume": amounts, sponge use and the level stay hidden until the match ends; the end
//     of a bout shows only who won it and how. TestTheEndOfABoutShowsWhoAndHow
//   - Of our own: an add that overflows stands among its player's moves, though nothing goes in. TestOverflow
//
// # The sheet's sentences and their tests
//
//	"The DMO (Heater) picks who starts Bout 1."                                TestTheDMOPicksWhoStartsBout1
//	"The player who most recently lost a bout will pick the starting player"   TestTheLoserPicksTheNextStarter
//	"each player will privately submit to add 1-3 cups"                        TestAdd, TestMalformed
//	"when 11 cups ... the 11-15 marking will be shown, along with the lower"   TestMarks
//	"For every 7 cups of water they add within a bout ... publicly receive"    TestASpongeForEvery7Cups
//	"the player may privately spend one sponge to remove one cup"              TestSponge
//	"Sponges do not carry over to future bouts."                               TestSpongesDoNotCarryOver
//	"tries to add an amount of water which causes the tank to overflow"        TestOverflow
//	"at exactly its maximum capacity ... this player will win the bout"        TestChallengeAt20
//	"when the tank is not full, they will gain a strike"                       TestAFailedChallengeUsesUpTheTurn
//	"Each player has 30 seconds ... they will receive a strike"                TestAStrikeForEvery30Seconds
//	"the sponge stays on the graphic regardless of if you use the sponge"      TestSponge
package glassfull
