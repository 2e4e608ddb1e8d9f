package tools

import (
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

func pathParam(doc string, required bool) args.Param {
	return args.Param{Name: "path", Kind: args.Text, Required: required, Doc: doc,
		Aliases: []args.Alias{{Name: "file"}, {Name: "file-path"}, {Name: "filename"}, {Name: "pathname"}}}
}

// packageParam is the package argument of the tools that read code.
var packageParam = args.Param{Name: "package", Kind: args.Text,
	Doc: "Package to read it in. Default: the session's."}

// hiddenPackage is for code that names its package.
var hiddenPackage = hidden(packageParam)

// debugParam is the compilation quality DEBUG of what a tool compiles.
func debugParam(doc string) args.Param {
	return args.Param{Name: "debug", Kind: args.Integer, Def: 1.0, Min: 0, Max: 3, Doc: doc}
}

// untilStopped is what timeoutParam says where there is no more to say.
const untilStopped = "Seconds until it is stopped."

// timeoutParam is the time limit of a tool where the call names none, 0 for that of
// [Limits], which bound it in any case.
func timeoutParam(def time.Duration, doc string) args.Param {
	return args.Param{Name: "timeout", Kind: args.Number, Def: def.Seconds(), Min: 0, Above: true,
		Aliases: []args.Alias{{Name: "timeout_seconds"}, {Name: "timeout_ms", Scale: 1e-3}}, Doc: doc}
}

// hidden is p, accepted and not advertised.
func hidden(p args.Param) args.Param { p.Hidden = true; return p }

var quietTimeout = hidden(timeoutParam(0, untilStopped))

// sessionRequest is the request of work in the session: its package and DEBUG, if the
// tool has those arguments, its time limit, and where its progress goes.
func (r *Request) sessionRequest() lisp.Request {
	in := lisp.Request{Debug: 1, Progress: r.Progress}
	if r.Declares("package") {
		in.Package = r.Text("package")
	}
	in.Timeout = max(time.Duration(r.Number("timeout")*float64(time.Second)), time.Millisecond)
	if r.Declares("debug") {
		in.Debug = r.Integer("debug")
	}
	if r.Declares("on-error") {
		in.Suspend = r.Text("on-error") == "debug"
	}
	return in
}
