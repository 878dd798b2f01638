// Package serve puts umpire together. Start runs the log, the queue, all services and the gateway in one process, as
// `umpire serve` does; StartService runs one service by itself, beside others on a log and a NATS server that they share.
//
// In one process services follow the log itself. Apart they follow FEED: resolver and projector share a consumer with their
// replicas, timer and list of matches have one of their own, and submission, relay and gateway need none.
package serve
