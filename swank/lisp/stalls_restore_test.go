package lisp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/stall"
)

// definitions returns that many definitions of all kinds, and code for each that is true if it
// is there.
func definitions(n int) (forms, there []string) {
	for i := range n {
		form, is := "", ""
		switch i % 9 {
		case 0:
			form, is = "(defvar *w%d* %[1]d)", "(eql *w%d* %[1]d)"
		case 1:
			form, is = "(defun f%d (x &key (times 3) (by '(1 2))) (loop repeat times for y in by when (plusp y) collect (list (string-downcase (format nil \"~a-~d\" y x)) (handler-case (/ y x) (division-by-zero () %[1]d)))))", "(equal (f%d 0 :times 1) '((\"1-0\" %[1]d)))"
		case 2:
			form, is = "(defmacro m%d (x) `(list ,x %[1]d))", "(macro-function 'm%d)"
		case 3:
			form, is = "(defclass c%d () ((a :initform %[1]d :accessor a-of)))", "(find-class 'c%d nil)"
		case 4:
			form, is = "(defstruct s%d (a %[1]d) b)", "(eql (s%d-a (make-s%[1]d)) %[1]d)"
		case 5:
			form, is = "(defpackage #:p%d (:use #:cl) (:export #:it))", "(find-package '#:p%d)"
		case 6:
			form, is = "(defparameter *v%d* (loop for i below %[1]d collect i))", "(eql (length *v%d*) %[1]d)"
		case 7:
			form, is = "(defmethod kind ((x (eql %d))) %[1]d)", "(eql (kind %d) %[1]d)"
		case 8:
			form, is = "(let ((n %d)) (defun next%[1]d (&optional (by 1)) (incf n by)) (defun last%[1]d () n))", "(eql (progn (next%d) (last%[1]d)) (1+ %[1]d))"
		}
		forms, there = append(forms, fmt.Sprintf(form, i)), append(there, fmt.Sprintf(is, i))
	}
	return forms, there
}

// However little of the processor the image gets, and however long it is stopped, all that a
// session has defined comes back, and nothing is said to be lost.
func TestRestoresWhileStalled(t *testing.T) {
	t.Parallel()
	ways, rounds := stall.Ways, *stall.Rounds
	if rounds == 0 {
		ways, rounds = ways[2:], 2
	}
	const count = 70
	forms, there := definitions(count)
	for _, w := range ways {
		t.Run(w.Name, func(t *testing.T) {
			im := testImage(t)
			for _, form := range forms {
				mustEval(t, im, form)
			}
			for round := range rounds {
				killed(t, im, im.cur.proc.PID())
				inst, err := im.acquire(t.Context(), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				end := stall.Process(t, inst.proc.PID(), w.Run*time.Duration(round+1)/20, w) // the first stall comes at another definition each time
				res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "1", Timeout: time.Hour, Debug: 1})
				end()
				if err != nil || res.Failure != nil {
					t.Fatalf("%+v, %v", res, err)
				}
				took, notes := time.Since(began), strings.Join(res.Notes, "\n")
				value := mustEval(t, im, fmt.Sprintf("(count nil (list %s) :test-not #'eq)", strings.Join(there, " ")))
				t.Logf("%d: %s of %d are back after %.1f s", round+1, value, count, took.Seconds())
				if value != fmt.Sprint(count) || strings.Contains(notes, "Not restored") || strings.Contains(notes, "stopped") || inst.over() {
					t.Errorf("%s of %d are back, over: %v\n%s", value, count, inst.over(), notes)
				}
			}
		})
	}
}
