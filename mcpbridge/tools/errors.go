package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// ErrShutdown is the cause of contexts that end because the server does.
var ErrShutdown = errors.New("mcpbridge: the server is shutting down")

// ErrorText is the text of an error of a [Session] or of a tool, in the form of
// an evaluation's error: what happened, and the next thing to do.
func ErrorText(err error) string {
	var (
		start *lisp.StartError
		busy  *lisp.BusyError
		bad   *args.Error
		debug *lisp.DebuggerError
		lost  *lisp.UnansweredError
		look  *lookError
		job   *lisp.JobError
		point *lisp.NoCheckpointError
		wall  *lisp.ObstacleError
	)
	switch {
	case errors.As(err, &look):
		return render.Error(look.err.Type, look.err.Message, look.next)
	case errors.As(err, &bad):
		return render.Error("INVALID-ARGUMENTS", bad.Problem, bad.Advice)
	case errors.As(err, &debug):
		return debuggerErrorText(debug)
	case errors.As(err, &job):
		return jobErrorText(job)
	case errors.As(err, &point):
		return noCheckpointText(point)
	case errors.As(err, &wall):
		return obstacleText(wall)
	case errors.As(err, &busy):
		return busyText(busy)
	case errors.As(err, &start):
		problem := start.Problem
		if start.Err != nil {
			problem += ": " + start.Err.Error()
		}
		return render.Error("NO-IMAGE", problem, start.Advice)
	case errors.As(err, &lost):
		kind := "IMAGE-DIED"
		if lost.Kind == lisp.KindTimeout {
			kind = "TIMEOUT"
		}
		return render.Error(kind, lost.Why, "Send the call again; session-status shows the state of the image.")
	case errors.Is(err, lisp.ErrTooLarge):
		return render.Error("TOO-LARGE", "The code is too large for one message to the image, which has room for 16 MB; "+
			"a quote or backslash takes four bytes. Nothing was evaluated.",
			"Send it in parts, or write it to a file and evaluate (load \"the-file\").")
	case errors.Is(err, context.DeadlineExceeded):
		return render.Error("TIMEOUT", "The image did not answer in time.", "session-status shows what it is doing.")
	case errors.Is(err, ErrShutdown), errors.Is(err, context.Canceled):
		return render.Error("CANCELLED", "The call was given up: "+err.Error()+".", "")
	}
	return render.Error("INTERNAL-ERROR", err.Error(), "The session is still there: session-status shows its state.")
}

func busyText(e *lisp.BusyError) string {
	problem := fmt.Sprintf("The session is busy; nothing of this call was evaluated. It waited %s.\nRunning for %s: %s",
		render.Age(e.Waited), render.Age(e.Age), render.OneLine(e.Code))
	switch {
	case e.Limit <= 0:
	case e.Age < e.Limit:
		problem += fmt.Sprintf("\nIt will be stopped %s after its start.", render.Age(e.Limit))
	default:
		problem += fmt.Sprintf("\nIt was to be stopped %s after its start, and has not stopped yet.", render.Age(e.Limit))
	}
	if e.Ahead > 0 {
		problem += fmt.Sprintf("\n%s before this one.", render.Waiting(e.Ahead))
	}
	return render.Error("SESSION-BUSY", problem,
		"To stop it, cancel that call (notifications/cancelled); or call again with a longer timeout. session-status shows where it is.")
}

func debuggerErrorText(e *lisp.DebuggerError) string {
	if e.Occupied {
		return render.Error("EVALUATION-BUSY", fmt.Sprintf("Evaluation %d takes no commands at the moment: %s.", e.Number, strings.TrimSuffix(e.Why, ".")), "")
	}
	problem := ""
	switch {
	case e.Number != 0 && e.Why != "":
		problem = fmt.Sprintf("Evaluation %d is not suspended: %s.", e.Number, strings.TrimSuffix(e.Why, "."))
	case e.Number != 0:
		problem = fmt.Sprintf("There is no evaluation %d.", e.Number)
	case len(e.Suspended) > 0:
		problem = "Several evaluations are suspended: say which one is meant."
	}
	if len(e.Suspended) == 0 {
		problem = strings.TrimSpace(problem + "\nNo evaluation is suspended in the debugger.")
	} else {
		problem += "\nSuspended:"
		for _, s := range e.Suspended {
			problem += fmt.Sprintf("\n%d: %s in %s", s.Number, s.Failure, render.OneLine(s.Code))
		}
	}
	return render.Error("NOT-SUSPENDED", problem, "")
}

// lookError is a failed look-up with the next call to make.
type lookError struct {
	err  *lisp.LookupError
	next string
}

func (e *lookError) Error() string { return e.err.Error() }
