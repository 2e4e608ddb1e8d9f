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

// edit is one parenthesis more or less. The zero value is none.
type edit struct {
	what change
	at   int // index of a token
}

type change byte

const (
	nothing     change = iota
	closeAfter         // a ")" behind the token
	openBefore         // a "(" before it
	removeToken        // without it
)

// list is an open list of the text that is judged.
type list struct {
	role     role
	col      int // of its parenthesis
	line     int
	lined    int  // elements that began a line
	optional bool // & was among its elements
	special  bool // it has a list among its elements
	keyed    bool // the last element is a keyword
	inner    bool // it is a lambda list in a lambda list, or a parameter with its default
	spec     bool // it is the first argument of an operator that is not known, as bindings are

	head  string // the first element, if it is an atom
	shape shape
	known bool // the head is an operator of the standard

	n       int   // elements so far
	cols    []int // where they began
	fresh   int   // column of the last element that began a line, or 0
	lenient bool  // it has #+ or #-, or a dot: its elements cannot be counted
	loose   bool  // the last element is an atom, which is only good as the last form
}

// judge goes over tokens once.
type judge struct {
	text     string
	lists    []list
	cost     float64
	forms    int // at top level
	last     int // line of the token before
	uses     map[string]uses
	counts   map[string]map[int]int // see countsOf
	counting bool                   // names are counted, nothing is judged
	wasHead  bool                   // the token follows a parenthesis in the unmended text
	held     *prefixed              // what stands before the next form, or nil
}

// uses is how often a name stands at the head of a list, and elsewhere.
type uses struct{ head, other int }

// usesOf counts the names of the text, which has parentheses that do not match.
func usesOf(text string, ts []token) map[string]uses {
	j := &judge{text: text, uses: make(map[string]uses), counting: true}
	for _, t := range ts {
		j.token(t)
	}
	return j.uses
}

// count counts a name.
func (j *judge) count(name string, head bool) {
	name = strings.ToLower(name)
	u := j.uses[name]
	if head {
		u.head++
	} else {
		u.other++
	}
	j.uses[name] = u
}

// oddUse is what it costs that the name stands at the head of a list in code, or does not,
// by how it is used elsewhere; washead says where the unmended text has it.
func (j *judge) oddUse(name string, head, washead bool) float64 {
	name = strings.ToLower(name)
	u := j.uses[name]
	if washead {
		u.head--
	} else {
		u.other--
	}
	_, known := shapes[name]
	switch {
	case head && u.head <= 0 && u.other > 0 && !known:
		return costUse
	case !head && u.other <= 0 && known:
		return costUse
	case !head && u.other <= 0 && u.head > 0:
		return costUse
	case !head && u.other <= 0 && strings.HasSuffix(name, "-p"):
		return costRare
	}
	return 0
}

// prefixed are the prefixes before a form.
type prefixed struct {
	col   int  // of the first of them
	first bool // it began a line
	role  role // of the form
	set   bool // they determine it
}

// fit returns what the text costs with the edit made, and whether its parentheses
// match then.
func fit(text string, ts []token, names map[string]uses, counts map[string]map[int]int, e edit) (cost float64, ok bool) {
	j := &judge{text: text, uses: names, counts: counts}
	shift, line := 0, 0 // what stands behind the edit in its line has moved
	for i, t := range ts {
		if t.line != line {
			shift, line = 0, t.line
		}
		t.col += shift
		here := e.what != nothing && e.at == i
		if here && e.what == removeToken {
			shift = -1
			continue
		}
		if here && e.what == openBefore {
			j.token(token{kind: opener, line: t.line, col: t.col})
			shift = 1
			t.col++
		}
		j.wasHead = i > 0 && ts[i-1].kind == opener
		if !j.token(t) {
			return 0, false
		}
		if here && e.what == closeAfter {
			shift = 1
			if !j.token(token{kind: closer, line: t.line, col: t.col + 1}) {
				return 0, false
			}
		}
	}
	return j.cost, len(j.lists) == 0
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
		if j.forms++; j.forms > 1 && (!first || col > 1) {
			j.cost += costOutside
		}
		return code
	}
	l := &j.lists[len(j.lists)-1]
	if first {
		j.cost += l.misfit(col)
		l.fresh = col
		l.lined++
	} else if l.lined > 1 && !l.keyed && !l.shape.pairs && !l.shape.tags && !strings.EqualFold(l.head, "loop") && (l.role == code || l.role == unknown || l.role == data) && !l.shape.body {
		j.cost += costRare
	} else if l.shape.body && (l.role == code || l.role == unknown) && l.n > 1 && l.n >= len(l.shape.roles) && l.line < t.line {
		j.cost += costLoose
	}
	name := ""
	if t.kind == atom || j.text[t.start:t.end] == "#(" {
		name = j.text[t.start:t.end]
	}
	n := l.n
	r := l.take(name, j.held)
	if name != "" && (n == 0 && l.role == code || n > 0 && l.role == code && r.role == code || l.role == clause || l.role == choice && n > 0 || l.role == unknown) && (j.held == nil || j.held.role == code) &&
		!strings.HasPrefix(name, `"`) && !strings.HasPrefix(name, ":") && !number(name) {
		w := 1.0
		if l.role == unknown {
			w = 0.5
		}
		j.cost += w * j.oddUse(name, n == 0 && l.role != clause, j.wasHead)
	}
	j.cost += r.cost
	l.cols = append(l.cols, col)
	if j.counting && name != "" {
		j.count(name, n == 0 && (l.role == code || l.role == unknown))
	}
	l.special = l.special || name == ""
	l.optional = l.optional || strings.HasPrefix(name, "&")
	if name == "" && j.held == nil && l.role == lambda && !l.inner && !l.optional {
		switch above := j.above(); strings.ToLower(above.head) {
		case "defun", "lambda", "defgeneric", "multiple-value-bind", "flet", "labels":
			j.cost += costShape
		default:
			if above.role == function {
				j.cost += costShape / 2
			}
		}
	}
	if l.role == lambda && !l.inner && name != "" && !strings.HasPrefix(name, "&") && !j.counting && j.uses[strings.ToLower(name)].other <= 1 {
		j.cost += costRare / 2 // a parameter that nobody uses
	}
	l.keyed = strings.HasPrefix(name, ":") || strings.HasPrefix(name, "&")
	if j.held != nil && j.held.set {
		return j.held.role
	}
	return r.role
}

// taken is what an element costs, and what it is for if it is a list.
type taken struct {
	role role
	cost float64
}

// take takes an element; name is "" for a list.
func (l *list) take(name string, held *prefixed) (r taken) {
	n := l.n
	l.n++
	if name == "." {
		l.lenient = true
	}
	if n == 0 {
		if _, known := shapeOf(name); l.role == parameters && name != "" && known {
			l.role = unknown // not parameters after all
		}
		l.head = name
		if l.role == code || l.role == unknown {
			l.shape, l.known = shapeOf(name)
		}
	}
	plain := name != "" && held == nil
	r.role = l.roleOf(n)
	switch l.role {
	case code, unknown:
		if n == 0 && l.role == unknown {
			if name == "" && held == nil {
				r.cost = costNested
				if l.spec {
					r.cost /= 2
				}
			}
			return r
		}
		if n == 0 {
			switch {
			case name == "" && held == nil:
				r.role = code // ((lambda …) …)
				r.cost = costHead
			case held != nil && held.role != code, strings.HasPrefix(name, `"`), strings.HasPrefix(name, ":"), name != "" && number(name):
				r.cost = costHead
			}
			return r
		}
		if r.role == parameters && plain && !strings.HasPrefix(name, `"`) && !strings.HasPrefix(name, ":") {
			r.cost += costRare
		}
		if l.loose {
			r.cost += costLoose
		}
		l.loose = plain && l.known && l.shape.body && !l.shape.tags && r.role == code && n >= len(l.shape.roles) &&
			!strings.HasPrefix(name, `"`) && l.shape.roles[len(l.shape.roles)-1] == code && n > 1
		r.cost += oddArgument(r.role, name, held)
	case slots:
		if plain && strings.HasPrefix(name, ":") {
			r.cost = costShape
		}
	case lambda:
		if _, known := shapes[strings.ToLower(name)]; l.inner && n == 0 && known && plain {
			r.cost = costUse
		}
	case declarations:
		if n == 0 && name == "" && held == nil {
			r.cost = costHead
		}
	case parameters:
		if n == 0 && name == "" && held == nil {
			r.cost = costNested
		}
	case data:
		if n == 0 && name == "" {
			r.cost = costNested
			if l.role == data || l.role == slots {
				r.cost /= 2
			}
		}
	case bindings, functions, steps, handlers:
		if plain && l.role != bindings && l.role != steps {
			r.cost = costShape
		}
		if strings.HasPrefix(name, `"`) || number(name) || strings.HasPrefix(name, ":") {
			r.cost = costShape
		}
	case binding, step, iteration, function:
		if n == 0 && name == "" && held == nil && l.role != function {
			r.cost = costShape
		}
		if most := map[role]int{binding: 2, step: 3}[l.role]; most > 0 && n >= most && !l.lenient {
			r.cost += costCount
		}
		if l.role == function && n == 0 && name == "" && held == nil {
			r.cost = costShape / 2
		}
		if l.role == function && n == 1 {
			r.cost += oddArgument(lambda, name, held)
		}
	}
	return r
}

// oddArgument is what an argument of that role costs that is the atom name, or a list if
// that is "".
func oddArgument(r role, name string, held *prefixed) float64 {
	if held != nil && r != code {
		return 0
	}
	atomic := name != "" && !strings.EqualFold(name, "nil")
	switch r {
	case declarations, bindings, functions, steps, iteration, handlers, clause, choice, handler, lambda:
		if atomic && !(r == choice && (strings.EqualFold(name, "t") || strings.EqualFold(name, "otherwise"))) {
			return costShape
		}
	}
	return 0
}

// roleOf is what the element of that number, from 0, is for.
func (l *list) roleOf(n int) role {
	switch l.role {
	case code:
		if n == 0 {
			return code
		}
		if strings.EqualFold(l.head, "defmethod") && n >= 2 && !l.known {
			return unknown
		}
		return l.shape.argument(n)
	case unknown:
		if n > 0 {
			return l.shape.argument(n)
		}
		return unknown
	case bindings:
		return binding
	case functions:
		return function
	case steps:
		return step
	case handlers:
		return clause
	case binding, step, iteration, choice:
		if n == 0 {
			return data
		}
		return code
	case clause:
		return code
	case lambda:
		return lambda
	case function, handler:
		switch n {
		case 0:
			return data
		case 1:
			return lambda
		}
		return code
	}
	return data
}

// misfit is what an element costs that begins a line in that column.
func (l *list) misfit(col int) float64 {
	switch {
	case col <= l.col:
		return costOutside
	case l.n == 0:
		return costOdd // a parenthesis alone at the end of a line
	case col == l.fresh:
		return 0
	case l.role == code || l.role == unknown:
		if l.n == 1 { // the head is alone in its line
			if col == l.col+1 || col == l.col+2 {
				return 0
			}
		} else if col == l.cols[1] && !(l.shape.body && l.known && l.n > len(l.shape.roles)) {
			return 0
		}
		if l.shape.body && col == l.col+2 {
			return 0
		}
		if l.shape.body && col == l.col+4 && l.n <= len(l.shape.roles) {
			return 0
		}
		if !l.known && col == l.col+2 || l.role == unknown && col == l.col+1 {
			return costUnusual
		}
	case col == l.col+1:
		return 0
	case (l.role == function || l.role == handler || l.role == choice || l.role == clause) && col == l.col+2:
		return 0
	}
	for _, c := range l.cols {
		if c == col {
			return costUnusual
		}
	}
	return costOdd
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
		return false
	}
	l := &j.lists[n-1]
	if l.role == lambda && strings.EqualFold(j.above().head, "defmethod") && !l.special && l.n > 0 {
		j.cost += costRare
	}
	if l.role == defined && !strings.EqualFold(l.head, "setf") {
		j.cost += costShape
	}
	if (l.role == code || l.role == unknown) && l.known && !l.lenient {
		args := l.n - 1
		if args < l.shape.min || l.shape.max >= 0 && args > l.shape.max || l.shape.pairs && args%2 != 0 {
			j.cost += costCount
		}
	}
	if (l.role == function || l.role == handler) && l.n < 2 && l.n > 0 && !l.lenient {
		j.cost += costShape
	}
	if l.role == code || l.role == unknown {
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

// rare is what a form costs that is right and rarely written.
func (j *judge) rare(l *list) float64 {
	name := strings.ToLower(l.head)
	switch name {
	case "and", "or", "progn", "+", "*", "append", "cond", "case", "let":
		if l.n == 2 {
			return costRare
		}
	case "", "list", "values":
		return 0
	}
	if l.lenient {
		return 0
	}
	cost := 0.0
	if strings.HasSuffix(name, "-p") && l.n != 2 {
		cost += costRare
	}
	if !l.known && l.n == 1 && l.role == code {
		cost += costRare / 2
	}
	all := 0
	for _, n := range j.counts[name] {
		all += n
	}
	if all > 1 && j.counts[name][l.n] == 0 {
		cost += costRare
	}
	return cost
}

// countsOf tells with how many elements the lists of each head are written in the text.
func countsOf(text string, ts []token) map[string]map[int]int {
	type open struct {
		head string
		n    int
	}
	all := make(map[string]map[int]int)
	var stack []open
	for _, t := range ts {
		switch t.kind {
		case atom:
			if n := len(stack); n > 0 {
				if stack[n-1].n++; stack[n-1].n == 1 {
					stack[n-1].head = strings.ToLower(text[t.start:t.end])
				}
			}
		case opener:
			if n := len(stack); n > 0 {
				stack[n-1].n++
			}
			stack = append(stack, open{})
		case closer:
			if n := len(stack); n > 0 {
				o := stack[n-1]
				stack = stack[:n-1]
				if all[o.head] == nil {
					all[o.head] = make(map[int]int)
				}
				all[o.head][o.n]++
			}
		}
	}
	return all
}

func number(name string) bool {
	return name != "" && (name[0] >= '0' && name[0] <= '9' || len(name) > 1 && (name[0] == '-' || name[0] == '+') && name[1] >= '0' && name[1] <= '9') &&
		!strings.HasSuffix(name, "+") && !strings.HasSuffix(name, "-")
}
