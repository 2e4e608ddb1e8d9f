package tools

import (
	"errors"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// failedWork is the reply to work that has failed: the error, and what was found out
// before it.
func failedWork(res *lisp.Result, timeout time.Duration, more string) Reply {
	text, _ := render.Result(res, render.View{Timeout: timeout})
	if more != "" {
		text += "\n\n" + more
	}
	return Reply{Text: text, Failed: true, Failure: res.Failure}
}

// nextFunctions is the call to make after names of functions were refused:
// with those that would do, or one that lists functions.
func nextFunctions(tool string, names []string, given, failure string, pairs ...string) string {
	if words := strings.Fields(given); len(names) == 0 && len(words) == 1 && failure == "SYMBOL-NOT-FOUND" {
		return nextCall("apropos-search", "pattern", words[0][strings.LastIndexByte(words[0], ':')+1:])
	} else if len(names) == 0 {
		return nextCall("list-definitions", "type", "functions")
	}
	return nextCall(tool, append([]string{"functions", names[0]}, pairs...)...)
}

func limitParam(what string, def, most float64) args.Param {
	return args.Param{Name: "limit", Kind: args.Integer, Def: def, Min: 1, Max: most, Doc: "How many " + what + " to show."}
}

func lookupError(err error) *lisp.LookupError {
	var failed *lisp.LookupError
	errors.As(err, &failed)
	return failed
}
