package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"umpire/pkg/event"
	"umpire/pkg/eventlog/esdblog"
	"umpire/pkg/eventlog/esdblog/esdbtest"
	"umpire/pkg/games"
	"umpire/pkg/journal"
	"umpire/services/client"
	"umpire/services/serve"
	"umpire/services/servicestest"
)

// asDouble makes a test binary the double of EventStoreDB, at the address that it holds, with its file behind a space
// and the seed of its faults behind another.
const asDouble = "UMPIRE_TEST_AS_DOUBLE"

// rare are the odds of the double's faults beside real kills: each call and each event may meet them.
var rare = map[esdbtest.Fault]float64{
	esdbtest.Delay: 0.01, esdbtest.LostAnswer: 0.002, esdbtest.FalseConflict: 0.002, esdbtest.SpuriousConflict: 0.002,
	esdbtest.CutRead: 0.001, esdbtest.DropLoudly: 0.0002, esdbtest.DropSilently: 0.0001, esdbtest.Repeat: 0.001,
	esdbtest.Unavailable: 0.001,
}

func double() {
	words := strings.Fields(os.Getenv(asDouble))
	s, err := esdbtest.Start(words[0], esdbtest.Durable(words[1]))
	if err != nil {
		fmt.Fprintln(os.Stderr, "the double:", err)
		os.Exit(exitFault)
	}
	if seed, _ := strconv.ParseUint(words[2], 10, 64); seed != 0 {
		s.Hostile(seed, rare)
	}
	select {}
}

// process is one part of a system, in a process of its own.
type process struct {
	name string
	make func() *exec.Cmd
	log  io.Writer

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// start starts it; env is added to its environment.
func (p *process) start(t *testing.T, env ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd, done := p.make(), make(chan struct{})
	if len(env) > 0 {
		cmd.Env = append(cmd.Environ(), env...)
	}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	require.NoError(t, cmd.Start(), p.name)
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	p.cmd, p.done = cmd, done
}

// kill ends it as a power cut would.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// ended is closed when the process that runs now has ended.
func (p *process) ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// system is an installation of services in processes of their own, on a NATS server and a double of EventStoreDB in
// processes of theirs.
type system struct {
	t        *testing.T
	dir      string
	nats     string // the address
	esdb     string
	gateways []string // addresses
	admin    map[string]string
	parts    []*process
	byName   map[string]*process
	operator *client.Client
}

// plan says how large a system is.
type plan struct {
	replicas int
	hostile  uint64 // the seed of the double's faults; 0 for none
}

// newSystem prepares a system; nothing runs yet.
func newSystem(t *testing.T, p plan) *system {
	t.Helper()
	s := &system{t: t, dir: t.TempDir(), admin: map[string]string{}, byName: map[string]*process{}}
	s.nats, s.esdb = servicestest.Address(t), servicestest.Address(t)
	_, operator, err := serve.Init(s.dir, time.Now())
	require.NoError(t, err)
	s.add("nats", s.natsServer(t))
	s.add("esdb", func() *exec.Cmd {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), theDouble())
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", asDouble, s.esdb, filepath.Join(s.dir, "esdb.log"), p.hostile))
		return cmd
	})
	for i := range p.replicas {
		gateway := servicestest.Address(t)
		s.gateways = append(s.gateways, gateway)
		s.service(t, serve.Gateway, i, "--http", gateway)
	}
	for _, name := range []string{serve.Submission, serve.Resolver, serve.Projector, serve.Relay, serve.Timer} {
		for i := range p.replicas {
			var more []string
			if name == serve.Timer {
				more = []string{"--gateway", "http://" + s.gateways[i]}
			}
			s.service(t, name, i, more...)
		}
	}
	token, err := os.ReadFile(operator)
	require.NoError(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	s.operator = &client.Client{
		Base: "http://gateway", Token: strings.TrimSpace(string(token)),
		HTTP: &http.Client{Transport: &balancer{gateways: s.gateways, transport: transport}},
	}
	return s
}

// balancer sends each request to one of the gateways, in turn.
type balancer struct {
	gateways  []string
	transport *http.Transport
	next      atomic.Uint64
}

// RoundTrip implements http.RoundTripper.
func (b *balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Host = b.gateways[b.next.Add(1)%uint64(len(b.gateways))]
	return b.transport.RoundTrip(r)
}

func (s *system) add(name string, command func() *exec.Cmd) *process {
	file, err := os.Create(filepath.Join(s.dir, name+".out"))
	require.NoError(s.t, err)
	p := &process{name: name, make: command, log: file}
	s.t.Cleanup(func() { p.kill(); file.Close() })
	s.parts = append(s.parts, p)
	s.byName[name] = p
	return p
}

func (s *system) service(t *testing.T, name string, replica int, more ...string) {
	t.Helper()
	full := fmt.Sprintf("%s-%d", name, replica+1)
	s.admin[full] = servicestest.Address(t)
	args := append([]string{name, "--admin", s.admin[full], "--nats", "nats://" + s.nats}, more...)
	if name != serve.Gateway {
		args = append(args, "--log", s.logURL(), "--data", s.dir)
	}
	s.add(full, func() *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), programWithPoints(), args...)
	})
}

func (s *system) logURL() string { return "esdb://" + s.esdb + "?tls=false" }

// built is where the program and the server are built that systems consist of; TestMain removes it.
var built string

// build builds a command into built, once.
func build(name string, command ...string) func() string {
	return sync.OnceValue(func() string {
		path := filepath.Join(built, name)
		cmd := exec.CommandContext(context.Background(), "go", slices.Insert(command, len(command)-1, "-o", path)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("%s can't be built: %s", name, out))
		}
		return path
	})
}

// What systems are made of, all of it without the race detector, which the tests of each package have: the program with
// its fault points, the double, and the real NATS server, of the module that the project requires anyway.
var (
	programWithPoints = build("umpire", "build", "-tags", "faultpoints", ".")
	theDouble         = build("double", "test", "-c", ".")
	realNATS          = build("nats-server", "build", "github.com/nats-io/nats-server/v2")
)

// tool runs a command of the program on this system, as an operator would.
func (s *system) tool(t *testing.T, command ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programWithPoints(),
		append(command, "--log", s.logURL(), "--nats", "nats://"+s.nats, "--data", s.dir)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

const natsConfig = `
listen: %s
max_payload: 1114112
jetstream { store_dir: "%s" }
`

func (s *system) natsServer(t *testing.T) func() *exec.Cmd {
	t.Helper()
	config := filepath.Join(s.dir, "nats.conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, natsConfig, s.nats, s.jetStreamDir()), 0o600))
	return func() *exec.Cmd {
		return exec.CommandContext(context.WithoutCancel(t.Context()), realNATS(), "-c", config)
	}
}

func (s *system) jetStreamDir() string { return filepath.Join(s.dir, "jetstream") }

// startAll starts everything, in the order that the draw gives.
func (s *system) startAll(draw *rand.Rand) {
	for _, i := range draw.Perm(len(s.parts)) {
		s.parts[i].start(s.t)
	}
}

// ready reports which services do not say that they can do their work, and why.
func (s *system) ready(ctx context.Context) error {
	var missing []error
	for name, address := range s.admin {
		if err := s.asks(ctx, address, "/readyz"); err != nil {
			missing = append(missing, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(missing...)
}

// asks asks those who tell how a service fares; what is not well is an error.
func (s *system) asks(ctx context.Context, address, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	require.NoError(s.t, err)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", body)
	}
	return err
}

// awaitReady waits until all services are ready.
func (s *system) awaitReady() {
	s.t.Helper()
	var why error
	for late := time.Now().Add(time.Minute); time.Now().Before(late); {
		if why = s.ready(s.t.Context()); why == nil {
			return
		}
		wait(s.t.Context())
	}
	require.NoError(s.t, why, "the system does not get ready")
}

// told returns what a process has written, for a failure's message.
func (s *system) told(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name+".out"))
	return name + ":\n" + string(text[max(0, len(text)-4000):])
}

// stopAll asks all services to end, and then ends NATS; the log stays for those who look at it.
func (s *system) stopAll() {
	for _, p := range s.parts {
		if p.name != "esdb" && p.name != "nats" {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	for _, p := range s.parts {
		if p.name != "esdb" && p.name != "nats" {
			<-p.ended()
		}
	}
}

// openJournal reads the log as an audit would, with a program of its own.
func (s *system) openJournal(t *testing.T) (*journal.Journal, *event.Vault) {
	t.Helper()
	log, err := esdblog.Open(t.Context(), s.logURL())
	require.NoError(t, err)
	t.Cleanup(func() { log.Close() })
	vault := vaultIn(t, s.dir)
	return journal.New(log, games.All(), vault, nil), vault
}
