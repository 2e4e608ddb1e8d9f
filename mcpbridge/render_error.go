package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// failure writes the headline, the message and the backtrace.
func (p *parts) failure(f *lisp.Failure, timeout time.Duration) {
	switch f.Kind {
	case lisp.KindTimeout:
		p.headline("TIMEOUT", "Evaluation exceeded "+seconds(timeout))
	case lisp.KindCancelled:
		p.headline("CANCELLED", "Evaluation cancelled by the client")
	case lisp.KindImageDied:
		p.headline("ERROR", cmp.Or(f.Type, "IMAGE-DIED"))
	default:
		p.headline("ERROR", cmp.Or(f.Type, "ERROR"))
	}
	if m := strings.Trim(f.Message, " \t\r\n"); m != "" {
		p.WriteByte('\n')
		p.WriteString(sanitize(m))
	}
	if len(f.Frames) == 0 {
		return
	}
	p.begin()
	p.WriteString("[Backtrace]")
	p.frames(f.Frames, "\n")
	if f.More > 0 {
		fmt.Fprintf(p, "\n; %s more", plural(f.More, "frame"))
	}
}

func (p *parts) headline(tag, rest string) {
	p.begin()
	p.WriteByte('[')
	p.WriteString(tag)
	p.WriteString("] ")
	p.WriteString(sanitize(rest))
}

// frames writes numbered frames, each after sep. Three or more that look the
// same, as after a runaway recursion, are one line.
func (p *parts) frames(frames []string, sep string) { p.framesFrom(0, frames, sep) }

func (p *parts) framesFrom(first int, frames []string, sep string) {
	for i := 0; i < len(frames); {
		same := i + 1
		for same < len(frames) && frames[same] == frames[i] {
			same++
		}
		number := strconv.Itoa(first + i)
		if same-i < 3 {
			same = i + 1
		} else {
			number += "-" + strconv.Itoa(first+same-1)
		}
		p.WriteString(sep)
		p.WriteString(number)
		p.WriteString(": ")
		p.WriteString(sanitize(oneLine(frames[i])))
		i = same
	}
}

// ErrorText is the text of an error of [Image] or of a tool, in the form of
// an evaluation's error: what happened, and the next thing to do.
func ErrorText(err error) string {
	var (
		start *lisp.StartError
		busy  *lisp.BusyError
		bad   *argError
		debug *lisp.DebuggerError
		lost  *lisp.UnansweredError
		look  *lookError
	)
	switch {
	case errors.As(err, &look):
		return errorBlock(look.err.Type, look.err.Message, look.next)
	case errors.As(err, &bad):
		return errorBlock("INVALID-ARGUMENTS", bad.problem, bad.advice)
	case errors.As(err, &debug):
		return debuggerErrorText(debug)
	case errors.As(err, &busy):
		return busyText(busy)
	case errors.As(err, &start):
		problem := start.Problem
		if start.Err != nil {
			problem += ": " + start.Err.Error()
		}
		return errorBlock("NO-IMAGE", problem, start.Advice)
	case errors.As(err, &lost):
		kind := "IMAGE-DIED"
		if lost.Kind == lisp.KindTimeout {
			kind = "TIMEOUT"
		}
		return errorBlock(kind, lost.Why, "Send the call again; session-status shows the state of the image.")
	case errors.Is(err, lisp.ErrTooLarge):
		return errorBlock("TOO-LARGE", "The code is too large for one message to the image, which has room for 16 MB; "+
			"a quote or backslash takes four bytes. Nothing was evaluated.",
			"Send it in parts, or write it to a file and evaluate (load \"the-file\").")
	case errors.Is(err, context.DeadlineExceeded):
		return errorBlock("TIMEOUT", "The image did not answer in time.", "session-status shows what it is doing.")
	case errors.Is(err, errShutdown), errors.Is(err, context.Canceled):
		return errorBlock("CANCELLED", "The call was given up: "+err.Error()+".", "")
	}
	return errorBlock("INTERNAL-ERROR", err.Error(), "The session is still there: session-status shows its state.")
}

func errorBlock(kind, problem, advice string) string {
	var p parts
	p.headline("ERROR", kind)
	p.WriteByte('\n')
	p.WriteString(sanitize(strings.TrimSpace(problem)))
	if advice != "" {
		p.begin()
		p.WriteString(sanitize(strings.TrimSpace(advice)))
	}
	return p.String()
}

func busyText(e *lisp.BusyError) string {
	problem := fmt.Sprintf("The session is busy; nothing of this call was evaluated. It waited %s.\nRunning for %s: %s",
		age(e.Waited), age(e.Age), oneLine(e.Code))
	switch {
	case e.Limit <= 0:
	case e.Age < e.Limit:
		problem += fmt.Sprintf("\nIt will be stopped %s after its start.", age(e.Limit))
	default:
		problem += fmt.Sprintf("\nIt was to be stopped %s after its start, and has not stopped yet.", age(e.Limit))
	}
	if e.Ahead > 0 {
		problem += fmt.Sprintf("\n%s before this one.", waiting(e.Ahead))
	}
	return errorBlock("SESSION-BUSY", problem,
		"To stop it, cancel that call (notifications/cancelled); or call again with a longer timeout. session-status shows where it is.")
}

// age is a duration to three figures or so: "120 ms", "3.2 s", "4 min 10 s", "2 h 5 min".
func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return strconv.FormatFloat(float64(d.Milliseconds()/100)/10, 'f', -1, 64) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

func waiting(n int) string {
	if n == 1 {
		return "1 call waits"
	}
	return count(n) + " calls wait"
}
