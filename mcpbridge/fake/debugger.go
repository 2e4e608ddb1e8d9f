package fake

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// What the fake image knows of the debugger: one suspended evaluation, 1, with
// two frames, and no other.

func (f *Image) suspended(number int) error {
	if number > 1 {
		return &lisp.DebuggerError{Number: number, Suspended: []lisp.Suspended{{Number: 1, Code: "(f 0)", Failure: "DIVISION-BY-ZERO"}}}
	}
	return nil
}

func (f *Session) InspectFrame(_ context.Context, number, frame int, disassemble bool) (*lisp.Frame, error) {
	if frame > 1 {
		return &lisp.Frame{Number: 1, Failure: &lisp.Failure{Type: "UNKNOWN-FRAME", Message: "There is no frame."}}, nil
	}
	return &lisp.Frame{Number: 1, Text: "(F 0)", Locals: []lisp.Local{{Name: "X", Value: "0"}}, Restartable: true}, f.suspended(number)
}

func (f *Session) Backtrace(_ context.Context, number int) (*lisp.Backtrace, error) {
	return &lisp.Backtrace{Number: 1, Type: "DIVISION-BY-ZERO", Frames: []string{"(/ 1 0)", "(F 0)"}, Age: time.Second}, f.suspended(number)
}

func (f *Session) LastError(context.Context) (*lisp.LastError, error) {
	return &lisp.LastError{Backtrace: lisp.Backtrace{Type: "DIVISION-BY-ZERO", Frames: []string{"(/ 1 0)"}}, Code: "(f 0)"}, nil
}

// Debug answers a command of the debugger.
func (f *Session) Debug(_ context.Context, c lisp.DebuggerCall, r lisp.Request) (*lisp.Result, error) {
	if err := f.suspended(c.Number); err != nil {
		return nil, err
	}
	res := value("the original's value")
	res.Evaluation = 1
	if c.Op == lisp.AbortIt {
		return &lisp.Result{Evaluation: 1, Stdout: lisp.Text{Head: "so far"}, Failure: &lisp.Failure{Type: "ABORTED"}}, nil
	}
	if c.Op == lisp.InvokeRestart && c.Restart != "0" {
		return &lisp.Result{Evaluation: 1, Waiting: true, Failure: &lisp.Failure{Type: "UNKNOWN-RESTART", Message: "There is no restart."}}, nil
	}
	return res, nil
}
