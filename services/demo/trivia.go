package demo

import (
	_ "embed"
	"strings"
)

// trivia are 52 statements, one a line behind T or F, every four of them mixed.
//
//go:embed trivia.txt
var trivia string

// statements returns the demo's statements in the form of a set-up.
func statements() []map[string]any {
	var list []map[string]any
	for line := range strings.Lines(trivia) {
		truth, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		list = append(list, map[string]any{"text": text, "truth": truth == "T"})
	}
	return list
}
