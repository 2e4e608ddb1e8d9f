package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var abortEvaluationTool = Tool{
	Name:  "abort-evaluation",
	Title: "Abort evaluation",
	Set:   Debug,
	Shown: true,
	Doc: "End a suspended evaluation, or a job by its number; cleanup forms run. " +
		"Answers what it had printed. What it had changed stays changed.",
	Params:  []args.Param{evaluationParam, goOnParam},
	Example: `{}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		if number := r.Integer("evaluation"); number != 0 {
			if out, done, err := r.abortJob(ctx, number); done {
				return out, err
			}
		}
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.AbortIt}, "", "")
	},
}
