package syntax

import (
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

func extentOf(n node) Extent { return Extent{Pos{n.line, n.col}, n.start, n.end} }

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
// returns false for a text that is not well-formed.
func Definitions(text string, r Reading) (all []Definition, pkg string, ok bool) {
	p, forms, ok := parse(text, r)
	if !ok {
		return nil, "", false
	}
	c := collector{parser: p}
	for _, n := range forms {
		c.visit(n)
	}
	return c.all, c.pkg, true
}

// collector goes over the forms of a text.
type collector struct {
	*parser
	pkg   string
	all   []Definition
	bound int    // forms around this one other than PROGN
	outer Extent // the outermost of them that may bind
}

// beforeBody is how many arguments of an operator stand before the forms in which
// definitions may be.
var beforeBody = map[string]int{
	"EVAL-WHEN": 1, "LET": 1, "LET*": 1, "FLET": 1, "LABELS": 1, "MACROLET": 1, "SYMBOL-MACROLET": 1,
	"MULTIPLE-VALUE-BIND": 2, "DESTRUCTURING-BIND": 2, "HANDLER-BIND": 1, "DOLIST": 1, "DOTIMES": 1,
}

func (c *collector) visit(n node) {
	if n.kind != opener || c.text[n.start] == '#' || n.prefixed || len(n.elements) < 2 || n.elements[0].kind != atom {
		return
	}
	switch operator := c.symbol(n.elements[0]); {
	case operator == "IN-PACKAGE":
		c.pkg = c.designated(n.elements[1])
	case operator == "QUOTE" || operator == "DECLAIM":
	case strings.HasPrefix(operator, "DEF") && !strings.HasPrefix(operator, "DEFAULT"):
		c.define(n, operator)
	default:
		if operator != "PROGN" {
			c.bound++
			defer func(outer Extent) { c.bound--; c.outer = outer }(c.outer)
			if operator != "EVAL-WHEN" && c.outer.End == 0 {
				c.outer = extentOf(n)
			}
		}
		for _, e := range n.elements[min(1+beforeBody[operator], len(n.elements)):] {
			c.visit(e)
		}
	}
}

// designated is the name that a symbol or string stands for.
func (c *collector) designated(n node) string {
	text := c.source(n)
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.TrimSuffix(inner, `"`))
	}
	return c.symbol(n)
}

func (c *collector) define(n node, operator string) {
	d := Definition{Extent: extentOf(n), Operator: operator, Package: c.pkg, Bound: c.bound > 0, Outer: c.outer}
	name := n.elements[1]
	if name.kind == opener && len(name.elements) > 0 { // (setf f), or (name options…)
		d.Setf = len(name.elements) == 2 && c.symbol(name.elements[0]) == "SETF"
		if name = name.elements[0]; d.Setf {
			name = n.elements[1].elements[1]
		}
	}
	if name.kind != atom {
		return
	}
	d.Prefix, d.Name = c.split(name)
	if strings.HasPrefix(c.source(name), `"`) {
		d.Prefix, d.Name = "", c.designated(name)
	}
	if operator == "DEFMETHOD" {
		c.specialize(&d, n.elements[2:])
	}
	c.all = append(c.all, d)
}

// specialize takes qualifiers and specializers from what follows the name of a DEFMETHOD.
func (c *collector) specialize(d *Definition, rest []node) {
	for len(rest) > 0 && rest[0].kind == atom {
		d.Qualifiers = append(d.Qualifiers, c.symbol(rest[0]))
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	for _, parameter := range rest[0].elements {
		switch {
		case parameter.kind == atom && strings.HasPrefix(c.source(parameter), "&"):
			return
		case len(parameter.elements) == 2:
			d.Specializers = append(d.Specializers, c.flat(parameter.elements[1]))
		default:
			d.Specializers = append(d.Specializers, "T")
		}
	}
}

// flat is a specializer as text in which only what differs tells two apart.
func (c *collector) flat(n node) string {
	if n.kind != opener {
		prefix, name := c.split(n)
		if prefix == "KEYWORD" {
			name = ":" + name
		}
		return name
	}
	var parts []string
	for _, e := range n.elements {
		text := c.flat(e)
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
