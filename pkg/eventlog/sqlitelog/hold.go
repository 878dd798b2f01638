package sqlitelog

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// hold is what keeps a second process from a log. SQLite's own locks would let it write in turns with this one, whose
// memory of the streams' heads and of what its followers have seen would then be wrong.
type hold struct{ file *os.File }

var errHeld = errors.New("held")

// holdFile takes the hold on the log at path.
func holdFile(path string) (*hold, error) {
	name := path + ".lock"
	f, err := lockFile(name)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("sqlitelog: %s is in use by another process%s", path, holder(name))
	}
	if err != nil {
		return nil, fmt.Errorf("sqlitelog: the log can't be held, for its folder can't be written: %w", err)
	}
	// The number only helps whoever is refused; that it may fail to be written changes nothing.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	}
	return &hold{f}, nil
}

// holder names the process that has the hold, if it can be told.
func holder(name string) string {
	text, err := os.ReadFile(name) //nolint:gosec // the name is ours
	if err != nil {
		return ""
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		return fmt.Sprintf(" (number %d)", pid)
	}
	return ""
}

// release gives the hold back. The file stays: were it removed, two processes could each lock one of that name.
func (h *hold) release() error {
	if err := h.file.Close(); err != nil {
		return fmt.Errorf("sqlitelog: the hold: %w", err)
	}
	return nil
}
