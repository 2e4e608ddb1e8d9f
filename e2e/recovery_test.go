package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kill9 ends the image of s and waits until it is gone.
func kill9(t *testing.T, s *server) {
	t.Helper()
	pid := imagePID(t, s)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !eventually(patience, func() bool { return syscall.Kill(pid, 0) != nil }) {
		t.Fatalf("process %d is still there", pid)
	}
}

// After its image has died the session is as it was but for values: the next
// reply says what came back and what did not.
func TestRecovery(t *testing.T) {
	s := start(t)
	want(t, s, `(defpackage :shop (:use :cl)) (in-package :shop)
(defmacro define-price (name price) `+"`(defun ,name () ,price)"+`)
(define-price apple 3)
(defvar *stock* 10) (defparameter *sum* (+ (apple) 1)) (defconstant +vat+ 19)
(defclass item () ((n :initarg :n :reader n))) (defstruct box a)
(defgeneric cost (x)) (defmethod cost ((i item)) (* (n i) (apple)))
(let ((count 0)) (defun next () (incf count)))
(dotimes (i 2) (eval `+"`(defun ,(intern (format nil \"F~d\" i)) () ,i)))"+` :ready`, "=> :READY")
	want(t, s, `(setf *stock* 3) (next) (next)`, "=> 2")
	want(t, s, `(progn (defun side () :one) (set 'cl-user::*effects* 1))`, "=> 1")
	kill9(t, s)
	text, isErr := eval(t, s, `(list (apple) *stock* *sum* +vat+ (cost (make-instance 'item :n 2)) (make-box :a 1) (next) (f1) (side) (boundp 'cl-user::*effects*) (package-name *package*))`)
	value, note, _ := strings.Cut(text, "\n; ")
	if isErr || value != `=> (3 10 4 19 6 #S(BOX :A 1) 1 1 :ONE NIL "SHOP")` {
		t.Errorf("after the image died (isError %v):\n%s", isErr, text)
	}
	for _, says := range []string{"killed by signal 9", "Restored: ", "*STOCK*"} {
		if !strings.Contains(note, says) {
			t.Errorf("the note does not say %q:\n%s", says, note)
		}
	}
	want(t, s, "(apple)", "=> 3")
	if text := list(t, s, map[string]any{"type": "functions"}); !strings.Contains(text, "SHOP::APPLE ()") || !strings.Contains(text, "SHOP::NEXT ()") {
		t.Errorf("definitions after recovery:\n%s", text)
	}
}

func TestNoRecovery(t *testing.T) {
	s := start(t, "--no-recovery")
	want(t, s, "(defun f () 1)", "=> F")
	kill9(t, s)
	text, isErr := eval(t, s, "(fboundp 'f)")
	if isErr || !strings.HasPrefix(text, "=> NIL\n") || !strings.Contains(text, "--no-recovery") {
		t.Errorf("answered (isError %v):\n%s", isErr, text)
	}
}

// A definition that was acknowledged is there after any death, once, in its
// newest form.
func TestKilledAtRandomPoints(t *testing.T) {
	s := start(t)
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	newest := map[int]int{}
	kills := 0
	for i := range 200 {
		n := i % 60
		if text, isErr := eval(t, s, fmt.Sprintf("(defun g%d () %d)", n, i)); isErr || !strings.HasPrefix(text, fmt.Sprintf("=> G%d", n)) {
			t.Fatalf("definition %d answered:\n%s", i, text)
		}
		newest[n] = i
		if r.IntN(4) != 0 || kills == 50 {
			continue
		}
		kills++
		kill9(t, s)
		began := time.Now()
		probe := r.IntN(len(newest))
		text, isErr := eval(t, s, fmt.Sprintf("(g%d)", probe))
		if isErr || !strings.HasPrefix(text, fmt.Sprintf("=> %d\n", newest[probe])) {
			t.Fatalf("after death %d, (g%d), want %d:\n%s", kills, probe, newest[probe], text)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("recovery %d took %v", kills, d)
		}
	}
	t.Logf("%d deaths", kills)
	var all, want []string
	for n := range len(newest) {
		all = append(all, fmt.Sprintf("(g%d)", n))
		want = append(want, fmt.Sprint(newest[n]))
	}
	text, _ := eval(t, s, "(let ((*print-right-margin* 10000)) (format nil \"~{~a~^ ~}\" (list "+strings.Join(all, " ")+")))")
	if text != fmt.Sprintf("=> %q", strings.Join(want, " ")) {
		t.Errorf("at the end:\n%s\nwant\n%s", text, want)
	}
}
