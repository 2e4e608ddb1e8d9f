package emacs

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// ownersFacts is what a guest must not change, one fact a line.
const ownersFacts = `(with-output-to-string (out)
 (with-standard-io-syntax
  (let ((*print-readably* nil) (*print-pretty* nil) (*print-length* nil))
  (flet ((fact (name value) (format out "~A: ~S~%" name value))
         (global (s) (if (boundp s) (sb-ext:symbol-global-value s) :unbound)))
   (dolist (p (sort (list-all-packages) #'string< :key #'package-name))
     (unless (member (package-name p) '("SWANK-MCP" "SWANK-MCP/SBCL" "SWANK-MCP-INJECT") :test #'string=)
       (let ((externals 0) (all '()))
         (do-external-symbols (s p) (incf externals))
         (when (string= (package-name p) "COMMON-LISP-USER")
           (do-symbols (s p) (when (eq (symbol-package s) p) (pushnew (symbol-name s) all :test #'string=))))
         (fact (package-name p) (list (package-nicknames p) (mapcar #'package-name (package-use-list p)) externals (sort all #'string<))))))
   (dolist (v '(*features* *modules* *package* *read-base* *read-eval* *read-default-float-format* *print-base* *print-case* *print-circle*
                *print-length* *print-level* *print-pretty* *print-readably* *print-escape* *print-right-margin* *debugger-hook*
                *macroexpand-hook* *break-on-signals* *default-pathname-defaults* * ** *** + ++ +++ / // ///
                sb-ext:*invoke-debugger-hook* sb-ext:*after-gc-hooks* sb-ext:*exit-hooks* sb-ext:*init-hooks* sb-ext:*save-hooks*
                sb-ext:*evaluator-mode* sb-ext:*muffled-warnings* sb-ext:*posix-argv*
                swank::*new-connection-hook* swank::*connection-closed-hook* swank::*pre-reply-hook* swank::*event-hook*
                swank::*globally-redirect-io* swank::*global-debugger* swank::*enable-event-history* swank::*configure-emacs-indentation*
                swank::*communication-style* swank::*readtable-alist* swank::*default-worker-thread-bindings*))
     (fact v (global v)))
   (fact "readtable" (list (readtable-case (global '*readtable*))
                           (loop for c below 256 for (f n) = (multiple-value-list (get-macro-character (code-char c) (global '*readtable*)))
                                 when f collect (list c n))))
   (fact "directory" (namestring (swank/backend:default-directory)))
   (fact "gc" (sb-ext:bytes-consed-between-gcs))
   (fact "policy" (princ-to-string sb-c::*policy*))
   (fact "encapsulated" (remove-if-not (lambda (s) (sb-int:encapsulated-p s 'swank-mcp))
                          '(fmakunbound makunbound unintern delete-package (setf find-class))))
   (fact "make-thread" (sb-int:encapsulated-p 'sb-thread:make-thread 'guard))
   (fact "traced" (eval '(trace)))
   (fact "profiled" (eval '(sb-profile:profile)))
   (fact "inspected" (and (boundp 'swank::*istate*) (symbol-value 'swank::*istate*)))
   (fact "connections" (length swank::*connections*))
   (fact "threads" (sort (mapcar #'sb-thread:thread-name (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) #'string<))))))`

const steps = 200

// A person works in Emacs and an agent beside them; afterwards the image has
// what the two defined and nothing else has changed.
func TestEmacs(t *testing.T) {
	t.Parallel()
	e := harness.NewEmacs(t)
	e.Types("(+ 1 2)")
	indentation := `(let (found) (mapatoms (lambda (s) (when (get s 'slime-indent) (push (symbol-name s) found)))) (sort found #'string<))`
	before, indented := e.Lisp(ownersFacts), e.Elisp(indentation)

	s := harness.AttachedTo(t, e.Address, harness.Run.Dir)
	harness.Want(t, s, "(defvar *shared* 0)", "=> *SHARED*")
	var both sync.WaitGroup
	both.Go(func() { agentWorks(t, s) })
	for i := range steps {
		switch i % 4 {
		case 0:
			e.Types(fmt.Sprintf("(defun person-%d (x) (+ x %d))", i, i))
		case 1:
			e.Types(fmt.Sprintf("(defparameter *person-%d* (person-%d %d))", i, i-1, i))
		case 2:
			e.Types(fmt.Sprintf("(list *person-%d* (format nil \"~~a\" %d))", i-1, i))
		case 3:
			e.Types(fmt.Sprintf("(progn (print %d) (setf *person-%d* (list *person-%d*)) (values 1 2))", i, i-2, i-2))
		}
	}
	both.Wait()
	if n := e.Debuggers(); n != "0" {
		t.Errorf("the agent's errors opened %s debuggers in Emacs:\n%s", n, e.Elisp("(mapcar #'buffer-name (sldb-buffers))"))
	}
	for i := 0; i < steps; i += 4 {
		harness.Want(t, s, fmt.Sprintf("(list (person-%d 1) *person-%d* (agent-%d 1))", i, i+1, i),
			fmt.Sprintf("=> (%d (%d) %d)", i+1, 2*i+1, i+1))
	}

	t.Run("the person's error", func(t *testing.T) { theirError(t, e, s) })

	harness.Check(t, s.Close(await.Ceiling))
	e.Types("(+ 1 2)") // for the REPL variables
	e.Types("(+ 1 2)")
	e.Types("(+ 1 2)")
	e.Types("(+ 1 2)")
	after := ""
	same := func() bool { after = e.Lisp(ownersFacts); return factsWithout(after) == factsWithout(before) }
	if await.Until(same) != nil {
		t.Errorf("the image has changed (-before +after):\n%s",
			cmp.Diff(strings.Fields(factsWithout(before)), strings.Fields(factsWithout(after))))
	}
	for _, symbol := range []string{"with-lock", "safely", "with-sink-lock", "with-look-up", "agent-macro"} {
		if got := e.Elisp("(get '" + symbol + " 'slime-indent)"); got != "nil" && symbol != "agent-macro" {
			t.Errorf("Emacs indents %s as the helper's: %s", symbol, got)
		}
	}
	if now := e.Elisp(indentation); now != indented {
		t.Errorf("Emacs' indentation was\n%s\nis\n%s", indented, now)
	}
}

var parentheses = strings.NewReplacer("(", " ", ")", " ")

// factsWithout leaves out what the two have done: names that begin with PERSON
// or AGENT, and the values of the person's REPL variables.
func factsWithout(facts string) string {
	var kept []string
	for _, line := range strings.Split(harness.Addresses.ReplaceAllString(facts, ""), "\n") {
		if strings.HasPrefix(line, "KEYWORD: ") || strings.HasPrefix(line, "*: ") || strings.HasPrefix(line, "**") || strings.HasPrefix(line, "/") || strings.HasPrefix(line, "+") {
			continue
		}
		var words []string
		for _, w := range strings.Fields(parentheses.Replace(line)) {
			if name := strings.Trim(w, `"()*`); !strings.HasPrefix(name, "PERSON-") && !strings.HasPrefix(name, "AGENT-") && name != "SHARED" && name != "X" {
				words = append(words, w)
			}
		}
		kept = append(kept, strings.Join(words, " "))
	}
	return strings.Join(kept, "\n")
}

// agentWorks makes 200 evaluations, of which every fourth is an error, with
// settings that would be felt by others if they were global.
func agentWorks(t *testing.T, s *harness.Server) {
	for i := range steps {
		switch i % 4 {
		case 0:
			harness.Want(t, s, fmt.Sprintf("(defun agent-%d (x) (+ x %d)) (agent-%d 1)", i, i, i), fmt.Sprintf("=> %d", i+1))
		case 1:
			harness.Want(t, s, fmt.Sprintf("(setf *print-base* 10 *read-base* 10 *print-case* :upcase *print-length* %d) (incf *shared*) 1", 10+i), "=> 1")
		case 2:
			harness.Want(t, s, fmt.Sprintf("(setf (readtable-case *readtable*) :upcase) (set-macro-character #\\! (lambda (agent-s agent-c) (declare (ignore agent-s agent-c)) 1)) (print %d) (list *)", i), fmt.Sprintf("[stdout]\n%d\n\n=> (%d)", i, i))
		case 3:
			harness.WantError(t, s, []string{"(error \"agent\")", "(car 1)", "(agent-no-function)", "(loop :collect (agent-no-thing 1))"}[i/4%4], "[ERROR] ")
		}
	}
}

// theirError is an error of the person's in a thread that is nobody's: it must
// open a debugger in Emacs, and not come to us.
func theirError(t *testing.T, e *harness.Emacs, s *harness.Server) {
	e.Types(`(progn (sb-thread:make-thread (lambda () (error "theirs")) :name "their thread") 1)`)
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	if got := e.Elisp(`(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties 1 20))`); !strings.Contains(got, "theirs") {
		t.Errorf("the debugger shows %s", got)
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	if got := harness.Status(t, s); strings.Contains(got, "theirs") {
		t.Errorf("the agent is shown the person's error:\n%s", got)
	}
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
}

// TestEmacsEcho: with --echo the evaluations appear above the prompt, and what is
// being typed stays.
func TestEmacsEcho(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e := harness.NewEmacs(t)
	quiet := harness.AttachedTo(t, e.Address, harness.Run.Dir)
	harness.Want(t, quiet, "(print :not-to-be-seen)", "[stdout]\n:NOT-TO-BE-SEEN\n\n=> :NOT-TO-BE-SEEN")
	if screen := e.Screen(); strings.Contains(screen, "NOT-TO-BE-SEEN") {
		t.Errorf("without --echo there is an echo:\n%s", screen)
	}
	harness.Check(t, quiet.Close(await.Ceiling))
	s := harness.AttachedTo(t, e.Address, harness.Run.Dir, "--echo")
	e.Keys("C-x", "1", "C-l", "(list 1 2 'half-typed", "Space")
	input := `(with-current-buffer (slime-output-buffer) (slime-repl-current-input))`
	e.Until("the half-typed line", func() bool { return e.Elisp(input) == `"(list 1 2 'half-typed "` })
	harness.Want(t, s, "(defun area (w h)\n  (* w h))", "=> AREA")
	harness.Want(t, s, "(area 6 7)", "=> 42")
	harness.WantError(t, s, "(area 6 'seven)", "[ERROR] TYPE-ERROR")
	harness.Want(t, s, "(values 1 \"two\")", "=> 1\n=> \"two\"")
	if *harness.Update {
		e.Until("the echo", func() bool { return strings.Contains(e.Screen(), "two") })
		harness.Write(t, harness.InTree("docs", "echo.txt"), strings.TrimRight(e.Screen(), "\n")+"\n")
	}
	for i := range 16 {
		harness.Want(t, s, fmt.Sprintf("(* %d 1000)", i), fmt.Sprintf("=> %d", i*1000))
	}
	harness.Eval(t, s, "(make-string 100000 :initial-element #\\z)")
	harness.Eval(t, s, "(loop for i below 5000 collect i)")
	e.Until("all of the echo", func() bool {
		return strings.Contains(e.Elisp(`(with-current-buffer (slime-output-buffer) (buffer-substring-no-properties 1 (point-max)))`), "collect i)")
	})
	text := e.Elisp(`(with-current-buffer (slime-output-buffer) (buffer-substring-no-properties 1 (point-max)))`)
	for _, line := range []string{`; swank-mcp 3 wire 1> (area 6 7)\n; 3 => 42\n`, `; swank-mcp 2 wire 1> (defun area (w h)\n;     (* w h))\n; 2 => AREA\n`,
		`; 4 [ERROR] TYPE-ERROR\n;   The value SEVEN is not of type NUMBER`, `; 5 => 1\n; 5 => \"two\"\n`, `; swank-mcp 21 wire 1> (* 15 1000)\n; 21 => 15000\n`} {
		if !strings.Contains(text, line) {
			t.Errorf("the REPL has no %s:\n%s", line, harness.Clip(text))
		}
	}
	if len(text) > 10000 {
		t.Errorf("long values are not shortened: the REPL has %d characters", len(text))
	}
	if got := e.Elisp(input); got != `"(list 1 2 'half-typed "` {
		t.Errorf("the half-typed line is now %s", got)
	}
	e.Keys("3)", "Enter")
	e.Until("its value", func() bool { return strings.Contains(e.Screen(), "(1 2 HALF-TYPED 3)") })

	t.Run("Emacs goes away", func(t *testing.T) {
		e.Elisp("(slime-disconnect)")
		harness.Want(t, s, "(area 1 2)", "=> 2")
		harness.Want(t, s, "(list (streamp *standard-output*) (progn (format sb-impl::*stdout* \"\") 1))", "=> (T 1)")
	})
}
