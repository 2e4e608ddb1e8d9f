package truth

import (
	"regexp"
)

// lostPart begins where a report turns from what is there to what is not.
var lostPart = regexp.MustCompile(`(?is)\b(not restored|lost|gone|not in it|not in this file)\b.*`)

// toldLost reports whether a report names name as lost.
func toldLost(report, name string) bool { return hasName(lostPart.FindString(report), name) }

// hasName reports whether text has the name of a symbol, by itself.
func hasName(text, name string) bool {
	return regexp.MustCompile(`(?i)(^|[^\w*+-])` + regexp.QuoteMeta(name) + `($|[^\w*+-])`).MatchString(text)
}
