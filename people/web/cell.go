package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"swank-mcp/people/transcript"
)

// Bounds of one text in the list; the whole is on a click.
const (
	listLines  = 30
	listRunes  = 3000
	listValues = 20
)

// cellView is what the template of a cell is filled with.
type cellView struct {
	ID       int64
	State    string
	Says     string // the state in words
	Number   int64
	Clock    string
	Exact    string
	Origin   []string
	Session  string
	Code     part
	Output   part
	Stderr   part
	Process  part
	Warnings []string
	Values   []part
	More     int // values that are not shown
	Failure  *failureView
	Restarts []restartView
	Changed  *changedView
	Profile  *profileView
	Error    string
	Notes    []string
	Text     string
	Whole    bool
}

type failureView struct {
	Kind, Type string
	Message    part
	Frames     []string
	More       int
	Ask        string // for a frame, but for its number; "" when it does not wait any more
}

// restartView is a way on from the error of a suspended evaluation.
type restartView struct {
	Number     int
	Name, Text string
	Values     bool
	Evaluation int
	Session    string
}

// part is a text, or its beginning.
type part struct {
	Text string
	HTML template.HTML // of code
	Left int           // characters that follow, on a click
	Cut  int64         // characters that the transcript does not have
	Name string        // of the text, for people
	ID   int64         // of the cell
}

// cut is the beginning of a text that is shown in the list, or all of it.
func (v *cellView) cut(name, text string, gone int64) part {
	text = strings.TrimSuffix(text, "\n")
	p := part{Name: name, Text: text, Cut: gone, ID: v.ID}
	if !v.Whole {
		end, lines, runes := 0, 1, 0
		for end < len(text) && lines <= listLines && runes < listRunes {
			r, n := utf8.DecodeRuneInString(text[end:])
			if end += n; r == '\n' {
				lines++
			}
			runes++
		}
		if left := utf8.RuneCountInString(text[end:]); left > 200 { // less is not worth a click
			p.Text, p.Left = text[:end], left
		}
	}
	p.Text = safe(p.Text)
	return p
}

func cellHTML(c *cell, whole bool) string {
	v := cellView{ID: c.id, State: c.state, Says: says(c), Number: c.begun.Job, Whole: whole, Session: safe(c.begun.Session)}
	b := &c.begun
	v.Clock, v.Exact = b.Time.Local().Format(time.TimeOnly), b.Time.Format(time.RFC3339Nano)
	if b.Job == 0 {
		v.Text = eventText(b)
		if b.Client != "" {
			v.Session = safe(b.Session + ", " + b.Client)
		}
		return fill("event", v)
	}
	for _, s := range []string{b.Package, b.Tool, b.Client} {
		if s != "" {
			v.Origin = append(v.Origin, line(s))
		}
	}
	v.Code = v.cut("code", cmp.Or(b.Code, b.Title), b.Cut["code"])
	if b.Code != "" {
		v.Code.HTML = highlight(v.Code.Text)
	} else {
		v.Code.Text = line(v.Code.Text)
	}
	v.results(c)
	return fill("cell", v)
}

// results fills in what came of the work.
func (v *cellView) results(c *cell) {
	e, output := &c.ended, c.output
	if e.Kind == "" || e.Stdout == "" && e.Kind == "left" {
		v.Output = v.cut("output", output, 0)
	} else {
		v.Output = v.cut("output", e.Stdout, e.Cut["stdout"])
	}
	v.Stderr = v.cut("error output", e.Stderr, e.Cut["stderr"])
	v.Process = v.cut("output of the process", e.Background, e.Cut["background"])
	for _, w := range e.Warnings {
		text := w.Type + ": " + w.Message
		if w.File != "" {
			text += fmt.Sprintf(" (%s:%d)", w.File, w.Line)
		}
		v.Warnings = append(v.Warnings, safe(text))
	}
	for i, value := range e.Values {
		if i == listValues && !v.Whole {
			v.More = len(e.Values) - i
			break
		}
		p := v.cut("value", value, 0)
		p.HTML = highlight(p.Text)
		v.Values = append(v.Values, p)
	}
	if n := e.Cut["value"]; n > 0 && len(v.Values) > 0 {
		v.Values[len(v.Values)-1].Cut = n
	}
	if f := e.Failure; f != nil {
		v.Failure = &failureView{Kind: line(f.Kind), Type: line(f.Type), Message: v.cut("message", f.Message, 0), More: f.More}
		if c.waits {
			v.Failure.Ask = "frame?" + url.Values{"session": {e.Session}, "evaluation": {strconv.Itoa(e.Evaluation)}}.Encode() + "&frame="
		}
		for _, frame := range f.Frames {
			v.Failure.Frames = append(v.Failure.Frames, line(frame))
		}
	}
	for i, r := range e.Restarts {
		if !c.waits {
			break
		}
		v.Restarts = append(v.Restarts, restartView{i, line(r.Name), line(r.Text), r.Values, e.Evaluation, e.Session})
	}
	v.Changed, v.Profile = changedOf(c), profileOf(c)
	v.Error = safe(e.Error)
	for _, note := range e.Notes {
		v.Notes = append(v.Notes, safe(note))
	}
}

// says is the state of c in words, with the time that it has taken.
func says(c *cell) string {
	took := duration(c.ended.Ms)
	switch c.state {
	case stateRunning:
		return "running"
	case stateDone:
		return took
	case stateFailed:
		return "failed, " + took
	case stateStopped:
		return "stopped, " + took
	case stateSuspended:
		if !c.waits {
			return fmt.Sprintf("was suspended as evaluation %d, %s", c.ended.Evaluation, took)
		}
		return fmt.Sprintf("suspended as evaluation %d, %s", c.ended.Evaluation, took)
	case stateLeft:
		return fmt.Sprintf("goes on as job-%d", c.ended.Evaluation)
	case stateLost:
		return "not known: the server has ended"
	}
	return ""
}

func duration(ms float64) string {
	switch {
	case ms < 10:
		return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
	case ms < 1000:
		return strconv.FormatFloat(ms, 'f', 0, 64) + " ms"
	case ms < 60_000:
		return strconv.FormatFloat(ms/1000, 'f', 1, 64) + " s"
	}
	return time.Duration(ms * float64(time.Millisecond)).Round(time.Second).String()
}

// eventText says what has happened.
func eventText(e *transcript.Entry) string {
	switch e.Kind {
	case transcript.KindLeftOut:
		return fmt.Sprintf("%d entries are missing: %s", e.Count, line(e.Text))
	case transcript.KindPerson:
		return "You: " + line(e.Text)
	case "asked":
		return fmt.Sprintf("You are asked, for %.0f s: %s", e.Seconds, line(e.Text))
	case "answered":
		return map[string]string{"yes": "Answered: yes", "no": "Answered: no", "silence": "Nobody has answered in time", "stopped": "The question needs no answer any more: the call has ended"}[e.Text]
	case "policy":
		return map[string]string{"everything": "Agents may do everything", "new": "You are asked before agents redefine what is yours", "nothing": "You are asked before each evaluation"}[e.Text]
	case "paused":
		return "Paused: calls that would evaluate wait"
	case "resumed":
		return "Resumed: calls go on"
	case "looked":
		text := strings.TrimSpace("Looks: "+line(e.Tool)+" "+line(e.Text)) + ", " + duration(e.Ms)
		if e.Error != "" {
			text += ": " + line(e.Error)
		}
		return text
	}
	text := strings.ToUpper(e.Kind[:1]) + line(e.Kind[1:])
	if e.PID != 0 {
		text += fmt.Sprintf(", pid %d", e.PID)
	}
	if e.Text != "" {
		text += ": " + line(e.Text)
	}
	return text
}
