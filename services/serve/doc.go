// Package serve is the whole of umpire in one process: the log, the queue, all services and the gateway, as
// `umpire serve` runs them and as the tests start them.
package serve
