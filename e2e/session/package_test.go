package session

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// Each step is one call of one session.
func TestPackageContext(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, c := range []struct {
		pkg, code, text string
	}{
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`},
		{"", "(defpackage :test-pkg (:use :cl)) (in-package :test-pkg)", `=> #<PACKAGE "TEST-PKG">`},
		{"", "(package-name *package*)", `=> "TEST-PKG"`},
		{"", "(defun local-fn () :in-test-pkg)", "=> LOCAL-FN"},
		{"", "(package-name (symbol-package 'local-fn))", `=> "TEST-PKG"`},
		{"", "(in-package :cl-user)", `=> #<PACKAGE "COMMON-LISP-USER">`},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`},
		{"", "(test-pkg:local-fn)", "[ERROR] READER-ERROR\n…"},
		{"", "(test-pkg::local-fn)", "=> :IN-TEST-PKG"},

		// The argument alone changes nothing, by any of its spellings.
		{"test-pkg", "(package-name *package*)", `=> "TEST-PKG"`},
		{"Test-Pkg", "(local-fn)", "=> :IN-TEST-PKG"},
		{"cl", "(package-name *package*)", `=> "COMMON-LISP"`},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`},
		{"KEYWORD", "(defun temp () :test)", "[ERROR] UNDEFINED-FUNCTION\n…"},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`},

		// A change that the code makes persists, argument or not, error or not.
		{"test-pkg", "(in-package :keyword)", `=> #<COMMON-LISP:PACKAGE "KEYWORD">`},
		{"", "(cl:package-name cl:*package*)", `=> "KEYWORD"`},
		{"", "(package-name *package*)", "[ERROR] UNDEFINED-FUNCTION\n…"},
		{"", "(cl:in-package :cl-user)", `=> #<PACKAGE "COMMON-LISP-USER">`},
		{"", "(setf *package* (find-package :test-pkg))", `=> #<PACKAGE "TEST-PKG">`},
		{"", "(package-name *package*)", `=> "TEST-PKG"`},
		{"", "(in-package :cl-user) (error \"after the change\")", "[ERROR] SIMPLE-ERROR\nafter the change\n…"},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`},

		// A package that is not there changes nothing.
		{"NONEXISTENT", "(+ 1 2)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.…"},
		{"nonexistent", "(defvar *never* 1)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.…"},
		{"", "(in-package :nonexistent)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.…"},
		{"", "(list (package-name *package*) (boundp '*never*))", `=> ("COMMON-LISP-USER" NIL)`},

		// use-package and import count at once and later.
		{"", "(defpackage :lib (:use :cl) (:export #:twice)) (defun lib:twice (x) (* 2 x)) :ok", "=> :OK"},
		{"", "(use-package :lib) (twice 4)", "=> 8"},
		{"", "(twice 5)", "=> 10"},
	} {
		args := harness.Object{"code": c.code}
		if c.pkg != "" {
			args["package"] = c.pkg
		}
		harness.WantReply(t, s, "evaluate-lisp", args, c.text)
	}
}

func TestUnexportedSymbolIsOffered(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defpackage :test-pkg (:use :cl)) (defun test-pkg::local-fn () 1) :ok", "=> :OK")
	harness.Says(t, strings.ToLower(harness.WantError(t, s, "(test-pkg:local-fn)", "[ERROR] READER-ERROR\n")), "test-pkg::local-fn")
}

func TestUnknownPackageNamesTheNearest(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defpackage :accounting (:use :cl)) :ok", "=> :OK")
	harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(+ 1 2)", "package": "acounting"}, `[ERROR]…The name "ACOUNTING" does not designate any package.…ACCOUNTING…`)
}

func TestDeletedSessionPackage(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defpackage :doomed (:use :cl)) (in-package :doomed) :there", "=> :THERE")
	got, _ := harness.Eval(t, s, `(delete-package :doomed)`)
	again := harness.Want(t, s, "(cl:package-name cl:*package*)", `…=> "COMMON-LISP-USER"`)
	harness.Says(t, got+again, "DOOMED", "COMMON-LISP-USER")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	// one reply says it once
	harness.Want(t, s, "(defpackage :doomed (:use :cl)) (in-package :doomed) :there", "=> :THERE")
	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"package": "CL-USER", "code": "(setf *package* (find-package :doomed)) (delete-package :doomed)"})
	if n := strings.Count(r.Text(), "The package DOOMED was deleted"); n != 1 {
		t.Errorf("said %d times that the package was deleted:\n%s", n, r.Text())
	}
}

func TestREPLVariables(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(+ 40 2)", "=> 42")
	harness.Want(t, s, "*", "=> 42")
	harness.Want(t, s, "(floor 17 5)", "=> 3\n=> 2")
	harness.Want(t, s, "(list * ** /)", "=> (3 42 (3 2))")
	harness.Want(t, s, "+", "=> (LIST * ** /)")
	harness.Want(t, s, "-", "=> -")
}
