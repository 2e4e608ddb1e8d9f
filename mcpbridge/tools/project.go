package tools

import (
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp/project"
)

// ProjectText is where the project lies and which systems it has, at most limit of them,
// in a line; "" if it has none.
func ProjectText(p *project.Project, limit int) string {
	if p == nil || len(p.Definitions) == 0 {
		return ""
	}
	names := p.Systems()
	text := strings.Join(p.Dirs, ", ") + ", " + systemsText(names, limit)
	if len(p.Managers) > 0 {
		text += fmt.Sprintf("; dependencies kept by %s: %s", strings.Join(p.Managers, " and "),
			render.Plural(len(p.Dependencies), "definition"))
	}
	if p.Cut {
		text += "; there is more than was looked at"
	}
	return text
}

func systemsText(names []string, limit int) string {
	if len(names) == 1 {
		return "system " + names[0]
	}
	more := ""
	if n := len(names) - limit; n > 0 {
		names, more = names[:limit], fmt.Sprintf(" and %d more", n)
	}
	return "systems " + strings.Join(names, ", ") + more
}
