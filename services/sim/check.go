package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
)

// The checks of a record. Each counts in the coverage what it looked at.
const (
	checkAcks        = "acknowledged is in the log"
	checkOnce        = "a key stands once"
	checkPhases      = "phases follow one another"
	checkResolved    = "resolved when complete"
	checkPrompt      = "resolved without delay"
	checkDeadlines   = "deadlines as recomputed"
	checkStarts      = "clocks as recomputed"
	checkFlagged     = "flagged after his time"
	checkReachable   = "flagged while reachable"
	checkGiven       = "an outage gives its length"
	checkProbes      = "probes are in the log"
	checkTold        = "an outage is told of once"
	checkCalls       = "a call comes to an end"
	checkShown       = "shown views are the fold"
	checkSeen        = "seen views are the fold"
	checkOrder       = "shown views never go back"
	checkLast        = "the last view is shown"
	checkSecrets     = "no secret in a message"
	checkNames       = "public parts say what they may"
	checkAudiences   = "faces are for whom they may be"
	checkFeed        = "the public feed has no face"
	checkChain       = "the chain is intact"
	checkCommitments = "commitments open"
	checkOpened      = "opened is what may open"
	checkIDs         = "ids are unique"
	checkEnds        = "every match ends"
	checkResults     = "everybody sees one result"
)

// Checks lists the names of all checks.
func Checks() []string {
	return []string{
		checkAcks, checkOnce, checkPhases, checkResolved, checkPrompt, checkDeadlines, checkStarts, checkFlagged,
		checkReachable, checkGiven, checkProbes, checkTold, checkCalls, checkShown, checkSeen, checkOrder, checkLast, checkSecrets, checkNames,
		checkAudiences, checkFeed, checkChain, checkCommitments, checkOpened, checkIDs, checkEnds, checkResults,
	}
}

// Check looks for what must not be in a run's record and returns what it found, nothing for a good run.
func Check(r *Record) []string {
	c := &checker{r: r, matches: map[string]*history{}}
	c.must(r.Longest <= maxAppends, checkCalls, "one appended %d times and would have gone on", maxAppends)
	if len(c.found) > 0 { // the run was broken off
		return c.found
	}
	c.chain()
	c.read()
	if len(c.found) > 0 { // what can't be read can't be judged
		return c.found
	}
	c.acks()
	for _, id := range c.ids {
		c.play(c.matches[id])
		c.faces(c.matches[id])
		if slices.Contains(r.Matches, id) { // the others were created without an answer: nobody has a seat there
			c.end(c.matches[id])
		}
	}
	c.probes()
	c.told()
	c.views()
	c.secrets()
	return c.found
}

// checker is a check of one record.
type checker struct {
	r       *Record
	matches map[string]*history
	ids     []string // of matches, in the order of their creation
	found   []string
}

func (c *checker) looked(check string) { c.r.Coverage.checked(check) }

// maxFound bounds the complaints of one run; more of them tell nothing new.
const maxFound = 20

func (c *checker) fail(check, format string, args ...any) {
	if len(c.found) < maxFound {
		c.found = append(c.found, check+": "+fmt.Sprintf(format, args...))
	}
}

// must counts a look at something, and complains where it is not as it must be.
func (c *checker) must(ok bool, check, format string, args ...any) {
	c.looked(check)
	if !ok {
		c.fail(check, format, args...)
	}
}

// history is a match as the log has it.
type history struct {
	id     string
	keys   *event.Keys
	facts  []fact
	said   created
	move   time.Duration
	bank   time.Duration
	opened map[place]uint64 // by which revision a face was opened
}

// place is where a face stands.
type place struct {
	revision uint64
	index    int
}

// fact is one event with its faces open.
type fact struct {
	*event.Event
	revision uint64
	commit   int
	faces    []event.Face
}

// created is what match-created says.
type created struct {
	Game    string `json:"game"`
	Players []struct {
		ID string `json:"id"`
	} `json:"players"`
	Options struct {
		Clock struct {
			Move    string `json:"move"`
			Reserve string `json:"reserve"`
		} `json:"clock"`
		Close    string `json:"close"`
		HostSees string `json:"hostSees"`
	} `json:"options"`
}

const matchPrefix = "match-"

// read opens the log's events.
func (c *checker) read() {
	for at := range c.r.Commits {
		commit := &c.r.Commits[at]
		if len(commit.Stream) < len(matchPrefix) || commit.Stream[:len(matchPrefix)] != matchPrefix {
			continue
		}
		id := commit.Stream[len(matchPrefix):]
		h := c.matches[id]
		if h == nil {
			h = &history{id: id, keys: c.r.Vault.Keys(commit.Stream), opened: map[place]uint64{}}
			c.matches[id] = h
			c.ids = append(c.ids, id)
		}
		c.readCommit(h, commit, at)
	}
	for _, h := range c.matches { // order-free: each by itself
		if err := json.Unmarshal(h.facts[0].Public, &h.said); err != nil {
			c.fail(checkChain, "%s: match-created can't be read: %v", h.id, err)
		}
		h.move, _ = time.ParseDuration(h.said.Options.Clock.Move)
		h.bank, _ = time.ParseDuration(h.said.Options.Clock.Reserve)
	}
}

func (c *checker) readCommit(h *history, commit *eventlog.Commit, at int) {
	for i := range commit.Events {
		f := fact{Event: &commit.Events[i], revision: commit.First + uint64(i), commit: at} //nolint:gosec // an index
		for n, sealed := range f.Faces {
			face, err := h.keys.Open(f.ID, n, sealed)
			c.must(err == nil && face.Opens(sealed.Commitment), checkCommitments,
				"%s, revision %d: face %d does not open its commitment", h.id, f.revision, n)
			f.faces = append(f.faces, face)
		}
		for _, o := range f.Opens {
			h.opened[place{o.Revision, o.Index}] = f.revision
		}
		h.facts = append(h.facts, f)
	}
}

// audiences returns whom a match is shown to besides the public.
func (h *history) audiences() []string {
	list := []string{"host"}
	for _, p := range h.said.Players {
		list = append(list, p.ID)
	}
	return list
}

// sees reports whether an audience may know a face of an event at a revision.
func (h *history) sees(audience string, revision, at uint64, index int) bool {
	if by, ok := h.opened[place{at, index}]; ok && by <= revision {
		return true
	}
	to := h.facts[at].faces[index].To
	return slices.Contains(to, audience) || audience == "host" && h.said.Options.HostSees == "all" && len(to) > 0
}
