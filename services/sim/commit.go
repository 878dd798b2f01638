package sim

import (
	"context"
	"os/exec"
	"runtime/debug"
	"strings"
)

// Commit names the version of the program, for a seed means the same run only at the same one.
func Commit() string {
	revision, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "-dirty"
			}
		}
	}
	if revision != "" {
		return revision + modified
	}
	out, err := exec.CommandContext(context.Background(), "git", "describe", "--always", "--dirty").Output() // a test's build knows no commit
	if err != nil {
		return "an unknown commit"
	}
	return strings.TrimSpace(string(out))
}
