package guest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// The server leaves an evaluation that cannot be stopped alone and names its thread;
// the session goes on beside it.
func TestAttachedUnstoppable(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defvar *kept* 41) 1", "=> 1")
	text := harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(defvar *go* t) (sb-sys:without-interrupts (loop while *go*))", "timeout": 1})
	harness.Says(t, text, "[TIMEOUT] Evaluation exceeded 1 second", "could not be stopped", "left alone", `goes on in the Lisp thread "swank-mcp session default"`)
	harness.Want(t, s, "(incf *kept*)", "=> 42")
	harness.WantPID(t, s, p.Pid())
	stuck := `(count "swank-mcp session default" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)`
	p.Wants(stuck, "2") // and its successor
	s.Kill()
	if await.Until(func() bool { return p.Says(stuck) == "1" }) != nil {
		t.Errorf("%s threads after the server's death, want the stuck one", p.Says(stuck))
	}
	// Once it lets itself be stopped, the next bridge sees to it that it goes.
	p.Says("(setf *go* nil)")
	next := harness.Attached(t, p)
	harness.Want(t, next, "*kept*", "=> 42")
	if await.Until(func() bool { return p.Says(stuck) == "1" }) != nil {
		t.Errorf("%s threads, want the new bridge's", p.Says(stuck))
	}
}

// When a person's image dies, calls say so; when one is back at its address, the
// next call works in it.
func TestAttachedImageDies(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defvar *kept* 41) (defun kept () *kept*) 1", "=> 1")
	sleeping := harness.Running(t, s, "(sleep 100)")
	p.Cmd.Process.Kill()
	harness.WantAnswer(t, sleeping, "[ERROR] IMAGE-DIED\nThe attached Lisp at "+p.Address+harness.Elided)
	<-p.Ended
	for _, tool := range []string{"list-definitions", "list-packages"} {
		harness.Says(t, harness.Bad(t, s, tool, harness.Object{}), "nothing listens there")
	}
	harness.Says(t, harness.Status(t, s), "Image: not connected, "+p.Address, "(swank:create-server :port "+fmt.Sprint(p.Port))
	again := harness.PersonAt(t, p.Port, harness.Environ(harness.Run.Dir), "")
	// Without a call, too.
	if await.Until(func() bool {
		return strings.Contains(again.Says("(mapcar #'sb-thread:thread-name (sb-thread:list-all-threads))"), "swank-mcp look-ups")
	}) != nil {
		t.Error("it did not come back by itself")
	}
	harness.Says(t, harness.Want(t, s, "(list (boundp '*kept*) (fboundp 'kept))", "=> (NIL NIL)…"), "another image than before", "2 definitions")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// A connection that breaks does not end the session: it is in the image.
func TestAttachedReconnects(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defvar *kept* 41) (defpackage :kept (:use :cl)) (in-package :kept) 1", "=> 1")
	p.CutOff(s)
	harness.Want(t, s, "(list (package-name *package*) (incf cl-user::*kept*) *)", `=> ("KEPT" 42 1)…the session is as it was…`)
}

// An evaluation that was suspended when the connection broke has ended. The next reply
// names it, or the reply to the call that was in flight.
func TestAttachedSuspendedIsLost(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*ended* nil)")
	for _, inFlight := range []bool{false, true} {
		s := harness.Attached(t, p)
		harness.Says(t, harness.Suspend(t, s, `(unwind-protect (error "left") (setf *ended* t))`), "Evaluation 1 is suspended here")
		var r wire.Result
		if inFlight {
			pending := harness.Running(t, s, "(sleep 100)")
			p.CutOff(s)
			r = harness.Answer(t, pending)
		} else {
			p.CutOff(s)
			r = harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(+ 1 2)"})
		}
		if part := `lost with the connection to the Lisp: 1 ((unwind-protect (error "left")`; r.IsError != inFlight || !strings.Contains(r.Text(), part) {
			t.Errorf("in flight: %v: the reply (isError %v) has no %q:\n%s", inFlight, r.IsError, part, r.Text())
		}
		harness.Says(t, harness.Bad(t, s, "invoke-restart", harness.Object{"restart": "abort", "evaluation": 1}), "Evaluation 1 is not suspended: it was lost with the connection to the Lisp: ")
		if await.Until(func() bool { return p.Says("(shiftf *ended* nil)") == "T" }) != nil {
			t.Error("it goes on waiting in the image")
		}
		s.Close(await.Ceiling)
	}
}

// An evaluation suspended in a person's image waits there for its debugger.
func TestAttachedSuspended(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Suspend(t, s, "(+ 1 (no-such-function 2))")
	time.Sleep(5 * time.Second)
	p.Says("(defun no-such-function (x) (* 20 x))")
	harness.WantReply(t, s, "invoke-restart", harness.Object{"restart": "CONTINUE"}, "=> 41")
}

// A busy image answers all the same.
func TestAttachedBusy(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	p.Says(`(progn (defvar *spin* t) (sb-thread:make-thread (lambda () (loop while *spin*)) :name "at 100 %") 1)`)
	s := harness.Attached(t, p)
	slowest := time.Duration(0)
	timed := func(i int) {
		t.Helper()
		began := time.Now()
		harness.Want(t, s, fmt.Sprintf("(list %d (let ((l 0)) (dotimes (i 1000 l) (incf l))))", i), fmt.Sprintf("=> (%d 1000)", i))
		slowest = max(slowest, time.Since(began))
	}
	for i := range 100 {
		timed(i)
	}
	t.Logf("slowest of 100 beside a thread at 100 %%: %v", slowest)
	p.Says(`(let ((connection swank::*emacs-connection*))
  (defvar *sent* 0)
  (sb-thread:make-thread (lambda ()
    (swank::with-connection (connection)
      (dotimes (i 10000) (swank::send-to-emacs (list :write-string (format nil "event ~D~%" i))) (incf *sent*))))
    :name "output")
  1)`)
	slowest = 0
	for i := 0; p.Says("*sent*") != "10000"; i++ {
		timed(i)
	}
	for i := range 20 {
		timed(i)
	}
	t.Logf("slowest beside 10,000 output events: %v", slowest)
	p.Says("(setf *spin* nil)")
}

// In an image whose Swank uses no threads evaluation works and ends in time, and
// what cannot work is said.
func TestAttachedWithoutThreads(t *testing.T) {
	t.Parallel()
	if err := harness.Run.WarmGuest(); err != nil { // two would compile Swank to the same files
		t.Fatal(err)
	}
	for _, style := range []string{":fd-handler", "nil"} {
		t.Run(style, func(t *testing.T) {
			t.Parallel() // it waits, most of the time
			p := harness.NewPerson(t, "", ":dont-close", "t", ":style", style)
			s := harness.Attached(t, p)
			harness.Says(t, harness.Want(t, s, "(defun twice (x) (print x) (* 2 x)) (twice 21)", "[stdout]\n21\n\n=> 42\n…"),
				"Swank in this image uses no threads (communication style "+strings.ToUpper(style)+")", "cancelling does not reach it")
			harness.WantError(t, s, "(car 1)", "[ERROR] TYPE-ERROR")
			harness.WantList(t, s, harness.Object{}, "[Functions]\n- TWICE (X)")
			harness.SaysNot(t, harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 1}, "[TIMEOUT] Evaluation exceeded 1 second…"), "could not be stopped")
			harness.Want(t, s, "(twice 1)", "[stdout]\n1\n\n=> 2")
			harness.Says(t, harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(sb-sys:without-interrupts (loop with end = (+ (get-internal-real-time) (* 6 internal-time-units-per-second)) while (< (get-internal-real-time) end) do (sleep 0.001)))", "timeout": 1}),
				"nothing reaches it until the evaluation has ended")
			harness.Want(t, s, "(twice 1)", "[stdout]\n1\n\n=> 2")
		})
	}
}
