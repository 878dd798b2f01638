package event

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// maxExact is the largest whole number that every reader of JSON holds exactly, 2^53 - 1.
const maxExact = 1<<53 - 1

// Canonical returns the RFC 8785 form of a Go value: names sorted by UTF-16 code units, no white space, the shortest
// escapes. Numbers other than whole ones within ±(2^53-1) are an error, for they don't read the same everywhere.
func Canonical(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("event: no JSON can be made of %T: %w", v, err)
	}
	parsed, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("event: canonical form of %T: %w", v, err)
	}
	return parsed.AppendCanonical(make([]byte, 0, len(data)))
}

// AppendCanonical appends the RFC 8785 form of v to dst. A number that is not whole or not exact is an error.
func (v Value) AppendCanonical(dst []byte) ([]byte, error) {
	var err error
	switch v.Kind {
	case Number:
		n, ok := v.Int()
		if !ok || n > maxExact || n < -maxExact {
			return dst, fmt.Errorf("event: %s is not a whole number that every reader holds exactly", v.text)
		}
		if n == 0 {
			return append(dst, '0'), nil // -0 is 0
		}
		return append(dst, v.text...), nil
	case String:
		return appendString(dst, v.text), nil
	case Array:
		dst = append(dst, '[')
		for i := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = v.items[i].AppendCanonical(dst); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case Object:
		return appendMembers(dst, v.members)
	default:
		return append(dst, v.text...), nil
	}
}

func appendMembers(dst []byte, members []Member) ([]byte, error) {
	byName := func(a, b Member) int { return compareUTF16(a.Name, b.Name) }
	if !slices.IsSortedFunc(members, byName) {
		members = slices.Clone(members)
		slices.SortFunc(members, byName)
	}
	dst = append(dst, '{')
	var err error
	for i := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, members[i].Name), ':')
		if dst, err = members[i].Value.AppendCanonical(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// compareUTF16 orders as RFC 8785 asks; it differs from byte order only beyond the basic plane.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf {
				return int(a[i]) - int(b[i])
			}
			return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
	}
	return len(a) - len(b)
}

const hexDigits = "0123456789abcdef"

// appendString appends s in quotes with the escapes of RFC 8785 and no others.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	plain := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[plain:i]...)
		plain = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[plain:]...), '"')
}
