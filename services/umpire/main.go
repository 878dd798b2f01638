// Command umpire is the one program: `umpire serve` is all of it, and the tools stand beside it. `umpire --help` lists
// them with examples.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"umpire/pkg/eventlog/logurl"
	"umpire/pkg/queue"
	"umpire/pkg/rehearsal"
	"umpire/services/metrics"
)

// version is set when the program is built for a release.
var version = ""

// The exit statuses of the program.
const (
	exitWell       = 0
	exitFault      = 1
	exitUsage      = 2
	exitDifference = 3 // an audit or a verification found one
)

func main() {
	metrics.Version(versionShown())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], stdio{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(status)
}

// stdio are the streams that a command talks through.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// cli is the command line.
type cli struct {
	Serve      serveCmd      `cmd:"" help:"Run umpire: the log, the services and the HTTP API, in one process."`
	Init       initCmd       `cmd:"" help:"Write the master key and an operator's token, for services that run by themselves."`
	Submission submissionCmd `cmd:"" help:"Run the service that takes what players and hosts send." group:"services"`
	Timer      timerCmd      `cmd:"" help:"Run the service that says that time is over." group:"services"`
	Resolver   resolverCmd   `cmd:"" help:"Run the service that resolves." group:"services"`
	Projector  projectorCmd  `cmd:"" help:"Run the service that shows matches." group:"services"`
	Relay      relayCmd      `cmd:"" help:"Run the service that copies the log to NATS." group:"services"`
	Gateway    gatewayCmd    `cmd:"" help:"Run the HTTP API." group:"services"`
	Health     healthCmd     `cmd:"" help:"Ask a running process how it fares."`
	Log        logCmd        `cmd:"" help:"Copy a log."`
	Views      viewsCmd      `cmd:"" help:"Make the public views anew, or verify them."`
	Play       playCmd       `cmd:"" help:"Play a match from a script, in virtual time and without a server."`
	Statements statementsCmd `cmd:"" help:"Prepare the statements of Nothing But the Truth."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

const description = `Matches of hidden-information games, refereed: every submission private, every clock fair, every fact provable.

Examples:
  umpire serve --demo          see matches being played, in a minute
  umpire play match.script     rehearse a match`

// run runs one command and returns the program's exit status.
func run(ctx context.Context, args []string, io stdio) (status int) {
	var commands cli
	parser, err := kong.New(&commands, kong.Name("umpire"), kong.Description(description), kong.Writers(io.out, io.err),
		kong.Exit(func(code int) { panic(exited(code)) }), kong.UsageOnError(), kong.DefaultEnvars("UMPIRE"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // the command line's own description is wrong
	}
	defer func() { // --help ends the parsing in the middle
		if code, ok := recover().(exited); ok {
			status = int(code)
		}
	}()
	command, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(io.err, "umpire: %v; umpire --help shows how it is used\n", err)
		return exitUsage
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return report(command.Run(io), io.err)
}

type exited int

// usageError is wrong use that only shows when a command runs.
type usageError struct{ error }

// report writes a command's error and returns the exit status that it asks for.
func report(err error, out io.Writer) int {
	if err == nil {
		return exitWell
	}
	fmt.Fprintf(out, "umpire: %v\n", err)
	var script *rehearsal.ScriptError
	var usage usageError
	if errors.As(err, &script) || errors.As(err, &usage) || errors.Is(err, logurl.ErrURL) || errors.Is(err, queue.ErrOutside) {
		return exitUsage
	}
	if errors.Is(err, errStatements) || errors.Is(err, errLogs) || errors.Is(err, errViews) {
		return exitDifference
	}
	return exitFault
}

// versionCmd is `umpire version`.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(io stdio) error {
	_, err := fmt.Fprintln(io.out, "umpire", versionShown())
	return err
}

// versionShown is the program's version as it is shown.
func versionShown() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
