package project

import (
	"path/filepath"
	"testing"

	"swank-mcp/e2e/harness"
)

// A definition that its file no longer has works on: each load and each run of
// tests says so as long as it is there, and names nothing else.
func TestDefinitionsThatNoFileHas(t *testing.T) {
	t.Parallel()
	const before = `(defpackage :swl (:use :cl) (:export #:shown)) (in-package :swl)
(defun kept () 1)
(defun old-helper () 2)
(defmacro old-macro () 3)
(defvar *old* 4)
(defun shown () 5)
(defun (setf place) (value) value)
(defclass thing () ((a :accessor thing-a) (b :accessor thing-b)))
(defclass old-thing () ())
(defstruct node left)
(defstruct old-node inner)
(defgeneric act (x))
(defmethod act ((x integer)) x)
(defmethod act ((x string)) x)
(defmethod print-object ((x old-thing) stream) (write-string "old" stream))
(defmethod lone ((x integer)) x)
(deftype small (n) (list 'integer 0 n))
(unless (fboundp 'once) (defun once () 6))
(defmacro define-getter (name) ` + "`(defun ,(intern (format nil \"GET-~A\" name)) () ',name))" + `
(define-getter x)
`
	const after = `(defpackage :swl (:use :cl) (:export #:shown)) (in-package :swl)
(defun kept () 10)
(defclass thing () ((a :accessor thing-a)))
(defstruct node left)
(defgeneric act (x))
(defmethod act ((x integer)) x)
(unless (fboundp 'once) (defun once () 6))
(defmacro define-getter (name) ` + "`(defun ,(intern (format nil \"GET-~A\" name)) () ',name))" + `
(define-getter x)
`
	dir, s := project(t, map[string]string{
		"swl.asd": `(defsystem "swl" :components ((:file "swl") (:file "more"))
  :perform (test-op (o c) (print (uiop:symbol-call :swl '#:kept))))`,
		"swl.lisp":  before,
		"more.lisp": "(in-package :swl) (defun moved () 1) (defun dropped () 2)",
	})
	harness.Good(t, s, "load-system", harness.Object{"system": "swl"})
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl", "force": true}), "Still there from before")
	harness.Want(t, s, "(in-package :swl) (defun live () 1) (defun kept () 3)", "=> KEPT")
	harness.Write(t, filepath.Join(dir, "swl.lisp"), after)
	const names = "(SETF SWL::PLACE), SWL::*OLD*, SWL::COPY-OLD-NODE, SWL::LONE, SWL::MAKE-OLD-NODE, SWL::OLD-HELPER, SWL::OLD-MACRO, SWL::OLD-NODE, SWL::OLD-NODE-INNER, SWL::OLD-NODE-P and 5 more"
	const note = "; Still there from before, and not defined again by what was loaded: " + names + "."
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}), note)
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swl"}), note)
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}), note)
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "alexandria"}), "Still there from before")

	// What is undefined, defined live, or in a file again is not told any more.
	harness.Want(t, s, `(progn (mapc #'fmakunbound '(copy-old-node make-old-node old-node-p old-node-inner lone old-macro (setf place) (setf old-node-inner)))
  (makunbound '*old*) (setf (find-class 'old-node) nil (find-class 'old-thing) nil)
  (defun old-helper () 20))`, "=> OLD-HELPER")
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}),
		"; Still there from before, and not defined again by what was loaded: SWL::SMALL, SWL:SHOWN, method PRINT-OBJECT (SWL::OLD-THING T), method SWL::ACT (STRING).")
	harness.Write(t, filepath.Join(dir, "more.lisp"), "(in-package :swl) (deftype small (n) (list 'integer n 9)) (defun shown () 1) (defmethod act ((x string)) 1) (defmethod print-object ((x node) s) s)")
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}),
		"; Still there from before, and not defined again by what was loaded: SWL::DROPPED, SWL::MOVED, method PRINT-OBJECT (SWL::OLD-THING T).")
	harness.Want(t, s, "(list (live) (old-helper))", "=> (1 20)")
}

// A file that is not of the system any more is told by what is left of it; what
// another file has taken over is not.
func TestDefinitionsOfADroppedFile(t *testing.T) {
	t.Parallel()
	dir, s := project(t, map[string]string{
		"swo.asd":  `(defsystem "swo" :serial t :components ((:file "a") (:file "b")))`,
		"a.lisp":   "(defpackage :swo (:use :cl)) (in-package :swo) (defun one () 1)",
		"b.lisp":   "(in-package :swo) (defun moved () 2) (defun old-helper () 3)",
		"none.txt": "",
	})
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swo"}), "Still there")
	harness.Write(t, filepath.Join(dir, "swo.asd"), `(defsystem "swo" :components ((:file "a")))`)
	harness.Write(t, filepath.Join(dir, "a.lisp"), "(defpackage :swo (:use :cl)) (in-package :swo) (defun one () 1) (defun moved () 4)")
	const note = "\n; Still there from before, and not defined again by what was loaded: SWO::OLD-HELPER."
	wantLoad(t, s, "swo", harness.Elided+note)
	harness.Want(t, s, "(list (swo::moved) (swo::old-helper))", "=> (4 3)")
	// in a person's image it may be theirs for all that is known
	harness.Want(t, s, "(defun swo::old-helper () 5)", "=> SWO::OLD-HELPER…")
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swo"}), "Still there")
	harness.Want(t, s, "(list (swo::moved) (swo::old-helper))", "=> (4 5)")
}
