package mcpbridge

import (
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// View says how a result is shown.
type View struct {
	Timeout time.Duration // the limit of the evaluation, for its timeout message
	Timing  bool          // add the timing line
}

// ResultText is the text of an evaluation as evaluate-lisp answers it, and
// whether the evaluation failed.
//
// Success: the sections [stdout], [stderr], [warnings] and [background output]
// that have content, then the values. Failure: the error and its backtrace,
// then the sections. A blank line between the parts. Remarks come last, as
// Lisp comments.
func ResultText(r *lisp.Result, v View) (text string, failed bool) {
	var p parts
	step := r.Suspended != nil && r.Suspended.Step
	if step {
		p.step(r.Failure)
	} else if r.Failure != nil {
		p.failure(r.Failure, v.Timeout)
	}
	p.restarts(r.Suspended)
	p.section("stdout", r.Stdout)
	p.section("stderr", r.Stderr)
	p.warnings(r.Warnings)
	p.section("background output", r.Background)
	if r.Failure == nil {
		p.values(r.Values)
	}
	p.remarks(r, v)
	p.suspended(r)
	return p.String(), r.Failure != nil && !step
}

// parts builds a text out of parts with a blank line between them.
type parts struct{ strings.Builder }

// begin starts a part.
func (p *parts) begin() {
	if p.Len() > 0 {
		p.WriteString("\n\n")
	}
}

func (p *parts) section(name string, t lisp.Text) {
	if t.Empty() {
		return
	}
	body := textOf(t)
	if body == "" {
		return
	}
	p.begin()
	p.WriteByte('[')
	p.WriteString(name)
	p.WriteString("]\n")
	p.WriteString(body)
}

// textOf is t without leading newlines and trailing blanks.
func textOf(t lisp.Text) string {
	const blank = " \t\r\n"
	head := strings.TrimLeft(t.Head, "\r\n")
	if t.Omitted == 0 {
		return sanitize(strings.TrimRight(head, blank))
	}
	return sanitize(head) + omission(t.Omitted) + sanitize(strings.TrimRight(t.Tail, blank))
}

// omission stands for text that the image did not keep.
func omission(n int64) string {
	return "\n; … " + count(n) + " characters left out here: too long to keep. Print less, or write it to a file …\n"
}

func (p *parts) warnings(ws []lisp.Warning) {
	for i, w := range ws {
		if i == 0 {
			p.begin()
			p.WriteString("[warnings]")
		}
		p.WriteByte('\n')
		p.WriteString(sanitize(w.Type))
		p.WriteString(": ")
		p.WriteString(sanitize(oneLine(w.Message)))
	}
}

func (p *parts) values(vs []lisp.Text) {
	p.begin()
	if len(vs) == 0 {
		p.WriteString("; No values")
	}
	for i, v := range vs {
		if i > 0 {
			p.WriteByte('\n')
		}
		p.WriteString("=> ")
		p.WriteString(sanitize(v.Head))
		if v.Omitted > 0 {
			p.WriteString(omission(v.Omitted))
			p.WriteString(sanitize(v.Tail))
		}
	}
}

// remarks adds the timing and the notes: after values without a blank line,
// after an error as a part of its own.
func (p *parts) remarks(r *lisp.Result, v View) {
	if !v.Timing && len(r.Notes) == 0 {
		return
	}
	if r.Failure != nil {
		p.begin()
	} else {
		p.WriteByte('\n')
	}
	if v.Timing {
		p.WriteString(timing(r.Timing))
	}
	for i, n := range r.Notes {
		if i > 0 || v.Timing {
			p.WriteByte('\n')
		}
		p.WriteString("; ")
		p.WriteString(sanitize(oneLine(n)))
	}
}

func timing(t lisp.Timing) string {
	return "; Timing: " + millis(t.Real) + " real, " + millis(t.Run) + " run, " +
		millis(t.GC) + " GC, " + count(t.Bytes) + " bytes consed"
}

// millis shows whole milliseconds, and of less than ten two decimals if any.
func millis(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	digits := 0
	if ms < 10 {
		digits = 2
	}
	s := strconv.FormatFloat(ms, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s + " ms"
}

// count is n with a comma between thousands.
func count[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds is d in words: "1 second", "0.5 seconds".
func seconds(d time.Duration) string {
	if d == time.Second {
		return "1 second"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " seconds"
}
