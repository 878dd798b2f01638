package eventlog

import "strings"

// maxNesting is well within what the strict reader takes.
const maxNesting = 32

// value passes over one value of canonical JSON: no white space, whole numbers, an object's names rising, so that none
// stands twice. What it can't be sure of it declines.
func (c *canonical) value(depth int) bool {
	if depth > maxNesting || c.pos == len(c.src) {
		return false
	}
	switch b := c.src[c.pos]; {
	case b == '{':
		return c.object(depth)
	case b == '[':
		return c.array(depth)
	case b == '"':
		c.pos++
		return c.escaped()
	case b == '-' || b >= '0' && b <= '9':
		return c.number()
	default:
		return c.literal(`true`) || c.literal(`false`) || c.literal(`null`)
	}
}

func (c *canonical) object(depth int) bool {
	c.pos++
	if c.literal(`}`) {
		return true
	}
	var name, before string
	for first := true; first || c.literal(`,`); first = false {
		if !c.literal(`"`) || !c.text(&name) || !first && name <= before || !c.literal(`:`) || !c.value(depth+1) {
			return false
		}
		before = name
	}
	return c.literal(`}`)
}

func (c *canonical) array(depth int) bool {
	c.pos++
	if c.literal(`]`) {
		return true
	}
	for first := true; first || c.literal(`,`); first = false {
		if !c.value(depth + 1) {
			return false
		}
	}
	return c.literal(`]`)
}

// escaped passes over the rest of a string and the quote behind it.
func (c *canonical) escaped() bool {
	for c.pos < len(c.src) {
		b := c.src[c.pos]
		c.pos++
		switch {
		case b == '"':
			return true
		case b < 0x20:
			return false
		case b == '\\' && !c.escape():
			return false
		}
	}
	return false
}

// escape passes over what follows a backslash: the escapes of canonical JSON, of which no surrogate is one.
func (c *canonical) escape() bool {
	if c.pos == len(c.src) {
		return false
	}
	b := c.src[c.pos]
	c.pos++
	if b != 'u' {
		return strings.IndexByte(`"\bfnrt`, b) >= 0
	}
	return c.literal(`00`) && c.hex() && c.hex()
}

func (c *canonical) hex() bool {
	if c.pos == len(c.src) || strings.IndexByte("0123456789abcdef", c.src[c.pos]) < 0 {
		return false
	}
	c.pos++
	return true
}

func (c *canonical) number() bool {
	c.literal(`-`)
	if c.literal(`0`) {
		return true
	}
	start := c.pos
	for c.pos < len(c.src) && c.src[c.pos] >= '0' && c.src[c.pos] <= '9' {
		c.pos++
	}
	return c.pos > start
}
