package mcpbridge

import (
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// notes writes the compiler's notes, each as file:line:column: severity: text
// and the line of source below it; notes on the same line of source share that.
func (p *parts) notes(c *lisp.Compiled, file string) {
	line := ""
	for i, n := range c.Notes {
		place := orElse(n.File, file)
		if n.Line > 0 {
			if place != "" {
				place += ":"
			}
			place += fmt.Sprintf("%d:%d", n.Line, n.Column)
		}
		if place != "" {
			place += ": "
		}
		if i > 0 {
			p.b.WriteByte('\n')
		} else {
			p.begin()
		}
		p.b.WriteString(sanitize(place) + sanitize(n.Severity) + ": " + sanitize(oneLine(n.Text)))
		if source := fmt.Sprintf("\n%4d | %s", n.Line, sanitize(clip(n.Source, 120))); n.Source != "" && source != line {
			p.b.WriteString(source)
			line = source
		}
	}
	if c.More > 0 {
		fmt.Fprintf(&p.b, "\n; %s", plural(c.More, "more note"))
	}
}

// noteCounts is "2 errors, 1 warning, 3 notes", style warnings among the warnings.
func noteCounts(notes []lisp.Note) string {
	n := map[string]int{}
	for _, note := range notes {
		n[note.Severity]++
	}
	var all []string
	for _, severity := range []string{"error", "warning", "style-warning", "note"} {
		if n[severity] > 0 {
			all = append(all, plural(n[severity], severity))
		}
	}
	if all == nil {
		return "no notes"
	}
	return strings.Join(all, ", ")
}

// compiledText is the reply of compile-form and compile-file. What stands in
// file or code is asked where a parenthesis is missing if that was the matter.
func compiledText(c *lisp.Compiled, res *lisp.Result, file, code string, in lisp.Request) reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	if res.Failure != nil {
		text, _ := ResultText(res, View{Timeout: in.Timeout})
		p := parts{}
		p.b.WriteString(text)
		p.notes(c, file)
		return reply{text: p.b.String(), failed: true, failure: res.Failure}
	}
	what := orElse(file, "The code")
	var p parts
	if c.Failed {
		p.headline("ERROR", "COMPILE-FAILED")
		fmt.Fprintf(&p.b, "\n%s: %s. Nothing was loaded.", sanitize(what), noteCounts(c.Notes))
	} else {
		state := "Not loaded."
		if c.Loaded {
			state = "Loaded."
		}
		fmt.Fprintf(&p.b, "Compiled: %s, %s. %s", sanitize(what), noteCounts(c.Notes), state)
	}
	p.notes(c, file)
	if c.Failed {
		p.parentheses(file, code)
	}
	p.context(res)
	return reply{text: p.b.String(), failed: c.Failed}
}

// parentheses adds what validate-syntax would say, if it finds anything.
func (p *parts) parentheses(file, code string) {
	if file != "" {
		var err error
		if code, err = readSource(file); err != nil {
			return // it is the image's; that is enough
		}
	}
	for _, problem := range syntax.Check(code).Problems {
		if problem.Hint != nil {
			p.begin()
			fmt.Fprintf(&p.b, "%d:%d: %s %s", problem.Line, problem.Column, problem.Message, problem.Hint.Message)
			return
		}
	}
}
