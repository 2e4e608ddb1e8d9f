package syntax

import "strings"

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

// taken is what an element costs, and what it is for if it is a list.
type taken struct {
	role role
	cost float64
}

// isForm reports whether the list may be a form that is evaluated.
func (l *list) isForm() bool { return l.role == code || l.role == unknown }

// inBody reports whether an element of that number, from 0, belongs to the body of a form.
func (l *list) inBody(n int) bool { return l.shape.body && n > 1 && n >= len(l.shape.roles) }

// stand is what it costs that the next element stands in that line and column; first says
// that it begins the line.
func (l *list) stand(line, col int, first bool) (cost float64) {
	switch {
	case first:
		cost = l.misfit(col)
		l.fresh = col
		l.lined++
	case l.onePerLine():
		cost = costRare
	case l.isForm() && l.inBody(l.n) && l.line < line:
		cost = costLoose
	}
	return cost
}

// onePerLine reports whether the elements so far began lines, as those of a list do in
// which two seldom share one.
func (l *list) onePerLine() bool {
	together := l.keyed || l.shape.pairs || l.shape.tags || l.shape.body || strings.EqualFold(l.head, "loop")
	return l.lined > 1 && !together && (l.isForm() || l.role == data)
}

// evaluates reports whether the element of that number, from 0, with that role, is a form
// or an operator, so that a name there is used as one.
func (l *list) evaluates(n int, r role) bool {
	switch l.role {
	case code:
		return n == 0 || r == code
	case choice:
		return n > 0
	}
	return l.role == clause || l.role == unknown
}

// plainSymbol reports whether name, an atom, may name a function or a variable.
func plainSymbol(name string) bool {
	return name != "" && !isString(name) && !isKeyword(name) && !number(name)
}

func isString(name string) bool  { return strings.HasPrefix(name, `"`) }
func isKeyword(name string) bool { return strings.HasPrefix(name, ":") }

// take takes an element; name is "" for a list.
func (l *list) take(name string, held *prefixed) (r taken) {
	n := l.n
	l.n++
	if name == "." {
		l.lenient = true
	}
	if n == 0 {
		l.begin(name)
	}
	if n == 2 && isKeyword(name) && strings.EqualFold(l.head, "defmethod") {
		l.shape.roles = qualified
	}
	r.role = l.roleOf(n)
	bare := name == "" && held == nil // a list with nothing before it
	plain := name != "" && held == nil
	switch l.role {
	case code, unknown:
		return l.takeOfForm(n, name, held, r)
	case slots:
		if plain && isKeyword(name) {
			r.cost = costShape
		}
	case lambda:
		if _, known := shapes[strings.ToLower(name)]; l.inner && n == 0 && known && plain {
			r.cost = costUse
		}
	case declarations:
		if n == 0 && bare {
			r.cost = costHead
		}
	case parameters:
		if n == 0 && bare {
			r.cost = costNested
		}
	case data:
		if n == 0 && name == "" {
			r.cost = costNested / 2
		}
	case bindings, steps:
		if name != "" && !plainSymbol(name) {
			r.cost = costShape
		}
	case functions, handlers:
		if plain || name != "" && !plainSymbol(name) {
			r.cost = costShape
		}
	case binding, step, iteration:
		if n == 0 && bare {
			r.cost = costShape
		}
		if most := map[role]int{binding: 2, step: 3}[l.role]; most > 0 && n >= most && !l.lenient {
			r.cost += costCount
		}
	case function:
		switch {
		case n == 0 && bare:
			r.cost = costShape / 2
		case n == 1:
			r.cost = oddArgument(lambda, name, held)
		}
	}
	return r
}

// qualified are the roles of the arguments of a DEFMETHOD with a qualifier, such as :AFTER.
var qualified = []role{defined, data, lambda, code}

// begin takes the first element.
func (l *list) begin(name string) {
	if _, known := shapeOf(name); l.role == parameters && name != "" && known {
		l.role = unknown // not parameters after all
	}
	l.head = name
	if l.isForm() {
		l.shape, l.known = shapeOf(name)
	}
}

// takeOfForm is take in a form, for the element of that number.
func (l *list) takeOfForm(n int, name string, held *prefixed, r taken) taken {
	bare := name == "" && held == nil
	plain := name != "" && held == nil
	switch {
	case n == 0 && l.role == unknown:
		if bare {
			r.cost = costNested
			if l.spec {
				r.cost /= 2
			}
		}
	case n == 0 && bare:
		r.role, r.cost = code, costHead // ((lambda …) …)
	case n == 0:
		if held != nil && held.role != code || name != "" && !plainSymbol(name) {
			r.cost = costHead
		}
	default:
		if r.role == parameters && plain && !isString(name) && !isKeyword(name) {
			r.cost += costRare
		}
		if l.loose {
			r.cost += costLoose
		}
		last := l.known && !l.shape.tags && l.inBody(n) && l.shape.roles[len(l.shape.roles)-1] == code
		l.loose = plain && last && r.role == code && !isString(name)
		r.cost += oddArgument(r.role, name, held)
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
	case l.isForm():
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
