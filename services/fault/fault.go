//go:build faultpoints

// Package fault kills the process at named points, in builds with the tag faultpoints: tests show so that nothing is lost
// and nothing happens twice wherever a process dies. In other builds its points are empty.
package fault

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Variable names the point at which the process dies, "POINT" or "POINT:N" for the Nth time that it comes by.
const Variable = "UMPIRE_DIE_AT"

var (
	at, nth = func() (string, int64) {
		name, count, _ := strings.Cut(os.Getenv(Variable), ":")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			n = 1
		}
		return name, n
	}()
	passed atomic.Int64
)

// Point is a place between two effects.
func Point(name string) {
	if name == at && passed.Add(1) == nth {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // nothing more happens here, whatever the signal takes
	}
}
