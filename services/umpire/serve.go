package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"umpire/pkg/games"
	"umpire/services/client"
	"umpire/services/demo"
	"umpire/services/serve"
)

// serveCmd is `umpire serve`.
type serveCmd struct {
	dataFlags
	outsideFlags
	HTTP         string `help:"Address to listen at." default:"127.0.0.1:8080" name:"http"`
	Admin        string `help:"Address of /metrics and pprof, for those who run umpire; nowhere unless told." placeholder:"ADDR"`
	PublicURL    string `help:"The address that players' links begin with; that of the request unless told." placeholder:"URL"`
	Demo         bool   `help:"Play matches by bots, with a seat left to you."`
	InsecureSeed bool   `help:"Take seeds from set-ups, for tests; it is shown in public." hidden:""`
	Verbose      bool   `help:"Log more." short:"v"`
}

// Help shows examples.
func (serveCmd) Help() string {
	return `Examples:
  umpire serve --demo
  umpire serve --data /var/lib/umpire --http :8080 --public-url https://umpire.example

The first start writes the master key and an operator's token into the data folder. Back the master key up: without it
the log can't be read.`
}

// Run serves until the context ends.
func (c serveCmd) Run(ctx context.Context, io stdio) error {
	log := (&processFlags{Verbose: c.Verbose}).logger(io.err)
	program, err := serve.Start(ctx, serve.Options{
		Data: c.Data, HTTP: c.HTTP, Admin: c.Admin, LogURL: c.Log, NATS: c.outside(), MasterKey: c.MasterKey,
		Base: c.PublicURL, InsecureSeed: c.InsecureSeed, Log: log,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, `umpire is running.

  look            %s
  operator token  %s
  master key      %s   (back it up: without it the log can't be read)

Ctrl-C stops it; it goes on where it was.
`, program.URL(), program.OperatorTokenPath(), program.MasterKeyPath())
	if c.Demo {
		if err := startDemo(ctx, program, io, log); err != nil {
			return errors.Join(err, program.Stop())
		}
	}
	err = program.Wait(ctx)
	if stopErr := program.Stop(); err == nil {
		err = stopErr
	}
	return err
}

const (
	demoTables = 4
	demoPace   = 3 * time.Second
)

// startDemo begins to play matches by bots, until the context ends.
func startDemo(ctx context.Context, program *serve.Program, io stdio, log *slog.Logger) error {
	token, err := os.ReadFile(program.OperatorTokenPath())
	if err != nil {
		return fmt.Errorf("the operator's token can't be read: %w", err)
	}
	d := &demo.Demo{
		Client: &client.Client{Base: program.URL(), Token: strings.TrimSpace(string(token))},
		Games:  games.All(), Setup: demo.Setup, Tables: demoTables, Pace: demoPace, Log: log,
		Seat: func(game, link string) {
			fmt.Fprintf(io.out, "\nA seat at %s is yours; whoever opens it first has it:\n  %s\n", game, link)
		},
	}
	go func() {
		if err := d.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error("the demo ended", "error", err)
		}
	}()
	return nil
}
