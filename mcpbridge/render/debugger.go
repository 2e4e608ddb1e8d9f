package render

import (
	"fmt"
	"strconv"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/swank/lisp"
)

func (p *Parts) step(f *lisp.Failure) {
	message := strings.TrimSpace(f.Message)
	p.Headline("STEP", OneLine(message))
	if len(f.Frames) > 0 {
		p.Begin()
		p.WriteString("[Backtrace]")
		p.Frames(f.Frames, "\n")
	}
}

func (p *Parts) restarts(s *lisp.Suspension) {
	if s == nil || s.Step {
		return
	}
	p.Begin()
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
		p.WriteString(Safe(OneLine(line)))
	}
}

// suspended ends the text with the news that an evaluation waits in the debugger.
func (p *Parts) suspended(r *lisp.Result) {
	switch {
	case r.Suspended != nil && r.Suspended.Step:
		p.Begin()
		fmt.Fprintf(p, "; Evaluation %d waits at this step. Next: step, inspect-frame, evaluate-in-frame, abort-evaluation.", r.Suspended.Number)
	case r.Suspended != nil:
		p.Begin()
		fmt.Fprintf(p, "; Evaluation %d is suspended here, for %s at most. Other calls go on: redefine what is broken with evaluate-lisp, then restart-frame. "+
			"Also: inspect-frame, evaluate-in-frame, invoke-restart, return-from-frame, abort-evaluation.", r.Suspended.Number, minutes(r.Suspended.Limit))
	case r.Waiting && r.Failure != nil:
		p.Begin()
		fmt.Fprintf(p, "; Evaluation %d is still suspended where it was.", r.Evaluation)
	}
}

// Frame is the text of inspect-frame.
func Frame(number int, f *lisp.Frame) string {
	var p Parts
	text, _, _ := strings.Cut(f.Text, placeMark) // which is told below
	fmt.Fprintf(&p, "Frame %d of evaluation %d: %s", number, f.Number, Safe(OneLine(text)))
	p.Begin()
	p.WriteString("[Locals]")
	if len(f.Locals) == 0 {
		p.WriteString("\n; None.")
	}
	p.named(f.Locals)
	if len(f.Missing) > 0 {
		p.WriteString("\n; Without a value here: " + Safe(strings.Join(f.Missing, ", ")))
	}
	// In evaluated code a variable without a value may just not have been bound yet.
	if (len(f.Locals) == 0 || len(f.Missing) > 0 && f.File != "") && !f.Whole {
		p.WriteString(keepingAll(f.File))
	}
	p.Section("Source", lisp.Text{Head: f.Source})
	if f.File != "" {
		p.WriteString("\n; Compiled from " + Safe(f.File))
		if f.Changed {
			p.WriteString(", which has been changed since: the form cannot be told")
		}
	}
	if len(f.Tags) > 0 {
		p.Section("Catch tags", lisp.Text{Head: strings.Join(f.Tags, "\n")})
	}
	p.Section("Disassembly", lisp.Text{Head: f.Disassembly})
	p.Begin()
	if f.Restartable {
		p.WriteString("; restart-frame and return-from-frame can be used on it.")
	} else {
		p.WriteString("; It cannot be restarted or returned from.")
	}
	return p.String()
}

// keepingAll says how to compile the code of a file, or of an evaluation if that is
// "", so that its frames keep every variable.
func keepingAll(file string) string {
	switch {
	case strings.HasPrefix(file, "SYS:"):
		return ""
	case file != "":
		return "\n; Code compiled with DEBUG 3 keeps all of them: compile-file {\"path\": " + Safe(rawtext.Quote(file)) + ", \"debug\": 3}"
	}
	return "\n; Code compiled with DEBUG 3 keeps all of them: evaluate-lisp with its definition and \"debug\": 3"
}

func (p *Parts) named(values []lisp.Local) {
	for _, l := range values {
		p.WriteString("\n" + Safe(l.Name) + " = " + Safe(OneLine(l.Value)))
	}
}

// Backtrace is the text of get-backtrace: count frames from the first on.
func Backtrace(b *lisp.Backtrace, first, count int) string {
	var p Parts
	if b.Number != 0 {
		fmt.Fprintf(&p, "Evaluation %d has been suspended for %s at %s:", b.Number, Age(b.Age), Safe(b.Type))
	} else {
		fmt.Fprintf(&p, "The last error was %s, %s ago:", Safe(b.Type), Age(b.Age))
	}
	last := min(first+count, len(b.Frames))
	if first < last {
		p.framesFrom(first, b.Frames[first:last], "\n")
	} else {
		p.WriteString("\n; No frames from number " + strconv.Itoa(first) + " on.")
	}
	switch {
	case last < len(b.Frames):
		fmt.Fprintf(&p, "\n; %s more: get-backtrace {\"start\": %d", Plural(len(b.Frames)-last+b.More, "frame"), last)
		if b.Number != 0 {
			fmt.Fprintf(&p, ", \"evaluation\": %d", b.Number)
		}
		p.WriteString("}")
	case b.More > 0 && first < last:
		fmt.Fprintf(&p, "\n; %s more, which were not kept", Plural(b.More, "frame"))
	}
	return p.String()
}

// LastError is the text of describe-last-error.
func LastError(e *lisp.LastError) string {
	var p Parts
	p.Headline("ERROR", e.Type)
	if e.Message != "" {
		p.WriteString("\n" + Safe(e.Message))
	}
	p.Begin()
	fmt.Fprintf(&p, "; %s ago, in: %s", Age(e.Age), Safe(OneLine(e.Code)))
	if len(e.Classes) > 1 {
		p.WriteString("\n; A handler for any of " + Safe(strings.Join(e.Classes, ", ")) + " would take it")
	}
	if len(e.Slots) > 0 {
		p.Begin()
		p.WriteString("[Slots]")
		p.named(e.Slots)
	}
	if len(e.Frames) > 0 {
		p.Begin()
		p.WriteString("[Backtrace]")
		shown := min(len(e.Frames), 20)
		p.Frames(e.Frames[:shown], "\n")
		if more := len(e.Frames) - shown + e.More; more > 0 {
			fmt.Fprintf(&p, "\n; %s more: get-backtrace", Plural(more, "frame"))
		}
	}
	if e.Number != 0 {
		p.Begin()
		fmt.Fprintf(&p, "; Evaluation %d is suspended there.", e.Number)
	}
	return p.String()
}
