package session

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// A session in a package without a name's letters, or whose package is gone, goes on
// in the same image.
func TestOddPackages(t *testing.T) {
	t.Parallel()
	t.Run("empty name", func(t *testing.T) {
		s := harness.Start(t)
		l := harness.Begin(t, s)
		harness.Want(t, s, `(defpackage "" (:use :cl)) (in-package "")`, `=> #<PACKAGE "">`)
		harness.Want(t, s, "(package-name *package*)", `=> ""`)
		harness.Want(t, s, `(in-package :cl-user) (delete-package "")`, "=> T")
		l.GoesOn(t, s)
	})
	t.Run("CL-USER deleted", func(t *testing.T) {
		harness.SkipLaunchedOnly(t) // it is a person's
		s := harness.Start(t)
		harness.Want(t, s, "(+ 1 2)", "=> 3")
		pid := harness.ImagePID(t, s)
		harness.Want(t, s, "(delete-package :cl-user)", "=> T\n; The package COMMON-LISP-USER was deleted…")
		harness.Want(t, s, "(defun again (x) (1+ x)) (again (length (package-name *package*)))", "=> 17")
		harness.WantPID(t, s, pid)
	})
}
