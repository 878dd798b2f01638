package statements

import (
	"encoding/json"
	"errors"
	"strings"

	"umpire/pkg/event"
)

// readJSON reads a list of {"text", "truth"}, or an object that has one as its "statements".
func (f *File) readJSON(text string) {
	doc, err := event.ParseLoose([]byte(text))
	if err != nil {
		f.fault(brokenAt(text), "not one JSON value: %v", err)
		return
	}
	list := doc
	if doc.Kind == event.Object {
		list, _ = doc.Get("statements")
	}
	if list.Kind != event.Array {
		f.fault(0, "the JSON must be a list of {\"text\", \"truth\"}, or an object with such a list as its \"statements\"")
		return
	}
	if err := doc.FaultOutside("statements"); err != nil {
		f.fault(0, "%v", err)
	}
	pos := strings.Index(text, list.Raw()) + 1 // behind the bracket
	line := 1 + strings.Count(text[:pos], "\n")
	for _, item := range list.Items() {
		skip := strings.Index(text[pos:], item.Raw()) // only blanks and a comma stand before it
		line += strings.Count(text[pos:pos+skip], "\n")
		f.readItem(line, item)
		line += strings.Count(item.Raw(), "\n")
		pos += skip + len(item.Raw())
	}
}

// brokenAt returns the line in which a text stops being JSON, 0 where it is JSON but not ours.
func brokenAt(text string) int {
	broken := new(json.SyntaxError)
	if !errors.As(json.Unmarshal([]byte(text), new(json.RawMessage)), &broken) {
		return 0
	}
	return 1 + strings.Count(text[:max(broken.Offset-1, 0)], "\n")
}

func (f *File) readItem(line int, item event.Value) {
	text, _ := item.Get("text")
	truth, _ := item.Get("truth")
	switch {
	case item.Kind != event.Object:
		f.fault(line, "a statement must be an object {\"text\", \"truth\"}")
	case item.Fault() != nil:
		f.fault(line, "%v", item.Fault())
	case text.Kind != event.String:
		f.fault(line, "\"text\" must be there and be a string")
	case truth.Kind != event.Bool:
		f.fault(line, "\"truth\" must be there and be true or false, without quotes")
	case len(item.Members()) > 2:
		f.fault(line, "a statement has \"text\" and \"truth\" and nothing else")
	default:
		f.add(line, text.Text(), truth.True())
	}
}
