package event

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a quoted string at the parser's position. A lone surrogate is read as U+FFFD and reported as a fault.
func (p *parser) string() (text, fault string, err error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '"':
			text = p.src[start:p.pos]
			p.pos++
			return text, "", nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", "", p.fail("a control character stands in a string")
		}
		p.pos++
	}
	return "", "", p.fail("a string is cut short")
}

// escaped reads the rest of a string that has at least one escape.
func (p *parser) escaped(start int) (text, fault string, err error) {
	var b strings.Builder
	b.WriteString(p.src[start:p.pos])
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == '"':
			p.pos++
			return b.String(), fault, nil
		case c < 0x20:
			return "", "", p.fail("a control character stands in a string")
		case c != '\\':
			b.WriteByte(c)
			p.pos++
			continue
		}
		r, lone, err := p.escape()
		if err != nil {
			return "", "", err
		}
		if lone && fault == "" {
			fault = "a lone surrogate stands in a string"
		}
		b.WriteRune(r)
	}
	return "", "", p.fail("a string is cut short")
}

// escape reads one escape sequence, a surrogate pair as one rune.
func (p *parser) escape() (r rune, lone bool, err error) {
	p.pos++
	if p.pos == len(p.src) {
		return 0, false, p.fail("a string is cut short")
	}
	c := p.src[p.pos]
	p.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), false, nil
	}
	if c != 'u' {
		return 0, false, p.fail("an unknown escape stands in a string")
	}
	r, err = p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, false, err
	}
	if strings.HasPrefix(p.src[p.pos:], `\u`) {
		before := p.pos
		p.pos += 2
		second, err := p.hex4()
		if err != nil {
			return 0, false, err
		}
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, false, nil
		}
		p.pos = before
	}
	return utf8.RuneError, true, nil
}

func (p *parser) hex4() (rune, error) {
	if p.pos+4 > len(p.src) {
		return 0, p.fail("four hex digits are expected")
	}
	n, err := strconv.ParseUint(p.src[p.pos:p.pos+4], 16, 16)
	if err != nil {
		return 0, p.fail("four hex digits are expected")
	}
	p.pos += 4
	return rune(n), nil
}
