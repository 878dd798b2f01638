package eventlogtest

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"umpire/pkg/eventlog"
)

// model plays random calls on the log and on a list of commits, which must agree after each.
func model(t *testing.T, h Harness) {
	t.Helper()
	log := h.Open(t)
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		require.NoError(t, checks.Value.Set("30")) // each run draws others; -rapid.checks asks for more
		defer func() { require.NoError(t, checks.Value.Set(checks.DefValue)) }()
	}
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{t: t, h: h, log: log, ctx: patient(t), chains: map[string]*Chain{}}
		m.start = head(m.ctx, r, m.log)
		for range 3 {
			chain := newChain()
			m.streams = append(m.streams, chain.Stream)
			m.chains[chain.Stream] = chain
		}
		r.Repeat(map[string]func(*rapid.T){
			"append": m.append,
			"wrong":  m.wrong,
			"repeat": m.repeat,
			"alter":  m.alter,
			"read":   m.read,
			"follow": m.follow,
			"reopen": m.reopen,
		})
		log = m.log
	})
}

// machine is the model, simple enough to be seen to be right: all commits in the order of their positions.
type machine struct {
	t       *testing.T
	h       Harness
	log     eventlog.Log
	ctx     context.Context
	start   uint64
	streams []string
	chains  map[string]*Chain
	commits []eventlog.Commit
}

func (m *machine) of(stream string) []eventlog.Commit {
	var own []eventlog.Commit
	for _, c := range m.commits {
		if c.Stream == stream {
			own = append(own, c)
		}
	}
	return own
}

func (m *machine) head(stream string) int64 {
	own := m.of(stream)
	if len(own) == 0 {
		return eventlog.NoStream
	}
	return int64(own[len(own)-1].Last()) //nolint:gosec // small
}

func (m *machine) draw(r *rapid.T) string { return rapid.SampledFrom(m.streams).Draw(r, "stream") }

// some draws a commit that stands, and skips the step where none does.
func (m *machine) some(r *rapid.T) eventlog.Commit {
	if len(m.commits) == 0 {
		r.Skip("the log is empty")
	}
	return rapid.SampledFrom(m.commits).Draw(r, "commit")
}

func (m *machine) append(r *rapid.T) {
	stream := m.draw(r)
	events := m.chains[stream].Next(rapid.IntRange(1, 5).Draw(r, "events"))
	c := mustAppend(m.ctx, r, m.log, stream, m.head(stream), events...)
	if len(m.commits) > 0 {
		require.Greater(r, c.Position, m.commits[len(m.commits)-1].Position)
	}
	m.commits = append(m.commits, c)
	require.GreaterOrEqual(r, head(m.ctx, r, m.log), c.Position)
}

func (m *machine) wrong(r *rapid.T) {
	stream := m.draw(r)
	actual := m.head(stream)
	expected := rapid.Int64Range(eventlog.NoStream, actual+3).Filter(func(n int64) bool { return n != actual }).Draw(r, "expected")
	events := m.chains[stream].Next(1)
	_, err := m.log.Append(m.ctx, stream, expected, events...)
	requireConflict(r, err, stream, expected, actual)
	if rapid.Bool().Draw(r, "again") {
		m.commits = append(m.commits, mustAppend(m.ctx, r, m.log, stream, actual, events...))
	}
}

func (m *machine) repeat(r *rapid.T) {
	c := m.some(r)
	expected := rapid.Int64Range(eventlog.NoStream, m.head(c.Stream)+2).Draw(r, "expected")
	got, err := m.log.Append(m.ctx, c.Stream, expected, c.Events...)
	require.NoError(r, err)
	requireSame(r, []eventlog.Commit{c}, []eventlog.Commit{got})
}

func (m *machine) alter(r *rapid.T) {
	c := m.some(r)
	expected := rapid.Int64Range(eventlog.NoStream, m.head(c.Stream)+2).Draw(r, "expected")
	events := append(slices.Clone(c.Events), m.chains[c.Stream].Next(1)...)
	if len(c.Events) > 1 && rapid.Bool().Draw(r, "fewer") {
		events = c.Events[:len(c.Events)-1]
	}
	_, err := m.log.Append(m.ctx, c.Stream, expected, events...)
	require.ErrorIs(r, err, eventlog.ErrInvalid)
}

func (m *machine) read(r *rapid.T) {
	stream := m.draw(r)
	from := rapid.Uint64Range(0, uint64(m.head(stream)+3)).Draw(r, "from") //nolint:gosec // at least 2
	var want []eventlog.Commit
	for _, c := range m.of(stream) {
		if c.Last() >= from {
			want = append(want, c)
		}
	}
	requireSame(r, want, read(m.ctx, r, m.log, stream, from))
}

func (m *machine) follow(r *rapid.T) {
	after, want := m.start, m.commits
	if len(m.commits) > 0 && rapid.Bool().Draw(r, "midway") {
		i := rapid.IntRange(0, len(m.commits)-1).Draw(r, "after")
		after, want = m.commits[i].Position, m.commits[i+1:]
	}
	requireSame(r, want, follow(m.ctx, r, m.log, after, len(want), m.streams...))
}

func (m *machine) reopen(r *rapid.T) {
	if m.h.Reopen == nil || rapid.IntRange(0, 4).Draw(r, "seldom") > 0 {
		r.Skip("not now")
	}
	m.log = m.h.Reopen(m.t, m.log)
}
