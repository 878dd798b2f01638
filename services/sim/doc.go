// Package sim runs all services in one goroutine, from one seed, under faults: their production Handle over a log in
// memory, a simulated queue and a virtual clock. It is how the loops prove themselves.
//
// Each step picks among: deliver the next message to some replica, deliver it again, later or to another; crash a
// service between any two of its effects and restart it; wipe the queue, or the bucket of views alone; make an append
// fail, conflict, or succeed and answer failure; stall the projector; take the gateway, the queue or the log away for a
// while; let time go on; let a player move legally, illegally, late, twice with the same key and with another's content,
// from two devices; let a host pause, resume, extend, void. Weights are drawn for each run, some of them zero. Then faults
// stop, and every match must finish.
//
// A run is an installation too: mostly services apart, each with replicas, which share the feed and acknowledge what they
// have done; else one process, as umpire serve is, which dies as a whole.
//
// What happened is kept in a Record, and the checks read that alone: they share no code with what they check. The same
// seed gives the same record, byte for byte.
package sim
