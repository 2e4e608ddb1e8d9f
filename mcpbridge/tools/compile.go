package tools

import (
	"context"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

// compileTimeout is how long a file may take if the call names no limit.
const compileTimeout = 120 * time.Second

// onErrorParam leaves an unexpected error to the debugger.
var onErrorParam = args.Param{Name: "on-error", Kind: args.Text, Def: "report", Enum: []string{"report", "debug"},
	Doc: "As for evaluate-lisp."}

// debugDoc says what debug is for.
const debugDoc = "Compilation quality DEBUG; 3 keeps every frame and local variable, and lets step go in."

var loadParam = args.Param{Name: "load", Kind: args.Flag, Def: true, Doc: "Load the result."}

func (r *Request) compile(ctx context.Context, c lisp.Compilation, in lisp.Request) (Reply, error) {
	out, res, err := r.Session.Compile(ctx, c, in)
	if err != nil {
		return Reply{}, err
	}
	reply := compiledText(r.Trees, out, res, c.File, c.Code, in, r.Spool)
	if out.Failed && c.File != "" && r.Takes("validate-syntax") && illFormed(r.Trees, c.File) {
		reply.Text += "\n\n" + nextCall("validate-syntax", "path", c.File)
	}
	return reply, nil
}
