package journal

import (
	"fmt"
	"strings"
)

// keeper is code that says which definition a name has, makes that its definition
// again, and leaves it without one; there says whether it has one of that kind,
// where is does not tell. %s is the quoted name.
type keeper struct{ there, is, set, unset string }

// operator is the keeper of what a name has one of: a function or a macro.
func operator(there string) keeper {
	return keeper{there,
		"(and (fboundp %s) (list (and (symbolp %[1]s) (macro-function %[1]s)) (fdefinition %[1]s)))",
		"(if (first old) (setf (macro-function %s) (first old)) (setf (fdefinition %[1]s) (second old)))",
		"(fmakunbound %s)"}
}

const isFunction = "(and (fboundp %s) (not (macro-function %[1]s)))"

// keepers are by kind; what is of another kind is not kept.
var keepers = map[string]keeper{
	":FUNCTION":         operator(isFunction),
	":GENERIC-FUNCTION": operator(isFunction),
	":MACRO":            operator("(macro-function %s)"),
	":COMPILER-MACRO":   {"", "(compiler-macro-function %s)", "(setf (compiler-macro-function %s) old)", "(setf (compiler-macro-function %s) nil)"},
	":CONSTANT":         {"", "(boundp %s)", "old%.0s", "old%.0s"},
	":VARIABLE":         {"", "(and (boundp %s) (list (symbol-value %[1]s)))", "(setf (symbol-value %s) (first old))", "(makunbound %s)"},
	":METHOD": {"", "(ignore-errors (destructuring-bind (n q s) %s (find-method (fdefinition n) q (mapcar (lambda (s) (if (consp s) (list 'eql (eval (second s))) (find-class s))) s) nil)))",
		"(add-method (fdefinition (first %s)) old)",
		"(ignore-errors (destructuring-bind (n q s) %s (remove-method (fdefinition n) (find-method (fdefinition n) q (mapcar (lambda (s) (if (consp s) (list 'eql (eval (second s))) (find-class s))) s)))))"},
	":CLASS":     {"", "(find-class %s nil)", "(setf (find-class %s) old)", "(setf (find-class %s) nil)"},
	":STRUCTURE": {"", "(find-class %s nil)", "(setf (find-class %s) old)", "(setf (find-class %s) nil)"},
	":CONDITION": {"", "(find-class %s nil)", "(setf (find-class %s) old)", "(setf (find-class %s) nil)"},
}

// Source is the text to evaluate again and the package to read it in. Where an
// entry has defined more than is still its own, the rest is left as it is found.
func (e *Entry) Source() (text, pkg string) {
	text, pkg = e.Text, e.Package
	for _, key := range e.without {
		kind, name := keyParts(key)
		k, ok := keepers[kind]
		if !ok {
			continue
		}
		name = "'" + name
		text = fmt.Sprintf("(let ((old %s))\n  (let ((*package* (find-package %s)))\n    (eval (read-from-string %s)))\n  (if old %s %s))",
			fmt.Sprintf(k.is, name), quoted(pkg), quoted(text), fmt.Sprintf(k.set, name), fmt.Sprintf(k.unset, name))
		pkg = userPackage // in which names of keys are written
	}
	return text, pkg
}

// keyParts is the kind and the name in a key, (KIND . NAME) as Lisp prints it.
func keyParts(key string) (kind, name string) {
	kind, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(key, "("), ")"), " ")
	if name, ok := strings.CutPrefix(rest, ". "); ok {
		return kind, name
	}
	return kind, "(" + rest + ")"
}
