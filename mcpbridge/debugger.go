package mcpbridge

import (
	"context"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// debugger is what the debugger's tools want of an image, beside Evaluate with
// a lisp.DebuggerCall.
type debugger interface {
	// InspectFrame looks at a frame of a suspended evaluation. Errors:
	// *lisp.DebuggerError.
	InspectFrame(ctx context.Context, session string, number, frame int, disassemble bool) (*lisp.Frame, error)
	// Backtrace returns the frames of a suspended evaluation, or of the last
	// error, nil if there was none. Errors: *lisp.DebuggerError.
	Backtrace(ctx context.Context, session string, number int) (*lisp.Backtrace, error)
	// LastError returns what is known of the last error, nil if there was none.
	LastError(ctx context.Context, session string) (*lisp.LastError, error)
}

// maxNumber bounds the numbers of evaluations and frames.
const maxNumber = 1_000_000

// inspectLimit is how long printing a frame may take; see inspect-frame.lisp.
const inspectLimit = 2 * time.Second

// evaluationParam names a suspended evaluation.
func evaluationParam() param {
	return param{name: "evaluation", kind: kindInteger, min: 1, max: maxNumber,
		doc: "Number of the suspended evaluation. Default: the only one."}
}

func frameParam() param {
	return param{name: "frame", kind: kindInteger, required: true, min: 0, max: maxNumber,
		doc: "Number of the frame in the backtrace."}
}

// goOnParam is how long the evaluation may run on. Who says nothing gets the
// limit that it had at first.
func goOnParam(o limits) param {
	return param{name: "timeout", kind: kindNumber, hidden: true, min: 0, above: true, max: o.MaxTimeout.Seconds(),
		aliases: []alias{{name: "timeout_seconds"}, {name: "timeout_ms", scale: 1e-3}},
		doc:     "Seconds after which the evaluation is stopped. Default: as at first."}
}

// debug carries out c, with code, and answers what comes of it.
func (r *request) debug(ctx context.Context, c *lisp.DebuggerCall, code, pkg string) (reply, error) {
	c.Number = int(r.optional("evaluation"))
	timeout := time.Duration(r.optional("timeout") * float64(time.Second))
	if r.err != nil {
		return reply{}, r.err
	}
	c.Anew = timeout == 0 && c.Op != lisp.EvalInFrame
	if timeout == 0 {
		timeout = r.limits.Timeout
	}
	res, err := r.image.Evaluate(ctx, r.session, lisp.Request{
		Code: code, Package: pkg, Timeout: max(timeout, time.Millisecond), Debug: 1, Debugger: c,
		Progress: r.progress, Queued: r.admit,
	})
	if err != nil {
		return reply{}, err
	}
	if c.Op == lisp.AbortIt && res.Suspended == nil && !res.Waiting && res.Failure != nil && res.Failure.Type == "ABORTED" {
		return reply{text: abortedText(res)}, nil
	}
	text, failed := ResultText(res, View{Timeout: orTimeout(res.Limit, timeout)})
	if advice := debuggerAdvice(r, res, c); advice != "" {
		text += "\n" + advice
	}
	return reply{text: text, failed: failed, failure: res.Failure}, nil
}

func orTimeout(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// abortedText is the text of an evaluation that was aborted as asked: what it
// had done until then.
func abortedText(r *lisp.Result) string {
	var p parts
	p.WriteString("Evaluation " + count(r.Evaluation) + " is aborted.")
	p.section("stdout", r.Stdout)
	p.section("stderr", r.Stderr)
	p.warnings(r.Warnings)
	p.section("background output", r.Background)
	if len(r.Notes) > 0 {
		p.begin()
		p.WriteString("; " + sanitize(oneLine(strings.Join(r.Notes, "\n"))))
	}
	return p.String()
}
