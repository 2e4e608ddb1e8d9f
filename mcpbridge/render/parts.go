package render

import (
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/swank/lisp"
)

// Parts builds a text out of parts with a blank line between them.
type Parts struct{ strings.Builder }

// Begin starts a part.
func (p *Parts) Begin() {
	if p.Len() > 0 {
		p.WriteString("\n\n")
	}
}

// Section adds a part under a heading in brackets, unless the text is blank.
func (p *Parts) Section(name string, t lisp.Text) {
	if t.Empty() {
		return
	}
	body := Trimmed(t)
	if body == "" {
		return
	}
	p.Begin()
	p.WriteByte('[')
	p.WriteString(name)
	p.WriteString("]\n")
	p.WriteString(body)
}

// Trimmed is t as it is shown, without leading newlines and trailing blanks.
func Trimmed(t lisp.Text) string {
	const blank = " \t\r\n"
	head := strings.TrimLeft(t.Head, "\r\n")
	if t.Omitted == 0 {
		return Safe(strings.TrimRight(head, blank))
	}
	return Safe(head) + Gap(t.Omitted) + Safe(strings.TrimRight(t.Tail, blank))
}

func (p *Parts) warnings(ws []lisp.Warning) {
	for i, w := range ws {
		if i == 0 {
			p.Begin()
			p.WriteString("[warnings]")
		}
		p.WriteByte('\n')
		p.WriteString(Warning(w))
	}
}

// Warning is the text of a warning, and below that its place with the line of source. Of
// code that is one short line, there is no place to tell.
func Warning(w lisp.Warning) string {
	text := noteText(w.Message)
	if w.Type != "" {
		text = w.Type + ": " + text
	}
	if w.Line == 0 && w.File != "" {
		text += "\n  " + w.File
	}
	if w.Line > 0 {
		text += "\n  " + Place(w.File, w.Line, w.Column) + " | " + strings.TrimSpace(rawtext.Clip(w.Source, 120))
	}
	return Safe(text)
}

// Place is file:line:column, or line:column without a file.
func Place(file string, line, column int) string {
	place := fmt.Sprintf("%d:%d", line, column)
	if file != "" {
		place = file + ":" + place
	}
	return place
}

func (p *Parts) values(vs []lisp.Text) {
	p.Begin()
	if len(vs) == 0 {
		p.WriteString("; No values")
	}
	for i, v := range vs {
		if i > 0 {
			p.WriteByte('\n')
		}
		p.WriteString("=> ")
		p.WriteString(Safe(v.Head))
		if v.Omitted > 0 {
			p.WriteString(Gap(v.Omitted))
			p.WriteString(Safe(v.Tail))
		}
	}
}

// remarks adds the timing and the notes: after values without a blank line,
// after an error as a part of its own.
func (p *Parts) remarks(r *lisp.Result, v View) {
	if !v.Timing && len(r.Notes) == 0 {
		return
	}
	if r.Failure != nil {
		p.Begin()
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
		p.WriteString(Safe(OneLine(n)))
	}
}

// Headline starts a part with a tag in brackets, such as ERROR, and what follows it.
func (p *Parts) Headline(tag, rest string) {
	p.Begin()
	p.WriteByte('[')
	p.WriteString(tag)
	p.WriteString("] ")
	p.WriteString(Safe(rest))
}

// Error is the text of an error: its kind, what was received and is valid, and the
// next thing to do, "" for none.
func Error(kind, problem, advice string) string {
	var p Parts
	p.Headline("ERROR", kind)
	p.WriteByte('\n')
	p.WriteString(Safe(strings.TrimSpace(problem)))
	if advice != "" {
		p.Begin()
		p.WriteString(Safe(strings.TrimSpace(advice)))
	}
	return p.String()
}

// Output adds what was printed, and the warnings.
func (p *Parts) Output(res *lisp.Result) {
	p.Section("stdout", res.Stdout)
	p.Section("stderr", res.Stderr)
	p.warnings(res.Warnings)
	p.Section("background output", res.Background)
}

// Context adds what came along with the answer of a tool: output, warnings
// and notes.
func (p *Parts) Context(res *lisp.Result) {
	p.Output(res)
	p.remarks(res, View{})
}
