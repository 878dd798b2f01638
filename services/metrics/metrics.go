// Package metrics holds what umpire's processes count and measure, for Prometheus. Labels tell of services, endpoints and
// codes alone: never of a match, a player or what was played.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

var (
	registry = prometheus.NewRegistry()
	factory  = promauto.With(registry)
)

// seconds are the bounds of durations, from a tenth of a millisecond on.
var seconds = prometheus.ExponentialBuckets(0.0001, 2.5, 14)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return factory.NewCounterVec(prometheus.CounterOpts{Namespace: "umpire", Name: name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return factory.NewGaugeVec(prometheus.GaugeOpts{Namespace: "umpire", Name: name, Help: help}, labels)
}

func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return factory.NewHistogramVec(prometheus.HistogramOpts{Namespace: "umpire", Name: name, Help: help, Buckets: seconds}, labels)
}

// What the processes count.
var (
	BuildInfo        = gauge("build_info", "1, with the version of the program.", "version")
	Ready            = gauge("ready", "1 while a service can do its work.", "service")
	LogHead          = gauge("log_head", "Position of the log's newest commit.", "service")
	FeedPosition     = gauge("feed_position", "Position up to which a service has got.", "service")
	CommitsHandled   = counter("commits_handled_total", "Commits that a service has dealt with.", "service")
	CommitFailures   = counter("commit_failures_total", "Tries to deal with a commit that failed.", "service")
	DeadLetters      = counter("dead_letters_total", "Commits that no try can deal with.", "service", "code")
	ConsumerRestarts = counter("consumer_restarts_total", "Times that a service took up its consumer anew.", "service")
	Requests         = counter("requests_total", "Requests answered.", "endpoint", "status")
	RequestSeconds   = histogram("request_seconds", "How long requests took.", "endpoint")
	Pending          = gauge("deadlines_pending", "Matches that have a deadline.").WithLabelValues()
	Fired            = counter("deadlines_fired_total", "Deadlines that were appended.").WithLabelValues()
	Lateness         = histogram("deadline_lateness_seconds", "From a deadline to its event in the log.").WithLabelValues()
	ProbeFailures    = counter("probe_failures_total", "Probes that did not come back.").WithLabelValues()
	Outages          = counter("outages_total", "Outages that were given back to clocks.").WithLabelValues()
	StreamsOpen      = gauge("streams_open", "Readers of a gateway's streams.").WithLabelValues()
	ViewsPut         = counter("views_put_total", "Views that were put into their bucket.").WithLabelValues()
)

func init() {
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
}

// Handler answers /metrics.
func Handler() http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
}

// Version tells which version of the program this is.
func Version(version string) { BuildInfo.WithLabelValues(version).Set(1) }

// Flag is 1 for true.
func Flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
