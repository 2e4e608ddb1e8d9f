package mcpbridge

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/syntax"
)

var syntaxTool = tool{
	name:  "validate-syntax",
	title: "Validate syntax",
	set:   inBuild,
	shown: true,
	doc: "Check the parentheses, strings, comments and quotes of Lisp source without reading or evaluating it, and " +
		"tell the line where, by the indentation, it broke. Nothing is repaired. Give code or path.",
	params: func(limits) []param {
		return []param{
			{name: "code", kind: kindText, aliases: []alias{{name: "form"}, {name: "text"}}, doc: "The source, or"},
			pathParam("a file of it.", false),
		}
	},
	example:    `{"code": "(defun f (x) (* x 2)"}`,
	readOnly:   true,
	idempotent: true,
	run:        validateSyntax,
}

func validateSyntax(_ context.Context, r *request) (reply, error) {
	code, path := r.text("code"), r.path("path", true)
	if r.err == nil && (code == "") == (path == "") {
		r.fail("validate-syntax takes code or path, one of them.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	if path != "" {
		var err error
		if code, err = readSource(path); err != nil {
			r.fail("path: %s cannot be read: %v.", path, err)
			return reply{}, r.err
		}
	}
	return reply{text: syntaxText(path, code, syntax.Check(code))}, nil
}

func syntaxText(path, code string, r *syntax.Report) string {
	var p parts
	name := ""
	if path != "" {
		name = path + ": "
	}
	size := fmt.Sprintf("%s in %s", plural(r.Forms, "top-level form"), plural(r.Lines, "line"))
	if len(r.Problems) == 0 {
		p.WriteString(sanitize(name) + "well-formed: " + size + ".")
	} else {
		p.WriteString(sanitize(name) + "not well-formed: " + plural(len(r.Problems), "problem") + ".")
	}
	lines := strings.Split(code, "\n")
	for _, problem := range r.Problems {
		p.begin()
		fmt.Fprintf(&p, "%d:%d: %s", problem.Line, problem.Column, problem.Message)
		writeSourceLine(&p, lines, problem.Line)
		if h := problem.Hint; h != nil {
			p.WriteString("\n" + h.Message)
			if h.Last != problem.Line {
				writeSourceLine(&p, lines, h.Last)
			}
			if h.Line != h.Last && h.Line != problem.Line {
				writeSourceLine(&p, lines, h.Line)
			}
		}
	}
	if n := len(r.Unknown); n > 0 {
		p.begin()
		u := r.Unknown[0]
		fmt.Fprintf(&p, "; %s not of the standard, the first at %d:%d; what they read is not known here.",
			plural(n, "reader macro"), u.Line, u.Column)
	}
	return p.String()
}

// sourceLine writes a line of source on a line of its own, with its number.
func writeSourceLine(p *parts, lines []string, n int) {
	if n >= 1 && n <= len(lines) {
		fmt.Fprintf(p, "\n%4d | %s", n, sanitize(clip(strings.TrimRight(lines[n-1], "\r"), 120)))
	}
}
