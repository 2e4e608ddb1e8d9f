package e2e

import (
	"strings"
	"testing"
)

// in evaluates in a named package.
func in(t *testing.T, s *server, pkg, code string) (string, bool) {
	t.Helper()
	r := call(t, s, patience, "evaluate-lisp", map[string]any{"code": code, "package": pkg})
	return r.Text(), r.IsError
}

// Each step is one call of one session.
func TestPackageContext(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		pkg, code, text string
		isErr           bool // then text is a prefix
	}{
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`, false},
		{"", "(defpackage :test-pkg (:use :cl)) (in-package :test-pkg)", `=> #<PACKAGE "TEST-PKG">`, false},
		{"", "(package-name *package*)", `=> "TEST-PKG"`, false},
		{"", "(defun local-fn () :in-test-pkg)", "=> LOCAL-FN", false},
		{"", "(package-name (symbol-package 'local-fn))", `=> "TEST-PKG"`, false},
		{"", "(in-package :cl-user)", `=> #<PACKAGE "COMMON-LISP-USER">`, false},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`, false},
		{"", "(test-pkg:local-fn)", "[ERROR] READER-ERROR\n", true},
		{"", "(test-pkg::local-fn)", "=> :IN-TEST-PKG", false},

		// The argument alone changes nothing, by any of its spellings.
		{"test-pkg", "(package-name *package*)", `=> "TEST-PKG"`, false},
		{"Test-Pkg", "(local-fn)", "=> :IN-TEST-PKG", false},
		{"cl", "(package-name *package*)", `=> "COMMON-LISP"`, false},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`, false},
		{"KEYWORD", "(defun temp () :test)", "[ERROR] UNDEFINED-FUNCTION\n", true},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`, false},

		// A change that the code makes persists, argument or not, error or not.
		{"test-pkg", "(in-package :keyword)", `=> #<COMMON-LISP:PACKAGE "KEYWORD">`, false},
		{"", "(cl:package-name cl:*package*)", `=> "KEYWORD"`, false},
		{"", "(package-name *package*)", "[ERROR] UNDEFINED-FUNCTION\n", true},
		{"", "(cl:in-package :cl-user)", `=> #<PACKAGE "COMMON-LISP-USER">`, false},
		{"", "(setf *package* (find-package :test-pkg))", `=> #<PACKAGE "TEST-PKG">`, false},
		{"", "(package-name *package*)", `=> "TEST-PKG"`, false},
		{"", "(in-package :cl-user) (error \"after the change\")", "[ERROR] SIMPLE-ERROR\nafter the change\n", true},
		{"", "(package-name *package*)", `=> "COMMON-LISP-USER"`, false},

		// A package that is not there changes nothing.
		{"NONEXISTENT", "(+ 1 2)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.", true},
		{"nonexistent", "(defvar *never* 1)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.", true},
		{"", "(in-package :nonexistent)", "[ERROR] PACKAGE-ERROR\nThe name \"NONEXISTENT\" does not designate any package.", true},
		{"", "(list (package-name *package*) (boundp '*never*))", `=> ("COMMON-LISP-USER" NIL)`, false},

		// use-package and import count at once and later.
		{"", "(defpackage :lib (:use :cl) (:export #:twice)) (defun lib:twice (x) (* 2 x)) :ok", "=> :OK", false},
		{"", "(use-package :lib) (twice 4)", "=> 8", false},
		{"", "(twice 5)", "=> 10", false},
	} {
		args := map[string]any{"code": c.code}
		if c.pkg != "" {
			args["package"] = c.pkg
		}
		r := call(t, s, patience, "evaluate-lisp", args)
		ok := r.Text() == c.text
		if c.isErr {
			ok = strings.HasPrefix(r.Text(), c.text)
		}
		if !ok || r.IsError != c.isErr {
			t.Errorf("package %q, code %s\n got (isError %v):\n%s\nwant (isError %v):\n%s", c.pkg, c.code, r.IsError, r.Text(), c.isErr, c.text)
		}
	}
}

func TestUnexportedSymbolIsOffered(t *testing.T) {
	s := start(t)
	want(t, s, "(defpackage :test-pkg (:use :cl)) (defun test-pkg::local-fn () 1) :ok", "=> :OK")
	got := wantError(t, s, "(test-pkg:local-fn)", "[ERROR] READER-ERROR\n")
	if !strings.Contains(strings.ToLower(got), "test-pkg::local-fn") {
		t.Errorf("the message does not offer test-pkg::local-fn:\n%s", got)
	}
}

func TestUnknownPackageNamesTheNearest(t *testing.T) {
	s := start(t)
	want(t, s, "(defpackage :accounting (:use :cl)) :ok", "=> :OK")
	got, isErr := in(t, s, "acounting", "(+ 1 2)")
	if !isErr || !strings.Contains(got, `The name "ACOUNTING" does not designate any package.`) ||
		!strings.Contains(strings.Replace(got, "ACOUNTING", "", 1), "ACCOUNTING") {
		t.Errorf("a misspelt package answered (isError %v):\n%s", isErr, got)
	}
}

func TestDeletedSessionPackage(t *testing.T) {
	s := start(t)
	want(t, s, "(defpackage :doomed (:use :cl)) (in-package :doomed) :there", "=> :THERE")
	got, _ := eval(t, s, `(delete-package :doomed)`)
	again, isErr := eval(t, s, "(cl:package-name cl:*package*)")
	if isErr || !strings.HasSuffix(again, `=> "COMMON-LISP-USER"`) {
		t.Errorf("after the session package was deleted:\n%s", again)
	}
	if !strings.Contains(got+again, "DOOMED") || !strings.Contains(got+again, "COMMON-LISP-USER") {
		t.Errorf("no note says that the package is gone:\n%s\n%s", got, again)
	}
	want(t, s, "(+ 1 2)", "=> 3")
	// one reply says it once
	want(t, s, "(defpackage :doomed (:use :cl)) (in-package :doomed) :there", "=> :THERE")
	r := call(t, s, patience, "evaluate-lisp", map[string]any{"package": "CL-USER", "code": "(setf *package* (find-package :doomed)) (delete-package :doomed)"})
	if n := strings.Count(r.Text(), "The package DOOMED was deleted"); n != 1 {
		t.Errorf("said %d times that the package was deleted:\n%s", n, r.Text())
	}
}

func TestREPLVariables(t *testing.T) {
	s := start(t)
	want(t, s, "(+ 40 2)", "=> 42")
	want(t, s, "*", "=> 42")
	want(t, s, "(floor 17 5)", "=> 3\n=> 2")
	want(t, s, "(list * ** /)", "=> (3 42 (3 2))")
	want(t, s, "+", "=> (LIST * ** /)")
	want(t, s, "-", "=> -")
}
