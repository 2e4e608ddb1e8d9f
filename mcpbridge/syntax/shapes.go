package syntax

import (
	_ "embed"
	"strconv"
	"strings"
)

// role is what a list is for, as far as its place tells.
type role byte

const (
	unknown      role = iota // nothing is known: templates, arguments of macros that we do not know
	code                     // a form that is evaluated
	data                     // quoted, or a name
	bindings                 // ((var form) ...) of LET
	binding                  // (var form)
	functions                // ((name lambda-list form...) ...) of FLET
	function                 // (name lambda-list form...)
	lambda                   // a lambda list
	parameters               // likely a lambda list, or what else a macro takes before its body
	clause                   // (form ...) of COND
	choice                   // (keys form...) of CASE
	handler                  // (type lambda-list form...) of HANDLER-CASE
	iteration                // (var form ...) of DOLIST
	steps                    // ((var init step) ...) of DO
	step                     // (var init step)
	handlers                 // ((type form) ...) of HANDLER-BIND
	slots                    // the slots of DEFCLASS
	defined                  // the name that a definition defines: a symbol or (setf symbol)
	declarations             // of DECLARE
)

// shape is what is known of an operator: how many arguments it takes, and what they are.
type shape struct {
	min, max int    // -1: any number
	roles    []role // of the arguments; the last one is that of all further ones
	pairs    bool   // arguments come in pairs
	body     bool   // it is indented as a body, by two
	tags     bool   // atoms may stand for themselves in the body
}

// takes reports whether an operator of that shape takes so many arguments.
func (s *shape) takes(args int) bool {
	return args >= s.min && (s.max < 0 || args <= s.max) && (!s.pairs || args%2 == 0)
}

//go:embed arities.txt
var arities string

// shapes are those of the standard's operators: the functions, which are in
// arities.txt ("name least most"), and the macros and special operators.
var shapes = func() map[string]shape {
	all := make(map[string]shape, 800)
	for line := range strings.Lines(arities) {
		f := strings.Fields(line)
		least, _ := strconv.Atoi(f[1])
		most, _ := strconv.Atoi(f[2])
		all[f[0]] = shape{min: least, max: most, roles: []role{code}}
	}
	add := func(names string, s shape) {
		for _, name := range strings.Fields(names) {
			all[name] = s
		}
	}
	of := func(least, most int, roles ...role) shape { return shape{min: least, max: most, roles: roles} }
	body := func(least int, roles ...role) shape {
		return shape{min: least, max: -1, roles: roles, body: true}
	}
	add("defun defmacro deftype define-compiler-macro define-modify-macro", body(2, defined, lambda, code))
	add("defsetf define-setf-expander", body(2, data, unknown))
	add("defmethod", body(2, defined, lambda, code))
	add("defgeneric", body(2, defined, lambda, unknown))
	add(":method", body(2, lambda, code))
	add("lambda", body(2, lambda, code))
	add("let let*", body(2, bindings, code))
	add("symbol-macrolet", body(2, bindings, code))
	add("prog prog*", shape{min: 1, max: -1, roles: []role{bindings, code}, body: true, tags: true})
	add("flet labels macrolet", body(2, functions, code))
	add("cond", of(1, -1, clause))
	add("case ecase ccase typecase etypecase ctypecase", body(2, code, choice))
	add("handler-case restart-case", body(2, code, handler))
	add("handler-bind restart-bind", body(2, handlers, code))
	add("multiple-value-bind destructuring-bind", body(2, lambda, code))
	add("multiple-value-setq", of(2, 2, data, code))
	add("dolist dotimes", body(1, iteration, code))
	add("do-symbols do-external-symbols do-all-symbols with-open-file with-output-to-string with-input-from-string with-open-stream", body(1, iteration, code))
	add("with-slots with-accessors", body(2, data, code))
	add("with-standard-io-syntax with-compilation-unit with-package-iterator with-hash-table-iterator with-simple-restart with-condition-restarts", body(0, unknown))
	add("do do*", shape{min: 2, max: -1, roles: []role{steps, clause, code}, body: true, tags: true})
	add("defvar", of(1, 3, defined, code, code))
	add("defparameter defconstant", of(2, 3, defined, code, code))
	add("defclass define-condition", body(3, defined, data, slots, data))
	add("defstruct", body(1, data))
	add("defpackage", body(1, data))
	add("in-package", of(1, 1, data))
	add("declare declaim", of(1, -1, declarations))
	add("quote", of(1, 1, data))
	add("function", of(1, 1, unknown))
	add("if", of(2, 3, code))
	add("when unless", body(2, code))
	add("setq", shape{min: 2, max: -1, roles: []role{code}, pairs: true})
	add("setf psetf psetq", shape{min: 2, max: -1, roles: []role{code}, pairs: true})
	add("progn", body(0, code))
	add("prog1 progv prog2 unwind-protect multiple-value-prog1 multiple-value-call catch", body(2, code))
	add("block", body(1, data, code))
	add("tagbody", shape{max: -1, roles: []role{code}, tags: true})
	add("go", of(1, 1, data))
	add("return", of(0, 1, code))
	add("return-from", of(1, 2, data, code))
	add("throw the", of(2, 2, unknown))
	add("eval-when", body(1, data, code))
	add("locally ignore-errors", body(0, code))
	add("and or", of(0, -1, code))
	add("push", of(2, 2, code))
	add("pop", of(1, 1, code))
	add("pushnew", of(2, -1, code))
	add("incf decf", of(1, 2, code))
	add("assert", of(1, -1, code, data, code))
	add("check-type", of(2, 3, code, data, code))
	add("multiple-value-list nth-value", of(1, 2, code))
	add("loop", shape{max: -1, roles: []role{unknown}, tags: true})
	add("print-unreadable-object", body(1, iteration, code))
	return all
}()

// shapeOf returns what is known of the operator, by its name in any case. Prefixes of
// packages are left out.
func shapeOf(name string) (shape, bool) {
	name = strings.ToLower(name)
	name = strings.TrimPrefix(strings.TrimPrefix(name, "cl:"), "common-lisp:")
	s, ok := shapes[name]
	if !ok {
		local := name[strings.LastIndexByte(name, ':')+1:]
		s.max = -1
		s.roles = []role{unknown}
		switch {
		case strings.HasPrefix(local, "def"):
			s.body, s.roles = true, []role{unknown, parameters, unknown}
		case strings.HasPrefix(local, "with-"), strings.HasPrefix(local, "do-"):
			s.body, s.roles = true, []role{parameters, unknown}
		}
	}
	return s, ok
}

// argument is the role of the argument of that number, from 1.
func (s *shape) argument(n int) role {
	if len(s.roles) == 0 {
		return unknown
	}
	return s.roles[min(n, len(s.roles))-1]
}
