package survival

import (
	"flag"
	"testing"

	"swank-mcp/e2e/harness"
)

var overflows = flag.Int("overflows", 60, "how many binding stack overflows TestBindingStackOverflows makes in a row")

// A binding stack overflow is reported, however often one comes, also where a
// collection comes before the stack is unwound: one that did froze the image.
// Without the (GC) it came about every 150th time, in making the report.
func TestBindingStackOverflows(t *testing.T) {
	t.Parallel()
	const endless = "(labels ((f (n) (ignore-errors (f (1+ n))))) (f 0))"
	s := harness.Start(t)
	l := harness.Begin(t, s)
	for _, code := range []string{
		"(handler-bind ((storage-condition (lambda (c) (declare (ignore c)) (gc)))) " + endless + ")",
		"(handler-bind ((storage-condition (lambda (c) (declare (ignore c)) (gc :full t)))) " + endless + ")",
		"(sb-thread:join-thread (sb-thread:make-thread (lambda () (handler-case " + endless + " (storage-condition () (gc)))))) " + endless,
	} {
		if !*harness.AttachedFlag { // there, SBCL's own function that signals is left alone
			harness.WantError(t, s, code, "[ERROR] STORAGE-CONDITION\nBinding stack exhausted.\n")
		}
	}
	for i := range *overflows {
		if harness.WantError(t, s, endless, "[ERROR] STORAGE-CONDITION\n"); t.Failed() {
			t.Fatalf("that was overflow %d", i)
		}
	}
	// unwinding by a handler of the program's, and again in the same evaluation
	harness.Want(t, s, "(loop repeat 10 count (eq :caught (handler-case "+endless+" (storage-condition () :caught))))", "…=> 10")
	l.GoesOn(t, s)
}
