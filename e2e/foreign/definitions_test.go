package main

import "testing"

const source = `;; (defun commented ())
(in-package #:some.package)
#| (defun in-a-comment () 1) #| nested |#
(defun there-too () 1) |#
(defun plain (x) "doc" (declare (fixnum x)) #+sbcl (declare (ignorable x)) (list x #\) #\( "(" '|)|)) ; end
(defun text-alone () "value")
(defun nothing (x) "doc" (declare (ignore x)))
  (defun indented () 1)
#+sbcl
(defun guarded () 1)
(defun (setf place) (x) x)
(DEFUN Upper (x) #'x #(1 2) #x1F #.(+ 1 2) x)
(defun twice () 1)
(defun twice () 2)
(defmacro with-it ((x) &body body) "doc" ` + "`(let ((,x 1)) ,@body)" + `
  ;; the end
  )
(in-package "Other")
(defun other () nil)
`

func names(all []definition) (s string) {
	for _, d := range all {
		s += d.pack + "::" + d.name + " "
	}
	return s
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	functions := definitions("a.lisp", source, "defun")
	if got, want := names(functions), "SOME.PACKAGE::PLAIN SOME.PACKAGE::TEXT-ALONE SOME.PACKAGE::NOTHING SOME.PACKAGE::UPPER Other::OTHER "; got != want {
		t.Errorf("functions: %s, expected %s", got, want)
	}
	if got := names(definitions("a.lisp", source, "defmacro")); got != "SOME.PACKAGE::WITH-IT " {
		t.Errorf("macros: %s", got)
	}
	if got := names(definitions("a.lisp", "(in-package :p)\n(defun f () #?\"x\")\n(defun g () 1)\n", "defun")); got != "P::G " {
		t.Errorf("behind what is not read: %s", got)
	}
	for _, text := range []string{"(in-package :p)\n(defun f () 1", "(defun f () 1)"} {
		if got := names(definitions("a.lisp", text, "defun")); got != "" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestEdited(t *testing.T) {
	t.Parallel()
	functions := definitions("a.lisp", source, "defun")
	for i, want := range []string{
		`(defun plain (x) "doc" (declare (fixnum x)) #+sbcl (declare (ignorable x)) ` + harmless + "\n  " + `(list x #\) #\( "(" '|)|))`,
		"(defun text-alone () " + harmless + "\n  " + `"value")`,
		`(defun nothing (x) "doc" (declare (ignore x))` + harmless + "\n   cl:nil)",
	} {
		if got := functions[i].edited(); got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
	}
	macro := definitions("a.lisp", source, "defmacro")[0]
	want := `(defmacro with-it ((x) &body body) "doc" (cl:list 'cl:progn '` + harmless + " (cl:progn `(let ((,x 1)) ,@body)))\n  ;; the end\n  )"
	if got := macro.wrapped(); got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	again := definitions("a.lisp", functions[0].with(""), "defun")
	if got, want := names(again), "SOME.PACKAGE::TEXT-ALONE SOME.PACKAGE::NOTHING SOME.PACKAGE::UPPER Other::OTHER "; got != want {
		t.Errorf("without the first: %s, expected %s", got, want)
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"(defpackage :p (:export #:name))\n(defun f () (names))": false,
		"(defun f () (NAME 1))":                                  true,
		"(mapcar #'p::name x)":                                   true,
		"(defun f () :my-name)":                                  false,
		"(unread #? (name))":                                     true,
	} {
		if mentions(text, "NAME") != want {
			t.Errorf("%s: expected %v", text, want)
		}
	}
}
