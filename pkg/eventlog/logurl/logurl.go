// Package logurl opens a log by its URL, so that programs need not know which logs there are. What it says of a URL,
// errors included, never holds the name and password that stand in it.
package logurl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"umpire/pkg/eventlog"
	"umpire/pkg/eventlog/memlog"
	"umpire/pkg/eventlog/sqlitelog"
)

// ErrURL means that a log was not named in a way that is known: wrong usage, and no fault of the log's.
var ErrURL = errors.New("a log must be sqlite:FILE, memory: (with the colon), esdb://HOST:PORT or esdb+discover://HOST:PORT")

// The kinds of log.
const (
	SQLite       = "sqlite"
	Memory       = "memory"
	EventStoreDB = "esdb"
)

// Remote reports whether a URL names a log that is kept by a server, which may be away.
func Remote(text string) bool {
	u, err := Parse(text)
	return err == nil && u.Kind == EventStoreDB
}

// URL names a log.
type URL struct {
	Kind string
	File string // SQLite's

	text string // whole, with what must not be shown
}

// Parse reads a URL. Its error is ErrURL.
func Parse(text string) (URL, error) {
	kind, rest, colon := strings.Cut(text, ":")
	switch {
	case kind == SQLite && rest != "":
		return URL{Kind: SQLite, File: rest, text: text}, nil
	case kind == Memory && colon && rest == "":
		return URL{Kind: Memory, text: text}, nil
	case (kind == "esdb" || kind == "esdb+discover") && strings.HasPrefix(rest, "//") && len(rest) > len("//"):
		return URL{Kind: EventStoreDB, text: text}, nil
	}
	return URL{}, fmt.Errorf("%w, not %q", ErrURL, Redact(text))
}

// String returns the URL without the name and password in it.
func (u URL) String() string { return Redact(u.text) }

// Open opens the log. The context bounds the opening and not the log's life.
func (u URL) Open(ctx context.Context) (log eventlog.Log, err error) {
	switch u.Kind {
	case SQLite:
		log, err = sqlitelog.Open(u.File)
	case Memory:
		return memlog.New(), nil
	case EventStoreDB:
		log, err = openEventStoreDB(ctx, u.text)
	default:
		return nil, ErrURL
	}
	if err != nil { // and log is then not nil, but a log's nil
		return nil, conceal(err, u.text)
	}
	return log, nil
}

// Open opens the log that a URL names. An error that is ErrURL is wrong usage.
func Open(ctx context.Context, text string) (eventlog.Log, error) {
	u, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return u.Open(ctx)
}

// hidden stands where a name and a password were.
const hidden = "***"

// Redact returns a URL's text, however wrong it is, without the name and password in it. A password may hold any
// character where somebody forgot to escape it, so all goes that stands before the last @.
func Redact(text string) string {
	kind, rest, _ := strings.Cut(text, ":")
	at := strings.LastIndexByte(text, '@')
	if at < 0 || kind == SQLite && !strings.HasPrefix(rest, "//") {
		return text
	}
	scheme, _, found := strings.Cut(text[:at], "://")
	if !found {
		return hidden + text[at:]
	}
	return scheme + "://" + hidden + text[at:]
}

// concealed is an error whose text had to be changed.
type concealed struct {
	error
	text string
}

// Error implements error.
func (c concealed) Error() string { return c.text }

// Unwrap gives the error itself to errors.Is.
func (c concealed) Unwrap() error { return c.error }

// conceal takes a URL's name and password out of what an error says; whoever made it may have quoted the URL, whole or
// in parts, as written or with its escapes resolved.
func conceal(err error, text string) error {
	said := strings.ReplaceAll(err.Error(), text, Redact(text))
	for _, secret := range secrets(text) {
		said = strings.ReplaceAll(said, secret, hidden)
	}
	if said == err.Error() {
		return err
	}
	return concealed{err, said}
}

// secrets lists what may not be said, the longest first.
func secrets(text string) []string {
	_, rest, found := strings.Cut(text, "://")
	at := strings.LastIndexByte(rest, '@')
	if !found || at <= 0 {
		return nil
	}
	out := []string{rest[:at]}
	if resolved, err := url.PathUnescape(rest[:at]); err == nil {
		out = append(out, resolved)
	}
	_, password, _ := strings.Cut(rest[:at], ":")
	if resolved, err := url.PathUnescape(password); err == nil && resolved != "" {
		out = append(out, password, resolved)
	}
	return out
}
