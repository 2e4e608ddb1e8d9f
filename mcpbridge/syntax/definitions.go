package syntax

import (
	"context"
	"slices"
	"strings"
)

// Definition is a form that defines a name: a list whose operator is called DEF…, at top
// level or in what people write around definitions, such as PROGN, EVAL-WHEN and LET.
// Names are as the reader has them, mostly in upper case.
type Definition struct {
	Extent

	Operator     string   // without the prefix of a package
	Prefix       string   // of the name, or ""
	Name         string   // of the symbol, or of the F in (setf F)
	Setf         bool     // it defines (setf Name)
	Bound        bool     // it stands in another form than PROGN, which may bind names that it uses
	Qualifiers   []string // of a DEFMETHOD
	Specializers []string // of its required parameters; T where none is given
	Package      string   // that the last IN-PACKAGE before it names, or ""
	Outer        Extent   // of the outermost form around it that may bind names; zero without
}

// Extent is where a list stands in a text.
type Extent struct {
	Pos
	Start, End int // offsets of its first parenthesis and behind its last one
}

// Kind is what the definition is of: "function" (macros and generic functions are, too),
// "variable", "class" (and every other type), "method", "compiler-macro",
// "setf-expander", "method-combination", "package"; "" of an operator that is not known.
// A name has one definition of each kind, but for methods.
func (d *Definition) Kind() string { return kinds[d.Operator] }

var kinds = func() map[string]string {
	all := make(map[string]string)
	for kind, operators := range map[string]string{
		"function":           "DEFUN DEFMACRO DEFGENERIC DEFINE-MODIFY-MACRO",
		"variable":           "DEFVAR DEFPARAMETER DEFCONSTANT DEFGLOBAL DEFINE-LOAD-TIME-GLOBAL DEFINE-SYMBOL-MACRO",
		"class":              "DEFCLASS DEFSTRUCT DEFINE-CONDITION DEFTYPE",
		"method":             "DEFMETHOD",
		"compiler-macro":     "DEFINE-COMPILER-MACRO",
		"setf-expander":      "DEFSETF DEFINE-SETF-EXPANDER",
		"method-combination": "DEFINE-METHOD-COMBINATION",
		"package":            "DEFPACKAGE DEFINE-PACKAGE",
	} {
		for _, operator := range strings.Fields(operators) {
			all[operator] = kind
		}
	}
	return all
}()

// Same reports whether d and e define the same: one of them, in a file, takes the place
// of the other. Packages are not compared.
func (d *Definition) Same(e *Definition) bool {
	if d.Name != e.Name || d.Setf != e.Setf || d.Kind() != e.Kind() || d.Kind() == "" && d.Operator != e.Operator {
		return false
	}
	return slices.Equal(d.Qualifiers, e.Qualifiers) && slices.Equal(d.Specializers, e.Specializers)
}

// Definitions returns the definitions in a text, in order, and the name of the package
// at its end, "" if no IN-PACKAGE says it. What #+ and #- leave out has no definitions. It
// returns false for a text that is not well-formed, or has too much to be looked at.
func Definitions(ctx context.Context, text string, r Reading) (all []Definition, pkg string, ok bool) {
	return definitions(text, workOn(ctx, text), r)
}

// definitions is Definitions whose work is counted.
func definitions(text string, w *work, r Reading) (all []Definition, pkg string, ok bool) {
	if s := scan(text, w); s.broken || len(s.report.Problems) > 0 {
		return nil, "", false
	}
	c := collector{parser: parse(text, w, r), place: beginning()}
	for {
		h, ok := c.form(0)
		if !ok {
			break
		}
		c.visit(h, 0)
	}
	if c.refused || c.over {
		return nil, "", false
	}
	return c.all, c.pkg, true
}

// collector goes over the forms of a text.
type collector struct {
	*parser
	place place // of the last form that was asked for
	pkg   string
	all   []Definition
	bound int    // forms around this one other than PROGN
	outer Extent // the outermost of them that may bind; its end is not known yet
}

// beforeBody is how many arguments of an operator stand before the forms in which
// definitions may be.
var beforeBody = map[string]int{
	"EVAL-WHEN": 1, "LET": 1, "LET*": 1, "FLET": 1, "LABELS": 1, "MACROLET": 1, "SYMBOL-MACROLET": 1,
	"MULTIPLE-VALUE-BIND": 2, "DESTRUCTURING-BIND": 2, "HANDLER-BIND": 1, "DOLIST": 1, "DOTIMES": 1,
}

// visit takes the form that begins with h, where the parser stands.
func (c *collector) visit(h head, depth int) {
	if h.prefixed || c.text[h.start] == '#' {
		c.pass(h)
		return
	}
	if !c.enter(h, depth) {
		return
	}
	first, ok := c.form(depth + 1)
	if !ok || first.kind != atom {
		c.leave()
		return
	}
	operator := c.symbol(first)
	c.advance()
	switch {
	case operator == "IN-PACKAGE":
		if name, ok := c.form(depth + 1); ok {
			c.pkg = c.designated(name)
		}
	case operator == "QUOTE" || operator == "DECLAIM":
	case strings.HasPrefix(operator, "DEF") && !strings.HasPrefix(operator, "DEFAULT"):
		c.define(h, operator, depth)
		return
	default:
		c.body(h, operator, depth)
		return
	}
	c.leave()
}

// body takes the forms in one that begins with h, behind its operator.
func (c *collector) body(h head, operator string, depth int) {
	from := len(c.all)
	outermost := false
	if operator != "PROGN" {
		c.bound++
		defer func(outer Extent) { c.bound--; c.outer = outer }(c.outer)
		if outermost = operator != "EVAL-WHEN" && c.outer.Line == 0; outermost {
			c.outer = c.beginning(h)
		}
	}
	for n := 0; ; n++ {
		e, ok := c.form(depth + 1)
		switch {
		case !ok:
			end := c.leave()
			if outermost {
				for i := range c.all[from:] {
					c.all[from+i].Outer.End = end
				}
			}
			return
		case n < beforeBody[operator]:
			c.pass(e)
		default:
			c.visit(e, depth+1)
		}
	}
}

// beginning is where the form begins that begins with h.
func (c *collector) beginning(h head) Extent {
	c.place.to(c.text, h.start)
	return Extent{Pos: c.place.Pos, Start: h.start}
}

// designated goes behind what begins with h, and returns the name that it stands for as a
// symbol or string.
func (c *collector) designated(h head) string {
	h.end = c.pass(h)
	if c.text[h.start] == '"' {
		return stringValue(c.source(h.token))
	}
	return c.symbol(h)
}

// stringValue is the string that is written as text.
func stringValue(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text)
}

// define takes the definition that begins with h, behind its operator.
func (c *collector) define(h head, operator string, depth int) {
	d := Definition{Extent: c.beginning(h), Operator: operator, Package: c.pkg, Bound: c.bound > 0, Outer: c.outer}
	name, named := c.form(depth + 1)
	if named && name.kind == opener { // (setf f), or (name options…)
		name, d.Setf, named = c.inList(name, depth+1)
	} else if named {
		c.advance()
	}
	if named {
		c.piece()
		if d.Prefix, d.Name = c.split(name); c.text[name.start] == '"' {
			d.Prefix, d.Name = "", stringValue(c.source(name.token))
		}
	}
	if named && operator == "DEFMETHOD" {
		c.specialize(&d, depth)
	}
	d.End = c.leave()
	if named {
		c.all = append(c.all, d)
	}
}

// inList goes behind the list that begins with h, and returns the name in it: the F of
// (SETF F), or else the first element. It returns false if that is no atom.
func (c *collector) inList(h head, depth int) (name head, setf, ok bool) {
	if !c.enter(h, depth) {
		return name, false, false
	}
	defer c.leave()
	name, ok = c.form(depth + 1)
	if !ok || name.kind != atom {
		return name, false, false
	}
	c.advance()
	if c.symbol(name) != "SETF" {
		return name, false, true
	}
	second, ok := c.form(depth + 1)
	if !ok {
		return name, false, true
	}
	c.pass(second)
	if _, more := c.form(depth + 1); more {
		return name, false, true
	}
	return second, true, second.kind == atom
}

// specialize takes qualifiers and specializers from what follows the name of a DEFMETHOD.
func (c *collector) specialize(d *Definition, depth int) {
	parameters, ok := c.form(depth + 1)
	for ; ok && parameters.kind == atom; parameters, ok = c.form(depth + 1) {
		c.piece()
		d.Qualifiers = append(d.Qualifiers, c.symbol(parameters))
		c.advance()
	}
	if !ok || !c.enter(parameters, depth+1) {
		return
	}
	defer c.leave()
	for {
		parameter, ok := c.form(depth + 2)
		if !ok || parameter.kind == atom && c.text[parameter.start] == '&' {
			return
		}
		c.piece()
		d.Specializers = append(d.Specializers, c.specializer(parameter, depth+2))
	}
}

// specializer goes behind the parameter that begins with h, and returns its specializer.
func (c *collector) specializer(h head, depth int) string {
	if !c.enter(h, depth) {
		return "T"
	}
	defer c.leave()
	if variable, ok := c.form(depth + 1); ok {
		c.pass(variable)
	}
	second, ok := c.form(depth + 1)
	if !ok {
		return "T"
	}
	class := c.flat(second, depth+1)
	if _, more := c.form(depth + 1); more {
		return "T"
	}
	return class
}

// flat goes behind the specializer that begins with h, and returns it as text in which only
// what differs tells two apart.
func (c *collector) flat(h head, depth int) string {
	c.piece()
	if h.kind != opener {
		c.advance()
		prefix, name := c.split(h)
		if prefix == "KEYWORD" {
			name = ":" + name
		}
		return name
	}
	if !c.enter(h, depth) {
		return "()"
	}
	defer c.leave()
	var parts []string
	for {
		e, ok := c.form(depth + 1)
		if !ok {
			break
		}
		text := c.flat(e, depth+1)
		if e.prefixed {
			text = "'" + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 2 && parts[0] == "QUOTE" {
		return "'" + parts[1]
	}
	return "(" + strings.Join(parts, " ") + ")"
}
