package render

import (
	"time"

	"swank-mcp/swank/lisp"
)

// View says how a result is shown.
type View struct {
	Timeout time.Duration // the limit of the evaluation, for its timeout message
	Timing  bool          // add the timing line
}

// Result is the text of an evaluation as evaluate-lisp answers it, and
// whether the evaluation failed.
//
// Success: the sections [stdout], [stderr], [warnings] and [background output]
// that have content, then the values. Failure: the error and its backtrace,
// then the sections. A blank line between the parts. Remarks come last, as
// Lisp comments.
func Result(r *lisp.Result, v View) (text string, failed bool) {
	var p Parts
	step := r.Suspended != nil && r.Suspended.Step
	if step {
		p.step(r.Failure)
	} else if r.Failure != nil {
		p.failure(r.Failure, v.Timeout)
	}
	p.restarts(r.Suspended)
	p.Output(r)
	if r.Failure == nil {
		p.values(r.Values)
	}
	p.remarks(r, v)
	p.suspended(r)
	return p.String(), r.Failure != nil && !step
}
