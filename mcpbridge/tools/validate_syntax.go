package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp/project"
)

var syntaxTool = Tool{
	Name:  "validate-syntax",
	Title: "Validate syntax",
	Set:   Build,
	Shown: true,
	Doc: "Check the parentheses, strings, comments and quotes of Lisp source without reading or evaluating it, and " +
		"tell the line where, by the indentation, it broke. Give code or path.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Aliases: []args.Alias{{Name: "form"}, {Name: "text"}}, Doc: "The source."},
		pathParam("A file of source, instead of code.", false),
		{Name: "repair", Kind: args.Flag, Doc: "Mend the parentheses of the file."},
	},
	Example: `{"code": "(defun f (x) (* x 2)"}`,
	Effect:  Effect{ReadOnly: true, Idempotent: true, Writes: "repair"},
	run:     validateSyntax,
}

func validateSyntax(ctx context.Context, r *Request) (Reply, error) {
	code, path, repair := r.Text("code"), r.file("path"), r.Flag("repair")
	switch {
	case r.Err != nil:
	case (code == "") == (path == ""):
		r.Fail("validate-syntax takes code or path, one of them.")
	case repair && path == "":
		r.Fail("repair mends a file: give path instead of code.")
	case repair && r.ReadOnly:
		r.Fail("repair writes the file, and swank-mcp was started with --read-only.")
		r.Err.Advice = r.Asking("path", path, "repair")
	}
	if r.Err != nil {
		return Reply{}, r.Err
	}
	if repair {
		if !project.IsSource(path) {
			return Reply{}, r.Fail("path: %s is not called as Lisp source is (%s), so it is not mended.", path, strings.Join(project.SourceTypes(), ", "))
		}
		return r.repair(ctx, path)
	}
	if path != "" {
		var err error
		if code, err = readSource(r.Trees, path); err != nil {
			return Reply{}, r.Fail("path: %s cannot be read: %v.", path, err)
		}
	}
	report := syntax.Check(ctx, code)
	text := syntaxText(path, code, report)
	if path != "" && project.IsSource(path) && len(report.Problems) > 0 && !r.ReadOnly {
		if _, ok := syntax.Repair(ctx, code); ok {
			text += "\n\n" + r.With("repair", json.RawMessage("true"))
		}
	}
	return Reply{Text: text}, nil
}

// repair mends the file at path, if it is one that may be written.
func (r *Request) repair(ctx context.Context, path string) (Reply, error) {
	root, name, err := r.Trees.Find(path, r.writableDirs()...)
	if err == nil && root == nil {
		return Reply{}, r.outside(path)
	}
	var said string
	if err == nil {
		defer root.Close()
		said, _, err = mendIn(ctx, root, name, path)
	}
	if err != nil {
		return Reply{}, r.Fail("path: %s cannot be mended: %v.", path, err)
	}
	return Reply{Text: cmp.Or(said, render.Safe(path)+": well-formed. Nothing was written.")}, nil
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
	if len(r.Problems) > 0 && path != "" && !project.IsSource(path) { // it may be anything, a key for one
		fmt.Fprintf(&p, " The first is at %d:%d. It is not called as Lisp source is (%s), so nothing of it is shown.",
			r.Problems[0].Line, r.Problems[0].Column, strings.Join(project.SourceTypes(), ", "))
		return p.String()
	}
	for _, problem := range r.Problems {
		p.Begin()
		fmt.Fprintf(&p, "%d:%d: %s", problem.Line, problem.Column, problem.Message)
		writeSourceLine(&p, code, problem.Line)
		if h := problem.Hint; h != nil {
			p.WriteString("\n" + h.Message)
			if h.Last != problem.Line {
				writeSourceLine(&p, code, h.Last)
			}
			if h.Line != h.Last && h.Line != problem.Line {
				writeSourceLine(&p, code, h.Line)
			}
		}
	}
	if at, latin1 := rawtext.NotUTF8(code); at >= 0 {
		p.Begin()
		before := code[:at]
		fmt.Fprintf(&p, "; %d:%d: %s", strings.Count(before, "\n")+1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])+1, render.NotUTF8(latin1))
	}
	if n := r.Macros; n > 0 {
		p.Begin()
		u := r.Unknown[0]
		fmt.Fprintf(&p, "; %s not of the standard, the first at %d:%d; what they read is not known here.",
			render.Plural(n, "reader macro"), u.Line, u.Column)
	}
	return p.String()
}

// writeSourceLine writes a line of code on a line of its own, with its number, from 1.
func writeSourceLine(p *render.Parts, code string, n int) {
	for at := 1; at < n; at++ {
		var more bool
		if _, code, more = strings.Cut(code, "\n"); !more {
			return
		}
	}
	if n >= 1 {
		line, _, _ := strings.Cut(code, "\n")
		fmt.Fprintf(p, "\n%4d | %s", n, render.Seen(rawtext.Clip(strings.TrimRight(line, "\r"), 120)))
	}
}
