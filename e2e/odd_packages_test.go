package e2e

import "testing"

// A session in a package without a name's letters, or whose package is gone, goes on
// in the same image.
func TestOddPackages(t *testing.T) {
	t.Parallel()
	t.Run("empty name", func(t *testing.T) {
		s := start(t)
		l := begin(t, s)
		want(t, s, `(defpackage "" (:use :cl)) (in-package "")`, `=> #<PACKAGE "">`)
		want(t, s, "(package-name *package*)", `=> ""`)
		want(t, s, `(in-package :cl-user) (delete-package "")`, "=> T")
		l.goesOn(t, s)
	})
	t.Run("CL-USER deleted", func(t *testing.T) {
		skipLaunchedOnly(t) // it is a person's
		s := start(t)
		want(t, s, "(+ 1 2)", "=> 3")
		pid := imagePID(t, s)
		want(t, s, "(delete-package :cl-user)", "=> T\n; The package COMMON-LISP-USER was deleted…")
		want(t, s, "(defun again (x) (1+ x)) (again (length (package-name *package*)))", "=> 17")
		wantPID(t, s, pid)
	})
}
