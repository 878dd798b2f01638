package nothingbutthetruth

import (
	"fmt"
	"unicode/utf8"

	"umpire/pkg/event"
	"umpire/pkg/games/nothingbutthetruth/statements"
	"umpire/pkg/match"
)

// prepare checks the statements. They are the host's alone, one face a cycle, which is opened when the cycle's coins are
// paid; a cycle's texts are shown when its order phase opens.
func prepare(setup *match.Setup) (match.Prepared, error) {
	list, err := readStatements(setup)
	if err != nil {
		return match.Prepared{}, err
	}
	if cycle, all := statements.Uniform(list); cycle > 0 {
		return match.Prepared{}, match.BadSetup("statements",
			"cycle %d is all %t: each four must hold at least one true and one false statement", cycle, all)
	}
	p := match.Prepared{}
	for cycle := 1; cycle <= statements.Cycles; cycle++ {
		four := statements.OfCycle(list, cycle)
		p.Faces = append(p.Faces, match.NewFace{To: []string{match.HostID}, Data: sealed(cycle, four)})
	}
	if warning := statements.Lopsided(list); warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
	return p, nil
}

// readStatements reads "52 Objective True or False Statements".
func readStatements(setup *match.Setup) ([]statements.Statement, error) {
	field, ok := setup.Field("statements")
	if !ok || field.Kind != event.Array || len(field.Items()) != statements.Count {
		return nil, match.BadSetup("statements", "must be a list of exactly %d, each {\"text\", \"truth\"}", statements.Count)
	}
	list := make([]statements.Statement, 0, statements.Count)
	for i, item := range field.Items() {
		at := fmt.Sprintf("statements[%d]", i)
		text, hasText := item.Get("text")
		truth, hasTruth := item.Get("truth")
		if !hasText || !hasTruth || len(item.Members()) != 2 {
			return nil, match.BadSetup(at, "must be an object with \"text\" and \"truth\" and nothing else")
		}
		if text.Kind != event.String || !statements.Visible(text.Text()) ||
			utf8.RuneCountInString(text.Text()) > statements.MaxPoints {
			return nil, match.BadSetup(at+".text", "must be a text of 1 to %d characters, not all of them blank",
				statements.MaxPoints)
		}
		if truth.Kind != event.Bool {
			return nil, match.BadSetup(at+".truth", "must be true or false")
		}
		list = append(list, statements.Statement{Text: text.Text(), Truth: truth.True()})
	}
	return list, nil
}

// texts are what the players see of a cycle's statements.
func texts(four []statements.Statement) map[string]string {
	return byLetter(func(i int) string { return four[i].Text })
}
