// Package paintclash is the game Paint Clash, a main match for eight: two teams of four must work to paint as much of the
// ground as possible with their team's color.
//
// # Phases
//
//	phase            awaits         submission                                    missing
//	team             all            {"type":"team","color","bid"}                 a color drawn, with a bid of 0
//	start            all            {"type":"start","cell"}                       a cell of the zone drawn
//	round (6 times)  all            {"type":"round","move":{"mode","to"},         stays; gun and direction drawn
//	                                "shot":{"gun","direction"}}
//	nominate         the winners    {"type":"nominate","player"}                  no vote
//	choose-opponent  the candidate  {"type":"choose-opponent","player"}           a team-mate drawn
//
// The clock is Once, 24 h in every phase. Unless options.close says otherwise the phases of all, and nominate, are held
// open to their deadline; choose-opponent is a turn and never is. Without a winner there is no nominate.
//
// # Events
//
//	teams-settled    public: teams                              faces: color, paid, garnets left, one to each player;
//	                                                            who was drawn among equals, to nobody
//	starts-chosen    public: positions
//	round-resolved   public: round, positions, painted, score   faces: mode, gun, direction, one to each player
//	winner-counted   public: winner, decidedBy, score, awards
//	candidate-named  public: player, how (vote, draw)           face: the votes, to the winners, if there are any
//	opponent-chosen  public: player, drawn
//
// match-created holds the armory in public, and what each player owns as a face to him. When the match has ended the
// faces of round-resolved open: shots and modes; never bids, payments, garnets or votes. All eight get a face of
// teams-settled, and a draw among equals has its face whether there was one or not.
//
// # Rulings
//
// Each completes the sentence of the sheet that it quotes, and has the test named.
//
//   - "If 4 people bid for each team, then the teams are automatically selected": then nobody pays.
//     TestFourAndFourNobodyPays
//   - "the player who wins the tie is the one who had more Garnets": still equal bids are drawn one place at a time, only
//     for a tie that does not fit whole into the places left. TestTiesThatDoNotFitAreDrawn
//   - "randomizes your team selection with 0 Garnets spent": the drawn color with its bid of 0 competes like any other.
//     TestMissedTeam
//   - "two cells away in any direction": "away" counts steps in any directions, bends included.
//     TestDistanceIsTheNumberOfSteps
//   - "This image shows the effective range of all six guns": shapes are data, options.armory, of which guns 1, 2, 3 and
//     5 must be connected, 4 and 6 not. It is public, and repeats in it are harmless. TestArmory, TestStandardArmory,
//     TestTheArmoryIsPublic, TestArmoryRepeatsAreHarmless
//   - "a direction if applicable": it may be left out, or null, for a gun that looks the same in every direction, which
//     is decided from the armory. TestADirectionMayBeLeftOutByTheArmory
//   - "no player wins a Token of Life": nor 3 garnets; and the candidate, drawn of all eight, chooses an opponent from
//     his own team all the same. TestAlwaysTied
//   - "Together, they select": the winners vote and see each other's votes at once, nobody else does; most votes; equal
//     votes, as no vote at all, are drawn. TestVotes, TestEqualVotesAreDrawn
//   - "There is no private information in this game, aside from which guns": so modes and directions are private too,
//     which would tell the guns; and since nobody learns who paid, so are bids, payments and garnets. TestWhatIsPrivate
//   - "Each round (and pregame phase) takes 24 hours": so do nominate and choose-opponent. TestEveryPhaseTakes24Hours
//   - "receive 3 Garnets each": they are owned from the end of round 6. TestWinnersReceive
//   - Of our own: at most 2^53 - 4 garnets can be brought, so that every reader of JSON holds the prize too.
//     TestSetupGarnets
//   - Of our own: what a shape covers beyond the edge of the board is lost. TestPaint
//   - Of our own: a direction that could have been left out may be given, and changes nothing. TestHintsOfARound
//   - Of our own: who names nobody is listed without a vote, and votes are sealed at one size, so that nobody else learns
//     how many were cast or for whom. TestVotesAreSealedAtOneSize
//   - Of our own: a player may replace his submission until the phase is resolved, so hints stay; in choose-opponent, a
//     turn, they don't. TestNoHintsWhileNothingCanBeSubmitted
//   - Of our own: that the candidate was drawn is public, as every draw is one that can be checked.
//     TestEqualVotesAreDrawn
//
// # The sheet's sentences and their tests
//
//	"This is a 4 versus 4 team game, featuring the teams Green and Pink."       TestFourAndFourNobodyPays
//	"Each player selects a color, and bids some number of Garnets"              TestTeamBid
//	"If 4 people bid for each team, then the teams are automatically selected"  TestFourAndFourNobodyPays
//	"the four players who bid the most Garnets ... get on that team"            TestTheFourHighestBidsStayAndPay
//	"The other four players spend no Garnets and get on the other team."        TestTheFourHighestBidsStayAndPay
//	"the player who wins the tie is the one who had more Garnets"               TestEqualBidsGoToWhoHadMore
//	"a hexagonal grid with side length 9"                                       TestTheBoardHas217Cells
//	"the top right cell is A9, and the the top leftmost pink cell ... is O7"    TestA9IsTopRightAndO7LeftmostOfRowO
//	"The green team must start in one of the cells colored green"               TestZones, TestStartZones
//	"It is allowed for two players to start on the same cell."                  TestTwoMayStartOnOneCell
//	"the entire board is wiped clean ... and Round 1 begins"                    TestTwoMayStartOnOneCell
//	"You submit for these two phases simultaneously"                            TestWalk, TestMalformed
//	"players move to a different cell"                                          TestMoveToADifferentCell
//	"you may move up to two cells away in any direction"                        TestWalk
//	"as a squid, all cells you traverse ... must already be painted"            TestSquid, TestSquidReachIsEveryWayOfFourSteps
//	"It is allowed for multiple players to end on the same cell."               TestSeveralMayEndOnOneCell
//	"each gun can only be used once for each player"                            TestEachGunOnce
//	"Each gun covers the cell you are standing on ... exception of Guns 4 and 6" TestArmory
//	"the gun can be rotated (for instance, Gun 2 can shoot rightwards)"         TestShapesTurn
//	"cells you cover with your gun will be painted your team's color"           TestPaint
//	"you cannot paint over already-painted cells"                               TestPaint
//	"covered by both teams, it will remain unpainted, regardless of how many"   TestCoveredByBothStaysUnpainted
//	"Covering a player with paint has no effect."                               TestPaintDoesNothingToPlayers
//	"the current grid ... is posted"                                            TestTheGridIsPosted
//	"The Main Match ends after six rounds."                                     TestSixRounds
//	"The winning team is the team that colored more cells."                     TestMoreCellsWin
//	"the one that was ahead at the end of Round 5 ... Round 4, then 3, etc."    TestTiesGoToWhoWasAheadLast, TestAhead
//	"In the event that the game was always tied"                                TestAlwaysTied
//	"a Token of Life and 3 Garnets"                                             TestWinnersReceive
//	"Together, they select a single player from the losing team"                TestVotes, TestNominateALoser
//	"must then choose someone from their team as their Death Match Opponent"    TestOpponent, TestMissedOpponent
//	"Each round (and pregame phase) takes 24 hours."                            TestEveryPhaseTakes24Hours
//	"Green team must choose one in rows A, B, or C, while Pink ... O, P, or Q"  TestStartZones
//	"Failure to submit in team selection randomizes your team selection"        TestMissedTeam
//	"failure to submit in starting location selection randomizes"               TestMissedStart
//	"failure to submit means you do not move and use a gun at random"           TestMissedRound, TestTheDrawnShotPaints
//	"The two 4-player teams (but not the specific bids that caused them)"       TestTheGridIsPosted, TestWhatIsPrivate
//	"Publicly announced, at the start of each round"                            TestTheGridIsPosted
//	"Publicly announced, at the end of the game"                                TestTheEndIsPublic
//	"no private information ..., aside from which guns you have used"           TestWhatIsPrivate
//	"You are told whether you spent any Garnets during the bidding round"       TestToldWhetherOnePaid
package paintclash
