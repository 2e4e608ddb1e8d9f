package tools

import (
	"errors"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/swank/lisp"
)

// nextCall is the line that ends an error: a call to make, with its arguments
// as pairs of name and value.
func nextCall(tool string, pairs ...string) string {
	var fields []string
	for i := 0; i+1 < len(pairs); i += 2 {
		fields = append(fields, rawtext.Quote(pairs[i])+": "+rawtext.Quote(pairs[i+1]))
	}
	return "Next: " + tool + " {" + strings.Join(fields, ", ") + "}"
}

// lookupFailed adds to a look-up's error the same call with the first name that
// may have been meant, which needs no package beside it, or else a search for
// what was asked. The argument is the one that the name was given as.
func (r *Request) lookupFailed(err error, argument, given string) error {
	var failed *lisp.LookupError
	if !errors.As(err, &failed) {
		return err
	}
	if len(failed.Names) == 0 {
		return &lookError{failed, nextCall("apropos-search", "pattern", bareName(given))}
	}
	return &lookError{failed, r.Asking(argument, failed.Names[0], "package")}
}

// bareName is a symbol's name without prefix, quotes and bars, to search for.
func bareName(given string) string {
	s := given[strings.LastIndexByte(given, ':')+1:]
	if place, ok := strings.CutPrefix(strings.ToLower(s), "(setf "); ok {
		s = place
	}
	return strings.Trim(strings.TrimSpace(strings.NewReplacer("|", "", `\`, "", "(", "", ")", "", `"`, "").Replace(s)), "'#")
}
