package event

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind tells what a JSON value is.
type Kind uint8

// The kinds of JSON value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}

// String names the kind with its article, for sentences such as "not a number".
func (k Kind) String() string { return kindNames[k] }

// maxDepth bounds how deep values may be nested; no document of ours comes near it.
const maxDepth = 64

// Value is a JSON value as it was written: strict in everything that encoding/json lets pass (case of names,
// duplicate keys, lone surrogates, invalid UTF-8), so that what is checked is what is stored.
type Value struct {
	Kind    Kind
	raw     string // as written
	text    string // a string's content, a number's literal
	items   []Value
	members []Member
	fault   string // what is wrong in this very value, though it could be read
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Parse reads one strict JSON value: UTF-8, no duplicate key, no lone surrogate, nothing after it.
func Parse(data []byte) (Value, error) {
	v, err := ParseLoose(data)
	if err != nil {
		return Value{}, err
	}
	return v, v.Fault()
}

// ParseLoose reads one JSON value and lets duplicate keys and lone surrogates pass; Fault tells where they stand.
// It serves readers that answer differently to a fault in one part of a document than in another.
func ParseLoose(data []byte) (Value, error) {
	if !utf8.Valid(data) {
		return Value{}, errors.New("not valid UTF-8")
	}
	p := parser{src: string(data)}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos != len(p.src) {
		return Value{}, p.fail("something follows the JSON value")
	}
	return v, nil
}

// Fault returns the first duplicate key or lone surrogate in v or anything inside it, or nil.
func (v Value) Fault() error {
	if v.fault != "" {
		return errors.New(v.fault)
	}
	for i := range v.items {
		if err := v.items[i].Fault(); err != nil {
			return err
		}
	}
	for i := range v.members {
		if err := v.members[i].Value.Fault(); err != nil {
			return err
		}
	}
	return nil
}

// FaultOutside is Fault for an object without the member of that name.
func (v Value) FaultOutside(name string) error {
	if v.fault != "" {
		return errors.New(v.fault)
	}
	for i := range v.members {
		if err := v.members[i].Value.Fault(); err != nil && v.members[i].Name != name {
			return err
		}
	}
	return nil
}

// Raw returns the value as it was written.
func (v Value) Raw() string { return v.raw }

// Text returns the content of a string; for other kinds it is empty or the number's literal.
func (v Value) Text() string { return v.text }

// True reports whether v is the literal true.
func (v Value) True() bool { return v.Kind == Bool && v.text == "true" }

// Items returns the elements of a list.
func (v Value) Items() []Value { return v.items }

// Members returns an object's members in the order written.
func (v Value) Members() []Member { return v.members }

// Get returns the member of that exact name; ok is false where there is none.
func (v Value) Get(name string) (member Value, ok bool) {
	for i := range v.members {
		if v.members[i].Name == name {
			return v.members[i].Value, true
		}
	}
	return Value{}, false
}

// Int returns a whole number written as -?(0|[1-9][0-9]*), however large: beyond int64 it is the nearest int64.
// ok is false for what is no number or is written otherwise (2.0, 2e0).
func (v Value) Int() (n int64, ok bool) {
	if v.Kind != Number || strings.ContainsAny(v.text, ".eE") {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	if err == nil {
		return n, true
	}
	if v.text[0] == '-' {
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}

type parser struct {
	src string
	pos int
}

func (p *parser) fail(what string) error {
	return fmt.Errorf("%s, at byte %d", what, p.pos+1)
}

func (p *parser) space() {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, p.fail("nested too deep")
	}
	if p.pos == len(p.src) {
		return Value{}, p.fail("the JSON value is missing or cut short")
	}
	start := p.pos
	var v Value
	var err error
	switch c := p.src[p.pos]; {
	case c == '{':
		err = p.object(&v, depth)
	case c == '[':
		err = p.array(&v, depth)
	case c == '"':
		v.Kind = String
		v.text, v.fault, err = p.string()
	case c == '-' || c >= '0' && c <= '9':
		v.Kind = Number
		v.text, err = p.number()
	default:
		err = p.literal(&v)
	}
	v.raw = p.src[start:p.pos]
	return v, err
}

func (p *parser) literal(v *Value) error {
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.src[p.pos:], word) {
			p.pos += len(word)
			v.text = word
			if word != "null" {
				v.Kind = Bool
			}
			return nil
		}
	}
	return p.fail("not JSON")
}

func (p *parser) object(v *Value, depth int) error {
	v.Kind = Object
	p.pos++
	p.space()
	if p.take('}') {
		return nil
	}
	var seen map[string]bool
	for {
		if p.pos == len(p.src) || p.src[p.pos] != '"' {
			return p.fail("a name in quotes is expected")
		}
		name, fault, err := p.string()
		if err != nil {
			return err
		}
		p.space()
		if !p.take(':') {
			return p.fail("a colon is expected")
		}
		p.space()
		member, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if v.has(name, &seen) {
			fault = "the name " + strconv.Quote(name) + " stands twice in one object"
		}
		if fault != "" && v.fault == "" {
			v.fault = fault
		}
		if v.members == nil {
			v.members = make([]Member, 0, usualMembers) // growing one by one costs more than reading
		}
		v.members = append(v.members, Member{name, member})
		p.space()
		if p.take('}') {
			return nil
		}
		if !p.take(',') {
			return p.fail("a comma or a closing brace is expected")
		}
		p.space()
	}
}

// usualMembers is how many members most of our objects have at most.
const usualMembers = 6

// fewNames is up to how many names of an object are compared one by one.
const fewNames = 16

// has reports whether an object that is being read has a name already. From fewNames on they are looked up in seen: an
// object with very many names must not take longer than it is long.
func (v *Value) has(name string, seen *map[string]bool) bool {
	if len(v.members) < fewNames {
		_, has := v.Get(name)
		return has
	}
	if *seen == nil {
		*seen = make(map[string]bool, 2*fewNames)
		for i := range v.members {
			(*seen)[v.members[i].Name] = true
		}
	}
	has := (*seen)[name]
	(*seen)[name] = true
	return has
}

func (p *parser) array(v *Value, depth int) error {
	v.Kind = Array
	p.pos++
	p.space()
	if p.take(']') {
		return nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.items = append(v.items, item)
		p.space()
		if p.take(']') {
			return nil
		}
		if !p.take(',') {
			return p.fail("a comma or a closing bracket is expected")
		}
		p.space()
	}
}

func (p *parser) take(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) number() (string, error) {
	start := p.pos
	p.take('-')
	if !p.take('0') && p.digits() == 0 {
		return "", p.fail("not a number")
	}
	if p.take('.') && p.digits() == 0 {
		return "", p.fail("a digit is expected after the point")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if p.digits() == 0 {
			return "", p.fail("a digit is expected in the exponent")
		}
	}
	return p.src[start:p.pos], nil
}

func (p *parser) digits() int {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] >= '0' && p.src[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}
