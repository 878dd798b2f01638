package services_test

import (
	"context"
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What docker-compose.yml and deploy/ promise, as far as it shows without a Docker daemon: the Compose file is loaded by
// the loader of Compose itself, and what it names must be there. deploy_queue_test.go starts a server with nats.conf, and
// deploy_watch_test.go reads what Prometheus and Grafana are given. deploy/runbook.md says what nothing here can show.

// deployment is docker-compose.yml as Compose understands it, without an .env of the machine's.
var deployment = sync.OnceValues(func() (*types.Project, error) {
	dir, err := root()
	if err != nil {
		return nil, err
	}
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "docker-compose.yml")}},
		Environment: types.Mapping{},
	})
})

func compose(t *testing.T) *types.Project {
	t.Helper()
	p, err := deployment()
	require.NoError(t, err)
	return p
}

// ours says whether a container runs umpire.
func ours(s *types.ServiceConfig) bool { return strings.HasPrefix(s.Image, "umpire:") }

// tagged is an image with a version; `latest` is another one every month.
var tagged = regexp.MustCompile(`^[a-z0-9./-]+:(\d+\.\d+|v\d+\.\d+|nonroot|dev)[\w.-]*$`)

// checkHardened complains of what a container may do and need not.
func checkHardened(s *types.ServiceConfig) []string {
	var out []string
	want := func(ok bool, what string) {
		if !ok {
			out = append(out, s.Name+": "+what)
		}
	}
	want(s.ReadOnly, "its file system can be written to")
	want(slices.Equal(s.CapDrop, []string{"ALL"}) && len(s.CapAdd) == 0 && !s.Privileged, "it keeps capabilities")
	want(slices.Contains(s.SecurityOpt, "no-new-privileges:true"), "it can gain privileges")
	user, _, _ := strings.Cut(s.User, ":")
	want(user != "" && user != "0" && user != "root", "it runs as root")
	want(s.ContainerName == "", "a name of its own allows one replica only")
	want(tagged.MatchString(s.Image), "its image "+s.Image+" has no version")
	want(s.Logging != nil && s.Logging.Options["max-size"] != "", "its output fills the disk")
	once := s.Restart == "no"
	want(once || s.Restart == "unless-stopped", "it does not come back")
	disabled := s.HealthCheck != nil && s.HealthCheck.Disable
	want(once || !disabled && (s.HealthCheck != nil || ours(s)), "nobody asks how it is")
	limited := s.Deploy != nil && s.Deploy.Resources.Limits != nil
	want(limited && s.Deploy.Resources.Limits.MemoryBytes > 0 && s.Deploy.Resources.Limits.NanoCPUs > 0 &&
		s.Deploy.Resources.Limits.Pids > 0, "it may take the whole machine")
	for _, p := range s.Ports {
		want(p.HostIP == "127.0.0.1" || s.Name == "gateway", "it listens to the world at "+p.Published)
	}
	for _, v := range s.Volumes {
		want(v.Type != types.VolumeTypeBind || v.ReadOnly, "it can change "+v.Source+" of the host")
	}
	return out
}

func TestContainersAreHardened(t *testing.T) {
	p := compose(t)
	services := slices.Sorted(maps.Keys(p.Services))
	for _, want := range []string{
		"submission", "timer", "resolver", "projector", "relay", "gateway", "nats", "eventstore", "prometheus", "grafana",
	} {
		assert.Contains(t, services, want)
	}
	for _, name := range services {
		s := p.Services[name]
		report(t, checkHardened(&s))
	}
}

// TestHardeningChecksTellGoodFromBad loosens a container, one thing at a time.
func TestHardeningChecksTellGoodFromBad(t *testing.T) {
	for want, loosen := range map[string]func(s *types.ServiceConfig){
		"":                     func(*types.ServiceConfig) {},
		"can be written to":    func(s *types.ServiceConfig) { s.ReadOnly = false },
		"keeps capabilities":   func(s *types.ServiceConfig) { s.CapAdd = []string{"NET_ADMIN"} },
		"gain privileges":      func(s *types.ServiceConfig) { s.SecurityOpt = nil },
		"runs as root":         func(s *types.ServiceConfig) { s.User = "0:65532" },
		"one replica only":     func(s *types.ServiceConfig) { s.ContainerName = "queue" },
		"has no version":       func(s *types.ServiceConfig) { s.Image = "nats:latest" },
		"fills the disk":       func(s *types.ServiceConfig) { s.Logging = nil },
		"does not come back":   func(s *types.ServiceConfig) { s.Restart = "" },
		"asks how it is":       func(s *types.ServiceConfig) { s.HealthCheck = nil },
		"the whole machine":    func(s *types.ServiceConfig) { s.Deploy = nil },
		"listens to the world": func(s *types.ServiceConfig) { s.Ports = []types.ServicePortConfig{{Published: "4222"}} },
		"change /etc of": func(s *types.ServiceConfig) {
			s.Volumes = []types.ServiceVolumeConfig{{Type: types.VolumeTypeBind, Source: "/etc"}}
		},
	} {
		s := compose(t).Services["nats"]
		loosen(&s)
		expect(t, want, checkHardened(&s))
	}
}

// TestSecretsGoWhereTheyAreNeeded: what a player can reach has neither the log nor the key that opens it.
func TestSecretsGoWhereTheyAreNeeded(t *testing.T) {
	p := compose(t)
	with := func(has func(s *types.ServiceConfig) bool) (names []string) {
		for _, name := range slices.Sorted(maps.Keys(p.Services)) {
			if s := p.Services[name]; has(&s) {
				names = append(names, name)
			}
		}
		return names
	}
	on := func(network string) func(*types.ServiceConfig) bool {
		return func(s *types.ServiceConfig) bool { _, ok := s.Networks[network]; return ok }
	}
	writes := func(v types.ServiceVolumeConfig) bool { return v.Source == "keys" && !v.ReadOnly }
	assert.Equal(t, []string{"init", "projector", "resolver", "submission", "timer"}, with(func(s *types.ServiceConfig) bool {
		return slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Source == "keys" })
	}), "who has the master key")
	assert.Equal(t, []string{"init"}, with(func(s *types.ServiceConfig) bool {
		return slices.ContainsFunc(s.Volumes, writes)
	}), "who may change it")
	assert.Equal(t, []string{"eventstore", "projector", "prometheus", "relay", "resolver", "submission", "timer"}, with(on("log")))
	assert.Equal(t, []string{"gateway", "grafana", "nats", "prometheus"}, with(on("edge")))
	for name, network := range p.Networks {
		assert.Equal(t, name != "edge", network.Internal, name)
	}
	password := regexp.MustCompile(`(?i)password|secret|token`)
	for name, s := range p.Services {
		for variable, value := range s.Environment {
			if password.MatchString(variable) && value != nil {
				assert.Regexp(t, `^/run/secrets/`, *value, "%s tells %s in its environment", name, variable)
			}
		}
	}
}

// TestMountedFilesExist: Docker would make an empty folder of what is missing.
func TestMountedFilesExist(t *testing.T) {
	p := compose(t)
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				assert.True(t, exists(v.Source), "%s mounts %s", name, v.Source)
			}
		}
		for _, file := range s.EnvFiles {
			assert.True(t, exists(file.Path), "%s reads %s", name, file.Path)
		}
		if s.Build != nil {
			assert.True(t, exists(filepath.Join(s.Build.Context, s.Build.Dockerfile)), name)
		}
	}
	_, err := p.WithServicesEnvironmentResolved(false)
	require.NoError(t, err)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestVersionsAgree: what CI checks a configuration with is what reads it.
func TestVersionsAgree(t *testing.T) {
	p := compose(t)
	version := func(file, module string) string {
		found := regexp.MustCompile(regexp.QuoteMeta(module) + ` v(\S+)`).FindStringSubmatch(read(t, file))
		require.NotNil(t, found, module)
		return found[1]
	}
	assert.Equal(t, "nats:"+version("pkg/go.mod", "github.com/nats-io/nats-server/v2")+"-alpine", p.Services["nats"].Image)
	// Prometheus 3.0's module is 0.300. Newer ones would bring their own gRPC with them, which the log speaks; a query that
	// 3.0 reads is read by every 3.x.
	assert.Contains(t, p.Services["prometheus"].Image, ":v"+version("services/go.mod", "github.com/prometheus/prometheus")[2:3]+".")
	assert.Contains(t, read(t, "deploy/eventstore/eventstore.env"), "\nEVENTSTORE_MAX_APPEND_SIZE=4194304\n")
}

// TestExampleEnvironment: the example names every setting of the Compose file, with the value that it has anyhow.
func TestExampleEnvironment(t *testing.T) {
	setting := regexp.MustCompile(`\$\{(\w+):-([^}]*)\}`)
	var want, have []string
	for _, found := range setting.FindAllStringSubmatch(read(t, "docker-compose.yml"), -1) {
		want = append(want, found[1]+"="+found[2])
	}
	for line := range strings.Lines(read(t, "deploy/example.env")) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			have = append(have, line)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	assert.Equal(t, slices.Compact(want), have)
}

// TestTheProgram builds umpire as the image does: it needs no library, for the image has none, and each command knows
// every flag and variable that its container is given.
func TestTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	umpire := filepath.Join(t.TempDir(), "umpire")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", umpire, "./umpire")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Run("needs no library", func(t *testing.T) { checkStatic(t, umpire) })

	help := func(command string) string {
		out, err := exec.CommandContext(t.Context(), umpire, command, "--help").CombinedOutput()
		require.NoError(t, err, "umpire %s --help: %s", command, out)
		return string(out)
	}
	for name, s := range compose(t).Services {
		if !ours(&s) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			require.NotEmpty(t, s.Command)
			text := help(s.Command[0])
			for _, flag := range s.Command[1:] {
				if strings.HasPrefix(flag, "--") {
					assert.Contains(t, text, flag)
				}
			}
			for variable := range s.Environment {
				if strings.HasPrefix(variable, "UMPIRE_") {
					assert.Regexp(t, `\$`+variable+`\b`, text)
				}
			}
		})
	}
	text := help("health")
	assert.Contains(t, text, "$UMPIRE_ADMIN")
	assert.Contains(t, text, "--ready")
}

func checkStatic(t *testing.T, file string) {
	t.Helper()
	binary, err := elf.Open(file)
	if err != nil {
		t.Skipf("not a program for Linux: %v", err)
	}
	defer binary.Close()
	libraries, err := binary.ImportedLibraries()
	require.NoError(t, err)
	assert.Empty(t, libraries)
	for _, p := range binary.Progs {
		assert.NotEqual(t, elf.PT_INTERP, p.Type, "it needs a dynamic linker")
	}
}

// instruction is a line of a Dockerfile, with those that continue it.
type instruction struct{ name, rest string }

func dockerfile(t *testing.T) (out []instruction) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^\s*#.*\n`).ReplaceAllString(read(t, "deploy/Dockerfile"), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out = append(out, instruction{name, strings.TrimSpace(rest)})
		}
	}
	require.NotEmpty(t, out)
	return out
}

func TestDockerfile(t *testing.T) {
	ignore := read(t, ".dockerignore")
	last := map[string]string{} // of the last stage
	for _, i := range dockerfile(t) {
		words := slices.DeleteFunc(strings.Fields(i.rest), func(w string) bool { return strings.HasPrefix(w, "--platform") })
		if i.name == "FROM" {
			assert.Regexp(t, `:(nonroot|\d+\.\d+[\w.-]*)$`, words[0], "an image without a version")
			clear(last)
		}
		last[i.name] = i.rest
		if i.name != "COPY" || strings.Contains(i.rest, "--from") {
			continue
		}
		for _, source := range words[:len(words)-1] {
			assert.True(t, exists(filepath.Join("..", source)), source)
			top, _, _ := strings.Cut(source, "/")
			assert.Contains(t, ignore, "\n!"+top+"\n", "%s is kept from the builder", source)
		}
	}
	assert.Regexp(t, `^distroless|/distroless/static`, last["FROM"])
	assert.Regexp(t, `^65532:65532$`, last["USER"])
	assert.Contains(t, last["HEALTHCHECK"], `["/usr/local/bin/umpire", "health"]`)
	assert.Equal(t, `["/usr/local/bin/umpire"]`, last["ENTRYPOINT"])
	assert.Regexp(t, `^# Only[^!]*\n\*\n!`, ignore, "what is not named stays out")

	text := read(t, "deploy/Dockerfile")
	flags := regexp.MustCompile(`-trimpath -ldflags .(-s -w -X main.version=)`)
	assert.Regexp(t, flags, text)
	assert.Regexp(t, flags, read(t, "Makefile"), "the image is built as `make build` builds")
	builder := regexp.MustCompile(`golang:(\d+\.\d+)`).FindStringSubmatch(text)
	require.NotNil(t, builder)
	assert.Regexp(t, `(?m)^go `+regexp.QuoteMeta(builder[1])+`\.`, read(t, "go.work"))
}

// passwords runs the runbook's commands in a folder of the test's own.
func passwords(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "deploy", "secrets")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", shell(t, "Passwords"))
	cmd.Dir = filepath.Dir(filepath.Dir(dir))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

// shell returns the first block of commands under a heading of the runbook.
func shell(t *testing.T, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, "deploy/runbook.md"), "# "+heading+"\n")
	require.True(t, found, heading)
	block := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(text)
	require.NotNil(t, block, heading)
	return block[1]
}

// TestPasswords: the runbook's commands make every secret that a container wants, each readable by the container's user,
// and another time they change none. None of them can be committed.
func TestPasswords(t *testing.T) {
	dir := passwords(t)
	seen := map[string]string{}
	for name, secret := range compose(t).Secrets {
		assert.Equal(t, "secrets", filepath.Base(filepath.Dir(secret.File)), name)
		file := filepath.Join(dir, filepath.Base(secret.File))
		text, err := os.ReadFile(file)
		require.NoError(t, err, name)
		assert.Greater(t, len(text), 32, "%s is too short", name)
		assert.NotContains(t, seen, string(text), "%s is no secret of its own", name)
		seen[string(text)] = file
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, "-rw-r--r--", info.Mode().String(), "containers read it as users of their own")
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, "drwx------", info.Mode().String(), "nobody else on the machine does")

	again := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", shell(t, "Passwords"))
	again.Dir = filepath.Dir(filepath.Dir(dir))
	require.NoError(t, again.Run())
	for text, file := range seen {
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, text, string(now))
	}
	for _, name := range committable(t) {
		if strings.HasPrefix(name, "deploy/secrets/") {
			assert.Equal(t, "deploy/secrets/.gitignore", name)
		}
	}
}
