//go:build unix

package model

import (
	"fmt"
	"strings"
)

// kind is a way to define something. In its code $s is the symbol, $n the
// number by which what it defines answers, so that the answer tells who defined
// it last.
type kind struct {
	slot   string // what it gives a definition to: a slot of the symbol
	define string
	loses  bool // what it makes may have no source: it may be named as lost
	rule   rule
}

type rule int

const (
	replaces rule = iota
	once          // leaves a value that is there
	assigns       // gives another value to what is defined, which is not kept
	needless      // changes nothing; only for what is defined
)

// slots maps each slot to the code that asks for its definition and the code that undoes it.
var slots = map[string]struct{ ask, undo string }{
	"operator":           {"(eval '($s))", "(fmakunbound '$s)"},
	"variable":           {"(symbol-value '$s)", "(makunbound '$s)"},
	"loose":              {"(symbol-value '$s)", "(makunbound '$s)"},
	"constant":           {"(symbol-value '$s)", ""},
	"class":              {"(slot-value (make-instance '$s) 'cl-user::s)", "(setf (find-class '$s) nil)"},
	"structure":          {"(slot-value ($s) 'cl-user::s)", ""},
	"condition":          {"(slot-value (make-condition '$s) 'cl-user::s)", "(setf (find-class '$s) nil)"},
	"type":               {"(second (sb-ext:typexpand '$s))", ""},
	"symbol-macro":       {"(eval '$s)", ""},
	"setf":               {"(funcall #'(setf $s) 1 2)", "(fmakunbound '(setf $s))"},
	"setf-expander":      {"(eval '(setf ($s 1) 2))", ""},
	"compiler-macro":     {"(funcall (compiler-macro-function '$s) '($s) nil)", "(setf (compiler-macro-function '$s) nil)"},
	"modify-macro":       {"(eval '(let ((p 0)) ($s p)))", "(fmakunbound '$s)"},
	"global":             {"(symbol-value '$s)", ""},
	"method t":           {askMethod("() (list (find-class t))", "1.5"), ""},
	"method integer":     {askMethod("() (list (find-class 'integer))", "5"), removeMethod("() (list (find-class 'integer))")},
	"method key":         {askMethod("() '((eql :k))", ":k"), removeMethod("() '((eql :k))")},
	"method variable":    {askMethod("() '((eql :v))", ":v"), removeMethod("() '((eql :v))")},
	"method around":      {askMethod("'(:around) (list (find-class 'string))", `"s"`), removeMethod("'(:around) (list (find-class 'string))")},
	"method-combination": {askCombination, ""},
	"package":            {"(and (find-package '#:$s) 1)", ""},
}

func askMethod(how, argument string) string {
	return "(and (find-method #'$s " + how + ") ($s " + argument + "))"
}

func removeMethod(how string) string { return "(remove-method #'$s (find-method #'$s " + how + "))" }

// combination calls a generic function without a name, which leaves nothing.
const askCombination = `(let ((g (make-instance 'standard-generic-function :lambda-list '(x)
    :method-combination (sb-mop:find-method-combination #'print-object '$s nil))))
  (add-method g (make-instance 'standard-method :lambda-list '(x) :qualifiers '() :specializers (list (find-class t))
    :function (lambda (arguments next) (declare (ignore arguments next)) 0)))
  (funcall g 1))`

var kinds = []kind{
	{slot: "operator", define: "(defun $s () $n)"},
	{slot: "operator", define: "(defun $s () $n)"},
	{slot: "operator", define: "(defmacro $s () $n)"},
	{slot: "operator", define: "(setf (fdefinition '$s) (lambda () $n))"},
	{slot: "operator", define: "(setf (symbol-function '$s) (lambda () $n))"},
	{slot: "operator", define: "(setf (macro-function '$s) (lambda (form environment) (declare (ignore form environment)) $n))"},
	{slot: "operator", define: "(setf (fdefinition '$s) (constantly $n))", loses: true},
	{slot: "operator", define: "(let ((n $n)) (defun $s () n))"},
	{slot: "operator", define: "(flet ((n () $n)) (defun $s () (n)))"},
	{slot: "operator", define: "(labels ((n () $n)) (defun $s () (n)))"},
	{slot: "operator", define: "(macrolet ((n () $n)) (defun $s () (n)))"},
	{slot: "operator", define: "(dotimes (i 1) (defun $s () $n))"},
	{slot: "operator", define: "(dotimes (i 1) (let ((i i)) (defun $s () (+ i $n))))", loses: true},
	{slot: "operator", define: "(prog ((n $n)) (defun $s () n))", loses: true},
	{slot: "operator", define: "(destructuring-bind (n) '($n) (defun $s () n))", loses: true},
	{slot: "operator", define: "(eval `(defun $s () ,(+ $n 0)))"},
	{slot: "operator", define: "(unless nil (defun $s () $n))"},
	{slot: "operator", define: "(sb-thread:join-thread (sb-thread:make-thread (lambda () (defun $s () $n))))"},
	{slot: "operator", define: "(let ((n $n)) (sb-thread:join-thread (sb-thread:make-thread (lambda () (defun $s () n)))))", loses: true},
	{slot: "operator", define: "(funcall (lambda (n) (defun $s () n)) $n)", loses: true},
	{slot: "variable", define: "(defvar $s $n)", rule: once},
	{slot: "variable", define: "(defparameter $s $n)"},
	{slot: "variable", define: "(defvar $s)", rule: needless},
	{slot: "variable", define: "(setq $s $n)", rule: assigns},
	{slot: "global", define: "(sb-ext:defglobal $s $n)", rule: once},
	{slot: "loose", define: "(setf $s $n)", rule: assigns},
	{slot: "constant", define: "(defconstant $s $n)", rule: once},
	{slot: "class", define: "(defclass $s () ((cl-user::s :initform $n)))"},
	{slot: "structure", define: "(defstruct ($s (:constructor $s ()) (:copier nil) (:predicate nil)) (cl-user::s $n))"},
	{slot: "condition", define: "(define-condition $s (error) ((cl-user::s :initform $n)))"},
	{slot: "type", define: "(deftype $s () '(integer $n 100000))"},
	{slot: "symbol-macro", define: "(define-symbol-macro $s $n)"},
	{slot: "setf", define: "(defun (setf $s) (value x) (declare (ignore value x)) $n)"},
	{slot: "setf-expander", define: "(defsetf $s (x) (value) `(progn ,x ,value $n))"},
	{slot: "compiler-macro", define: "(define-compiler-macro $s () $n)"},
	{slot: "modify-macro", define: "(define-modify-macro $s (&optional (n $n)) +)"},
	{slot: "method t", define: "(defgeneric $s (x) (:method ((x t)) $n))"},
	{slot: "method integer", define: "(defmethod $s ((x integer)) $n)"},
	{slot: "method key", define: "(defmethod $s ((x (eql :k))) $n)"},
	{slot: "method variable", define: "(progn (defvar cl-user::*key* :v) (defmethod $s ((x (eql cl-user::*key*))) $n))"},
	{slot: "method around", define: "(progn (defmethod $s ((x string)) 0) (defmethod $s :around ((x string)) $n))"},
	{slot: "method-combination", define: "(define-method-combination $s () ((methods *)) `(progn ,@(and nil methods) $n))"},
}

// packageWays are the ways in which packages are made.
var packageWays = []string{
	"(defpackage :$s (:use :cl))",
	`(make-package (symbol-name '#:$s) :use '(:cl))`,
	"(eval-when (:compile-toplevel :load-toplevel :execute) (defpackage :$s (:use :cl)))",
	"(unless (find-package '#:$s) (make-package '#:$s :use '(:cl)))",
	"(let ((name '#:$s)) (make-package name :use '(:cl)))",
	"(require :asdf) (uiop:define-package :$s (:use :cl))",
	"(defmacro defpkg (name) `(defpackage ,name (:use :cl))) (defpkg :$s)",
	"(defun mkpkg (name) (make-package name :use '(:cl))) (mkpkg '#:$s)",
}

// key names a place where a definition can be.
type key struct{ slot, pkg, name string }

// symbol is the symbol of k, to be read in any package.
func (k key) symbol() string {
	if k.pkg == "" {
		return k.name
	}
	return k.pkg + "::" + k.name
}

func (k key) ask() string  { return fillIn(slots[k.slot].ask, k.symbol(), 0) }
func (k key) undo() string { return fillIn(slots[k.slot].undo, k.symbol(), 0) }

func fillIn(code, symbol string, n int) string {
	return strings.NewReplacer("$s", symbol, "$n", fmt.Sprint(n)).Replace(code)
}

// nameIn is a name in the slot: few, so that they are defined again, and of
// its own, so that slots do not disturb each other.
func nameIn(slot string, which int) string {
	base, _, _ := strings.Cut(slot, " ")
	names := map[string]string{"operator": "op", "variable": "*va%d*", "loose": "loose", "constant": "+co%d+", "global": "**gl%d**"}
	name, ok := names[base]
	if !ok {
		name = "x" + base + "-"
	}
	if !strings.Contains(name, "%") {
		name += "%d"
	}
	return fmt.Sprintf(name, which)
}
