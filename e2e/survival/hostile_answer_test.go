package survival

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// hooked has the image answer a call with the text that the call's own code has put into
// CL-USER::*EVIL*. Calls in other threads have another *EVIL*, and are answered truly.
const hooked = `(progn (defvar cl-user::*evil* nil) (sb-ext:unlock-package :swank)
 (let ((old #'swank:eval-and-grab-output))
  (sb-ext:without-package-locks
   (setf (fdefinition 'swank:eval-and-grab-output)
    (lambda (x) (let* ((*evil* nil) (r (funcall old x)))
      (declare (special *evil*))
      (if *evil* (list *evil* "") r)))))) 1)`

// What an image answers that its program has changed does not end the server, not even where no
// call waits for it.
func TestHostileAnswerOfAJob(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, hooked, "=> 1")
	harness.Good(t, s, "evaluate-lisp", harness.Object{"background": true,
		"code": `(setf *evil* "(:package \"COMMON-LISP-USER\" :values ((\"evil\")) :loaded (()) :threads ((-7 \"\" \"T\" \"m\")))")`})
	await.True(t, "the job has ended", func() bool {
		return harness.Fits("…=> evil…", harness.Call(t, s, "read-output", harness.Object{"handle": "job-1"}).Text())
	})
	if text, isErr := harness.Eval(t, s, "(+ 1 2)"); isErr || !harness.Fits("=> 3…", text) {
		t.Error(text)
	}
}
