package mcpbridge

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"swank-mcp/swank/lisp"
)

// nextAfter is the line that ends the report of a failure of which the image
// knows what was meant: the caller's own call with that, or a look at the code.
func (b *Bridge) nextAfter(r *request, f *lisp.Failure) string {
	switch {
	case f == nil:
		return ""
	case f.System != "" && b.offers("load-system"):
		return nextCall("load-system", "system", f.System)
	case f.Meant != "":
		return r.instead(f.Written, f.Meant)
	case f.Unbalanced && b.offers("validate-syntax"):
		var code string
		for _, g := range r.given {
			if (g.param.name == "code" || g.param.name == "form") && g.value[0] == '"' {
				code = unquote(g.value)
			}
		}
		if code == "" {
			return "" // it was read from elsewhere
		}
		if next := nextCall("validate-syntax", "code", code); len(next) <= maxMended {
			return next
		}
		return "Next: validate-syntax with the same code"
	}
	return ""
}

// offers reports whether the client is shown the tool, so that a text may name it.
func (b *Bridge) offers(name string) bool {
	return slices.ContainsFunc(b.tools, func(t *tool) bool { return t.name == name })
}

// instead is the call once more with one name for another, in whatever case it
// was written; "" if it is not in an argument.
func (a *args) instead(written, meant string) string {
	name := regexp.MustCompile(`(?i)` + regexp.QuoteMeta(written))
	var members []member
	var changed []string
	for _, g := range a.given {
		v := g.value
		if len(v) > 0 && v[0] == '"' {
			if s := unquote(v); name.MatchString(s) {
				with := meant
				if name.FindString(s) != strings.ToUpper(written) {
					with = strings.ToLower(meant)
				}
				v = json.RawMessage(quote(name.ReplaceAllLiteralString(s, with)))
				changed = append(changed, g.param.name)
			}
		}
		members = append(members, member{g.param.name, v})
	}
	if len(changed) == 0 {
		return ""
	}
	return a.told(members, changed)
}
