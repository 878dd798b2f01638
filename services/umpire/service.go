package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"umpire/services/serve"
)

// processFlags are those of every long-running process.
type processFlags struct {
	Admin   string `help:"Address of /healthz, /readyz, /metrics and pprof, for those who run umpire." default:"127.0.0.1:9090" placeholder:"ADDR"`
	Verbose bool   `help:"Log more." short:"v"`
}

func (f *processFlags) logger(out io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if f.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}

// serviceFlags are those of a service that reads the log.
type serviceFlags struct {
	dataFlags
	outsideFlags
	processFlags
}

func (f *serviceFlags) options(io stdio) serve.Options {
	return serve.Options{
		Data: f.Data, LogURL: f.Log, MasterKey: f.MasterKey, NATS: f.outside(), Admin: f.Admin, Log: f.logger(io.err),
	}
}

// runService runs one service until the context ends.
func runService(ctx context.Context, name string, o serve.Options, io stdio) error {
	program, err := serve.StartService(ctx, name, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, "umpire %s is running; %s/readyz tells how it fares.\n", name, program.AdminURL())
	err = program.Wait(ctx)
	if stopErr := program.Stop(); err == nil {
		err = stopErr
	}
	return err
}

const serviceExample = `Example:
  umpire %s --log esdb://log:2113?tls=false --nats nats://queue:4222 --master-key /run/secrets/master.key

Run as many as you like, started in any order: each waits for what it needs, and /readyz at --admin tells for what.
All services of an installation share the log, the NATS server and the master key ("umpire init" makes one).`

type (
	submissionCmd struct {
		serviceFlags
		InsecureSeed bool `help:"Take seeds from set-ups, for tests; it is shown in public." hidden:""`
	}
	timerCmd struct {
		serviceFlags
		Gateway string `help:"The gateway that probes go through, as players' submissions do." default:"http://127.0.0.1:8080" placeholder:"URL"`
	}
	resolverCmd  struct{ serviceFlags }
	projectorCmd struct{ serviceFlags }
	relayCmd     struct{ serviceFlags }
	gatewayCmd   struct {
		outsideFlags
		processFlags
		HTTP      string `help:"Address to listen at." default:"127.0.0.1:8080" name:"http"`
		PublicURL string `help:"The address that players' links begin with; that of the request unless told." placeholder:"URL"`
	}
)

// Help shows an example.
func (submissionCmd) Help() string { return fmt.Sprintf(serviceExample, serve.Submission) }

// Run runs the service until the context ends.
func (c submissionCmd) Run(ctx context.Context, io stdio) error {
	o := c.options(io)
	o.InsecureSeed = c.InsecureSeed
	return runService(ctx, serve.Submission, o, io)
}

// Help shows an example.
func (timerCmd) Help() string { return fmt.Sprintf(serviceExample, serve.Timer) }

// Run runs the service until the context ends.
func (c timerCmd) Run(ctx context.Context, io stdio) error {
	o := c.options(io)
	o.Gateway = c.Gateway
	return runService(ctx, serve.Timer, o, io)
}

// Help shows an example.
func (resolverCmd) Help() string { return fmt.Sprintf(serviceExample, serve.Resolver) }

// Run runs the service until the context ends.
func (c resolverCmd) Run(ctx context.Context, io stdio) error {
	return runService(ctx, serve.Resolver, c.options(io), io)
}

// Help shows an example.
func (projectorCmd) Help() string { return fmt.Sprintf(serviceExample, serve.Projector) }

// Run runs the service until the context ends.
func (c projectorCmd) Run(ctx context.Context, io stdio) error {
	return runService(ctx, serve.Projector, c.options(io), io)
}

// Help shows an example.
func (relayCmd) Help() string { return fmt.Sprintf(serviceExample, serve.Relay) }

// Run runs the service until the context ends.
func (c relayCmd) Run(ctx context.Context, io stdio) error {
	return runService(ctx, serve.Relay, c.options(io), io)
}

// Help shows an example.
func (gatewayCmd) Help() string {
	return `Example:
  umpire gateway --http :8080 --public-url https://umpire.example --nats nats://queue:4222

It needs neither the log nor the master key.`
}

// Run runs the service until the context ends.
func (c gatewayCmd) Run(ctx context.Context, io stdio) error {
	return runService(ctx, serve.Gateway, serve.Options{
		HTTP: c.HTTP, Base: c.PublicURL, NATS: c.outside(), Admin: c.Admin, Log: c.logger(io.err),
	}, io)
}

// initCmd is `umpire init`.
type initCmd struct {
	Data string `help:"Folder of the keys." default:"umpire-data" type:"path"`
}

// Run writes what is missing.
func (c initCmd) Run(io stdio) error {
	masterKey, operator, err := serve.Init(c.Data, time.Now())
	if err != nil {
		return err
	}
	fmt.Fprintf(io.out, `operator token  %s
master key      %s   (back it up: without it the log can't be read)
`, operator, masterKey)
	return nil
}

// healthCmd is `umpire health`, for containers that have no other program to ask with.
type healthCmd struct {
	Admin string `help:"The --admin address of the process." default:"127.0.0.1:9090" placeholder:"ADDR"`
	Ready bool   `help:"Ask whether it can do its work, and not only whether it lives."`
}

// healthTime bounds how long the process may take to answer.
const healthTime = 5 * time.Second

// Run asks once.
func (c healthCmd) Run(ctx context.Context, out stdio) error {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	address := c.Admin
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return usageError{fmt.Errorf("%q is no address", c.Admin)}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return err
	}
	fmt.Fprintln(out.out, strings.TrimSpace(string(body)))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return nil
}
