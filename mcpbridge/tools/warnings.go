package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// diagnosticsShown is how many warnings and notes a reply shows: code that asks for
// speed gets hundreds, and what it does wrong must not be lost among them.
const diagnosticsShown = 25

// verboseParam has the warnings of other systems shown as well. The reply that counts
// them says how to read them, so few need it.
var verboseParam = hidden(args.Param{Name: "verbose", Kind: args.Flag, Doc: "Show the warnings of other systems, and all that tests print, too."})

// boundWarnings leaves in res the warnings that its reply shows: of files the weightiest
// first, and of other systems than the project's only how many there are, unless verbose.
// What is left out goes to the spool. If the work has failed, an error of another system
// may be the reason, so it is shown.
func boundWarnings(res *lisp.Result, verbose bool, s *spool.Spool) {
	if slices.ContainsFunc(res.Warnings, func(w lisp.Warning) bool { return w.File != "" }) {
		slices.SortStableFunc(res.Warnings, func(a, b lisp.Warning) int {
			return cmp.Or(cmp.Compare(min(len(a.System), 1), min(len(b.System), 1)), cmp.Compare(weight(a), weight(b)))
		})
	}
	var shown, elsewhere []lisp.Warning
	for _, w := range res.Warnings {
		if w.System == "" || verbose || res.Failure != nil && weight(w) <= 1 {
			shown = append(shown, w)
		} else {
			elsewhere = append(elsewhere, w)
		}
	}
	if len(shown) > diagnosticsShown {
		rest := shown[diagnosticsShown:]
		shown = append(shown[:diagnosticsShown:diagnosticsShown], moreWarnings(s, rest, fmt.Sprintf("%d more", len(rest))))
	}
	if len(elsewhere) > 0 {
		shown = append(shown, moreWarnings(s, elsewhere, fmt.Sprintf("%d in other systems: %s", len(elsewhere), bySystem(elsewhere))))
	}
	res.Warnings = shown
}

// weight is the order of warnings: what is wrong, what is bad style, what is slow.
func weight(w lisp.Warning) int {
	switch w.Type {
	case "ERROR":
		return 0
	case "STYLE-WARNING":
		return 2
	case "NOTE":
		return 3
	case "":
		return 4 // the count of those that the image has not kept
	}
	return 1
}

// moreWarnings stands for ws, which can be read in the spool; count says how many they are.
func moreWarnings(s *spool.Spool, ws []lisp.Warning, count string) lisp.Warning {
	lines := make([]string, len(ws))
	for i, w := range ws {
		lines[i] = render.Warning(w)
	}
	text := strings.Join(lines, "\n")
	return lisp.Warning{Message: "; " + count + toRead(s, text)}
}

// toRead keeps text in the spool and says how to read it.
func toRead(s *spool.Spool, text string) string {
	return fmt.Sprintf("; to read them: read-output {\"handle\": %q}", s.Add(text, utf8.RuneCountInString(text)))
}

// bySystem is "shelf (3), box (1)", the systems with most warnings first.
func bySystem(ws []lisp.Warning) string {
	counts := map[string]int{}
	for _, w := range ws {
		counts[w.System]++
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	more := ""
	if len(names) > 8 {
		names, more = names[:8], " and others"
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	return strings.Join(names, ", ") + more
}
