package rawtext

import (
	"regexp"
	"strconv"
	"unicode/utf8"
)

// ExactKinds says in words what Exact reports to be so.
const ExactKinds = "a string, without halves of surrogate pairs, or a whole number from -9007199254740991 to 9007199254740991, written without fraction and exponent"

var whole = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,15})$`)

// Exact reports whether raw, valid JSON, is a string or number that a reader gives back as it
// was sent who keeps numbers as floating-point numbers and strings as UTF-8.
func Exact(raw []byte) bool {
	if len(raw) > 0 && raw[0] == '"' {
		return utf8.Valid(raw) && LoneSurrogate(raw) == ""
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return whole.Match(raw) && err == nil && -1<<53 < n && n < 1<<53
}
