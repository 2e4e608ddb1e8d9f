package syntax

import "strings"

// How well a text fits: its indentation, and what is known of the standard's operators.
// Each thing that does not fit costs something; the numbers weigh them against each
// other and were tried on the sources of Debian's Lisp libraries, see TestRepair.
const (
	costOutside = 8.0 // a line begins left of the list that it stands in, or behind the last form
	costOdd     = 3.0 // a line begins where no element of its list does
	costUnusual = 0.5 // it begins where some people would have it
	costCount   = 5.0 // an operator of the standard with too many or too few arguments
	costHead    = 4.0 // a form whose first element cannot be an operator
	costShape   = 4.0 // an argument that cannot be one, such as a number for a lambda list
	costNested  = 1.5 // a list that begins with a list, where nothing says why
	costLone    = 2.0 // a list of one list
	costUse     = 2.0 // a name that elsewhere is an operator only, and no operator here, or the other way round
	costRare    = 1.0 // a form that is right, and rarely written
	costTouch   = 3.0 // a parenthesis that touches what it should not, or stands apart from what it belongs to
	costLoose   = 2.0 // an atom in a body that is not its last form
)

// edit is one parenthesis more or less.
type edit struct {
	what change
	at   int // index of a token
}

type change byte

const (
	closeAfter  change = iota // a ")" behind the token
	openBefore                // a "(" before it
	removeToken               // without it
)

// judge goes over tokens once.
type judge struct {
	*work
	text     string
	lists    []list
	cost     float64
	forms    int // at top level
	last     int // line of the token before
	uses     map[string]uses
	counts   map[string]counts // see countsOf
	extra    int               // closing parentheses that may be too many
	counting bool              // names are counted, nothing is judged
	wasHead  bool              // the token follows a parenthesis in the unmended text
	held     *prefixed         // what stands before the next form, or nil
}

// prefixed are the prefixes before a form.
type prefixed struct {
	col   int  // of the first of them
	first bool // it began a line
	role  role // of the form
	set   bool // they determine it
}

// basis is a text that does not fit together.
type basis struct {
	*work
	text   string
	tokens []token
	uses   map[string]uses
	counts map[string]counts
	off    int // parentheses that are missing, or less than 0, too many
}

// fit returns what the text costs with the edit made, and whether its parentheses match
// then, but for those that further edits are to mend.
func (b *basis) fit(e edit) (cost float64, ok bool) {
	j := &judge{work: b.work, text: b.text, uses: b.uses, counts: b.counts, extra: max(-b.off-1, 0)}
	shift, line := 0, 0 // what stands behind the edit in its line has moved
	for i, t := range b.tokens {
		if t.line != line {
			shift, line = 0, t.line
		}
		t.col += shift
		here := e.at == i
		if here && e.what == removeToken {
			shift = -1
			continue
		}
		if here && e.what == openBefore {
			j.token(token{kind: opener, line: t.line, col: t.col})
			shift = 1
			t.col++
		}
		j.wasHead = i > 0 && b.tokens[i-1].kind == opener
		if !j.token(t) || b.over {
			return 0, false
		}
		if here && e.what == closeAfter {
			shift = 1
			if !j.token(token{kind: closer, line: t.line, col: t.col + 1}) {
				return 0, false
			}
		}
	}
	return j.cost, len(j.lists) == max(b.off-1, 0)
}

// token takes the next one. It returns false at a closing parenthesis too many.
func (j *judge) token(t token) bool {
	first := t.line != j.last
	j.last = t.line
	if t.kind == prefix || t.kind == skipPrefix {
		j.prefix(t, first)
		return true
	}
	if t.kind == closer {
		j.held = nil
		return j.close()
	}
	l := list{col: t.col, line: t.line}
	if t.kind == opener {
		if n := len(j.lists); n > 0 && j.held == nil {
			above := &j.lists[n-1]
			l.inner = above.role == lambda
			l.spec = above.n == 1 && !above.known && (above.role == code || above.role == unknown)
		}
		l.role = j.element(t, first)
		j.lists = append(j.lists, l)
	} else {
		j.element(t, first)
	}
	j.held = nil
	return true
}

func (j *judge) prefix(t token, first bool) {
	if j.held == nil {
		j.held = &prefixed{col: t.col, first: first}
	}
	if t.kind == skipPrefix {
		if n := len(j.lists); n > 0 {
			j.lists[n-1].lenient = true
		}
		return
	}
	if s := j.text[t.start:t.end]; len(s) == 2 && s[0] == ',' && len(j.lists) > 0 {
		j.lists[len(j.lists)-1].lenient = true // ,@ is any number of elements
	}
	switch j.text[t.start:t.end] {
	case "'":
		j.held.role, j.held.set = data, true
	case ",", ",@", ",.", "#.":
		j.held.role, j.held.set = code, true
	case "`", "#'":
		j.held.role, j.held.set = unknown, true
	}
}

// element takes the beginning of a form and returns what a list there is for.
func (j *judge) element(t token, first bool) role {
	col := t.col
	if j.held != nil {
		col, first = j.held.col, j.held.first
	}
	if len(j.lists) == 0 {
		j.topLevel(t, first, col)
		return code
	}
	l := &j.lists[len(j.lists)-1]
	j.step(1 + (t.end-t.start)/16)
	if first {
		j.step(len(l.cols) / 16) // see misfit
	}
	j.cost += l.stand(t.line, col, first)
	name := ""
	if t.kind == atom || j.text[t.start:t.end] == "#(" {
		name = j.text[t.start:t.end]
	}
	n := l.n
	r := l.take(name, j.held)
	j.cost += r.cost
	if l.evaluates(n, r.role) && (j.held == nil || j.held.role == code) && plainSymbol(name) {
		odd := j.oddUse(name, n == 0 && l.role != clause, j.wasHead)
		if l.role == unknown {
			odd /= 2
		}
		j.cost += odd
	}
	l.cols = append(l.cols, col)
	if j.counting && name != "" {
		j.count(name, n == 0 && l.isForm())
	}
	l.special = l.special || name == ""
	l.optional = l.optional || strings.HasPrefix(name, "&")
	if l.role == lambda && !l.inner {
		j.cost += j.oddParameter(l, name)
	}
	l.keyed = strings.HasPrefix(name, ":") || strings.HasPrefix(name, "&")
	if j.held != nil && j.held.set {
		return j.held.role
	}
	return r.role
}

// topLevel takes a form at top level.
func (j *judge) topLevel(t token, first bool, col int) {
	if t.kind == atom {
		j.cost += costLoose // nobody writes a symbol at top level
	}
	if j.forms++; j.forms > 1 && (!first || col > 1) {
		j.cost += costOutside
	}
}

// oddParameter is what an element of the lambda list l costs that is the atom name, or a
// list if that is "".
func (j *judge) oddParameter(l *list, name string) float64 {
	switch {
	case name == "" && j.held == nil && !l.optional: // a list among the required parameters
		switch above := j.above(); strings.ToLower(above.head) {
		case "defun", "lambda", "defgeneric", "multiple-value-bind", "flet", "labels":
			return costShape
		default:
			if above.role == function {
				return costShape / 2
			}
		}
	case isKeyword(name) || strings.EqualFold(name, "t"):
		return costShape
	case name != "" && !strings.HasPrefix(name, "&") && !j.counting && j.uses[strings.ToLower(name)].other <= 1:
		return costRare / 2 // nobody uses it
	}
	return 0
}

// oddList reports whether the list l, which is complete, cannot stand in the lambda list
// around it: it is no variable with its specializer, nor one with its default.
func (j *judge) oddList(l *list) bool {
	n, around := len(j.lists), j.above()
	switch {
	case around.inner || n < 3: // a specializer such as (EQL 1), or (:KEY VARIABLE)
		return false
	case around.optional:
		return l.n > 3
	}
	return strings.EqualFold(j.lists[n-3].head, "defmethod") && (l.n != 2 || l.head == "")
}

// above is the list around the innermost one.
func (j *judge) above() *list {
	if n := len(j.lists); n > 1 {
		return &j.lists[n-2]
	}
	return &list{}
}

// close ends the innermost list. It returns false if there is none.
func (j *judge) close() bool {
	n := len(j.lists)
	if n == 0 {
		j.extra--
		j.cost += costOutside
		return j.extra >= 0
	}
	l := &j.lists[n-1]
	if l.role == lambda && strings.EqualFold(j.above().head, "defmethod") && !l.special && l.n > 0 {
		j.cost += costRare
	}
	if l.role == defined && (!strings.EqualFold(l.head, "setf") || l.n != 2 && !l.lenient) {
		j.cost += costShape
	}
	if l.role == lambda && l.inner && !l.lenient && j.oddList(l) {
		j.cost += costShape
	}
	if l.isForm() && l.known && !l.lenient && !l.shape.takes(l.n-1) {
		j.cost += costCount
	}
	if (l.role == function || l.role == handler) && l.n < 2 && l.n > 0 && !l.lenient {
		j.cost += costShape
	}
	if l.isForm() {
		j.cost += j.rare(l)
	}
	if l.n == 1 && l.role == clause {
		j.cost += costRare / 2
	}
	if l.n == 1 && l.role == choice {
		j.cost += costLone
	}
	if l.n == 1 && l.head == "" {
		switch l.role {
		case unknown, data, binding, iteration, step, code, parameters, defined:
			if l.spec {
				j.cost -= costLone / 2
			}
			j.cost += costLone
		case lambda:
			if !strings.EqualFold(j.above().head, "defmethod") {
				j.cost += costLone
			}
		}
	}
	j.lists = j.lists[:n-1]
	return true
}
