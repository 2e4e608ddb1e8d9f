package syntax

import (
	"regexp"
	"slices"
	"strings"
)

// What the reader wants behind #+, #-, #C, #P and #S.
const (
	needsFeatures = " is to be followed by a feature expression: a symbol, or a list that begins with AND, OR or NOT, of such expressions; NOT takes one."
	needsComplex  = " is to be followed by a list of two real numbers."
	needsPathname = " is to be followed by a string."
	needsStruct   = " is to be followed at once by a list that begins with the name of a structure."
)

// expressions goes over the tokens of a text whose parentheses match, and notes the
// prefixes whose form the reader refuses.
type expressions struct {
	text string
	*work
	strict  bool // also what the reader takes and what nobody means
	skipped int  // forms around this place that #+ or #- may leave out, in which anything may stand behind #C, #P and #S
	found   []Problem
}

// misplaced returns the prefixes in text whose form the reader refuses; with strict those,
// too, that have a form which nobody means.
func misplaced(text string, w *work, strict bool) []Problem {
	e := &expressions{text: text, work: w, strict: strict}
	for t := e.at(0); t.kind != none; {
		if t.kind == closer {
			t = e.after(t)
			continue
		}
		t = e.form(t, 0)
	}
	return e.found
}

func (e *expressions) at(offset int) token       { return tokenAfter(e.text, offset, e.work) }
func (e *expressions) after(t token) token       { return e.at(t.end) }
func (e *expressions) word(t token) string       { return e.text[t.start:t.end] }
func (e *expressions) is(t token, w string) bool { return e.word(t) == w }

func (e *expressions) problem(t token, message string) {
	if len(e.found) < maxProblems {
		e.found = append(e.found, Problem{Pos: posOf(e.text, t.start), Message: e.word(t) + message})
	}
}

// form looks at the form that begins with t and returns the token behind it. Below
// maxNesting it only goes over the tokens.
func (e *expressions) form(t token, depth int) token {
	for {
		switch t.kind {
		case atom:
			return e.after(t)
		case closer, none:
			return t
		case opener:
			t = e.after(t)
			for t.kind != none && t.kind != closer {
				if depth > maxNesting {
					return e.beyond(t)
				}
				t = e.form(t, depth+1)
			}
			return e.after(t)
		case skipPrefix:
			if depth > maxNesting {
				t = e.after(t)
				continue
			}
			feature := e.after(t)
			if _, ok := e.features(feature, true, depth); !ok {
				e.problem(t, needsFeatures)
			}
			t = e.form(feature, depth+1)
			e.skipped++
			t = e.form(t, depth+1)
			e.skipped--
			return t
		case prefix:
			if need := e.lacks(t); need != "" && (e.skipped == 0 || e.strict) {
				e.problem(t, need)
			}
			t = e.after(t)
		}
	}
}

// beyond returns the token behind the list in which t stands.
func (e *expressions) beyond(t token) token {
	for open := 1; t.kind != none; t = e.after(t) {
		switch t.kind {
		case opener:
			open++
		case closer:
			if open--; open == 0 {
				return e.after(t)
			}
		}
	}
	return t
}

// skip returns the token behind the form that begins with t.
func (e *expressions) skip(t token) token {
	for forms := 1; ; {
		switch t.kind {
		case none, closer:
			return t
		case skipPrefix:
			forms++
			t = e.after(t)
			continue
		case prefix:
			t = e.after(t)
			continue
		case opener:
			t = e.beyond(e.after(t))
		case atom:
			t = e.after(t)
		}
		if forms--; forms == 0 {
			return t
		}
	}
}

var integer = regexp.MustCompile(`^[-+]?[0-9]+\.?$`)

// features reports whether the form that begins with t may be a feature expression, and
// returns the token behind it if it may. An operator that some Lisp adds to AND, OR and NOT,
// as Allegro does VERSION>=, the others refuse unless an AND or OR around it spares them the
// look.
func (e *expressions) features(t token, outermost bool, depth int) (behind token, ok bool) {
	switch word := e.word(t); {
	case t.kind == none || depth > maxNesting || t.kind == skipPrefix:
		return e.skip(t), true // said elsewhere
	case t.kind == prefix:
		return e.skip(t), word != "'" && word != "#'" && word != "`" && !strings.EqualFold(word, "#s") // of #. nothing is known
	case t.kind == atom:
		return e.after(t), strings.HasPrefix(word, "#:") || !strings.ContainsAny(word[:1], "\"#") && !integer.MatchString(word)
	case word != "(":
		return t, false
	}
	t = e.after(t)
	if t.kind == closer || t.kind == skipPrefix || e.is(t, "#.") {
		return e.beyond(t), true
	}
	if t.kind != atom || strings.ContainsAny(e.word(t)[:1], "\"#") {
		return t, false
	}
	operator, n := symbolName(e.word(t)), 0
	if !slices.Contains([]string{"AND", "OR", "NOT"}, operator) {
		return e.beyond(t), !e.strict && (!outermost || strings.HasPrefix(operator, "VERSION"))
	}
	plain := true // no #+ and #- inside
	for t = e.after(t); t.kind != closer && t.kind != none; n++ {
		plain = plain && t.kind != skipPrefix
		if t, ok = e.features(t, false, depth+1); !ok {
			return t, false
		}
	}
	return e.after(t), operator != "NOT" || n == 1 || !plain
}

// lacks returns the message that the prefix t has not the form that it needs behind it, or "".
func (e *expressions) lacks(t token) string {
	what := strings.ToLower(e.word(t))
	if what != "#c" && what != "#p" && what != "#s" && (what != "#'" || !e.strict) {
		return ""
	}
	after := e.after(t)
	next := e.word(after)
	known := next != "" && next != "#." && next != "," && after.kind != skipPrefix
	list := next == "("
	switch what {
	case "#c":
		if known && !(list && e.complex(e.after(after))) {
			return needsComplex
		}
	case "#p":
		if known && !strings.HasPrefix(next, `"`) && !strings.EqualFold(next, "#p") {
			return needsPathname
		}
	case "#s":
		head := e.after(after)
		if known && (!list || after.start != t.end || head.kind == closer || head.kind == opener || strings.HasPrefix(e.word(head), `"`)) {
			return needsStruct
		}
	case "#'":
		if next != "" && !e.named(after) {
			return " is to be followed by the name of a function or a lambda expression."
		}
	}
	return ""
}

// named reports whether the form that begins with t is what people write behind #'.
func (e *expressions) named(t token) bool {
	word := e.word(t)
	switch t.kind {
	case atom:
		return !strings.ContainsAny(word[:1], `"0123456789`) && !strings.EqualFold(word, "lambda") && !strings.EqualFold(word, "setf")
	case opener:
		inner := e.after(t)
		return word == "(" && (inner.kind == atom || inner.kind == prefix)
	}
	return word != "'" && word != "`" && word != "#'" // of a comma and of #. nothing is known
}

// complex reports whether a list whose elements begin with t may be that of #C.
func (e *expressions) complex(t token) bool {
	n := 0
	for ; t.kind != closer && t.kind != none; n++ {
		if t.kind != atom {
			return !e.is(t, "(")
		}
		if strings.ContainsAny(e.word(t)[:1], `"`) {
			return false
		}
		t = e.after(t)
	}
	return n == 2
}
