package guest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An error in a thread that the agent's code starts is the agent's, and no
// debugger of the person's opens for it; EXIT there ends the thread.
func TestGuestThreads(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, `(defvar cl-user::*debugged* nil)`)
	p.Connect() // as Emacs would be
	p.Says(`(progn (setf (symbol-function 'swank::invoke-slime-debugger)
  (let ((its #'swank::invoke-slime-debugger)) (lambda (c) (push (princ-to-string c) *debugged*) (funcall its c)))) 1)`)
	s := harness.Attached(t, p)
	for _, way := range []struct{ code, news string }{
		{`(defun erring (x) (error "Ours: ~A" x)) (sb-thread:make-thread (lambda () (list (erring 5))) :name "ours")`,
			`; The thread "ours", which this session's code has started, met an error that nobody handled, and was ended. SIMPLE-ERROR: Ours: 5. It was at (ERRING 5)`},
		{`(sb-thread:make-thread (lambda () (sb-thread:make-thread (lambda () (error "within")) :name "inner")))`,
			`; The thread "inner", which this session's code has started, met an error that nobody handled, and was ended. SIMPLE-ERROR: within.`},
		{`(sb-thread:make-thread (lambda () (sb-ext:exit)) :name "ending")`,
			`; The thread "ending", which this session's code has started, asked the Lisp image to end. The image was not ended`},
		{`(sb-thread:make-thread (lambda () (sb-ext:quit :unix-status 3)))`,
			`; A thread without a name, which this session's code has started, asked the Lisp image to end. The image was not ended`},
	} {
		all, _ := harness.Eval(t, s, way.code)
		_ = await.Until(func() bool {
			text, _ := harness.Eval(t, s, "(sleep 0.1)")
			all += "\n" + text
			return strings.Contains(all, "started")
		})
		harness.Says(t, all, way.news)
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err != nil {
			t.Fatalf("after %s the person's image is gone", way.code)
		}
	}
	p.Wants("*debugged*", "NIL")
	harness.Want(t, s, "(sb-thread:join-thread (sb-thread:make-thread (lambda () (+ 1 2))))", "=> 3")
	// theirs is theirs
	p.Says(`(progn (sb-thread:make-thread (lambda () (error "theirs")) :name "their thread") 1)`)
	if await.Until(func() bool { return p.Says("*debugged*") == `("theirs")` }) != nil {
		t.Errorf("the person's own error went to %s", p.Says("*debugged*"))
	}
	p.Says(`(progn (defvar cl-user::*their-lock* (sb-thread:make-mutex :name "their lock")) (let ((held nil)) (sb-thread:make-thread (lambda () (sb-thread:with-mutex (cl-user::*their-lock*) (setf held t) (sleep 1000))) :name "their holder") (loop until held do (sleep 0.01))) 1)`)
	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(sb-thread:with-mutex (cl-user::*their-lock*) 1)", "timeout": 2})
	harness.Says(t, r.Text(), `"their holder" holds it.`, "It is none that this session has started: ask the person whose Lisp this is before you end it.")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// In a launched image, too, EXIT in a thread ends that thread only.
func TestExitInThread(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	pid := harness.ImagePID(t, s)
	harness.Says(t, harness.Want(t, s, `(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-ext:exit)) :name "ending") :default 7)`, harness.Elided),
		"=> 7", `; The thread "ending", which this session's code has started, asked the Lisp image to end.`)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.WantPID(t, s, pid)
}

// hooks are the global values of both of SBCL's debugger hooks.
const hooks = `(list (sb-ext:symbol-global-value '*debugger-hook*) (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*))`

// The debugger hooks of a Lisp without SLIME are the same while an agent is there,
// and when it has gone.
func TestGuestLeavesDebuggerHooks(t *testing.T) {
	t.Parallel()
	slynk := ""
	for _, form := range []string{
		`(defpackage :slynk-backend (:use :cl) (:export #:install-debugger-globally))`,
		`(defpackage :slynk (:use :cl) (:export #:slynk-debugger-hook))`,
		`(defvar slynk::*connections* '(1))`,
		`(defun slynk:slynk-debugger-hook (c h) (declare (ignore c h)))`,
		`(defun slynk-backend:install-debugger-globally (f) (setq *debugger-hook* f sb-ext:*invoke-debugger-hook* 'their-hook))`,
	} {
		slynk += fmt.Sprintf("(eval (read-from-string %q))", form)
	}
	for _, c := range []struct{ name, more, want string }{
		{"server in a terminal", "(progn)", "(NIL NIL)"},
		{"Sly", slynk, "(#<FUNCTION SLYNK:SLYNK-DEBUGGER-HOOK> THEIR-HOOK)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := harness.NewPerson(t, c.more)
			s := harness.Attached(t, p)
			harness.Want(t, s, hooks, "=> "+c.want+harness.Elided)
			harness.WantError(t, s, "(car 1)", "[ERROR] TYPE-ERROR")
			s.Close(await.Ceiling)
			harness.Want(t, harness.Attached(t, p), hooks, "=> "+c.want+harness.Elided)
		})
	}
	t.Run("an editor that has gone", func(t *testing.T) {
		p := harness.NewPerson(t, "")
		p.Says("1")
		p.Conn.Close()
		for range 2 {
			s := harness.Attached(t, p)
			harness.Want(t, s, hooks, "=> (#<FUNCTION SWANK:SWANK-DEBUGGER-HOOK>…#<FUNCTION SWANK/SBCL::SWANK-INVOKE-DEBUGGER-HOOK …>)")
			s.Close(await.Ceiling)
		}
	})
	t.Run("one of the person's own", func(t *testing.T) {
		p := harness.NewPerson(t, "(progn)")
		s := harness.Attached(t, p)
		harness.WantRuns(t, s, "(setf (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) 'my-hook)")
		s.Close(await.Ceiling)
		for range 2 {
			s = harness.Attached(t, p)
			harness.Want(t, s, hooks, "=> (NIL MY-HOOK)"+harness.Elided)
			s.Close(await.Ceiling)
		}
	})
	t.Run("SLIME", func(t *testing.T) {
		p := harness.NewPerson(t, "")
		was := p.Says(hooks)
		s := harness.Attached(t, p)
		harness.Want(t, s, "(+ 1 2)", "=> 3")
		if got := p.Says(hooks); !strings.Contains(got, "SWANK-DEBUGGER-HOOK") || len(got) < 20 {
			t.Errorf("the hooks are %s, and were %s", got, was)
		}
	})
}
