package project

import (
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// An error in loading a system is told with its place and the program's part of the
// backtrace, by run-tests, too.
func TestSystemFailsInLoading(t *testing.T) {
	t.Parallel()
	dir, s := project(t, map[string]string{
		"swf.asd": `(defsystem "swf" :components ((:file "swf")))`,
		"swf.lisp": `(defpackage :swf (:use :cl)) (in-package :swf)
(defun part (x)
  (+ 1 (/ x 0)))
(defvar *n* 3)
;; an umlaut: ü

(let ((whole 1))
  (list whole
        (1+ (part *n*))))`,
	})
	for _, tool := range []string{"load-system", "run-tests"} {
		got := harness.Bad(t, s, tool, harness.Object{"system": "swf"})
		harness.Says(t, got, "[ERROR] DIVISION-BY-ZERO\n", "In "+dir+"/swf.lisp:7:1; what comes before it was loaded.\n   7 | (let ((whole 1))",
			"\n\n[Backtrace]\n0: (/ 3 0)\n1: (PART 3)\n", "Defined in: "+dir+"/swf.asd")
		harness.SaysNot(t, got, "LOAD", "ASDF", "SB-")
	}
	harness.Write(t, filepath.Join(dir, "swf.lisp"), "(defpackage :swf (:use :cl)) (in-package :swf)\n(defmacro m (x) (error \"Not ~A.\" x))\n(defun f ()\n  (list 1\n   (m 2)))")
	harness.Says(t, harness.Bad(t, s, "load-system", harness.Object{"system": "swf"}), "[ERROR] UIOP:COMPILE-FILE-ERROR\n", "swf.lisp:5:4 | (m 2)))", "Not 2.")
}

// A warning about a part of a long form names the line of that part.
func TestWarningNamesTheLineOfItsForm(t *testing.T) {
	t.Parallel()
	dir, s := project(t, map[string]string{
		"sww.asd": `(defsystem "sww" :components ((:file "sww")))`,
		"sww.lisp": "(defpackage :sww (:use :cl)) (in-package :sww)\n;; ü ü ü\n(defun long (x)\n" +
			strings.Repeat("  (print x)\n", 30) + "  (let ((unused 1))\n    (print x)))\n",
	})
	harness.Says(t, harness.Good(t, s, "load-system", harness.Object{"system": "sww"}),
		"The variable SWW::UNUSED is defined but never used.\n  "+dir+"/sww.lisp:34:9 | (let ((unused 1))")
}

// A structure that was changed on disk is loaded by the first call, and an object
// of the old one says what it is.
func TestStructureChangedOnDisk(t *testing.T) {
	t.Parallel()
	source := func(slots string) string {
		return "(defpackage :sws (:use :cl)) (in-package :sws)\n(defstruct thing " + slots + ")\n" +
			"(defmethod print-object ((o thing) s) (print-unreadable-object (o s) (format s \"thing ~A\" (thing-a o))))\n"
	}
	dir, s := project(t, map[string]string{
		"sws.asd":  `(defsystem "sws" :components ((:file "sws")))`,
		"sws.lisp": source("a"),
	})
	for _, slots := range []string{"b a", "(b 1.0d0 :type double-float) a", "(b 1 :type fixnum) (a 0 :type fixnum)"} {
		harness.Good(t, s, "load-system", harness.Object{"system": "sws"})
		harness.Want(t, s, "(progn (defparameter *old* (sws::make-thing :a 1)) *old*)", "=> #<thing 1>")
		harness.Write(t, filepath.Join(dir, "sws.lisp"), source(slots))
		got := harness.Good(t, s, "load-system", harness.Object{"system": "sws"})
		harness.Says(t, got, "; The structure SWS::THING has other slots now: objects of it that were made before are obsolete.")
		harness.Want(t, s, "(sws::make-thing :a 2)", "=> #<thing 2>")
		const why = "The object is of an obsolete definition of the structure SWS::THING: it was made before that got other slots, and has to be made again."
		harness.Want(t, s, "*old*", "=> #<SWS::THING, printing it failed: TYPE-ERROR: "+why+">")
		harness.WantError(t, s, "(sws::thing-a *old*)", "[ERROR] TYPE-ERROR\n"+why+"\n")
		harness.WantError(t, s, "(error \"It is ~A.\" *old*)", "[ERROR] SIMPLE-ERROR\n#<printing it failed: TYPE-ERROR: "+why+">\n")
		harness.WantError(t, s, "(car *old*)", "[ERROR] TYPE-ERROR\nThe value #<printing it failed: TYPE-ERROR: "+why+"> is not of type LIST.\n")
	}
	harness.Write(t, filepath.Join(dir, "sws.lisp"), source("a b c")+"(defun broken () (let ((x 1 2)) x))")
	harness.Says(t, harness.Bad(t, s, "load-system", harness.Object{"system": "sws"}), "[ERROR] UIOP:COMPILE-FILE-ERROR", "The LET binding spec (SWS::X 1 2) is malformed.")
}
