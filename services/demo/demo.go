// Package demo plays matches by bots through the public API that people use, at a human pace. At one more table of each
// game it leaves a seat to the visitor, and begins when he has taken it.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"umpire/pkg/match"
	"umpire/services/client"
	"umpire/services/feed"
	"umpire/services/problem"
	"umpire/services/submission"
)

// Demo keeps tables going: when a match ends, the next begins.
type Demo struct {
	Client *client.Client // with an operator's token
	Games  match.Catalog
	Setup  func(game string, pick func(int) int) map[string]any // of a match of that game
	Tables int                                                  // matches of bots alone, at once
	Pace   time.Duration                                        // about how long a bot thinks
	Log    *slog.Logger
	// Seat is told of each link that is left to a visitor.
	Seat func(game, link string)
}

// rest is how long a table stays as it ended.
const rest = 10 * time.Second

// Run plays until the context ends.
func (d *Demo) Run(ctx context.Context) error {
	var tables sync.WaitGroup
	defer tables.Wait()
	for table := range d.Tables + len(d.Games) {
		visitor := table >= d.Tables
		tables.Go(func() {
			for i := table; ctx.Err() == nil; i++ {
				game := d.Games[i%len(d.Games)].Name
				if visitor {
					game = d.Games[table-d.Tables].Name
				}
				if err := d.table(ctx, game, visitor); err != nil && ctx.Err() == nil {
					d.Log.Warn("a table of the demo broke off", "game", game, "error", err)
				}
				feed.Pause(ctx, rest)
			}
		})
	}
	tables.Wait()
	return ctx.Err()
}

// table plays one match to its end; with a visitor his seat stays empty until he takes it.
func (d *Demo) table(ctx context.Context, game string, visitor bool) error {
	setup := d.Setup(game, rand.IntN)
	created, err := d.Client.Create(ctx, setup)
	if err != nil {
		return fmt.Errorf("creating a match: %w", err)
	}
	links := []submission.Link{created.Host}
	for i, p := range setup["players"].([]map[string]string) {
		link := created.Players[p["id"]]
		if visitor && i == 0 {
			if d.Seat != nil {
				d.Seat(game, link.Link)
			}
			continue
		}
		links = append(links, link)
	}
	ctx, cancel := context.WithCancel(ctx)
	var seats sync.WaitGroup
	defer seats.Wait()
	defer cancel()
	for _, link := range links {
		seated, err := d.Client.As("").Claim(ctx, link.Claim)
		if err != nil {
			return fmt.Errorf("claiming a seat: %w", err)
		}
		bot := &bot{demo: d, client: d.Client.As(seated.Token), match: seated.Match, id: seated.Player}
		seats.Go(func() { bot.play(ctx) })
	}
	seats.Wait()
	return ctx.Err()
}

// bot plays one seat.
type bot struct {
	demo   *Demo
	client *client.Client
	match  string
	id     string
}

// play follows the match and submits when it is awaited, until the match is over.
func (b *bot) play(ctx context.Context) {
	for ctx.Err() == nil {
		for raw, err := range b.client.Stream(ctx, b.match) {
			if err != nil {
				break
			}
			over, err := b.act(ctx, raw)
			if over || ctx.Err() != nil {
				return
			}
			if err != nil {
				b.demo.Log.Warn("a bot of the demo can't move", "match", b.match, "player", b.id, "error", err)
				break // it looks anew, for no other view may come before it has moved
			}
		}
		feed.Pause(ctx, time.Second)
	}
}

// act submits if the view awaits the bot. It thinks first, as people do.
func (b *bot) act(ctx context.Context, raw json.RawMessage) (over bool, err error) {
	v, err := b.demo.Games.ReadView(raw)
	if err != nil {
		return false, err
	}
	if v.Status == match.Ended || v.Status == match.Void {
		return true, nil
	}
	if !v.Awaits(b.id) {
		return false, nil
	}
	if !feed.Pause(ctx, b.demo.Pace/2+rand.N(b.demo.Pace)) { //nolint:gosec // a bot's thinking needs no good chance
		return true, nil
	}
	move := b.demo.Games.Bot(v, rand.IntN)
	_, err = b.client.Submit(ctx, b.match, v.Phase.No, fmt.Sprint("bot-", v.Revision), move)
	var refused *problem.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return false, nil // the phase went on while it thought
	}
	return false, err
}
