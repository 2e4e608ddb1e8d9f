package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var inspectFrameTool = Tool{
	Name:  "inspect-frame",
	Title: "Inspect frame",
	Set:   Debug,
	Shown: true,
	Doc: "Show a frame of a suspended evaluation: local variables with values, the form it is at, catch tags. " +
		"Printing values may run print-object methods; it is stopped after two seconds.",
	Params: []args.Param{frameParam, evaluationParam,
		{Name: "disassemble", Kind: args.Flag, Doc: "Add the machine code of its function."}},
	Example: `{"frame": 0}`,
	Effect:  debugs,
	run:     inspectFrame,
}

func inspectFrame(ctx context.Context, r *Request) (Reply, error) {
	number, frame, disassemble := r.Integer("evaluation"), r.Integer("frame"), r.Flag("disassemble")
	f, err := r.Session.InspectFrame(ctx, number, frame, disassemble)
	if err != nil {
		return Reply{}, err
	}
	if f.Failure != nil {
		res := &lisp.Result{Failure: f.Failure, Evaluation: f.Number, Waiting: true}
		text, _ := render.Result(res, render.View{Timeout: inspectLimit})
		if advice := debuggerAdvice(r, res, nil); advice != "" {
			text += "\n" + advice
		}
		return Reply{Text: text, Failed: true}, nil
	}
	return Reply{Text: render.Frame(frame, f)}, nil
}
