// Package nothingbutthetruth is the game Nothing But the Truth, a death match for two and a host: players use their
// trivia knowledge to earn coins, then use those coins to place stones and shift the gravity of the board.
//
// # Phases
//
//	phase   awaits           submission                                       missing
//	order   both             {"type":"order","order":["A","B","D","C"]}       A, B, C, D
//	place   both             {"type":"place","cells":["B2","C4"]}             none
//	bid     both             {"type":"bid","coins":0..}                       0
//	shift   the higher       {"type":"shift","direction":"up|down|left|right", decline
//	        bidder            "anchor":CELL or null}, {"type":"decline"}
//	ask     the host         {"type":"ask","question":TEXT}                   -
//	answer  both             {"type":"answer","text":TEXT}                    an empty answer
//	judge   the host         {"type":"judge","right":[IDs]}                   -
//
// 13 cycles of order, place, bid and, unless the bids were tied, shift. After the last, or when a placement has filled
// the board, the groups decide; while they leave a tie: ask, answer and judge. The clock is Once, 24 h in every phase,
// for which the sheet gives no time; the host has none. A shift is a turn: its first submission stands, and close =
// at-deadline does not hold it open.
//
// # Events
//
//	match-created                                            faces: one a cycle, its texts and truths, to the host
//	coins-paid        public: cycle, truths, gains, coins    opens: the cycle's face of match-created
//	stones-placed     public: cycle, stones, coins
//	bids-resolved     public: cycle, winner, coins
//	stones-shifted    public: player, direction, anchor, stones
//	shift-declined    public: player
//	statements-shown  public: cycle, statements              (as each order phase opens)
//	question-asked    public: question
//	answers-in        public: -                              face: the answers, to the host
//	answers-judged    public: right
//
// When the match has ended, the orders and the bids open, as they were submitted. Placements and answers don't, nor do
// the statements of cycles that were not reached. What the host is shown of the statements stands in the set-up, so no
// face of a later event repeats it; the answers do, for he may see no submission unless he has chosen to see all.
//
// # Rulings
//
// Each completes the sentence of the sheet that it quotes, and has the test named.
//
//   - "Players will then submit an ordering": who is missing has said A, B, C, D. TestAMissingOrderIsABCD
//   - "Players will then receive coins": the four truths are shown when the coins are paid, for each player can work them
//     out from his own coins anyway. TestTruthsAreShownWhenTheCoinsArePaid
//   - "a private submission to the host": orders and bids stay private until the match ends, the rest for ever.
//     TestSubmissionsArePrivate, TestOrdersAndBidsOpenAtTheEnd, TestStatementsNeverReachedStaySealed
//   - "minus 1 for every group of stones the player currently has on the board": the price is fixed before the
//     placement, the same for every stone of the list. TestThePriceIsFixedBeforeThePlacement
//   - "they must have enough coins to afford them": the whole list must be affordable; spaces that both name give back
//     their coins. TestTheWholeListMustBeAffordable
//   - "coins will not be deducted for them": which spaces these were is not announced. TestBothNameACell
//   - "shown to both players": public means spectators too. TestPublicMeansSpectatorsToo
//   - "Whoever submits a higher bid": a bid is at most what one has after the placement.
//     TestABidIsAtMostWhatOneHasAfterPlacement
//   - "Players may select their own or their opponent's stone": the anchor is any stone on the board. TestAnchors
//   - "Stones will then move": a shift that moves nothing is allowed. TestBidWinnerAndShiftStayUntilTheNextBids
//   - "The game ends when the Statements run out or the board is full": cycle 13 has its bids and its shift, a full board
//     ends the game without. TestTheGameEndsWhenTheStatementsRunOut, TestTheGameEndsWhenTheBoardIsFull
//   - "next largest groups are compared": a missing group counts 0. TestAhead
//   - "until a player gets one right that the other gets wrong": an empty answer is wrong, and so can't be judged right.
//     TestAnEmptyAnswerIsWrong
//   - "The host must prepare 52": a text has 1 to 500 characters. TestHostPrepares52Statements
//
// Rulings of our own, where the rulebook is silent too:
//
//   - A text of a statement or a question that shows nothing, being blank or invisible, is empty.
//     TestHostPrepares52Statements, TestDecode
//   - An answer of blanks is not empty: the host judges it. TestTheHostJudgesAnAnswerOfBlanks
//   - A cycle's texts are shown when its order phase opens, the first cycle's too: who claims his seat early has no head start.
//     TestWhatMatchCreatedHolds
//   - In the sealed statements truths are 1 and 0, so that a face's size does not depend on them.
//     TestWhatMatchCreatedHolds
//   - Hints are offered to who has submitted, too, as long as he may replace his submission. TestHints
//   - The host sees the answers once both are in, while he judges, and of all else what is public, unless he has chosen
//     to see all. TestTheHostSeesWhatHisTasksNeed
//
// # The sheet's sentences and their tests
//
//	"The host must prepare 52 Objective True or False Statements"             TestHostPrepares52Statements
//	"The board is 6x6"                                                        TestBoardIs6x6
//	"players will be assigned a stone color"                                  TestStoneColors
//	"'Submit' means a private submission to the host."                        TestSubmissionsArePrivate
//	"'Reveal' and 'Public' means shown to both players."                      TestPublicMeansSpectatorsToo
//	"fully connected by their edges (not diagonals)"                          TestGroups, TestGroupsAgainstTheirTwin
//	"1) The Host will reveal 4 Objective Statements."                         TestFourStatementsACycle
//	"Players will then submit an ordering of these Statements"                TestDecode, TestCoinsAreTheBinaryNumber
//	"coins equal to the binary number"                                        TestCoinsAreTheBinaryNumber
//	"Coin counts will be public."                                             TestPublicMeansSpectatorsToo
//	"Player 1 order: ABDC = 1100 = 12 coins"                                  TestWorkedExample
//	"2) Players may then purchase and place stones"                           TestPlace
//	"Stones cost 8 coins, minus 1 for every group"                            TestPrice, TestThePriceIsFixedBeforeThePlacement
//	"Stone cost cannot drop below 4 coins."                                   TestPrice, TestTheCostCannotDropBelow4
//	"Any spaces submitted by both players will remain empty"                  TestBothNameACell
//	"The board will then be revealed."                                        TestPlace, TestPublicMeansSpectatorsToo
//	"3) Players may then submit a bid for a gravity shift."                   TestABidIsAtMostWhatOneHasAfterPlacement
//	"Whoever submits a higher bid will be charged that amount of coins"       TestTheHigherBidPaysAndShifts
//	"If the bid is tied, nobody is charged and nobody gets to shift."         TestATiedBid
//	"picking a direction and optionally an anchor stone"                      TestAnchors
//	"as much as possible, until they hit a wall or another stone"             TestShift, TestShiftAgainstItsTwin
//	"The anchor will not move, and simply acts as a wall."                    TestShift, TestShiftAgainstItsTwin
//	"Players may select their own or their opponent's stone as an anchor."    TestAnchors
//	"Players may also win the bid and decide not to shift."                   TestDecline
//	"The game ends when the Statements run out"                               TestTheGameEndsWhenTheStatementsRunOut
//	"or the board is full"                                                    TestTheGameEndsWhenTheBoardIsFull
//	"the single largest group of stones"                                      TestAhead, TestAheadAgainstItsTwin
//	"If tied, next largest groups are compared and so on."                    TestAhead, TestAheadAgainstItsTwin
//	"trivia questions of any format are asked until"                          TestTieBreak, TestAFullBoardMayBeTied
//	"The set of statements should be roughly 50/50 true and false"            TestRoughly5050IsAWarning
//	"no group of 4 for a round is all true or all false"                      TestNoGroupOf4IsAllTrueOrAllFalse
package nothingbutthetruth
