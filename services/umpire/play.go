package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"umpire/pkg/games"
	"umpire/pkg/rehearsal"
)

// playCmd is `umpire play`.
type playCmd struct {
	Script string     `arg:"" help:"The script, newline-delimited JSON; - is standard input."`
	Events eventsFlag `help:"Print the log's events instead: all of them, or with =AUDIENCE those that \"public\", \"host\" or a player may see." placeholder:"AUDIENCE" xor:"form"`
	Trace  bool       `help:"Tell people what each step brings, instead of answers for programs." xor:"form"`
}

// Help shows what a script looks like.
func (playCmd) Help() string {
	return `The first line of a script is the set-up, every other one a step:

  {"setup": {"game": "glass-full", "players": [{"id": "ada", "name": "Ada"}, {"id": "bob", "name": "Bob"}], "roles": {"dmo": "ada"}}}
  {"at": "3s", "as": "ada", "submit": {"type": "pick-starter", "player": "bob"}}
  {"at": "70s", "view": "public"}

Each line is answered by one line of JSON. Exit status 2: the script is not understood.`
}

// Run plays the script.
func (c playCmd) Run(ctx context.Context, io stdio) (err error) {
	script := io.in
	if c.Script != "-" {
		file, err := os.Open(c.Script)
		if err != nil {
			return usageError{fmt.Errorf("the script can't be read: %w", errors.Unwrap(err))}
		}
		defer file.Close()
		script = file
	}
	out := bufio.NewWriter(io.out)
	defer func() { err = errors.Join(err, out.Flush()) }()
	err = rehearsal.Play(ctx, script, out, rehearsal.Options{
		Games: games.All(), Entropy: rand.Reader, Events: string(c.Events), Trace: c.Trace,
	})
	if errors.Is(err, rehearsal.ErrAudience) {
		return usageError{err}
	}
	return err
}

// eventsFlag is --events, with or without an audience.
type eventsFlag string

// IsBool tells kong that the flag may stand without a value.
func (*eventsFlag) IsBool() bool { return true }

// Decode implements kong.MapperValue.
func (e *eventsFlag) Decode(ctx *kong.DecodeContext) error { //nolint:unparam // the interface wants it
	*e = rehearsal.EventsAll
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*e = eventsFlag(ctx.Scan.Pop().String())
	}
	return nil
}
