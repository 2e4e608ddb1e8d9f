package stdio

import "bytes"

// appendPlain appends JSON text with the characters <, > and & as they are.
// The SDK's encoder writes them as for a web page: \u003e for every => and
// #<…>, six bytes that some people and scripts have to read.
func appendPlain(b, json []byte) []byte {
	for {
		i := bytes.Index(json, []byte(`\u00`))
		if i < 0 || i+6 > len(json) {
			return append(b, json...)
		}
		plain := byte(0)
		switch string(json[i+4 : i+6]) {
		case "3c":
			plain = '<'
		case "3e":
			plain = '>'
		case "26":
			plain = '&'
		}
		if plain == 0 || backslashes(json[:i])%2 == 1 {
			b = append(b, json[:i+2]...)
			json = json[i+2:]
			continue
		}
		b = append(append(b, json[:i]...), plain)
		json = json[i+6:]
	}
}

// backslashes counts those at the end of text: after an odd number the next
// one is escaped itself.
func backslashes(text []byte) int {
	return len(text) - len(bytes.TrimRight(text, `\`))
}
