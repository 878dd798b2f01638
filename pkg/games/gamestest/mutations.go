package gamestest

import (
	"encoding/json"
	"slices"
	"strings"

	"umpire/pkg/match"
)

// sentinel and sentinelNumber are values that no game takes and no sentence holds by chance.
const sentinel = "zq-sentinel"

var (
	sentinelNumber = json.RawMessage("987654321987")
	hugeNumber     = json.RawMessage("1000000000000000000000000000000")
)

// mutations returns what a legal submission becomes by one mistake each.
func (p *prober) mutations(base map[string]any, legal []byte) []attempt {
	all := []attempt{
		{[]byte(`[]`), malformed}, {[]byte(`null`), malformed}, {[]byte(`true`), malformed},
		{[]byte(`"` + sentinel + `"`), malformed}, {[]byte(sentinelNumber), malformed}, {[]byte(`{}`), malformed},
		{append([]byte(`[`), append(slices.Clip(legal), ']')...), malformed},
		{[]byte(`{"type":"` + sentinel + `"}`), malformed},
	}
	add := func(changed any, codes []match.Code) {
		if text, err := json.Marshal(changed); err == nil {
			all = append(all, attempt{text, codes})
		}
	}
	p.visit("", base, func(changed any) any { return changed }, add)
	return all
}

// visit makes mistakes in a value of the submission and in all that it holds. put returns the whole submission with
// another value in this one's place.
func (p *prober) visit(name string, v any, put func(any) any, add func(any, []match.Code)) {
	optional := slices.Contains(p.Optional, name)
	for _, other := range []any{nil, true, sentinelNumber, sentinel, []any{}, map[string]any{}} {
		if kind(other) != kind(v) && (other != nil || !optional) && (v != nil || kind(other) != "string") {
			add(put(other), malformed)
		}
	}
	switch v := v.(type) {
	case float64:
		p.visitNumber(v, put, add)
	case string:
		add(put(json.RawMessage(`"\ud800"`)), malformed)
		add(put(json.RawMessage(`"x\udc00\ud800y"`)), malformed)
	case []any:
		p.visitList(name, v, put, add)
	case map[string]any:
		p.visitObject(name, v, put, add)
	}
}

func (p *prober) visitNumber(n float64, put func(any) any, add func(any, []match.Code)) {
	written, err := json.Marshal(n)
	if err != nil {
		return
	}
	for _, end := range []string{".0", "e0", ".5", "E+0"} {
		add(put(json.RawMessage(string(written)+end)), malformed)
	}
	add(put(json.RawMessage("-1")), malformed)
	add(put(hugeNumber), either)
	add(put(json.RawMessage("-"+string(hugeNumber))), malformed)
	add(put(sentinelNumber), either)
}

func (p *prober) visitList(name string, list []any, put func(any) any, add func(any, []match.Code)) {
	for i := range list {
		at := func(item any) any {
			changed := slices.Clone(list)
			changed[i] = item
			return put(changed)
		}
		p.visit(name, list[i], at, add)
		add(put(append(slices.Clone(list), list[i])), either) // the same twice
	}
	add(put(append(slices.Clone(list), nil)), malformed)
	add(put(append(slices.Clone(list), []any{})), malformed)
}

func (p *prober) visitObject(name string, object map[string]any, put func(any) any, add func(any, []match.Code)) {
	without := func(left string) map[string]any {
		changed := map[string]any{}
		for name, member := range object {
			if name != left {
				changed[name] = member
			}
		}
		return changed
	}
	extra := without("")
	extra["zq"] = 1
	add(put(extra), malformed)
	if _, has := object["type"]; name != "" && !has { // a submission has a type, what it holds has none
		typed := without("")
		typed["type"] = "zq"
		add(put(typed), malformed)
	}
	for _, name := range sortedKeys(object) {
		if !slices.Contains(p.Optional, name) {
			add(put(without(name)), malformed)
		}
		renamed := without(name)
		renamed[strings.ToUpper(name[:1])+name[1:]] = object[name]
		if !slices.Contains(p.Optional, name) || object[name] != nil {
			add(put(renamed), malformed)
		}
		add(put(twice(object, name)), malformed)
		p.visit(name, object[name], func(member any) any {
			changed := without(name)
			changed[name] = member
			return put(changed)
		}, add)
	}
}

// twice writes an object with one of its names twice.
func twice(object map[string]any, name string) json.RawMessage {
	text, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage(`{"":1,"":1}`)
	}
	member, err := json.Marshal(map[string]any{name: object[name]})
	if err != nil {
		return json.RawMessage(`{"":1,"":1}`)
	}
	return json.RawMessage(strings.TrimSuffix(string(text), "}") + "," + strings.TrimPrefix(string(member), "{"))
}

// kind names the kind of a JSON value.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64, json.RawMessage:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	default:
		return "object"
	}
}
