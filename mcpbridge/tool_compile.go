package mcpbridge

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

var compileFormTool = tool{
	name:  "compile-form",
	title: "Compile forms",
	set:   inBuild,
	doc: "Compile Lisp forms with the file compiler and load them, showing all compiler notes " +
		"(errors, warnings, optimization notes) with line and column. " +
		"What they define stays, as after evaluate-lisp. With load false they are only checked.",
	params: func(o limits) []param {
		return append([]param{
			{name: "code", kind: kindText, required: true, aliases: []alias{{name: "form"}, {name: "forms"}},
				doc: "One or more forms."},
			loadParam, packageParam, debugParam(debugDoc),
		}, quietTimeout(o)...)
	},
	example:     `{"code": "(defun f (x) (declare (fixnum x)) (* x 2))"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         compileForm,
}

var compileFileTool = tool{
	name:  "compile-file",
	title: "Compile a file",
	set:   inBuild,
	shown: true,
	doc: "Compile a Lisp source file and load it, showing all compiler notes with file, line, column and source line. " +
		"With errors it is not loaded. What it defines counts as this session's.",
	params: func(o limits) []param {
		return []param{
			pathParam("The file.", true),
			loadParam,
			{name: "output", kind: kindText, aliases: []alias{{name: "output-file"}}, doc: "Path of a fasl to keep; else none is left."},
			debugParam(debugDoc),
			hiddenPackage,
			timeoutParam(o, compileTimeout),
		}
	},
	example:     `{"path": "src/example.lisp"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         compileFile,
}

// compileTimeout is how long a file may take if the call names no limit.
const compileTimeout = 120 * time.Second

// debugDoc says what debug is for.
const debugDoc = "Compilation quality DEBUG; 3 keeps every frame and local variable, and lets step go in."

var loadParam = param{name: "load", kind: kindFlag, def: true, doc: "Load the result."}

func compileForm(ctx context.Context, r *request) (reply, error) {
	c := lisp.Compilation{Code: r.text("code"), NoLoad: !r.flag("load")}
	in := r.sessionRequest()
	if r.err != nil {
		return reply{}, r.err
	}
	return r.compile(ctx, c, in)
}

func compileFile(ctx context.Context, r *request) (reply, error) {
	c := lisp.Compilation{File: r.path("path", false), NoLoad: !r.flag("load"), Output: r.path("output", false)}
	in := r.sessionRequest()
	if r.err != nil {
		return reply{}, r.err
	}
	return r.compile(ctx, c, in)
}

func (r *request) compile(ctx context.Context, c lisp.Compilation, in lisp.Request) (reply, error) {
	out, res, err := r.image.Compile(ctx, r.session, c, in)
	if err != nil {
		return reply{}, err
	}
	return compiledText(out, res, c.File, c.Code, in, r.spool), nil
}
