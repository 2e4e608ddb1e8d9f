package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

var inspectFrameTool = tool{
	name:  "inspect-frame",
	title: "Inspect frame",
	set:   inDebug,
	shown: true,
	doc: "Show a frame of a suspended evaluation: local variables with values, the form it is at, catch tags. " +
		"Printing values may run print-object methods; it is stopped after two seconds.",
	params: func(limits) []param {
		return []param{frameParam(), evaluationParam(),
			{name: "disassemble", kind: kindFlag, doc: "Add the machine code of its function."}}
	},
	example:    `{"frame": 0}`,
	readOnly:   true,
	idempotent: true,
	run:        inspectFrame,
}

func inspectFrame(ctx context.Context, r *request) (reply, error) {
	number, frame, disassemble := int(r.optional("evaluation")), r.integer("frame"), r.flag("disassemble")
	if r.err != nil {
		return reply{}, r.err
	}
	f, err := r.image.InspectFrame(ctx, r.session, number, frame, disassemble)
	if err != nil {
		return reply{}, err
	}
	if f.Failure != nil {
		res := &lisp.Result{Failure: f.Failure, Evaluation: f.Number, Waiting: true}
		text, _ := ResultText(res, View{Timeout: inspectLimit})
		if advice := debuggerAdvice(r, res, nil); advice != "" {
			text += "\n" + advice
		}
		return reply{text: text, failed: true}, nil
	}
	return reply{text: frameText(frame, f)}, nil
}
