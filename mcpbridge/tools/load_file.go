package tools

import (
	"context"
	"regexp"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var loadFileTool = Tool{
	Name:  "load-file",
	Title: "Load a file",
	Set:   Build,
	Doc: "Load a Lisp source file (or fasl) into the image, evaluating its forms one by one. " +
		"What it defines counts as defined by this session; an error tells the line of the form. " +
		"compile-file shows the compiler's notes as well.",
	Params: []args.Param{
		pathParam("The file; relative to the server's directory.", true),
		hiddenPackage,
		timeoutParam(compileTimeout, untilStopped),
	},
	Example: `{"path": "src/example.lisp"}`,
	Effect:  runsCode,
	run:     loadFile,
}

func loadFile(ctx context.Context, r *Request) (Reply, error) {
	path := r.Path("path")
	in := r.sessionRequest()
	if r.Err != nil {
		return Reply{}, r.Err
	}
	res, err := r.Session.Load(ctx, path, in)
	if err != nil {
		return Reply{}, err
	}
	boundWarnings(res, false, r.Spool)
	return loadedText(r.Trees, path, res, in), nil
}

// loadHerald is what LOAD writes before an error: the place, which loadedText shows better.
var loadHerald = regexp.MustCompile(`(?s)While evaluating the form starting at line \d+, column \d+\s+of [^\n]*:`)

func loadedText(trees *files.Trees, path string, res *lisp.Result, in lisp.Request) Reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	res.Stderr.Head = loadHerald.ReplaceAllString(res.Stderr.Head, "")
	res.Stderr.Tail = loadHerald.ReplaceAllString(res.Stderr.Tail, "")
	if f := res.Failure; f != nil {
		text, _ := render.Result(res, render.View{Timeout: in.Timeout})
		p := render.Parts{}
		p.WriteString(text)
		writeParentheses(&p, trees, path, "")
		return Reply{Text: p.String(), Failed: true, Failure: f}
	}
	var p render.Parts
	p.WriteString("Loaded: " + render.Safe(path))
	p.Context(res)
	return Reply{Text: p.String()}
}
