package lisp

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/tier"
)

// An image that tells of its journal for ever, as a program has changed it, is asked for as long as
// for one answer. The next result says what that means.
func TestJournalWithoutEnd(t *testing.T) {
	tier.More(t)
	im := testImage(t)
	defer func(d time.Duration) { answerLimit = d }(answerLimit)
	answerLimit = time.Second
	mustEval(t, im, `(sb-ext:without-package-locks
	  (setf swank-mcp::*journal-part* 1)
	  (setf (fdefinition 'swank-mcp:take-journal)
	        (lambda (session) (declare (ignore session))
	          (swank-mcp::answer '((("(:FUNCTION . X)") "(defun x ())" "COMMON-LISP-USER" 0 nil nil 1))))))`)
	value, notes := evaluated(t, im, "(defun one () 1) (defun two () 2)")
	if value == "" || !strings.Contains(notes, "has not yet told all that was defined") || !strings.Contains(notes, `evaluate-lisp {"code": "(values)"}`) {
		t.Errorf("value %s, notes: %s", value, notes)
	}
	if value, _ := evaluated(t, im, "(+ 1 2)"); value != "3" {
		t.Errorf("then (+ 1 2) is %s", value)
	}
}
