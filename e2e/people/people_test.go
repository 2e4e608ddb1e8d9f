package people

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank"
)

// A person stops what the agent evaluates, and the agent reads that it was the person.
func TestPersonStops(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	p.Wants("(swank-mcp:stop)", "NIL")
	for _, code := range []string{
		"(loop)",
		"(sleep 100)",
		"(unwind-protect (sleep 100) (sleep 0.1))",
		`(loop (compile nil '(lambda (x) (list x))))`,
		`(dotimes (i 100000000) (print i))`,
	} {
		call := harness.Running(t, s, code)
		p.Wants("(length (swank-mcp:stop))", "1")
		harness.WantAnswer(t, call, harness.StoppedHead+"…")
		harness.Want(t, s, "(+ 1 2)", "=> 3")
	}
	// Cleanup forms that hang are broken off, by the bridge.
	signal := await.NewGate(t)
	call := harness.SendCall(t, s, "(unwind-protect (progn "+signal.Sign()+" (sleep 100)) (sleep 200))")
	signal.Reached()
	p.Wants("(length (swank-mcp:stop))", "1")
	harness.WantAnswer(t, call, harness.StoppedHead+"…")
	// Code that has interrupts off is left alone, in an image that is not ours.
	signal = await.NewGate(t)
	call = harness.SendCall(t, s, "(sb-sys:without-interrupts "+signal.Sign()+" (loop repeat 200 do (sleep 0.05)))")
	signal.Reached()
	p.Wants("(length (swank-mcp:stop))", "1")
	harness.WantAnswer(t, call, harness.StoppedHead+"\nThe evaluation could not be stopped: …")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// A person stops one evaluation by its number: a job, and one that is suspended. The agent's
// own code cannot.
func TestPersonStopsOne(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Says(t, harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(loop (sleep 0.01))", "background": true}), "job-1")
	harness.WantError(t, s, "(swank-mcp:stop)", "[ERROR] SIMPLE-ERROR\nstop is for the person")
	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(car 'suspended)", "on-error": "debug"})
	running := harness.Running(t, s, "(progn :third (sleep 100))")
	number := func(code string) string {
		return p.Says(fmt.Sprintf(`(swank-mcp::evaluation-number (find %q swank-mcp::*evaluations* :key #'swank-mcp::evaluation-code :test #'string=))`, code))
	}
	job, suspended := number("(loop (sleep 0.01))"), number("(car 'suspended)")
	p.Wants("(swank-mcp:stop "+suspended+")", "("+suspended+")")
	p.Wants("(swank-mcp:stop "+job+")", "("+job+")")
	p.Wants("(swank-mcp:stop 4711)", "NIL")
	p.Wants("(length (swank-mcp:stop))", "1")
	told := harness.Answer(t, running).Text()
	harness.Says(t, told, harness.StoppedHead+"\n")
	harness.WillSay(t, s, told, "; The suspended evaluation 2 ((car 'suspended)) has ended: The person stopped it.",
		"; job-1 ((loop (sleep 0.01))) was stopped by the person. Next: ")
}

// A person pauses the agents: calls that begin wait and say for what, look-ups are answered,
// what runs goes on, and a server that comes later waits, too.
func TestPersonPauses(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*go* nil)")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	runs := harness.Running(t, s, "(progn (loop until *go* do (sleep 0.01)) :ran)")
	p.Wants("(multiple-value-list (swank-mcp:pause))", "NIL")
	told := make(chan string, 10)
	waits, err := s.GoTool("evaluate-lisp", harness.Object{"code": "(progn (sleep 0.5) :waited)", "timeout": 3},
		wire.CallOptions{Progress: func(p wire.Progress) { told <- p.Message }})
	harness.Check(t, err)
	p.Says("(setf *go* t)")
	harness.WantAnswer(t, runs, "=> :RAN")
	if text := <-told; !strings.HasPrefix(text, "paused by the person; (swank-mcp:resume) or") {
		t.Errorf("progress says %q", text)
	}
	status := ""
	_ = await.Until(func() bool { // it is told a moment later than the value that nothing runs
		status = harness.Good(t, s, "session-status", harness.Object{})
		return !strings.Contains(status, "Running for")
	})
	harness.Says(t, status, "Paused: calls that evaluate wait, paused by the person; (swank-mcp:resume) or `swank-mcp resume` lets it go on\n", "Queue: 1 call waits")
	harness.SaysNot(t, status, "Running for")
	harness.Says(t, harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"}), "CAR")
	cancelled := harness.SendCall(t, s, ":cancelled")
	harness.Check(t, cancelled.Cancel("no more"))
	later := harness.Attached(t, p, "--session", "later")
	second := harness.SendCall(t, later, ":second")
	time.Sleep(3500 * time.Millisecond) // longer than the limit of the first
	for _, c := range []*wire.Pending{waits, second} {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		if err := c.Wait(ctx, nil); ctx.Err() == nil {
			t.Errorf("call %s did not wait: %v", c.ID, err)
		}
		stop()
	}
	p.Says("(swank-mcp:resume)")
	harness.WantAnswer(t, waits, "=> :WAITED")
	harness.WantAnswer(t, second, "=> :SECOND")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.WantError(t, s, "(swank-mcp:pause)", "[ERROR] SIMPLE-ERROR\npause is for the person")
}

// The history has what agents have done: who, where, with which output, values or error, and
// what they have redefined, with the source that was there before.
func TestPersonHistory(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	file := filepath.Join(t.TempDir(), "theirs.lisp")
	harness.Write(t, file, "(in-package :cl-user)\n\n(defun theirs (x)\n  \"A person's.\"\n  (list x :theirs))\n(defvar *theirs* 1)\n")
	p.Says(fmt.Sprintf("(load (compile-file %q))", file))
	s := harness.Attached(t, p)
	harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"}) // it has come
	p.Wants("(multiple-value-list (swank-mcp:history))", "NIL")
	harness.Want(t, s, "(progn (print :out) (+ 1 2))", "…=> 3")
	harness.WantError(t, s, `(error "no luck")`, "[ERROR] SIMPLE-ERROR")
	harness.WantRuns(t, s, "(defun theirs (x) (list x :mine))", "(defun new-one () 1)", "(defun new-one () 2)", "(defpackage :other (:use :cl))")
	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(list 1)", "package": "other"})
	harness.Call(t, s, "macroexpand-form", harness.Object{"form": "(when a b)"})
	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(values (car 'suspended))", "on-error": "debug"})
	harness.Call(t, s, "evaluate-in-frame", harness.Object{"code": "(+ 40 2)", "frame": 0})
	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 0.3})

	whole := func(number int) string { return p.Prints(fmt.Sprintf("(swank-mcp:history %d)", number)) }
	harness.Has(t, whole(1), `: wire 1 \(default\), evaluate-lisp, [0-9]+\.`)
	harness.Says(t, whole(1), "1 at ", "[code]\n(progn (print :out) (+ 1 2))\n", "[stdout]\n\n:OUT", "=> 3")
	harness.Says(t, whole(2), "[ERROR] SIMPLE-ERROR\nno luck")
	harness.Says(t, whole(3), "[redefined function THEIRS] which was:\n(defun theirs (x)\n  \"A person's.\"\n  (list x :theirs))")
	harness.Says(t, whole(4), "[defined function NEW-ONE]\n")
	harness.Says(t, whole(5), "[redefined function NEW-ONE] which was:\n(defun new-one () 1)\n")
	harness.Says(t, whole(7), "wire 1 (default) OTHER, evaluate-lisp")
	harness.Says(t, whole(8), "macroexpand-form")
	harness.Says(t, whole(9), "is suspended at TYPE-ERROR")
	harness.Says(t, whole(10), "evaluate-in-frame", "=> 42")
	harness.Says(t, whole(11), "[TIMEOUT]")
	harness.Says(t, whole(4711), "There is no entry 4711. Kept are 1 to 11.")
	list := p.Prints("(swank-mcp:history)")
	harness.Says(t, list, "\n   5 ", "wire 1 (default) evaluate-lisp: (defun new-one () 2)  => NEW-ONE  redefined function NEW-ONE\n",
		"wire 1 (default) OTHER evaluate-lisp: (list 1)  => (1)\n")
	if n := strings.Count(list, "\n"); n != 11 {
		t.Errorf("the list has %d lines:\n%s", n, list)
	}
	harness.Says(t, p.Prints("(swank-mcp:history nil 2)"), "; 9 more before these: (swank-mcp:history nil 11)\n  10 ")
	harness.Has(t, whole(8), `macroexpand-form, [0-9]+\.`)
	harness.Says(t, whole(8), "\n; done\n")
	p.Wants(`(getf (first (swank-mcp:history-entries :since 3 :count 100)) :changes)`, `((:DEFINITION "function NEW-ONE" :NEW T :SOURCE NIL))`)
	p.Wants(`(loop for e in (swank-mcp:history-entries) collect (getf e :state))`,
		"(:DONE :ERROR :DONE :DONE :DONE :DONE :DONE :DONE :SUSPENDED :DONE :TIMEOUT)")
	harness.Good(t, s, "abort-evaluation", harness.Object{"evaluation": 1})
	harness.Says(t, whole(9), "[ERROR] ABORTED")
}

// Three thousand evaluations in a burst are all in the history; long ones make it shorter.
func TestPersonHistoryOfMany(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	for i := range 3000 {
		harness.Want(t, s, fmt.Sprintf("(+ 1 %d)", i), fmt.Sprintf("=> %d", i+1))
	}
	p.Wants("(loop for (nil number) in (swank-mcp:history-entries) for n from 1 always (= n number) finally (return n))", "3000")
	for range 250 {
		harness.Want(t, s, `(progn (length "`+strings.Repeat("x", 20_000)+`") (make-string 3000 :initial-element #\y))`, "…")
	}
	p.Wants("(< 100 (length (swank-mcp:history-entries)) 1000)", "T")
	p.Wants("(<= swank-mcp::*action-characters* 2000000)", "T")
	p.Wants("(= swank-mcp::*action-characters* (loop for a in (swank-mcp::actions) sum (swank-mcp::action-size a)))", "T")
	p.Wants("(getf (first (last (swank-mcp:history-entries))) :number)", "3250")
}

// A person puts back what an evaluation has redefined, and is told what cannot be.
func TestPersonUndoes(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	p.Says(`(progn (defun f (x) (list x :old)) (defmacro m (x) (list 'quote x)) (defvar *v* 1) (defgeneric g (x)) (defmethod g ((x integer)) :old)
 (defclass c () (a)) (defun again () 1) (define-compiler-macro f (&whole w x) (declare (ignore x)) w))`)
	harness.WantRuns(t, s, `(progn (defun f (x) (list x :new)) (defmacro m (x) (list 'list x)) (defparameter *v* 2) (defmethod g ((x integer)) :new)
 (defclass c () (a b)) (defun again () 2) (defun brand-new () 1))`)
	p.Wants("(list (f 1) (eval '(m 1)) *v* (g 1) (again))", "((1 :NEW) (1) 2 :NEW 2)")
	p.Says("(defun again () 3)")
	harness.Says(t, p.Prints("(swank-mcp:undo-entry 1)"), "; Put back: function F\n", "; Put back: macro M\n", "; Put back: variable *V*\n",
		"; Put back: method G (INTEGER)\n",
		"; Not put back: class C: SBCL changes it in place", "; Not put back: function BRAND-NEW: there was none before.\n",
		"; Not put back: function AGAIN: it has been defined again, or undefined, since then.\n")
	p.Wants("(list (f 1) (eval '(m 1)) *v* (g 1) (again) (brand-new))", "((1 :OLD) 1 1 :OLD 3 1)")
	harness.Says(t, p.Prints("(swank-mcp:history 1)"), "; The person has undone this at ")
	harness.Says(t, p.Prints("(swank-mcp:undo-entry 1)"), "; Not put back: function F: it has been defined again, or undefined, since then.\n")
	harness.Want(t, s, "(f 2)", "=> (2 :OLD)\n; The person has undone what evaluation 1 redefined: …function F… are again as before it.")
	harness.Says(t, p.Prints("(swank-mcp:undo-entry 99)"), "; There is no entry 99")
	harness.WantError(t, s, "(swank-mcp:undo-entry 1)", "[ERROR] SIMPLE-ERROR\nundo-entry is for the person")
}

// What a session has redefined of its own is its own again, with its source, and comes back
// with the image.
func TestPersonUndoesOwn(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.WantRuns(t, s, "(defun own (x) (list x 1))", "(defun own (x) (list x 2))")
	// Nobody else is in a launched image: a thread of the program's stands for the person.
	harness.Want(t, s, `(let ((out (make-string-output-stream)))
 (sb-thread:join-thread (sb-thread:make-thread (lambda () (let ((*standard-output* out)) (swank-mcp:undo-entry 2)))))
 (get-output-stream-string out))`, "=> \"; Put back: function OWN\n\"…")
	harness.Want(t, s, "(own 1)", "=> (1 1)…")
	harness.Says(t, harness.Good(t, s, "list-definitions", harness.Object{}), "- OWN (X)")
	pid := harness.ImagePID(t, s)
	harness.Check(t, syscall.Kill(pid, syscall.SIGKILL))
	s.Loses(t, pid)
	harness.Want(t, s, "(own 1)", "=> (1 1)…")
}

// A person shows an object, code and the error that they are in; the agent's next reply, of
// whatever tool, begins with it.
func TestPersonShows(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	p.Says("(defun half (number) (declare (optimize (debug 3))) (let ((twice (* 2 number))) (/ twice 0)))")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	other := harness.Attached(t, p, "--session", "other")
	harness.Want(t, other, "(+ 1 2)", "=> 3")
	harness.Says(t, p.Prints(`(swank-mcp:show (list 1 "two" :three))`), "; The agents' next replies show obj-1.")
	text := harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"})
	if !strings.HasPrefix(text, "The person shows you obj-1: CONS: (1 \"two\" :THREE)\nNext: inspect-object {\"handle\": \"obj-1\"}. In code it is (swank-mcp:object 1).\n\n") {
		t.Errorf("the next reply is\n%s", text)
	}
	harness.SaysNot(t, harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"}), "The person shows")
	harness.Want(t, other, "(second (swank-mcp:object 1))", "The person shows you obj-1: …\n\n=> \"two\"")
	harness.Says(t, harness.Good(t, s, "inspect-object", harness.Object{"handle": "obj-1"}), "1: \"two\"")

	p.Says(`(swank-mcp:show-code "(defun half (x) (/ x 2))" :file "/tmp/half.lisp" :line 10 :end-line 12)`)
	harness.Want(t, s, "4", "The person shows you obj-2: code of /tmp/half.lisp, line 10 to 12\n(defun half (x) (/ x 2))\n\n=> 4")

	harness.Says(t, p.Prints("(swank-mcp:show-error)"), "; No thread is in Swank's debugger.")
	_, err := p.Connect().Go(swank.Request{Form: swank.EvalAndGrabOutput("(cl-user::half 21)"), Thread: swank.NewWorker})
	harness.Check(t, err)
	if await.Until(func() bool { return p.Says("(length (swank-mcp::threads-in-debugger))") == "1" }) != nil {
		t.Fatal("the person is in no debugger")
	}
	harness.Says(t, p.Prints("(swank-mcp:show-error)"), "; The agents' next replies show obj-3.")
	harness.Want(t, s, "5", "The person shows you obj-3: the error with which they are in their debugger\nDIVISION-BY-ZERO\n…It is evaluation 1 for tools that look, while the person is there. "+
		"Next: get-backtrace {\"evaluation\": 1}, inspect-frame {\"frame\": 0, \"evaluation\": 1}\n\n=> 5")
	trace := harness.Good(t, s, "get-backtrace", harness.Object{"evaluation": 1})
	harness.Says(t, trace, "(HALF 21)")
	frame := 0
	for i, line := range strings.Split(trace, "\n") {
		if strings.Contains(line, "(HALF 21)") {
			fmt.Sscanf(strings.Split(trace, "\n")[i], "%d:", &frame)
		}
	}
	harness.Says(t, harness.Good(t, s, "inspect-frame", harness.Object{"evaluation": 1, "frame": frame}), "NUMBER = 21", "TWICE = 42")
	for tool, args := range map[string]harness.Object{
		"evaluate-in-frame": {"evaluation": 1, "frame": frame, "code": "number"},
		"invoke-restart":    {"evaluation": 1, "restart": "abort"},
		"abort-evaluation":  {"evaluation": 1},
	} {
		harness.Says(t, harness.Bad(t, s, tool, args), "it is the person's, who is in their debugger with it")
	}
	harness.Want(t, s, "(type-of (swank-mcp:object 3))", "=> DIVISION-BY-ZERO")
	p.Wants("(length (swank-mcp::threads-in-debugger))", "1")
	p.Says("(swank/backend:kill-thread (first (swank-mcp::threads-in-debugger)))")
	// The thread ends when it gets there.
	look := harness.Object{"evaluation": 1, "frame": frame}
	if await.Until(func() bool { return harness.Call(t, s, "inspect-frame", look).IsError }) != nil {
		t.Error("the frame of a thread that was ended is still shown")
	}
	harness.Says(t, harness.Bad(t, s, "inspect-frame", look), "it has ended")
	harness.WantError(t, s, "(swank-mcp:show 1)", "[ERROR] SIMPLE-ERROR\nshow is for the person")
}

// A person wants to be asked, before anything or before something of theirs is redefined. They
// say yes, no, or nothing; and nobody may be there.
func TestPersonAllows(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "(defun cl-user::theirs () :theirs)")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	r := newREPL(t, p)
	questions := make(chan string, 10)
	var yes, now atomic.Bool
	r.answer = func(question string) (bool, bool) {
		questions <- question
		return yes.Load(), now.Load()
	}
	yes.Store(true)
	now.Store(true)
	p.Wants("(swank-mcp:allow :new :patience 600)", ":NEW")
	harness.Want(t, s, "(defun mine () 1)", "=> MINE")
	harness.Want(t, s, "(defun mine () 2)", "=> MINE")
	if len(questions) > 0 {
		t.Errorf("the person was asked %s", <-questions)
	}
	harness.Want(t, s, "(progn (defun theirs () :new) (theirs))", "=> :NEW…")
	if q := <-questions; q != "wire 1 (default) redefines function THEIRS in: (progn (defun theirs () :new) (theirs))  Allow it? " {
		t.Errorf("the question is %q", q)
	}
	p.Says("(defun cl-user::theirs () :theirs)")
	yes.Store(false)
	harness.WantError(t, s, "(defun theirs () :new)", "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow that this redefines function THEIRS.")
	<-questions
	p.Wants("(cl-user::theirs)", ":THEIRS")

	p.Wants("(swank-mcp:allow :nothing :patience 600)", ":NOTHING")
	harness.WantError(t, s, "(+ 1 2)", "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow this.")
	if q := <-questions; q != "wire 1 (default) evaluates: (+ 1 2)  Allow it? " {
		t.Errorf("the question is %q", q)
	}
	yes.Store(true)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	<-questions
	now.Store(false)
	harness.Says(t, harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(+ 1 2)", "timeout": 0.5}), "[TIMEOUT] Evaluation exceeded 0.5 seconds\nIt waited for the person's answer.")
	<-questions
	p.Wants("(swank-mcp:allow :nothing :patience 1)", ":NOTHING")
	harness.WantError(t, s, "(+ 1 2)", "[ERROR] NOT-ALLOWED\nThe person was asked whether to allow this, and has not answered within 1 seconds. Tell them that the question comes in Emacs and in `swank-mcp watch`, and send it again.")
	<-questions
	harness.Says(t, harness.Good(t, s, "describe-symbol", harness.Object{"symbol": "car"}), "CAR")
	harness.WantError(t, s, "(swank-mcp:allow :everything)", "[ERROR] NOT-ALLOWED\n") // nobody answers
	harness.Says(t, p.Prints("(swank-mcp:history)"), "[ERROR] NOT-ALLOWED")
	p.Wants("(swank-mcp:allow :everything)", ":EVERYTHING")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.WantError(t, s, "(swank-mcp:allow :nothing)", "[ERROR] SIMPLE-ERROR\nallow is for the person")
}
