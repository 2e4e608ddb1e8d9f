package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// nextAfter is the end of the report of a failure: the caller's own call with the name that
// the image believes was meant, or a look at the code. Before it stands where a character
// that nobody sees has made another name of one.
func (r *Request) nextAfter(f *lisp.Failure) string {
	next := r.callAfter(f)
	if f == nil || f.Unbalanced || r.Short || f.Type != "UNBOUND-VARIABLE" && f.Type != "UNDEFINED-FUNCTION" {
		return next
	}
	_, code := r.Code()
	said := unseenText(syntax.Check(r.context(), args.Unfenced(code)).Problems)
	if said == "" || next == "" {
		return said + next
	}
	return said + "\n" + next
}

// context is that of the call.
func (r *Request) context() context.Context { return cmp.Or(r.ctx, context.Background()) }

func (r *Request) callAfter(f *lisp.Failure) string {
	switch {
	case f == nil:
		return ""
	case f.System != "" && r.Takes("load-system"):
		return nextCall("load-system", "system", f.System)
	case f.IllFormed != "" && r.Takes("validate-syntax"):
		return nextCall("validate-syntax", "path", f.IllFormed)
	case r.Short:
		return ""
	case f.Meant != "":
		return r.Instead(f.Written, f.Meant)
	case f.Unbalanced:
		return r.unbalanced()
	}
	return ""
}

// unbalanced says where the parentheses of the caller's code are wrong, and below that
// the call with what is missing, or the tool that shows more; "" if the call has no
// code.
func (r *Request) unbalanced() string {
	name, code := r.Code()
	if code == "" {
		return ""
	}
	var lines []string
	if problems := syntax.Check(r.context(), args.Unfenced(code)).Problems; len(problems) > 0 {
		p := problems[0]
		line := fmt.Sprintf("; %d:%d: %s", p.Line, p.Column, p.Message)
		if h := p.Hint; h != nil && (h.Line != p.Line || h.Last != p.Line) {
			line += " " + p.Hint.Message
		}
		lines = append(lines, line)
		said, next := r.mended(name, args.Unfenced(code), p)
		if said != "" {
			lines = append(lines, said)
		}
		if next != "" {
			return strings.Join(append(lines, next), "\n")
		}
	}
	if r.Takes("validate-syntax") {
		next := nextCall("validate-syntax", "code", code)
		if len(next) > args.MaxNext {
			next = "Send the same code to validate-syntax."
		}
		lines = append(lines, next)
	}
	return strings.Join(lines, "\n")
}

// mended is the call once more with its code, the argument called name, mended; "" if it
// is not known how, or nothing is left to do. The forms before the broken one have been
// evaluated and are left out, which said tells.
func (r *Request) mended(name, code string, problem syntax.Problem) (said, next string) {
	mended, ok := syntax.Repair(r.context(), code)
	if !ok {
		return "", ""
	}
	if r.Tool == "evaluate-lisp" {
		done := r.evaluated(code[:offset(code, problem.Pos)], mended)
		if strings.TrimSpace(mended[:done]) != "" {
			mended = mended[done:]
			said = fmt.Sprintf("; What stands before %d:%d was evaluated.", problem.Line, problem.Column)
		}
	}
	if mended = strings.TrimSpace(mended); mended == "" {
		return said, ""
	}
	next = r.With(name, json.RawMessage(rawtext.Quote(mended)))
	if len(mended) > args.MaxNext || strings.Contains(next, "as they were") {
		if problem.Missing == 0 {
			return said, ""
		}
		next = fmt.Sprintf("Send %s again with %q added at the end of line %d.", r.Tool, strings.Repeat(")", problem.Missing), problem.Hint.Last)
	}
	return said, next
}

// evaluated is the offset in mended behind the forms that stood like that in what was
// read before the problem.
func (r *Request) evaluated(read, mended string) int {
	if strings.HasPrefix(mended, read) {
		return len(read) // with the comments behind those forms
	}
	same := 0
	for same < min(len(read), len(mended)) && read[same] == mended[same] {
		same++
	}
	return syntax.LastEnd(r.context(), mended, same)
}

// offset is the offset in text of a place.
func offset(text string, p syntax.Pos) int {
	at := 0
	for range p.Line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for i := range text[at:] {
		if p.Column--; p.Column == 0 {
			return at + i
		}
	}
	return len(text)
}
