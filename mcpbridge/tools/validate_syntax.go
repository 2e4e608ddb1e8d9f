package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/syntax"
)

var syntaxTool = Tool{
	Name:  "validate-syntax",
	Title: "Validate syntax",
	Set:   Build,
	Shown: true,
	Doc: "Check the parentheses, strings, comments and quotes of Lisp source without reading or evaluating it, and " +
		"tell the line where, by the indentation, it broke. Nothing is repaired. Give code or path.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Aliases: []args.Alias{{Name: "form"}, {Name: "text"}}, Doc: "The source."},
		pathParam("A file of source, instead of code.", false),
	},
	Example: `{"code": "(defun f (x) (* x 2)"}`,
	Effect:  looks,
	run:     validateSyntax,
}

func validateSyntax(_ context.Context, r *Request) (Reply, error) {
	code, path := r.Text("code"), r.Path("path", true)
	if (code == "") == (path == "") {
		r.Fail("validate-syntax takes code or path, one of them.")
	}
	if r.Err != nil {
		return Reply{}, r.Err
	}
	if path != "" {
		var err error
		if code, err = readSource(path); err != nil {
			return Reply{}, r.Fail("path: %s cannot be read: %v.", path, err)
		}
	}
	return Reply{Text: syntaxText(path, code, syntax.Check(code))}, nil
}

func syntaxText(path, code string, r *syntax.Report) string {
	var p render.Parts
	name := ""
	if path != "" {
		name = path + ": "
	}
	size := fmt.Sprintf("%s in %s", render.Plural(r.Forms, "top-level form"), render.Plural(r.Lines, "line"))
	if len(r.Problems) == 0 {
		p.WriteString(render.Safe(name) + "well-formed: " + size + ".")
	} else {
		p.WriteString(render.Safe(name) + "not well-formed: " + render.Plural(len(r.Problems), "problem") + ".")
	}
	lines := strings.Split(code, "\n")
	for _, problem := range r.Problems {
		p.Begin()
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
		p.Begin()
		u := r.Unknown[0]
		fmt.Fprintf(&p, "; %s not of the standard, the first at %d:%d; what they read is not known here.",
			render.Plural(n, "reader macro"), u.Line, u.Column)
	}
	return p.String()
}

// sourceLine writes a line of source on a line of its own, with its number.
func writeSourceLine(p *render.Parts, lines []string, n int) {
	if n >= 1 && n <= len(lines) {
		fmt.Fprintf(p, "\n%4d | %s", n, render.Safe(rawtext.Clip(strings.TrimRight(lines[n-1], "\r"), 120)))
	}
}
