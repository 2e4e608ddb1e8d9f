package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var compileFileTool = Tool{
	Name:  "compile-file",
	Title: "Compile a file",
	Set:   Build,
	Shown: true,
	Doc: "Compile a Lisp source file and load it, showing all compiler notes with file, line, column and source line. " +
		"With errors it is not loaded. What it defines counts as this session's.",
	Params: []args.Param{
		pathParam("The file.", true),
		loadParam,
		{Name: "output", Kind: args.Text, Aliases: []args.Alias{{Name: "output-file"}}, Doc: "Path of a fasl to keep; else none is left."},
		debugParam(debugDoc),
		hiddenPackage,
		timeoutParam(compileTimeout, untilStopped),
	},
	Example: `{"path": "src/example.lisp"}`,
	Effect:  runsCode,
	run:     compileFile,
}

func compileFile(ctx context.Context, r *Request) (Reply, error) {
	c := lisp.Compilation{File: r.Path("path"), NoLoad: !r.Flag("load"), Output: r.Path("output")}
	in := r.sessionRequest()
	if r.Err != nil {
		return Reply{}, r.Err
	}
	return r.compile(ctx, c, in)
}
