package truth

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// hostileKinds are initial values of definitions that are harmless when *GO* is
// true, as it is when they are evaluated first, and hostile when it is not, as
// after a restore.
var hostileKinds = []struct{ name, form string }{
	{"hang", `(loop until *go* finally (return 1))`},
	{"sleep", `(unless *go* (sleep 1000))`},
	{"exit", `(unless *go* (sb-ext:exit))`},
	{"abrupt exit", `(unless *go* (sb-ext:exit :abort t :code 3))`},
	{"abort", `(unless *go* (abort))`},
	{"overflow", `(labels ((f (n) (if *go* n (+ 1 (f n))))) (f 1))`},
	{"heap", `(if *go* 1 (make-array 8000000000 :initial-element 1))`},
	{"without-interrupts", `(sb-sys:without-interrupts (loop until *go*))`},
	{"error", `(if *go* 1 (error "not yet"))`},
	{"error without a message", `(if *go* 1 (error ""))`},
	{"throw", `(if *go* 1 (throw 'sb-impl::toplevel-catcher nil))`},
	{"swallow", `(loop until *go* do (ignore-errors (loop until *go*)))`},
	{"cleanup", `(unless *go* (unwind-protect (loop) (loop)))`},
	{"break", `(unless *go* (break))`},
	{"thread", `(unless *go* (sb-thread:abort-thread))`},
	{"redefinition of Swank", `(if *go* 1 (progn (defun swank::eval-region (string) string (error "broken")) (error "broken")))`},
}

// costlyKinds cost the image, or a lot of memory.
var costlyKinds = []string{
	`(unless *go* (sb-alien:alien-funcall (sb-alien:extern-alien "raise" (function sb-alien:int sb-alien:int)) 5))`,
	`(unless *go* (sb-alien:alien-funcall (sb-alien:extern-alien "_exit" (function sb-alien:void sb-alien:int)) 7))`,
	`(unless *go* (sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void))))`,
	`(loop until *go* collect (make-array 100000))`,
}

// 200 entries of the journal that hang, exit, use up the stack or the heap, cost
// the image, or fail, between 50 that do not: each of the former is named, each
// of the latter is back, and the call after that has its own time limit.
func TestHostileRestore(t *testing.T) {
	tier.More(t)
	t.Parallel()
	const hostile, good = 200, 50
	clean := func(s *harness.Server) {
		for i := range good {
			harness.Want(t, s, fmt.Sprintf("(defun good%d (x) (list x %d))", i, i), fmt.Sprintf("=> GOOD%d", i))
		}
	}
	restored := func(s *harness.Server, code string) string {
		t.Helper()
		harness.Kill9(t, s)
		text, isErr := harness.EvalWithin(t, s, code, 2)
		if isErr {
			t.Error(harness.Clip(text))
		}
		return text
	}

	if err := harness.Run.Warm(); err != nil { // images start from the core, as they do for users
		t.Fatal(err)
	}
	plain := harness.Start(t)
	clean(plain)
	restored(plain, "(good49 1)")

	var names, calls, results []string
	for i := range hostile {
		names = append(names, fmt.Sprintf("BAD%d", i))
	}
	for i := range good {
		calls, results = append(calls, fmt.Sprintf("(second (good%d 1))", i)), append(results, fmt.Sprint(i))
	}
	define := func(s *harness.Server) {
		harness.Want(t, s, "(defvar *go* nil)", "=> *GO*")
		harness.Want(t, s, "(setf *go* t)", "=> T")
		for i := range hostile {
			form := hostileKinds[i%len(hostileKinds)].form
			if i%50 == 17 && i/50 < len(costlyKinds) {
				form = costlyKinds[i/50]
			}
			harness.Want(t, s, fmt.Sprintf("(let ((x %s)) (defun bad%d () x))", form, i), fmt.Sprintf("=> BAD%d", i))
			if i%4 == 3 {
				harness.Want(t, s, fmt.Sprintf("(defun good%d (x) (list x %d))", i/4, i/4), fmt.Sprintf("=> GOOD%d", i/4))
			}
		}
	}
	died := func(s *harness.Server, what string) {
		t.Helper()
		text := restored(s, fmt.Sprintf("(list *go* (list %s))", strings.Join(calls, " ")))
		value, note, _ := strings.Cut(text, "\n; ")
		if wanted := "=> (NIL (" + strings.Join(results, " ") + "))"; strings.Join(strings.Fields(value), " ") != wanted {
			t.Errorf("%s: %s\nwant %s", what, value, wanted)
		}
		_, lost, ok := strings.Cut(note, "Not restored: ")
		if !ok {
			t.Fatalf("%s: nothing is named as not restored:\n%s", what, note)
		}
		var missing []string
		for i, name := range names {
			_, reason, named := strings.Cut(lost, "function "+name+" (")
			if !named || strings.HasPrefix(reason, ")") {
				missing = append(missing, fmt.Sprintf("%s (%s)", name, hostileKinds[i%len(hostileKinds)].name))
			}
		}
		if missing != nil {
			t.Errorf("%s: %d are not named, or without a reason: %s\nin %s", what, len(missing), strings.Join(missing, ", "), lost)
		}
		if text, isErr := harness.EvalWithin(t, s, "(loop)", 1); !isErr || !strings.HasPrefix(text, "[TIMEOUT] Evaluation exceeded 1 second") {
			t.Errorf("%s: the next call does not keep its time limit:\n%s", what, text)
		}
	}
	s := harness.Start(t)
	define(s)
	died(s, "first death")
	died(s, "second death")
}
