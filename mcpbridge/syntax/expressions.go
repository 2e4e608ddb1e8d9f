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
	text    string
	tokens  []token
	strict  bool // also what the reader takes and what nobody means
	skipped int  // forms around this place that #+ or #- may leave out, in which anything may stand behind #C, #P and #S
	found   []Problem
}

// misplaced returns the prefixes in text, which has these tokens, whose form the reader
// refuses; with strict those, too, that have a form which nobody means.
func misplaced(text string, ts []token, strict bool) []Problem {
	e := &expressions{text: text, tokens: ts, strict: strict}
	for at := 0; at < len(ts); {
		if ts[at].kind == closer {
			at++
			continue
		}
		at = e.form(at, 0)
	}
	return e.found
}

func (e *expressions) word(at int) string {
	if at >= len(e.tokens) {
		return ""
	}
	return e.text[e.tokens[at].start:e.tokens[at].end]
}

func (e *expressions) problem(at int, message string) {
	if len(e.found) < maxProblems {
		t := e.tokens[at]
		e.found = append(e.found, Problem{Pos: Pos{t.line, t.col}, Message: e.word(at) + message})
	}
}

// form looks at the form that begins with the token at and returns where the next one
// begins. Below maxNesting it only goes over the tokens.
func (e *expressions) form(at, depth int) int {
	for at < len(e.tokens) {
		switch e.tokens[at].kind {
		case atom:
			return at + 1
		case closer:
			return at
		case opener:
			for at++; at < len(e.tokens) && e.tokens[at].kind != closer; {
				if depth > maxNesting {
					return e.beyond(at)
				}
				at = e.form(at, depth+1)
			}
			return min(at+1, len(e.tokens))
		case skipPrefix:
			if depth > maxNesting {
				at++
				continue
			}
			if !e.features(at+1, true, depth) {
				e.problem(at, needsFeatures)
			}
			at = e.form(at+1, depth+1)
			e.skipped++
			at = e.form(at, depth+1)
			e.skipped--
			return at
		case prefix:
			if need := e.lacks(at); need != "" && (e.skipped == 0 || e.strict) {
				e.problem(at, need)
			}
			at++
		}
	}
	return at
}

// beyond returns the place behind the list in which the token at stands.
func (e *expressions) beyond(at int) int {
	for open := 1; at < len(e.tokens) && open > 0; at++ {
		switch e.tokens[at].kind {
		case opener:
			open++
		case closer:
			open--
		}
	}
	return at
}

var integer = regexp.MustCompile(`^[-+]?[0-9]+\.?$`)

// features reports whether the form at may be a feature expression. An operator that some
// Lisp adds to AND, OR and NOT, as Allegro does VERSION>=, the others refuse unless an AND
// or OR around it spares them the look.
func (e *expressions) features(at int, outermost bool, depth int) bool {
	switch word := e.word(at); {
	case at >= len(e.tokens) || depth > maxNesting:
		return true // said elsewhere
	case e.tokens[at].kind == prefix:
		return word != "'" && word != "#'" && word != "`" && !strings.EqualFold(word, "#s") // of #. nothing is known
	case e.tokens[at].kind == skipPrefix:
		return true
	case e.tokens[at].kind == atom:
		return strings.HasPrefix(word, "#:") || !strings.ContainsAny(word[:1], "\"#") && !integer.MatchString(word)
	case word != "(":
		return false
	}
	at++
	if e.word(at) == ")" || e.tokens[at].kind == skipPrefix || e.word(at) == "#." {
		return true
	}
	if e.tokens[at].kind != atom || strings.ContainsAny(e.word(at)[:1], "\"#") {
		return false
	}
	operator, n := symbolName(e.word(at)), 0
	if !slices.Contains([]string{"AND", "OR", "NOT"}, operator) {
		return !e.strict && (!outermost || strings.HasPrefix(operator, "VERSION"))
	}
	plain := true // no #+ and #- inside
	for at++; at < len(e.tokens) && e.tokens[at].kind != closer; n++ {
		plain = plain && e.tokens[at].kind != skipPrefix
		if !e.features(at, false, depth+1) {
			return false
		}
		at = e.next(at)
	}
	return operator != "NOT" || n == 1 || !plain
}

// next returns where the form behind the one at begins, and looks at none.
func (e *expressions) next(at int) int {
	quiet := &expressions{text: e.text, tokens: e.tokens}
	return quiet.form(at, maxNesting)
}

// lacks returns the message that the prefix at has not the form that it needs behind it, or "".
func (e *expressions) lacks(at int) string {
	next := e.word(at + 1)
	known := next != "" && next != "#." && next != "," && (at+1 >= len(e.tokens) || e.tokens[at+1].kind != skipPrefix)
	list := next == "("
	switch strings.ToLower(e.word(at)) {
	case "#c":
		if known && !(list && e.complex(at+2)) {
			return needsComplex
		}
	case "#p":
		if known && !strings.HasPrefix(next, `"`) && !strings.EqualFold(next, "#p") {
			return needsPathname
		}
	case "#s":
		head := e.word(at + 2)
		if known && (!list || e.tokens[at+1].start != e.tokens[at].end || head == ")" || e.tokens[at+2].kind == opener || strings.HasPrefix(head, `"`)) {
			return needsStruct
		}
	case "#'":
		if e.strict && next != "" && !e.named(at+1) {
			return " is to be followed by the name of a function or a lambda expression."
		}
	}
	return ""
}

// named reports whether the form at is what people write behind #'.
func (e *expressions) named(at int) bool {
	word := e.word(at)
	switch e.tokens[at].kind {
	case atom:
		return !strings.ContainsAny(word[:1], `"0123456789`) && !strings.EqualFold(word, "lambda") && !strings.EqualFold(word, "setf")
	case opener:
		return word == "(" && (e.tokens[at+1].kind == atom || e.tokens[at+1].kind == prefix)
	}
	return word != "'" && word != "`" && word != "#'" // of a comma and of #. nothing is known
}

// complex reports whether a list whose elements begin at may be that of #C.
func (e *expressions) complex(at int) bool {
	n := 0
	for ; at < len(e.tokens) && e.tokens[at].kind != closer; n++ {
		if e.tokens[at].kind != atom {
			return e.word(at) != "("
		}
		if strings.ContainsAny(e.word(at)[:1], `"`) {
			return false
		}
		at++
	}
	return n == 2
}
