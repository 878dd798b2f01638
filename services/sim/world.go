package sim

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"umpire/pkg/event"
	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/games"
	"umpire/pkg/match"
	"umpire/pkg/token"
)

// World is a run under way. It has one goroutine.
type World struct {
	rng     *rand.Rand
	entropy io.Reader
	games   match.Catalog
	record  *Record

	now       time.Time
	store     *store
	authority *token.Authority
	operator  string // a token

	chance    map[fault]float64
	calm      bool // faults have stopped
	crashIn   int  // effects until a crash; 0: none
	appends   int  // of the call under way
	downUntil [parts]time.Time
	stalled   time.Time // until when the projector stalls
	lost      spans     // players can't reach umpire
	hindered  spans     // nothing can be resolved
	looked    time.Time // when a timer last looked and was answered

	feed      []eventlog.Commit
	consumers [kinds]consumer
	bucket    map[string]*entry
	wipes     int              // of the queue
	commits   map[string]int   // by stream
	ticked    map[string]int64 // by match: what readers have been told of
	replicas  [kinds][]*replica
	tables    []*table
	most      int // matches of the run
}

// Options say how a run goes.
type Options struct {
	Seed       uint64
	Transcript io.Writer // gets every message, nil for none
	// Skip leaves the choice of these steps without effect, for the minimiser.
	Skip map[int]bool
}

const (
	faultySteps = 1200
	calmRounds  = 20000
	maxSteps    = 100000 // of which a run that ends takes a tenth, mostly much less
)

var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// Run plays one seed to its end. The error says that the matches did not finish; what else is wrong the checks find.
func Run(o Options) (*Record, error) {
	w := newWorld(o)
	for w.record.Steps = range faultySteps {
		if w.endless() {
			break
		}
		if !o.Skip[w.record.Steps] {
			w.step()
		}
		w.pass(time.Duration(w.rng.IntN(10)) * time.Millisecond)
	}
	err := w.settle()
	if w.endless() {
		err = nil // a check says that, and what else is missing follows from it
	}
	w.record.Kept = map[string][]byte{}
	for id, e := range w.bucket { // order-free: a map again
		w.record.Kept[id] = e.value
	}
	w.record.End, w.record.Outages, w.record.Excused = w.now, w.lost.list, w.hindered.list
	return w.record, err
}

func newWorld(o Options) *World {
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(o.Seed >> (8 * i))
	}
	entropy := rand.NewChaCha8(seed)
	w := &World{
		rng: rand.New(rand.NewPCG(o.Seed, 1)), entropy: entropy, games: games.All(), now: epoch,
		record: newRecord(o.Seed, o.Transcript), bucket: map[string]*entry{}, commits: map[string]int{}, ticked: map[string]int64{}, looked: epoch,
	}
	vault, err := event.NewVault(seed[:])
	if err != nil {
		panic(err)
	}
	w.record.Vault = vault
	w.authority = token.NewAuthority(vault)
	if w.operator, err = w.authority.Sign(token.Token{Role: token.Operator}, w.now); err != nil {
		panic(err)
	}
	w.store = &store{memlog.New(), w}
	w.drawWeights()
	w.most = 1 + w.rng.IntN(3)
	w.drawProcesses()
	for k := range kinds {
		n := 1 + w.rng.IntN(3)
		if w.record.Together {
			n = 1
		}
		for no := range n {
			r := &replica{kind: k, no: no}
			w.start(r)
			w.replicas[k] = append(w.replicas[k], r)
		}
	}
	return w
}

// drawProcesses decides how umpire is installed: mostly as services apart, each with replicas, else as one process, as
// `umpire serve` is. It has draws of its own, so that the runs of the one installation are the same with the other and
// without.
func (w *World) drawProcesses() {
	w.record.Together = rand.New(rand.NewPCG(w.record.Seed, 2)).IntN(3) == 0
}

// pass lets virtual time go on, and notes when umpire could not be reached.
func (w *World) pass(d time.Duration) {
	w.watch()
	w.now = w.now.Add(d)
	w.watch()
}

// watch notes the outages as they truly were.
func (w *World) watch() {
	w.lost.look(!w.reachable(), w.now)
	w.hindered.look(w.down(theQueue) || w.down(theLog) || !w.anyAlive(theRelay) || !w.anyAlive(theResolver), w.now)
}

// step does one thing, drawn at random.
func (w *World) step() {
	switch draw := w.rng.IntN(100); {
	case draw < 50 && w.rising(): // before all else
		w.tickTimer()
	case draw < 25 && !w.reachable(): // people can do nothing but wait
		w.idle()
	case draw < 18:
		w.relayStep()
	case draw < 36:
		w.deliverSome(theResolver)
	case draw < 44:
		w.deliverSome(theProjector)
	case draw < 46:
		w.publish()
	case draw < 58:
		for range 1 + w.rng.IntN(8) {
			w.deliverTimer()
		}
	case draw < 66:
		w.tickTimer()
	case draw < 94:
		w.people()
	case draw < 96:
		if len(w.tables) > 0 {
			w.host(w.tables[w.rng.IntN(len(w.tables))])
		}
	default:
		w.trouble()
	}
}

// people lets somebody act, or a new match begin.
func (w *World) people() {
	if len(w.tables) < w.most && w.rng.IntN(10) == 0 || len(w.tables) == 0 {
		w.open()
		return
	}
	t := w.tables[w.rng.IntN(len(w.tables))]
	w.act(t.people[w.rng.IntN(len(t.people))])
}

// trouble takes parts away, wipes the queue, or lets time go on.
func (w *World) trouble() {
	switch {
	case w.strikes(gatewayAway):
		w.take(theGateway)
	case w.strikes(queueAway):
		w.take(theQueue)
	case w.strikes(logAway):
		w.take(theLog)
	case w.strikes(stallProjector):
		w.stalled = w.now.Add(time.Duration(w.rng.IntN(60)) * time.Second)
	case w.strikes(wipeQueue):
		w.wipe()
	default:
		w.idle()
	}
}

// idle lets time go on, mostly a little, sometimes a good deal. A world in which everybody slept through a long time
// would be an outage of its own, so timers wake as often as they ask to.
func (w *World) idle() {
	for range 1 + w.rng.IntN(6) {
		w.pass(time.Duration(w.rng.IntN(900)) * time.Millisecond)
		w.tickTimers()
	}
}

// settle stops all faults and plays the matches to their end.
func (w *World) settle() error {
	w.calm = true
	w.watch()
	w.record.Calm = w.now
	for range calmRounds {
		if w.stuck() {
			break
		}
		before := len(w.record.Commits)
		w.deliverAll()
		if w.allOver() {
			return w.drain()
		}
		for _, t := range w.tables {
			if !t.over {
				w.host(t)
				for _, p := range t.people {
					w.act(p)
				}
			}
		}
		w.pass(time.Millisecond)
		if len(w.record.Commits) == before { // nobody has anything to do but to wait
			w.pass(time.Second)
			w.tickTimers()
		}
	}
	var left []string
	for _, t := range w.tables {
		if !t.over {
			left = append(left, t.id)
		}
	}
	return fmt.Errorf("sim: after the faults had stopped, %v did not finish", left)
}

// deliverAll lets everything under way arrive.
func (w *World) deliverAll() {
	for w.behind() && !w.stuck() {
		w.record.Steps++
		w.relayStep()
	}
	w.deliverRest(theResolver)
	w.deliverRest(theProjector)
	w.dieHolding()
	w.deliverRest(theProjector)
	for _, r := range w.replicas[theTimer] {
		for r.cursor < len(w.news()) && !w.stuck() {
			w.record.Steps++
			w.deliverTimer()
		}
	}
	for !w.stuck() && w.publish() {
		w.record.Steps++
	}
	w.tickTimers()
}

// deliverRest hands out all messages of a shared consumer.
func (w *World) deliverRest(k kind) {
	for c := &w.consumers[k]; (c.next < len(w.feed) || len(c.pending) > 0) && !w.stuck(); {
		w.record.Steps++
		w.deliver(k)
	}
}

// dieHolding lets a projector die now and then with views that it has not put yet, in runs in which services die. It does
// so when the other faults have stopped, for few matches are over before, and what is lost of a match that is over no later
// commit mends.
func (w *World) dieHolding() {
	if w.chance[crash] == 0 || w.record.Together || uint64(len(w.record.Commits))%8 != w.record.Seed%8 { //nolint:gosec // an index
		return
	}
	replicas := w.replicas[theProjector]
	r := replicas[len(w.record.Commits)%len(replicas)]
	w.record.Coverage.met(crash)
	w.record.note("projector %d crashed with %d commits in hand", r.no, len(r.held))
	w.start(r)
}

var errStuck = errors.New("sim: after the faults had stopped, what was under way did not arrive")

// stuck reports whether what is to come to an end does not.
func (w *World) stuck() bool { return w.endless() || w.record.Steps > maxSteps }

// endless reports whether a call has been cut short.
func (w *World) endless() bool { return w.record.Longest > maxAppends }

func (w *World) allOver() bool {
	for _, t := range w.tables {
		if !t.over {
			return false
		}
	}
	return true
}

// drain delivers what is still under way.
func (w *World) drain() error {
	for before := -1; before != len(w.record.Commits) && !w.stuck(); {
		before = len(w.record.Commits)
		w.deliverAll()
	}
	if w.stuck() {
		return errStuck
	}
	return nil
}

// behind reports whether the feed ends behind the log.
func (w *World) behind() bool {
	return len(w.record.Commits) > 0 && (len(w.feed) == 0 || w.feed[len(w.feed)-1].Position != w.lastPosition())
}
