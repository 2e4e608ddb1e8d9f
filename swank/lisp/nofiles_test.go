package lisp

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// Where no image starts because no more files can be opened, the error names the limit, and says
// what to do. Other errors stay as they are.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.EMFILE, syscall.ENFILE, &fs.PathError{Op: "fork/exec", Path: "/usr/bin/sbcl", Err: syscall.EMFILE}} {
		err := withoutFiles(&StartError{Problem: "sbcl does not start", Err: fmt.Errorf("starting: %w", cause)})
		var start *StartError
		if !errors.As(err, &start) || !errors.Is(err, cause) || start.Err != nil ||
			!strings.Contains(start.Problem, "has as many files open as it may, which are ") || !strings.Contains(start.Advice, "ulimit -n 65536") {
			t.Errorf("%v is told as %v", cause, err)
		}
	}
	for _, err := range []error{nil, syscall.ENOMEM, &StartError{Problem: "sbcl is not on PATH"}} {
		if got := withoutFiles(err); got != err {
			t.Errorf("%v is told as %v", err, got)
		}
	}
}
