package services_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"umpire/pkg/queue"
	"umpire/services/metrics"
)

// foreign are the metrics of other programs that are asked for, with their labels, from those programs' documentation.
var foreign = map[string][]string{
	"up":                        {},
	"ALERTS":                    {"alertname", "alertstate", "severity"},
	"eventstore_sys_disk_bytes": {"disk", "kind"},
	"eventstore_io_events":      {"activity"},
	"eventstore_writer_flush_duration_max_seconds": {"range"},
}

// known are all metrics that there are, with their labels: umpire's own as services/metrics makes them, and what its
// handler tells of Go and the process.
func known(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, labels := range foreign {
		out[name] = labels
	}
	made := regexp.MustCompile(`\b(counter|gauge|histogram)\("(\w+)", "[^"]*"((?:, "\w+")*)\)`)
	for _, found := range made.FindAllStringSubmatch(read(t, "services/metrics/metrics.go"), -1) {
		labels := regexp.MustCompile(`\w+`).FindAllString(found[3], -1)
		name := "umpire_" + found[2]
		if found[1] == "histogram" {
			out[name+"_count"], out[name+"_sum"] = labels, labels
			name, labels = name+"_bucket", append(slices.Clone(labels), "le")
		}
		out[name] = labels
	}
	require.Contains(t, out, "umpire_build_info", "services/metrics is written in another way than this test reads")
	shown := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(shown, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	for _, found := range regexp.MustCompile(`(?m)^# TYPE ((?:go|process)_\w+) `).FindAllStringSubmatch(shown.Body.String(), -1) {
		out[found[1]] = nil
	}
	require.Contains(t, out, "process_resident_memory_bytes")
	return out
}

// endpoints are the values of that label: a query for another one finds nothing, in silence.
var endpoints = []string{
	queue.Create, queue.Claim, queue.Submit, queue.Control, queue.Probe, queue.View, queue.Events, queue.Matches,
}

// checkQuery complains of a query that Prometheus would refuse, or that asks for what nobody measures.
func checkQuery(query string, known map[string][]string) []string {
	expr, err := parser.ParseExpr(query)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", query, err)}
	}
	var out []string
	anybodys := []string{"job", "instance", "__name__"}
	asked := slices.Clone(anybodys) // the labels of all that is asked for
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			has, ok := known[selector.Name]
			if !ok {
				out = append(out, fmt.Sprintf("%s: nobody measures %s", query, selector.Name))
				return nil
			}
			asked = append(asked, has...)
			for _, m := range selector.LabelMatchers {
				if !slices.Contains(append(anybodys, has...), m.Name) {
					out = append(out, fmt.Sprintf("%s: %s has no label %s", query, selector.Name, m.Name))
				}
				if m.Name == "endpoint" && m.Type == labels.MatchEqual && !slices.Contains(endpoints, m.Value) {
					out = append(out, fmt.Sprintf("%s: there is no endpoint %s", query, m.Value))
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if sum, ok := node.(*parser.AggregateExpr); ok {
			for _, label := range sum.Grouping {
				if !slices.Contains(asked, label) {
					out = append(out, fmt.Sprintf("%s: nothing has a label %s", query, label))
				}
			}
		}
		return nil
	})
	return out
}

func TestQueryChecksTellGoodFromBad(t *testing.T) {
	for query, want := range map[string]string{
		`rate(umpire_requests_total{job="gateway", status=~"5.."}[5m])`: "",
		`sum by (le) (rate(umpire_request_seconds_bucket[5m]))`:         "",
		`rate(umpire_requests_total[5m]`:                                "unclosed",
		`rate(umpire_requests_total)`:                                   "expected type range vector",
		`umpire_requests`:                                               "nobody measures umpire_requests",
		`umpire_request_seconds`:                                        "nobody measures umpire_request_seconds",
		`umpire_requests_total{match="abc"}`:                            "has no label match",
		`rate(umpire_requests_total{endpoint="submit"}[5m])`:            "there is no endpoint submit",
		`sum by (player) (umpire_requests_total)`:                       "nothing has a label player",
	} {
		expect(t, want, checkQuery(query, known(t)))
	}
}

// alert is a rule of alerts.yml.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// strict reads YAML without anything that is not asked for: a field that is spelled wrongly does nothing, in silence.
func strict(t *testing.T, file string, into any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(read(t, file)))
	d.KnownFields(true)
	require.NoError(t, d.Decode(into), file)
}

func alerts(t *testing.T) (out []alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string  `yaml:"name"`
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	strict(t, "deploy/prometheus/alerts.yml", &file)
	for _, group := range file.Groups {
		out = append(out, group.Rules...)
	}
	require.NotEmpty(t, out)
	return out
}

// TestAlerts: each can be asked, says what is wrong, and leads to what to do.
func TestAlerts(t *testing.T) {
	metrics, runbook := known(t), read(t, "deploy/runbook.md")
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		report(t, checkQuery(a.Expr, metrics))
		assert.False(t, seen[a.Alert], "%s is there twice", a.Alert)
		seen[a.Alert] = true
		assert.Contains(t, []string{"page", "look"}, a.Labels["severity"], a.Alert)
		assert.Contains(t, runbook, "\n### "+a.Alert+"\n", "the runbook says nothing of it")
		assert.Equal(t, "deploy/runbook.md#"+strings.ToLower(a.Alert), a.Annotations["runbook"])
		assert.NotEmpty(t, summary(t, a), a.Alert)
	}
	for _, heading := range regexp.MustCompile(`(?m)^### (\w+)\n\n\*\*Means`).FindAllStringSubmatch(runbook, -1) {
		assert.True(t, seen[heading[1]], "the runbook has %s, and no rule", heading[1])
	}
}

// TestRunbookLinks: each leads to a heading.
func TestRunbookLinks(t *testing.T) {
	text := read(t, "deploy/runbook.md")
	var anchors []string
	for _, found := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(found[1]), " ", "-"))
	}
	for _, found := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1) {
		assert.Contains(t, anchors, found[1])
	}
}

// summary fills an alert's summary in, as Prometheus does.
func summary(t *testing.T, a alert) string {
	t.Helper()
	same := func(v any) any { return v }
	parsed, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"humanize": same, "humanize1024": same, "humanizePercentage": same, "humanizeDuration": same,
	}).Parse("{{$labels := .Labels}}{{$value := .Value}}" + a.Annotations["summary"])
	require.NoError(t, err, a.Alert)
	var out bytes.Buffer
	require.NoError(t, parsed.Execute(&out, map[string]any{"Value": 1.5, "Labels": map[string]string{
		"job": "resolver", "instance": "10.0.0.7:9464", "service": "resolver", "code": "broken", "endpoint": queue.Submit,
	}}), a.Alert)
	return out.String()
}

// TestPrometheus: it looks for each service by its name, at the port where the image listens for it.
func TestPrometheus(t *testing.T) {
	type targets struct {
		Targets []string `yaml:"targets"`
	}
	var config struct {
		Global struct {
			Scrape   string `yaml:"scrape_interval"`
			Evaluate string `yaml:"evaluation_interval"`
		} `yaml:"global"`
		RuleFiles []string `yaml:"rule_files"`
		Scrape    []struct {
			Job string `yaml:"job_name"`
			DNS []struct {
				Names   []string `yaml:"names"`
				Type    string   `yaml:"type"`
				Port    int      `yaml:"port"`
				Refresh string   `yaml:"refresh_interval"`
			} `yaml:"dns_sd_configs"`
			Static  []targets `yaml:"static_configs"`
			Relabel []struct {
				Source []string `yaml:"source_labels"`
				Target string   `yaml:"target_label"`
			} `yaml:"relabel_configs"`
		} `yaml:"scrape_configs"`
	}
	strict(t, "deploy/prometheus/prometheus.yml", &config)
	assert.Equal(t, []string{"alerts.yml"}, config.RuleFiles)
	p := compose(t)
	var services []string
	for name, s := range p.Services {
		if ours(&s) && name != "init" {
			services = append(services, name)
			assert.Contains(t, s.Networks, "admin", "Prometheus reaches %s", name)
			assert.Equal(t, fmt.Sprintf(":%d", config.Scrape[0].DNS[0].Port), *s.Environment["UMPIRE_ADMIN"])
		}
	}
	assert.ElementsMatch(t, services, config.Scrape[0].DNS[0].Names)
	assert.Equal(t, "A", config.Scrape[0].DNS[0].Type)
	assert.Contains(t, read(t, "deploy/Dockerfile"), fmt.Sprintf("ENV UMPIRE_ADMIN=:%d\n", config.Scrape[0].DNS[0].Port))
	for _, a := range alerts(t) {
		if a.Alert == "ServiceAbsent" {
			for _, name := range services {
				assert.Contains(t, a.Expr, fmt.Sprintf("absent(up{job=%q})", name))
			}
		}
	}
}

// TestAlertsFire runs alerts_test.yml, which tells what each of the less plain rules does with which numbers.
func TestAlertsFire(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("needs promtool, which comes with Prometheus")
	}
	dir := filepath.Join("..", "deploy", "prometheus")
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
}

// TestDashboard: every panel asks for what is measured, of the data source that is provided.
func TestDashboard(t *testing.T) {
	type source struct {
		UID string `json:"uid"`
	}
	var dashboard struct {
		UID    string `json:"uid"`
		Panels []struct {
			ID      int    `json:"id"`
			Type    string `json:"type"`
			Title   string `json:"title"`
			Source  source `json:"datasource"`
			Targets []struct {
				Expr   string `json:"expr"`
				Source source `json:"datasource"`
			} `json:"targets"`
			Place struct{ X, Y, W, H int } `json:"gridPos"`
		} `json:"panels"`
		Annotations struct {
			List []struct{ Expr string } `json:"list"`
		} `json:"annotations"`
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "deploy/grafana/dashboards/umpire.json")), &dashboard))
	var provided struct {
		Datasources []source `yaml:"datasources"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "deploy/grafana/provisioning/datasources/prometheus.yml")), &provided))
	require.Len(t, provided.Datasources, 1)

	metrics := known(t)
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*")
	ids, cells := map[int]bool{}, map[[2]int]string{}
	for _, p := range dashboard.Panels {
		assert.False(t, ids[p.ID], "two panels have the number %d", p.ID)
		ids[p.ID] = true
		for x := p.Place.X; x < p.Place.X+p.Place.W; x++ {
			for y := p.Place.Y; y < p.Place.Y+p.Place.H; y++ {
				assert.Empty(t, cells[[2]int{x, y}], "%s covers it", p.Title)
				cells[[2]int{x, y}] = p.Title
			}
		}
		assert.LessOrEqual(t, p.Place.X+p.Place.W, 24, p.Title)
		if p.Type == "row" {
			continue
		}
		assert.Equal(t, provided.Datasources[0], p.Source, p.Title)
		assert.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			assert.Equal(t, provided.Datasources[0], target.Source, p.Title)
			report(t, checkQuery(variables.Replace(target.Expr), metrics))
		}
	}
	for _, a := range dashboard.Annotations.List {
		report(t, checkQuery(a.Expr, metrics))
	}
	home := *compose(t).Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
	assert.Equal(t, "/etc/umpire/dashboards/umpire.json", home)
	assert.Contains(t, read(t, "deploy/grafana/provisioning/dashboards/umpire.yml"), "path: "+filepath.ToSlash(filepath.Dir(home)))
}
