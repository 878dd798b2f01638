// Package primalpileup is the game Primal Pileup, a death match for two: nine rounds of cards put face down, of which
// the elements are seen and the numbers are not, and in which fire beats grass, grass beats water and water beats fire.
//
// # Phases
//
//	phase         awaits              submission                        then
//	pick-starter  the DMO, in round   {"type":"pick-starter","player"}  turn of the player picked
//	              1 only
//	turn          the player to move  {"type":"play","cards":[...]},    the other player's turn; after the turn that
//	                                  {"type":"pass"}                   follows a pass, the turn of the round's winner,
//	                                                                    or the end
//
// The clock of pick-starter is Once, 60 s; missing: draw("starter", 2) in seating order. The clock of turn is Reserve,
// 60 s and behind it a bank of 5 min a player for the match; missing: a pass. Round 9 opens no phase.
//
// # Events
//
//	starter-picked  public: player, drawn
//	turn-taken      public: player, passed, elements,     face: the cards, to the player; none for a pass
//	                leader, reserve
//	round-ended     public: round, winner, totals,        opens: the faces of the round's turns
//	                zones, removed, hands
//
// The elements and the leader are all that a turn's cards decide of what others see. When the match ends nothing more
// opens but the seed. The hands of round-ended are those that go on into the next round.
//
// # Rulings
//
// Each completes the sentence of the sheet that it quotes, and has the test named.
//
//   - "play any number of cards": at least one; a play of no card is refused, for who wants to pass says pass.
//     TestAPlayOfNoCardIsRefused
//   - "they may either: 1) play [...] 2) pass": an empty hand is not passed for; its player is awaited, and can only
//     pass. TestAnEmptyHandIsNotPassedFor
//   - "they will automatically do nothing": that is to pass, and has all that a pass has. TestDoNothingIsAPass
//   - "following their opponent's next turn": whatever that is, a pass included. TestPass
//   - "The DMO decides who goes first": in the move time alone, the bank is not touched; not decided in time, it is
//     drawn. TestThePickStarterHasTheMoveTimeAlone
//   - "5 minutes of reserve time": one bank for the match, shown in whole seconds left, rounded down, as of the last
//     turn that was taken. TestTheBankLastsTheMatch, TestATurnOver60SecondsUsesTheBank
//   - "There is a final (9th) round": in the same breath as round 8 ends at 4 : 4, in one play each; a tie is won by who
//     would have gone first, the winner of round 8. TestNineRounds, TestATieInRound9
//   - Of our own: a play is shown sorted, so the order in which its cards were named tells nothing.
//     TestElementsAreRevealedButNotNumbers
//   - Of our own: a pass is public and no play: it has no face, and does not stand in the zone.
//     TestAPassHasNothingToHide
//   - Of our own: a round in which nobody puts a card down is a tie like any other. TestATieIsWonByWhoWentFirst
//   - Of our own: the leader stated with a round's last turn is its winner; on a tie it is who went first.
//     TestTheLeaderAfterEachTurn
//   - Of our own: an empty hand is no play in round 9; two of them are a tie. TestRound9WithEmptyHands
//   - Of our own: what has ended the match stays on the table, a last round with its zones and lastTurn, or round 9 with
//     its zones, empty hands and no lastTurn. TestFiveRoundsWinTheDM, TestRound9OnTheTable
//
// # The sheet's sentences and their tests
//
//	"Each player has 30 cards, one for each combination of type ... and number"  TestEachPlayerHas30Cards
//	"This game is played across 9 rounds."                                       TestNineRounds
//	"Cards are not replenished between rounds."                                  TestCardsAreNotReplenished
//	"the person who won the previous round goes first"                           TestTheWinnerGoesFirst
//	"then players will alternate turns until the round ends"                     TestTurnsAlternate
//	"The DMO decides who goes first in Round 1."                                 TestTheDMODecidesWhoGoesFirst
//	"There is a final (9th) round, but it isn't played out."                     TestRound9OnTheTable
//	"Both players will dump all their remaining cards into their zone"           TestTheFinalRoundIsNotPlayedOut
//	"play any number of cards from their inventory into their zone"              TestPlay, TestIllegal, TestMalformed
//	"The cards' element(s) will be revealed to the other player, but not the     TestElementsAreRevealedButNotNumbers,
//	number."                                                                     TestNumbersStayHiddenInTheRound
//	"This skips their turn, and immediately ends the current round following     TestPass
//	their opponent's next turn."
//	"players will learn who would have won the round, had it ended there"        TestTheLeaderAfterEachTurn
//	"Card removals will be factored into results"                                TestTheLeaderAfterEachTurn
//	"Then, the next player will make a move for the round."                      TestTurnsAlternate
//	"Zones are cleared between rounds."                                          TestZonesAreClearedAndInventoriesPosted
//	"I will also post player inventories at the start of each round."            TestZonesAreClearedAndInventoriesPosted
//	"When a round ends, all card values are revealed."                           TestAllCardValuesAreRevealedWhenARoundEnds
//	"A card is removed from play if your opponent has played a card of superior  TestRemoval
//	element with a larger or equal value."
//	"a Fire 5 would remove Grass 5, Grass 4, and so on -- even if all of them    TestAFire5RemovesGrass5AndGrass4AndSoOn
//	were played in the same round!"
//	"This happens simultaneously."                                               TestARemovedCardStillRemoves
//	"The player with a larger sum of non-removed cards in their zone wins"       TestTheLargerSumWinsAndATieIsTheFirstPlayers,
//	                                                                             TestJudgeAgainstItsTwin
//	"If there is a tie, the player who went first wins the round."               TestATieIsWonByWhoWentFirst
//	"Whoever wins 5 rounds wins the DM."                                         TestFiveRoundsWinTheDM,
//	                                                                             TestFiveRoundsOfWhoWentSecond
//	"Players have 60 seconds to make a move on their turn."                      TestATurnOver60SecondsUsesTheBank
//	"5 minutes of reserve time which they will automatically use"                TestATurnOver60SecondsUsesTheBank
//	"If a player runs out of move time and reserve time, they will               TestDoNothingIsAPass,
//	automatically do nothing."                                                   TestSilenceEndsTheMatch
//	The example, sentence by sentence                                            TestTheWorkedExample
package primalpileup
