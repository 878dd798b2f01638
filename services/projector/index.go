package projector

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"umpire/pkg/eventlog"
	"umpire/pkg/match"
)

// Summary is what the list of matches tells of one: public facts only.
type Summary struct {
	Match    string         `json:"match"`
	Game     string         `json:"game"`
	Title    string         `json:"title"`
	Status   match.Status   `json:"status"`
	Revision int64          `json:"revision"`
	Players  []match.Player `json:"players"`
	Updated  time.Time      `json:"updated"`
}

// index holds the summaries of listed matches, oldest first.
type index struct {
	mu    sync.RWMutex
	known map[string]bool // also the unlisted
	rows  []row
	place map[string]int // of a listed match in rows
}

type row struct {
	Summary
	position uint64 // of the commit that it was first seen with: rises from row to row
}

func (x *index) has(id string) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.known[id]
}

func (x *index) note(m *match.Match, commit *eventlog.Commit) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.known == nil {
		x.known, x.place = map[string]bool{}, map[string]int{}
	}
	first := !x.known[m.ID()]
	x.known[m.ID()] = true
	if !m.Options().Listed {
		return
	}
	s := Summary{
		Match: m.ID(), Game: m.Game().Name, Title: m.Title(), Status: m.Status(), Revision: m.Revision(),
		Players: m.Seats(), Updated: m.At(),
	}
	if !first {
		if at := x.place[m.ID()]; x.rows[at].Revision <= s.Revision {
			x.rows[at].Summary = s
		}
		return
	}
	// Workers deal with matches side by side, so a new one may be seen a little out of order.
	at, _ := slices.BinarySearchFunc(x.rows, commit.Position, func(r row, p uint64) int { return cmp.Compare(r.position, p) })
	x.rows = slices.Insert(x.rows, at, row{s, commit.Position})
	for i := at; i < len(x.rows); i++ {
		x.place[x.rows[i].Match] = i
	}
}

// ListQuestion asks for summaries.
type ListQuestion struct {
	Status string `json:"status,omitempty"`
	Game   string `json:"game,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// List is a page of summaries, newest first.
type List struct {
	Matches []Summary `json:"matches"`
	Cursor  string    `json:"cursor,omitempty"` // of the next page; absent on the last
}

const (
	usualLimit = 50
	mostLimit  = 200
)

// Matches returns the summaries of listed matches.
func (s *Service) Matches(_ context.Context, q *ListQuestion) (any, error) {
	limit := q.Limit
	if limit == 0 {
		limit = usualLimit
	}
	if limit < 1 || limit > mostLimit {
		return nil, match.Malformed("\"limit\" must be from 1 to %d", mostLimit)
	}
	before := uint64(1) << 63
	if q.Cursor != "" {
		var err error
		if before, err = strconv.ParseUint(q.Cursor, 36, 64); err != nil {
			return nil, match.Malformed("\"cursor\" is none that was given out")
		}
	}
	switch match.Status(q.Status) {
	case "", match.Waiting, match.Running, match.Paused, match.Ended, match.Void:
	default:
		return nil, match.Malformed("\"status\" must be waiting, running, paused, ended or void")
	}
	return s.index.list(q, limit, before), nil
}

func (x *index) list(q *ListQuestion, limit int, before uint64) *List {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := &List{Matches: []Summary{}}
	for i := len(x.rows) - 1; i >= 0; i-- {
		r := &x.rows[i]
		if r.position >= before || q.Status != "" && string(r.Status) != q.Status || q.Game != "" && r.Game != q.Game {
			continue
		}
		if len(out.Matches) == limit {
			out.Cursor = strconv.FormatUint(x.rows[x.place[out.Matches[limit-1].Match]].position, 36)
			break
		}
		out.Matches = append(out.Matches, r.Summary)
	}
	return out
}
