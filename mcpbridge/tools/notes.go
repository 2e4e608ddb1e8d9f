package tools

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// writeNotes writes what the compiler said, the weightiest first. Those beyond
// diagnosticsShown go to the spool.
func writeNotes(p *render.Parts, c *lisp.Compiled, file string, s *spool.Spool) {
	shown := min(len(c.Notes), diagnosticsShown)
	if shown > 0 {
		p.Begin()
		p.WriteString(noteText(c.Notes[:shown], file))
	}
	if rest := c.Notes[shown:]; len(rest) > 0 {
		text := noteText(rest, file)
		if c.More > 0 {
			text += fmt.Sprintf("\n; %s", render.Plural(c.More, "more note"))
		}
		fmt.Fprintf(p, "\n; %s more%s", render.Count(len(rest)+c.More), toRead(s, text))
	} else if c.More > 0 {
		fmt.Fprintf(p, "\n; %s", render.Plural(c.More, "more note"))
	}
}

// noteText is the notes, each as file:line:column: severity: text and the line of
// source below it; notes on the same line of source share that.
func noteText(notes []lisp.Note, file string) string {
	var b strings.Builder
	line := ""
	for i, n := range notes {
		place := cmp.Or(n.File, file)
		if n.Line > 0 {
			place = render.Place(place, n.Line, n.Column)
		}
		if place != "" {
			place += ": "
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(render.Safe(place) + render.Safe(n.Severity) + ": " + render.Note(n.Text))
		if source := fmt.Sprintf("\n%4d | %s", n.Line, render.Seen(rawtext.Clip(n.Source, 120))); n.Source != "" && source != line {
			b.WriteString(source)
			line = source
		}
	}
	return b.String()
}

// noteCounts is "2 errors, 1 warning, 3 notes"; what the image has not kept
// counts as notes, of which there are most.
func noteCounts(c *lisp.Compiled) string {
	n := map[string]int{"note": c.More}
	for _, note := range c.Notes {
		n[note.Severity]++
	}
	var all []string
	for _, severity := range []string{"error", "warning", "style-warning", "note"} {
		if n[severity] > 0 {
			all = append(all, render.Plural(n[severity], severity))
		}
	}
	if all == nil {
		return "no notes"
	}
	return strings.Join(all, ", ")
}

// compiledText is the reply of compile-form and compile-file. If the code in file or
// code did not compile, the reply says where a parenthesis is missing, if one is.
func compiledText(trees *files.Trees, c *lisp.Compiled, res *lisp.Result, file, code string, in lisp.Request, s *spool.Spool) Reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	boundWarnings(res, false, s)
	if res.Failure != nil {
		text, _ := render.Result(res, render.View{Timeout: in.Timeout})
		p := render.Parts{}
		p.WriteString(text)
		writeNotes(&p, c, file, s)
		return Reply{Text: p.String(), Failed: true, Failure: res.Failure}
	}
	what := cmp.Or(file, "The code")
	var p render.Parts
	if c.Failed {
		p.Headline("ERROR", "COMPILE-FAILED")
		fmt.Fprintf(&p, "\n%s: %s. Nothing was loaded.", render.Safe(what), noteCounts(c))
	} else {
		state := "Not loaded."
		if c.Loaded {
			state = "Loaded."
		}
		fmt.Fprintf(&p, "Compiled: %s, %s. %s", render.Safe(what), noteCounts(c), state)
	}
	writeNotes(&p, c, file, s)
	if c.Failed {
		writeParentheses(&p, trees, file, code)
	}
	p.Context(res)
	return Reply{Text: p.String(), Failed: c.Failed}
}

// illFormed reports whether validate-syntax would find something in file.
func illFormed(trees *files.Trees, file string) bool {
	code, err := readSource(trees, file)
	return err == nil && len(syntax.Check(context.Background(), code).Problems) > 0
}

// writeParentheses adds what validate-syntax would say of parentheses, or else of
// characters that nobody sees, if it finds anything.
func writeParentheses(p *render.Parts, trees *files.Trees, file, code string) {
	if file != "" {
		var err error
		if code, err = readSource(trees, file); err != nil {
			return // it is the image's; that is enough
		}
	}
	problems := syntax.Check(context.Background(), code).Problems
	for _, problem := range problems {
		if problem.Hint != nil {
			p.Begin()
			fmt.Fprintf(p, "%d:%d: %s %s", problem.Line, problem.Column, problem.Message, problem.Hint.Message)
			return
		}
	}
	if said := unseenText(problems); said != "" {
		p.Begin()
		p.WriteString(said)
	}
}

// unseenText tells of the first character that nobody sees, "" if there is none.
func unseenText(problems []syntax.Problem) string {
	for _, problem := range problems {
		if problem.Unseen {
			return fmt.Sprintf("; %d:%d: %s", problem.Line, problem.Column, problem.Message)
		}
	}
	return ""
}
