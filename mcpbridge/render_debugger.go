package mcpbridge

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// step writes where a stepped evaluation has come to.
func (p *parts) step(f *lisp.Failure) {
	message := strings.TrimSpace(f.Message)
	p.headline("STEP", oneLine(message))
	if len(f.Frames) > 0 {
		p.begin()
		p.WriteString("[Backtrace]")
		p.frames(f.Frames, "\n")
	}
}

// restarts writes the ways on that a suspended evaluation has.
func (p *parts) restarts(s *lisp.Suspension) {
	if s == nil || s.Step {
		return
	}
	p.begin()
	p.WriteString("[Restarts]")
	for i, r := range s.Restarts {
		line := strconv.Itoa(i) + ": "
		if r.Name != "" {
			line += "[" + r.Name + "] "
		}
		line += r.Text
		if r.Values {
			line += " (wants values)"
		}
		p.WriteByte('\n')
		p.WriteString(sanitize(oneLine(line)))
	}
}

// suspended says, last, that an evaluation waits in the debugger.
func (p *parts) suspended(r *lisp.Result) {
	switch {
	case r.Suspended != nil && r.Suspended.Step:
		p.begin()
		fmt.Fprintf(p, "; Evaluation %d waits at this step. Next: step, inspect-frame, evaluate-in-frame, abort-evaluation.", r.Suspended.Number)
	case r.Suspended != nil:
		p.begin()
		fmt.Fprintf(p, "; Evaluation %d is suspended here, for %s at most. Other calls go on: redefine what is broken with evaluate-lisp, then restart-frame. "+
			"Also: inspect-frame, evaluate-in-frame, invoke-restart, return-from-frame, abort-evaluation.", r.Suspended.Number, minutes(r.Suspended.Limit))
	case r.Waiting && r.Failure != nil:
		p.begin()
		fmt.Fprintf(p, "; Evaluation %d is still suspended where it was.", r.Evaluation)
	}
}

// minutes is a duration in whole minutes, if it is one.
func minutes(d time.Duration) string {
	if d%time.Minute != 0 {
		return age(d)
	}
	return plural(int(d/time.Minute), "minute")
}

// debuggerAdvice is the next call after a command that the debugger refused
// with the type of failure, for the evaluation of that number.
func debuggerAdvice(asked *request, r *lisp.Result, c *lisp.DebuggerCall) string {
	if r.Failure == nil || !r.Waiting {
		return ""
	}
	call := func(tool, arguments string) string {
		return fmt.Sprintf(`Next: %s {"evaluation": %d%s}`, tool, r.Evaluation, arguments)
	}
	switch r.Failure.Type {
	case "UNKNOWN-FRAME", "UNKNOWN-RESTART":
		return call("get-backtrace", "")
	case "VALUES-MISSING":
		return call("invoke-restart", `, "restart": `+quote(c.Restart)+`, "values": "'some-value"`)
	case "FIXED-FRAME", "ARGUMENTS-LOST":
		if frame := r.Failure.Frame; frame != nil {
			return asked.with("frame", json.RawMessage(strconv.Itoa(*frame)))
		}
		return call("invoke-restart", `, "restart": "RETRY"`)
	case "NOT-STEPPED-IN":
		return call("step", `, "mode": "next"`)
	case "NOT-STEPPING":
		return `To step through a call: evaluate-lisp {"code": "(flet ((f (x) (print x))) (declare (notinline f)) (step (f 1)))", "on-error": "debug", "debug": 3}`
	}
	return ""
}

func debuggerErrorText(e *lisp.DebuggerError) string {
	if e.Occupied {
		return errorBlock("EVALUATION-BUSY", fmt.Sprintf("Evaluation %d takes no commands at the moment: %s.", e.Number, strings.TrimSuffix(e.Why, ".")), "")
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
			problem += fmt.Sprintf("\n%d: %s in %s", s.Number, s.Failure, oneLine(s.Code))
		}
	}
	return errorBlock("NOT-SUSPENDED", problem, "")
}

// nextDebuggee ends that text: an evaluation to look at, or what is known of the
// last error and how the next one is suspended.
func (r *request) nextDebuggee(e *lisp.DebuggerError) string {
	var lines []string
	switch {
	case e.Occupied:
		lines = append(lines, "Send the same call again later.")
		if r.takes("get-backtrace") {
			lines = append(lines, fmt.Sprintf(`Meanwhile: get-backtrace {"evaluation": %d}`, e.Number))
		}
	case len(e.Suspended) == 0:
		if r.takes("evaluate-lisp") {
			lines = append(lines, `An evaluation is suspended at its error if evaluate-lisp is called with "on-error": "debug".`)
		}
		if r.takes("describe-last-error") {
			lines = append(lines, "Next: describe-last-error {}")
		}
	case r.takes("get-backtrace"):
		lines = append(lines, fmt.Sprintf(`Next: get-backtrace {"evaluation": %d}`, e.Suspended[0].Number))
	}
	return strings.Join(lines, "\n")
}

// frameText is the text of inspect-frame.
func frameText(number int, f *lisp.Frame) string {
	var p parts
	fmt.Fprintf(&p, "Frame %d of evaluation %d: %s", number, f.Number, sanitize(oneLine(f.Text)))
	p.begin()
	p.WriteString("[Locals]")
	if len(f.Locals) == 0 {
		p.WriteString("\n; None.")
	}
	p.named(f.Locals)
	if len(f.Missing) > 0 {
		p.WriteString("\n; Without a value here: " + sanitize(strings.Join(f.Missing, ", ")))
	}
	// Of code that was evaluated, what has no value may not have got one yet.
	if (len(f.Locals) == 0 || len(f.Missing) > 0 && f.File != "") && !f.Whole {
		p.WriteString(keepingAll(f.File))
	}
	p.section("Source", lisp.Text{Head: f.Source})
	if f.File != "" {
		p.WriteString("\n; Compiled from " + sanitize(f.File))
		if f.Changed {
			p.WriteString(", which has been changed since: the form cannot be told")
		}
	}
	if len(f.Tags) > 0 {
		p.section("Catch tags", lisp.Text{Head: strings.Join(f.Tags, "\n")})
	}
	p.section("Disassembly", lisp.Text{Head: f.Disassembly})
	p.begin()
	if f.Restartable {
		p.WriteString("; restart-frame and return-from-frame can be used on it.")
	} else {
		p.WriteString("; It cannot be restarted or returned from.")
	}
	return p.String()
}

// keepingAll is how the code from a file, or of an evaluation if that is "", is
// compiled so that its frames keep every variable.
func keepingAll(file string) string {
	switch {
	case strings.HasPrefix(file, "SYS:"):
		return ""
	case file != "":
		return "\n; Code compiled with DEBUG 3 keeps all of them: compile-file {\"path\": " + sanitize(quote(file)) + ", \"debug\": 3}"
	}
	return "\n; Code compiled with DEBUG 3 keeps all of them: evaluate-lisp with its definition and \"debug\": 3"
}

func (p *parts) named(values []lisp.Local) {
	for _, l := range values {
		p.WriteString("\n" + sanitize(l.Name) + " = " + sanitize(oneLine(l.Value)))
	}
}

// backtraceText is the text of get-backtrace: count frames from the first on.
func backtraceText(b *lisp.Backtrace, first, count int) string {
	var p parts
	if b.Number != 0 {
		fmt.Fprintf(&p, "Evaluation %d has been suspended for %s at %s:", b.Number, age(b.Age), sanitize(b.Type))
	} else {
		fmt.Fprintf(&p, "The last error was %s, %s ago:", sanitize(b.Type), age(b.Age))
	}
	last := min(first+count, len(b.Frames))
	if first < last {
		p.framesFrom(first, b.Frames[first:last], "\n")
	} else {
		p.WriteString("\n; No frames from number " + strconv.Itoa(first) + " on.")
	}
	switch {
	case last < len(b.Frames):
		fmt.Fprintf(&p, "\n; %s more: get-backtrace {\"start\": %d", plural(len(b.Frames)-last+b.More, "frame"), last)
		if b.Number != 0 {
			fmt.Fprintf(&p, ", \"evaluation\": %d", b.Number)
		}
		p.WriteString("}")
	case b.More > 0 && first < last:
		fmt.Fprintf(&p, "\n; %s more, which were not kept", plural(b.More, "frame"))
	}
	return p.String()
}

// lastErrorText is the text of describe-last-error.
func lastErrorText(e *lisp.LastError) string {
	var p parts
	p.headline("ERROR", e.Type)
	if e.Message != "" {
		p.WriteString("\n" + sanitize(e.Message))
	}
	p.begin()
	fmt.Fprintf(&p, "; %s ago, in: %s", age(e.Age), sanitize(oneLine(e.Code)))
	if len(e.Classes) > 1 {
		p.WriteString("\n; A handler for any of " + sanitize(strings.Join(e.Classes, ", ")) + " would take it")
	}
	if len(e.Slots) > 0 {
		p.begin()
		p.WriteString("[Slots]")
		p.named(e.Slots)
	}
	if len(e.Frames) > 0 {
		p.begin()
		p.WriteString("[Backtrace]")
		shown := min(len(e.Frames), 20)
		p.frames(e.Frames[:shown], "\n")
		if more := len(e.Frames) - shown + e.More; more > 0 {
			fmt.Fprintf(&p, "\n; %s more: get-backtrace", plural(more, "frame"))
		}
	}
	if e.Number != 0 {
		p.begin()
		fmt.Fprintf(&p, "; Evaluation %d is suspended there.", e.Number)
	}
	return p.String()
}
