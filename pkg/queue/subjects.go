package queue

import "strings"

// The subjects of request and reply, endpoints of nats.go's micro services.
const (
	Create  = "umpire.create"
	Claim   = "umpire.claim"
	Submit  = "umpire.submit"
	Control = "umpire.control"
	Probe   = "umpire.probe"
	View    = "umpire.view"
	Events  = "umpire.events"
	Matches = "umpire.matches"
)

// The headers of requests. The body is the HTTP call's.
const (
	HeaderToken  = "Umpire-Token"    // the bearer's
	HeaderMatch  = "Umpire-Match"    // the id of the match that the call is about
	HeaderAction = "Umpire-Action"   // of a control: pause, resume, extend, void, reissue
	HeaderKey    = "Idempotency-Key" // the client's, for a submission
	HeaderBase   = "Umpire-Base"     // the address that links begin with
)

// HeaderPosition is the log's position of a commit in the feed.
const HeaderPosition = "Umpire-Position"

// HeaderPrevious is the position of the commit that comes before it in the log, 0 for the log's first: who has not seen
// that one knows that something is missing.
const HeaderPrevious = "Umpire-Previous"

// HeaderRevision is the revision of the first event of a commit in the feed.
const HeaderRevision = "Umpire-Revision"

// Stream and bucket names.
const (
	FeedStream  = "FEED"
	ViewsBucket = "VIEWS"
)

// feedSubjects is what the FEED stream holds.
const feedSubjects = "feed.>"

// FeedSubject is where the commits of a log's stream go: "match-abc" to "feed.match.abc".
func FeedSubject(stream string) string { return "feed." + strings.Replace(stream, "-", ".", 1) }

// StreamOf is the log's stream whose commits go to a subject of the feed.
func StreamOf(subject string) (stream string, ok bool) {
	kind, id, ok := strings.Cut(strings.TrimPrefix(subject, "feed."), ".")
	return kind + "-" + id, ok && strings.HasPrefix(subject, "feed.")
}

// DeadLetters is where commits go that a service can't deal with, each told of by a letter without its content.
func DeadLetters(service string) string { return "umpire.dead." + service }

// PublicSubject carries a match's public feed, one message an event.
func PublicSubject(match string) string { return "public." + match }

// TickSubject tells that a revision of a match has been projected.
func TickSubject(match string) string { return "tick." + match }

// AllTicks are the ticks of every match; MatchOfTick takes the match out of one's subject.
const AllTicks = "tick.*"

// MatchOfTick returns the match that a tick is about.
func MatchOfTick(subject string) string { return strings.TrimPrefix(subject, "tick.") }

// ViewSubject is where a match's public view is republished from its bucket.
func ViewSubject(match string) string { return "view." + match }
