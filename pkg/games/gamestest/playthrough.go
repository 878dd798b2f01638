package gamestest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"umpire/pkg/match"
)

// goldenSeed is the seed of the match that playthrough.golden shows.
const goldenSeed = 1

// playthrough is the part of the suite that compares one match, as all audiences see it, with what is on file.
func (s *suite) playthrough(t *testing.T) {
	t.Helper()
	if s.one() {
		t.Skip("the playthrough has a seed of its own")
	}
	p := &printer{shown: map[string]map[string]string{}}
	if _, err := s.play(goldenSeed, playing{each: p.step}); err != nil {
		failed(t, goldenSeed, err)
	}
	file := filepath.Join("testdata", "playthrough.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, p.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -run 'playthrough' -update writes it", err)
	}
	is, was := strings.Split(p.out.String(), "\n"), strings.Split(string(want), "\n")
	if one, two := firstDiffering(was, is); one != two {
		t.Errorf("the playthrough is no more what it was; if that is meant, -update writes it anew.\nwas: %s\nis:  %s", one, two)
	}
}

// printer prints of each view what has changed since the step before, and of a player's and the host's what is not in
// the public one.
type printer struct {
	out   bytes.Buffer
	shown map[string]map[string]string // by audience: what each path last showed
}

func (p *printer) step(s *session) error {
	n := len(s.history.Steps)
	if n == 0 {
		raw, err := json.Marshal(s.history.Setup)
		if err != nil {
			return err
		}
		fmt.Fprintf(&p.out, "set-up %s\n", raw)
	} else {
		step := s.history.Steps[n-1]
		fmt.Fprintf(&p.out, "\nstep %d at %s: %s", n, step.At, step.Kind)
		switch step.Kind {
		case Submit:
			raw, err := json.Marshal(step.Submission)
			if err != nil {
				return err
			}
			fmt.Fprintf(&p.out, " %s %s", step.Who, raw)
		case Extend:
			fmt.Fprintf(&p.out, " %s by %s", step.Who, step.By)
		case Deadline:
			fmt.Fprintf(&p.out, " %q", step.Missed)
		}
		p.out.WriteByte('\n')
	}
	public, err := flat(s.now, match.Public)
	if err != nil {
		return err
	}
	p.changes(match.Public, public)
	for _, audience := range append(s.history.Players(), match.HostID) {
		own, err := flat(s.now, audience)
		if err != nil {
			return err
		}
		for path, shown := range public {
			if own[path] == shown {
				delete(own, path)
			}
		}
		p.changes(audience, own)
	}
	return nil
}

func (p *printer) changes(audience string, is map[string]string) {
	was := p.shown[audience]
	for _, path := range sortedKeys(is) {
		if old, shown := was[path]; !shown || old != is[path] {
			fmt.Fprintf(&p.out, "%s%s = %s\n", audience, path, is[path])
		}
	}
	for _, path := range sortedKeys(was) {
		if _, shown := is[path]; !shown {
			fmt.Fprintf(&p.out, "%s%s gone\n", audience, path)
		}
	}
	p.shown[audience] = is
}

// flat returns a view as its leaves by path; a list of plain values is a leaf.
func flat(m *match.Match, audience string) (map[string]string, error) {
	raw, err := view(m, audience)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	leaves := map[string]string{}
	return leaves, flatten(leaves, "", v)
}

func flatten(leaves map[string]string, path string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if err := flatten(leaves, path+"."+name, member); err != nil {
				return err
			}
		}
		if len(v) > 0 {
			return nil
		}
	case []any:
		for i, item := range v {
			if k := kind(item); k != "object" && k != "list" {
				break
			}
			if err := flatten(leaves, fmt.Sprintf("%s[%d]", path, i), item); err != nil {
				return err
			}
			if i == len(v)-1 {
				return nil
			}
		}
	}
	raw, err := json.Marshal(v)
	leaves[path] = string(raw)
	return err
}

// differences tells in which paths two JSON texts differ, or shows both where they are none.
func differences[T string | []byte](was, is T) string {
	var one, two any
	if json.Unmarshal([]byte(was), &one) != nil || json.Unmarshal([]byte(is), &two) != nil {
		return fmt.Sprintf("\n%s\n%s", was, is)
	}
	a, b := map[string]string{}, map[string]string{}
	if flatten(a, "", one) != nil || flatten(b, "", two) != nil {
		return fmt.Sprintf("\n%s\n%s", was, is)
	}
	var out strings.Builder
	for _, path := range sortedKeys(a) {
		if b[path] != a[path] {
			fmt.Fprintf(&out, "\n%s: %s, not %s", path, a[path], cmp.Or(b[path], "there"))
		}
	}
	for _, path := range sortedKeys(b) {
		if _, both := a[path]; !both {
			fmt.Fprintf(&out, "\n%s: not there, but %s", path, b[path])
		}
	}
	return out.String()
}
