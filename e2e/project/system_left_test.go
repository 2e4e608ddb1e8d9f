package project

import (
	"path/filepath"
	"testing"

	"swank-mcp/e2e/harness"
)

// A definition that its file no longer has works on: each load and each run of
// tests says so as long as it is there, and names nothing else. What it has made beside
// itself, as the accessors of a structure, a fresh image tells.
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
	dir, s := ownProject(t, map[string]string{
		"swl.asd": `(defsystem "swl" :components ((:file "swl") (:file "more"))
  :perform (test-op (o c) (print (uiop:symbol-call :swl '#:kept))))`,
		"swl.lisp":  before,
		"more.lisp": "(in-package :swl) (defun moved () 1) (defun dropped () 2)",
	})
	harness.Good(t, s, "load-system", harness.Object{"system": "swl"})
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl", "force": true}), "loaded again without")
	harness.Want(t, s, "(in-package :swl) (defun live () 1) (defun kept () 3)", "=> KEPT")
	harness.Write(t, filepath.Join(dir, "swl.lisp"), after)
	const note = "11 definitions are left of files that were loaded again without them: (SETF PLACE), *OLD*, OLD-HELPER, OLD-MACRO, OLD-NODE, OLD-THING, SHOWN, SMALL and 3 more (whether a fresh image has them: project-status)"
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}), note)
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "swl"}), note)
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}), note)
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "alexandria"}), "loaded again without")

	// What is undefined, defined live, or in a file again is not told any more.
	harness.Want(t, s, `(progn (mapc #'fmakunbound '(copy-old-node make-old-node old-node-p old-node-inner lone old-macro (setf place) (setf old-node-inner)))
  (makunbound '*old*) (setf (find-class 'old-node) nil (find-class 'old-thing) nil)
  (defun old-helper () 20))`, "=> OLD-HELPER")
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}),
		"; 3 definitions are left of files that were loaded again without them: SHOWN, SMALL, method ACT (STRING) (")
	harness.Write(t, filepath.Join(dir, "more.lisp"), "(in-package :swl) (deftype small (n) (list 'integer n 9)) (defun shown () 1) (defmethod act ((x string)) 1) (defmethod print-object ((x node) s) s)")
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swl"}),
		"; 2 definitions are left of files that were loaded again without them: DROPPED, MOVED (")
	harness.Want(t, s, "(list (live) (old-helper))", "=> (1 20)")
}

// A file that is not of the system any more is told by what is left of it; what
// another file has taken over is not.
func TestDefinitionsOfADroppedFile(t *testing.T) {
	t.Parallel()
	dir, s := ownProject(t, map[string]string{
		"swo.asd":  `(defsystem "swo" :serial t :components ((:file "a") (:file "b")))`,
		"a.lisp":   "(defpackage :swo (:use :cl)) (in-package :swo) (defun one () 1)",
		"b.lisp":   "(in-package :swo) (defun moved () 2) (defun old-helper () 3)",
		"none.txt": "",
	})
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swo"}), "OLD-HELPER (whether others")
	harness.Write(t, filepath.Join(dir, "swo.asd"), `(defsystem "swo" :components ((:file "a")))`)
	harness.Write(t, filepath.Join(dir, "a.lisp"), "(defpackage :swo (:use :cl)) (in-package :swo) (defun one () 1) (defun moved () 4)")
	const note = "; 1 definition is from files that no loaded system has: OLD-HELPER ("
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "swo"}), note)
	harness.Want(t, s, "(list (swo::moved) (swo::old-helper))", "=> (4 3)")
	// in a person's image it may be theirs for all that is known
	harness.Want(t, s, "(defun swo::old-helper () 5)", "=> SWO::OLD-HELPER…")
	harness.SaysNot(t, harness.Good(t, s, "load-system", harness.Object{"system": "swo"}), "OLD-HELPER (whether others")
	harness.Want(t, s, "(list (swo::moved) (swo::old-helper))", "=> (4 5)")
}
