package rawtext

import "bytes"

// Members calls member for each member of b, a valid JSON object: with the text of
// its name and the raw JSON of its value, which alias b.
func Members(b []byte, member func(key, value []byte)) {
	for i := 1; ; {
		for b[i] != '"' {
			if b[i] == '}' {
				return
			}
			i++
		}
		end := stringEnd(b, i)
		key := b[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(Unquote(b[i:end]))
		}
		i = skipSpace(b, end) + 1 // the colon
		i = skipSpace(b, i)
		end = valueEnd(b, i)
		member(key, b[i:end])
		i = end
	}
}

// Member returns the raw JSON of a member of b, valid JSON, or nil where b has none of that
// name; of several it is the last one, as JSON readers have it.
func Member(b []byte, name string) (value []byte) {
	if len(b) > 0 && b[0] == '{' {
		Members(b, func(k, v []byte) {
			if string(k) == name {
				value = v
			}
		})
	}
	return value
}

// Elements returns the elements of b, a valid JSON array, as raw JSON that aliases b.
func Elements(b []byte) (elements [][]byte) {
	for i := skipSpace(b, 1); b[i] != ']'; {
		end := valueEnd(b, i)
		elements = append(elements, b[i:end])
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return elements
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the offset after the string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// valueEnd returns the offset after the valid JSON value that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '[', '{':
			depth++
			i++
		case ']', '}':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
		default:
			for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

// Deeper reports whether b, JSON or not, nests more than limit levels.
func Deeper(b []byte, limit int) bool {
	if bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) <= limit {
		return false
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i) - 1
		case '[', '{':
			if depth++; depth > limit {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return false
}
