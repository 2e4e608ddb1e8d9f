package mcpbridge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// nextAfter is the line that ends the report of a failure of which the image
// knows what was meant: the caller's own call with that, or a look at the code.
func (b *Bridge) nextAfter(r *request, f *lisp.Failure) string {
	switch {
	case f == nil:
		return ""
	case f.System != "" && b.takes("load-system"):
		return nextCall("load-system", "system", f.System)
	case r.short:
		return ""
	case f.Meant != "":
		return r.instead(f.Written, f.Meant)
	case f.Unbalanced:
		return b.unbalanced(r)
	}
	return ""
}

// unbalanced is where the caller's code broke, in a line, and the call with
// what is missing, or the tool that shows more; "" if the code was read from
// elsewhere.
func (b *Bridge) unbalanced(r *request) string {
	var code, name string
	for _, g := range r.given {
		if (g.param.name == "code" || g.param.name == "form") && g.value[0] == '"' {
			code, name = unquote(g.value), g.param.name
		}
	}
	if code == "" {
		return ""
	}
	var lines []string
	if problems := syntax.Check(unfenced(code)).Problems; len(problems) > 0 {
		p := problems[0]
		line := fmt.Sprintf("; %d:%d: %s", p.Line, p.Column, p.Message)
		if h := p.Hint; h != nil && (h.Line != p.Line || h.Last != p.Line) {
			line += " " + p.Hint.Message
		}
		lines = append(lines, line)
		if next := r.closed(name, unfenced(code), p); next != "" {
			return strings.Join(append(lines, next), "\n")
		}
	}
	if b.takes("validate-syntax") {
		next := nextCall("validate-syntax", "code", code)
		if len(next) > maxMended {
			next = "Next: validate-syntax with the same code"
		}
		lines = append(lines, next)
	}
	return strings.Join(lines, "\n")
}

// closed is the call once more with the parentheses that problem misses in code,
// the argument called name; "" if it cannot be told. What stands before the
// form has been evaluated and is left out.
func (a *args) closed(name, code string, problem syntax.Problem) string {
	mended, ok := syntax.Mend(code)
	if !ok {
		return ""
	}
	before, said := offset(mended, problem.Pos), ""
	if strings.TrimSpace(mended[:before]) != "" && a.tool.name == "evaluate-lisp" {
		mended = mended[before:]
		said = fmt.Sprintf("; What stands before %d:%d was evaluated.\n", problem.Line, problem.Column)
	}
	mended = strings.Trim(mended, "\n")
	next := a.with(name, json.RawMessage(quote(mended)))
	if len(mended) > maxMended || strings.Contains(next, "as they were") {
		next = fmt.Sprintf("Next: %s with %q added at the end of line %d", a.tool.name, strings.Repeat(")", problem.Missing), problem.Hint.Last)
	}
	return said + next
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

// offers reports whether the client is shown the tool.
func (b *Bridge) offers(name string) bool {
	return slices.ContainsFunc(b.tools, func(t *tool) bool { return t.name == name })
}

// takes reports whether the tool can be called, so that a reply may name it.
func (b *Bridge) takes(name string) bool {
	return slices.ContainsFunc(b.taken, func(t *tool) bool { return t.name == name })
}

// instead is the call once more with one name for another; "" if it is not in an
// argument. One that is an argument by itself, as of a package, is changed only
// there.
func (a *args) instead(written, meant string) string {
	if written == "" || !utf8.ValidString(written) {
		return ""
	}
	alone := slices.ContainsFunc(a.given, func(g argument) bool { return g.isName(written) })
	var members []member
	var changed []string
	for _, g := range a.given {
		v := g.value
		if v[0] == '"' && (!alone || g.isName(written)) {
			old := unquote(v)
			if s := rename(old, written, meant); s != old {
				v = json.RawMessage(quote(s))
				changed = append(changed, g.param.name)
			}
		}
		members = append(members, member{g.param.name, v})
	}
	if len(changed) == 0 {
		return ""
	}
	return a.told(members, changed)
}

// with is the call once more with another value of one argument.
func (a *args) with(name string, value json.RawMessage) string {
	var members []member
	for _, g := range a.given {
		v := g.value
		if g.param.name == name {
			v = value
		}
		members = append(members, member{g.param.name, v})
	}
	return a.told(members, []string{name})
}

func (g *argument) isName(name string) bool {
	return g.value[0] == '"' && strings.EqualFold(strings.TrimSpace(unquote(g.value)), name)
}

// rename puts the name meant for the name written, in whatever case, where that
// is not a part of a longer one. What ends in a colon is the beginning of one,
// and what begins with a colon the end.
func rename(text, written, meant string) string {
	var b strings.Builder
	done := 0
	for _, at := range regexp.MustCompile("(?i)"+regexp.QuoteMeta(written)).FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		begins := at[0] == 0 || !ofName(before) || before == ':' || strings.HasPrefix(written, ":") // as in #:name
		ends := at[1] == len(text) || !ofName(after) || strings.HasSuffix(written, ":")
		if !begins || !ends {
			continue
		}
		with := meant
		// a file's name has a case of its own
		if text[at[0]:at[1]] != strings.ToUpper(written) && meant == strings.ToUpper(meant) {
			with = strings.ToLower(meant)
		}
		b.WriteString(text[done:at[0]] + with)
		done = at[1]
	}
	return b.String() + text[done:]
}

// ofName reports whether r, beside a name, belongs to it.
func ofName(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("()\"'`,;|", r) }
