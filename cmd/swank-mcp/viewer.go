package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"swank-mcp/people/transcript"
)

// Bounds of what is shown of one text.
const (
	viewLines   = 40
	viewColumns = 500
	viewFrames  = 10
)

// viewer shows entries of a transcript to a person.
type viewer struct {
	to    io.Writer
	paint paint
	b     strings.Builder
	last  int64            // job of the entry shown before
	shown map[int64]string // by job: its output that was shown while it ran
}

// entry shows e.
func (v *viewer) entry(e *transcript.Entry) error {
	v.b.Reset()
	switch e.Kind {
	case "begun":
		v.begun(e)
	case "output":
		v.output(e)
	case "ended", "suspended", "left":
		v.ended(e)
	default:
		v.other(e)
	}
	v.last = e.Job
	_, err := io.WriteString(v.to, v.b.String())
	return err
}

func (v *viewer) line(colour, text string) { v.b.WriteString(v.paint.in(colour, safe(text)) + "\n") }

// text shows a text, each line after prefix.
func (v *viewer) text(colour, prefix, text string) {
	if text == "" {
		return
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		if i == viewLines {
			v.line(faint, fmt.Sprintf("%s... %d more lines", prefix, len(lines)-i))
			break
		}
		if runes := []rune(l); len(runes) > viewColumns {
			l = fmt.Sprintf("%s... %d more characters", string(runes[:viewColumns]), len(runes)-viewColumns)
		}
		v.line(colour, prefix+l)
	}
}

func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }

func (v *viewer) begun(e *transcript.Entry) {
	head := fmt.Sprintf("[%d] %s %s", e.Job, clock(e.Time), e.Session)
	if e.Package != "" {
		head += ", " + e.Package
	}
	for _, s := range []string{e.Tool, e.Client} {
		if s != "" {
			head += ", " + s
		}
	}
	v.b.WriteByte('\n')
	v.line(cyan, oneLine(head))
	if e.Code != "" {
		v.text(bold, "", e.Code)
	} else {
		v.text(bold, "; ", e.Title)
	}
	v.cut(e, "code")
}

func (v *viewer) cut(e *transcript.Entry, field string) {
	if n := e.Cut[field]; n > 0 {
		v.line(faint, fmt.Sprintf("; %d characters of the %s are left out", n, field))
	}
}

func (v *viewer) output(e *transcript.Entry) {
	v.again(e)
	if v.shown == nil {
		v.shown = map[int64]string{}
	}
	v.shown[e.Job] += e.Output
	v.text("", "| ", e.Output)
}

// again says which piece of work is shown, where that is not the one before.
func (v *viewer) again(e *transcript.Entry) {
	if v.last != e.Job {
		v.line(cyan, fmt.Sprintf("[%d] %s", e.Job, e.Title))
	}
}

func (v *viewer) ended(e *transcript.Entry) {
	v.again(e)
	shown := v.shown[e.Job]
	delete(v.shown, e.Job)
	if rest, ok := strings.CutPrefix(e.Stdout, shown); ok && e.Stderr == "" {
		v.text("", "| ", rest)
	} else {
		v.text("", "| ", e.Stdout)
		v.text(yellow, "! ", e.Stderr)
	}
	v.cut(e, "stdout")
	v.cut(e, "stderr")
	v.text(faint, "| ", e.Background)
	for _, w := range e.Warnings {
		place := ""
		if w.File != "" {
			place = fmt.Sprintf(" (%s:%d)", w.File, w.Line)
		}
		v.text(yellow, "; ", w.Type+": "+w.Message+place)
	}
	for _, value := range e.Values {
		v.text(green, "=> ", value)
	}
	v.cut(e, "value")
	if f := e.Failure; f != nil {
		v.text(red, "", strings.TrimSpace(fmt.Sprintf("[%s] %s\n%s", f.Kind, f.Type, f.Message)))
		for i, frame := range f.Frames[:min(len(f.Frames), viewFrames)] {
			v.line(faint, oneLine(fmt.Sprintf("%d: %s", i, frame)))
		}
		if more := len(f.Frames) - viewFrames + f.More; more > 0 {
			v.line(faint, fmt.Sprintf("... %d more frames", more))
		}
	}
	if e.Error != "" {
		v.text(red, "; ", e.Error)
	}
	for _, note := range e.Notes {
		v.text(faint, "; ", note)
	}
	end := fmt.Sprintf("; [%d] %.1f ms", e.Job, e.Ms)
	switch {
	case e.Kind == "suspended":
		end += fmt.Sprintf(", suspended as evaluation %d", e.Evaluation)
	case e.Kind == "left":
		end = fmt.Sprintf("; [%d] goes on in the background as job-%d", e.Job, e.Evaluation)
	}
	v.line(faint, end)
}

// answers are what has become of a question, in words.
var answers = map[string]string{"silence": "nobody has answered in time", "stopped": "the call has ended"}

// other shows what is no work of a session.
func (v *viewer) other(e *transcript.Entry) {
	switch {
	case e.Kind == transcript.KindLeftOut:
		v.line(yellow, oneLine(fmt.Sprintf("... %d entries are missing: %s", e.Count, e.Text)))
	case e.Kind == "asked":
		v.line(yellow, oneLine(fmt.Sprintf("; %s question %d: %s", clock(e.Time), e.Question, e.Text)))
	case e.Kind == "answered":
		v.line(yellow, oneLine(fmt.Sprintf("; %s question %d: %s", clock(e.Time), e.Question, cmp.Or(answers[e.Text], e.Text))))
	case e.Kind == "checkpoint" && e.Text == "": // there is one after most evaluations
	case e.Kind == "checkpoint":
		v.line(faint, oneLine(fmt.Sprintf("; %s checkpoint %s", clock(e.Time), e.Text)))
	default:
		text := fmt.Sprintf("; %s %s", clock(e.Time), e.Kind)
		if e.PID != 0 {
			text += fmt.Sprintf(", pid %d", e.PID)
		}
		if e.Text != "" {
			text += ": " + e.Text
		}
		v.line(yellow, oneLine(text))
	}
}
