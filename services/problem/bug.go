package problem

import (
	"fmt"
	"runtime"
)

// Bug tells what a recovered panic was without its values, which could be a player's secret: the panic's type and the
// places in the code that led to it.
func Bug(broken any) string {
	text := fmt.Sprintf("%T", broken)
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		text += fmt.Sprintf(" < %s:%d", frame.Function, frame.Line)
		if !more {
			return text
		}
	}
}
