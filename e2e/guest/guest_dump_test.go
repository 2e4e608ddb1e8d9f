package guest

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// imageDump is what there is in an image, of which an agent that has come and gone
// must have left nothing but the helper's package.
const imageDump = `(with-output-to-string (out)
 (with-standard-io-syntax
  (let ((*print-readably* nil) (*print-pretty* nil))
  (flet ((fact (name value) (format out "~A: ~S~%" name value))
         (global (s) (if (boundp s) (sb-ext:symbol-global-value s) :unbound)))
   (fact "threads" (sort (mapcar #'sb-thread:thread-name (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) #'string<))
   (fact "descriptors" (sort (loop for fd below 1000 for to = (ignore-errors (sb-posix:readlink (format nil "/proc/self/fd/~D" fd)))
                                   when to collect (subseq to 0 (position #\: to))) #'string<))
   (dolist (v '(*debugger-hook* sb-ext:*invoke-debugger-hook* sb-ext:*after-gc-hooks* sb-ext:*exit-hooks* sb-ext:*init-hooks* sb-ext:*save-hooks*
                *macroexpand-hook* sb-ext:*stepper-hook* *features* *modules* sb-ext:*evaluator-mode* *break-on-signals* *package*
                *random-state* *gensym-counter* sb-ext:*exit-timeout* sb-ext:*muffled-warnings* sb-ext:*module-provider-functions*
                swank::*connections* swank::*new-connection-hook* swank::*connection-closed-hook* swank::*pre-reply-hook* swank::*event-hook*
                swank::*readtable-alist* swank::*default-worker-thread-bindings* swank::*global-debugger*))
     (fact v (cond ((eq v 'swank::*connections*) (length (global v)))
                   ((member v '(*random-state* *gensym-counter*)) :any)
                   (t (global v)))))
   (fact "asdf" (and (find-package "ASDF") (list (funcall (find-symbol "ASDF-VERSION" "ASDF"))
                                                 (length (funcall (find-symbol "REGISTERED-SYSTEMS" "ASDF")))
                                                 (let ((s (find-symbol "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*" "ASDF"))) (and s (global s))))))
   (fact "readtables" (list (readtable-case (global '*readtable*))
                            (loop for c below 256 for (f n) = (multiple-value-list (get-macro-character (code-char c) (global '*readtable*)))
                                  when f collect (list c f n))
                            (loop for c below 256 collect (and (get-macro-character #\# (global '*readtable*))
                                                               (get-dispatch-macro-character #\# (code-char c) (global '*readtable*))))))
   (fact "gc" (list (sb-ext:bytes-consed-between-gcs) (sb-ext:generation-number-of-gcs-before-promotion 0)))
   (fact "policy" (princ-to-string sb-c::*policy*))
   (fact "encapsulated"
     (let ((found '()))
       (do-all-symbols (s) (dolist (name (list s (list 'setf s)))
         (when (and (not (eq (symbol-package s) (find-package "SWANK-MCP"))) (ignore-errors (and (fboundp name) (sb-impl::encapsulation-info (fdefinition name)))))
           (pushnew name found :test #'equal))))
       found))
   (dolist (p (sort (list-all-packages) #'string< :key #'package-name))
     (unless (member (package-name p) '("SWANK-MCP" "SWANK-MCP/SBCL" "SWANK-MCP-INJECT") :test #'string=)
       (let ((externals 0) (all 0) (own '()))
         (do-external-symbols (s p) (incf externals))
         (do-symbols (s p) (when (eq (symbol-package s) p) (incf all)
           (when (member (package-name p) '("COMMON-LISP-USER" "SWANK" "SWANK-IO-PACKAGE" "SB-DI") :test #'string=) (push (symbol-name s) own))))
         (unless (string= (package-name p) "KEYWORD") ; which the helper's are of, too
           (fact (package-name p) (list (package-nicknames p) (mapcar #'package-name (package-use-list p)) externals
                                        all (sort own #'string<)))))))))))`

var connects = flag.Int("connects", 10, "how many agents come and go before the image is looked at again")

// comeAndGo has agents come, work and go in many ways; half of them are killed. While each is
// there, its person does what steers says.
func comeAndGo(t *testing.T, address string, steers func(s *harness.Server, agent int)) {
	t.Helper()
	for i := range *connects {
		var flags []string
		if i%2 == 1 {
			flags = []string{"--echo"}
		}
		s := harness.AttachedTo(t, address, harness.Run.Dir, flags...)
		if got, _ := harness.Eval(t, s, "(+ 1 2)"); !strings.HasPrefix(got, "=> 3") { // and what it found in the session
			t.Errorf("(+ 1 2) answered %s", got)
		}
		switch i % 5 {
		case 1:
			harness.WantError(t, s, "(car 1)", "[ERROR] TYPE-ERROR")
			harness.Want(t, s, `(setf *print-case* :downcase *print-length* 50) (set-macro-character #\! (lambda (s c) (declare (ignore s c)) 1)) (values)`, "; No values")
		case 2:
			harness.Eval(t, s, `(sb-thread:join-thread (sb-thread:make-thread (lambda () (error "x"))) :default 1)`)
			harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"})
		case 3:
			harness.Good(t, s, "trace-function", harness.Object{"functions": "theirs"})
			harness.Good(t, s, "inspect-object", harness.Object{"code": "(list 1)"})
			harness.Good(t, s, "list-threads", harness.Object{})
		case 4:
			s.GoTool("evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 60}, wire.CallOptions{})
			harness.Status(t, s)
		}
		if steers != nil {
			steers(s, i)
		}
		if i%2 == 0 {
			s.Close(await.Ceiling)
			continue
		}
		s.Kill()
	}
}

func wantSameDump(t *testing.T, was string, dump func() string) {
	t.Helper()
	if len(was) < 5000 || !strings.Contains(was, "threads: ") {
		t.Fatalf("no dump: %s", was)
	}
	now := ""
	if await.Until(func() bool { now = dump(); return now == was }) != nil {
		t.Errorf("the image has changed (-before +after):\n%s", cmp.Diff(strings.Fields(was), strings.Fields(now)))
	}
}

// An image has after any number of connects what it had before the first.
func TestGuestDump(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.LoadingPerson(t, harness.Environ(harness.Run.Dir), "")
	p.Says("(require :sb-posix)")
	p.Says("(progn (defun theirs (x s c) (list x s c)) 1)")
	p.Says(imageDump)
	dump := func() string { return harness.Addresses.ReplaceAllString(p.Says(imageDump), "") }
	was := dump()
	comeAndGo(t, p.Address, nil)
	wantSameDump(t, was, dump)
}

// The same where a person works in Emacs.
func TestEmacsDump(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	e := harness.NewEmacs(t)
	e.Types("(require :sb-posix)")
	e.Types("(progn (defun theirs (x s c) (list x s c)) 1)")
	e.Lisp(imageDump)
	dump := func() string { return harness.Addresses.ReplaceAllString(e.Lisp(imageDump), "") }
	was := dump()
	comeAndGo(t, e.Address, nil)
	wantSameDump(t, was, dump)
}

// The same where the person does all that they can with the agents, from Emacs and in Lisp.
func TestEmacsDumpOfSteering(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e := harness.NewEmacs(t)
	e.Types("(require :sb-posix)")
	e.Types("(progn (defun theirs (x s c) (list x s c)) 1)")
	address := e.Share()
	e.Lisp(imageDump)
	dump := func() string { return harness.Addresses.ReplaceAllString(e.Lisp(imageDump), "") }
	was := dump()
	comeAndGo(t, address, func(s *harness.Server, agent int) { e.Steers(s, agent) })
	e.Until("the end of the lamp", func() bool { return !strings.Contains(e.Screen(), "[agent") })
	wantSameDump(t, was, dump)
}
