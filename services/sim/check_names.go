package sim

import "encoding/hex"

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// publicNames are the members that the public part of each type of event may have, written down from the rulebook.
var publicNames = map[string][]string{
	"match-created.v1": {
		"match", "game", "title", "players", "options", "setup", "seedCommitment", "insecureSeed", "forkedFrom",
	},
	"seat-claimed.v1":        {"player", "issue", "random"},
	"seat-reissued.v1":       {"player", "issue", "why"},
	"match-started.v1":       {},
	"phase-opened.v1":        {"phase", "name", "awaiting", "clock", "clocks"},
	"submission-accepted.v1": {"phase", "player"},
	"submission-replaced.v1": {"phase", "player"},
	"deadline-passed.v1":     {"phase", "deadline", "players"},
	"match-paused.v1":        {"why"},
	"match-resumed.v1":       {"why"},
	"match-voided.v1":        {"why"},
	"clock-extended.v1":      {"player", "by", "why", "reason", "until"},
	"match-ended.v1":         {"result"},

	"glass-full.starter-picked.v1":   {"bout", "player"},
	"glass-full.turn-taken.v1":       {"player", "marks", "sponges"},
	"glass-full.challenge-failed.v1": {"player"},
	"glass-full.strike-given.v1":     {"player", "strikes", "reason"},
	"glass-full.bout-ended.v1":       {"bout", "winner", "by"},

	"primal-pileup.starter-picked.v1": {"player", "drawn"},
	"primal-pileup.turn-taken.v1":     {"player", "passed", "elements", "leader", "reserve"},
	"primal-pileup.round-ended.v1":    {"round", "winner", "totals", "zones", "removed", "hands"},

	"nothing-but-the-truth.statements-shown.v1": {"cycle", "statements"},
	"nothing-but-the-truth.coins-paid.v1":       {"cycle", "truths", "gains", "coins"},
	"nothing-but-the-truth.stones-placed.v1":    {"cycle", "stones", "coins"},
	"nothing-but-the-truth.bids-resolved.v1":    {"cycle", "winner", "coins"},
	"nothing-but-the-truth.stones-shifted.v1":   {"player", "direction", "anchor", "stones"},
	"nothing-but-the-truth.shift-declined.v1":   {"player"},
	"nothing-but-the-truth.question-asked.v1":   {"question"},
	"nothing-but-the-truth.answers-in.v1":       {},
	"nothing-but-the-truth.answers-judged.v1":   {"right"},

	"paint-clash.teams-settled.v1":   {"teams"},
	"paint-clash.starts-chosen.v1":   {"positions"},
	"paint-clash.round-resolved.v1":  {"round", "positions", "painted", "score"},
	"paint-clash.winner-counted.v1":  {"winner", "decidedBy", "score", "awards"},
	"paint-clash.candidate-named.v1": {"player", "how"},
	"paint-clash.opponent-chosen.v1": {"player", "drawn"},
}
