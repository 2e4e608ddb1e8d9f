package survival

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// Each case ends with the same image answering and keeping its state.
func TestSurvives(t *testing.T) {
	tier.More(t)
	t.Parallel()
	const overflow = "(labels ((f (n) (+ 1 (f (1+ n))))) (f 0))"
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *harness.Server)
	}{
		{"endless loop with timeout 1", func(t *testing.T, s *harness.Server) {
			timesOut(t, s, "(loop)", 1)
		}},
		{"twenty stack overflows in a row", func(t *testing.T, s *harness.Server) {
			for range 20 {
				harness.WantError(t, s, overflow, "[ERROR] STORAGE-CONDITION\n")
			}
		}},
		{"twenty stack overflows in compiled code", func(t *testing.T, s *harness.Server) {
			harness.Want(t, s, "(declaim (notinline deep)) (defun deep (n) (list n (deep (1+ n))))", "=> DEEP")
			for range 20 {
				harness.WantError(t, s, "(deep 0)", "[ERROR] STORAGE-CONDITION\n")
			}
		}},
		{"one allocation larger than the heap", func(t *testing.T, s *harness.Server) {
			harness.WantError(t, s, "(make-array 8000000000)", "[ERROR] STORAGE-CONDITION\n")
		}},
		{"consing lists until memory ends", func(t *testing.T, s *harness.Server) {
			exhausts(t, s, "(let ((l nil)) (loop (push (list 1 2 3 4) l)))")
		}},
		{"consing vectors until memory ends", func(t *testing.T, s *harness.Server) {
			exhausts(t, s, "(let ((l nil)) (loop (push (make-array 10000) l)))")
		}},
		{"doubling a string until memory ends", func(t *testing.T, s *harness.Server) {
			exhausts(t, s, `(let ((x "ab")) (loop (setf x (concatenate 'string x x))))`)
		}},
		{"read-line", func(t *testing.T, s *harness.Server) {
			harness.WantError(t, s, "(read-line)", "[ERROR] END-OF-FILE\n")
		}},
		{"y-or-n-p", func(t *testing.T, s *harness.Server) {
			harness.WantError(t, s, `(y-or-n-p "sure?")`, "[ERROR] END-OF-FILE\n")
			harness.WantError(t, s, `(yes-or-no-p "sure?")`, "[ERROR] END-OF-FILE\n")
		}},
		{"exit", func(t *testing.T, s *harness.Server) {
			for _, code := range []string{"(sb-ext:exit)", "(quit)", "(sb-ext:exit :code 3)", "(unwind-protect (sb-ext:exit) (print 1))"} {
				got, _ := harness.Eval(t, s, code)
				if !strings.Contains(strings.ToLower(got), "exit") && !strings.Contains(strings.ToLower(got), "quit") {
					t.Errorf("%s is not reported:\n%s", code, got)
				}
			}
		}},
		{"unhandled error in a new thread", func(t *testing.T, s *harness.Server) {
			harness.Want(t, s, `(progn (sb-thread:make-thread (lambda () (error "from the thread"))) (sleep 0.3) 1)`, "…[background output]…from the thread…=> 1")
		}},
		{"joined thread that failed", func(t *testing.T, s *harness.Server) {
			harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": `(sb-thread:join-thread (sb-thread:make-thread (lambda () (error "x"))))`, "timeout": 2},
				"[ERROR] SB-THREAD:JOIN-THREAD-ERROR\n…")
		}},
		{"circular list", func(t *testing.T, s *harness.Server) {
			harness.Want(t, s, "(setf *print-circle* nil) (let ((l (list 1 2))) (setf (cdr (last l)) l) l)", "=> #1=(1 2 . #1#)")
		}},
		{"value whose print-object signals", func(t *testing.T, s *harness.Server) {
			got, _ := harness.Eval(t, s, `(defclass bad () ()) (defmethod print-object ((b bad) s) (error "no printing")) (make-instance 'bad)`)
			if !strings.Contains(got, "no printing") && !strings.Contains(got, "BAD") {
				t.Errorf("failing print-object answered:\n%s", got)
			}
			harness.Want(t, s, "(list 1 (make-instance 'bad) '(2))", "=> (1 #<BAD, printing it failed: SIMPLE-ERROR: no printing> (2))")
		}},
		{"error whose report signals", func(t *testing.T, s *harness.Server) {
			harness.WantError(t, s, `(define-condition worse (error) () (:report (lambda (c s) (declare (ignore c s)) (error "no report")))) (error 'worse)`, "[ERROR] WORSE\n")
		}},
		{"debugger hook that signals", func(t *testing.T, s *harness.Server) {
			harness.WantError(t, s, `(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (error "in the hook")))) (error "x"))`, "[ERROR] SIMPLE-ERROR\nin the hook")
			harness.WantError(t, s, `(let ((*debugger-hook* 'no-such-hook)) (error "x"))`, "[ERROR] UNDEFINED-FUNCTION\n")
		}},
		{"error whose type has no name", func(t *testing.T, s *harness.Server) {
			harness.Want(t, s, `(defvar *nameless* (defmethod class-name :around ((c sb-pcl::condition-class)) (error "no names"))) 1`, "=> 1")
			harness.WantError(t, s, `(error "x")`, "[ERROR] SIMPLE-ERROR\nx\n")
			harness.Want(t, s, `(progn (remove-method #'class-name *nameless*) 1)`, "=> 1")
		}},
		{"print-object that loops", func(t *testing.T, s *harness.Server) {
			timesOut(t, s, `(defclass slow () ()) (defmethod print-object ((b slow) s) (loop)) (make-instance 'slow)`, 1)
		}},
		{"value of 20 MB", func(t *testing.T, s *harness.Server) {
			bounded(t, harness.Want(t, s, "(make-string 20000000 :initial-element #\\v)", harness.Elided))
		}},
		{"list of 20 MB of strings", func(t *testing.T, s *harness.Server) {
			bounded(t, harness.Want(t, s, "(loop repeat 90 collect (make-string 220000 :initial-element #\\w))", harness.Elided))
		}},
		{"100 MB printed", func(t *testing.T, s *harness.Server) {
			bounded(t, harness.Want(t, s, `(let ((l (make-string 999999 :initial-element #\p))) (dotimes (i 100 :done) (write-line l)))`, "…=> :DONE"))
		}},
		{"endless printing", func(t *testing.T, s *harness.Server) {
			harness.Says(t, timesOut(t, s, `(loop (print "again and again"))`, 2), "again and again") // the output so far
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := harness.Start(t, "--heap", "512") // so it is soon full
			l := harness.Begin(t, s)
			c.run(t, s)
			l.GoesOn(t, s)
		})
	}
}

// timesOut evaluates with a time limit that must be kept.
func timesOut(t *testing.T, s *harness.Server, code string, seconds int) string {
	t.Helper()
	began := time.Now()
	text := harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": code, "timeout": seconds}, fmt.Sprintf("[TIMEOUT] Evaluation exceeded %d second…", seconds))
	took := time.Since(began)
	if limit := time.Duration(seconds) * time.Second; took < limit {
		t.Errorf("%s with timeout %d answered after %v", code, seconds, took)
	}
	return text
}

// exhausts evaluates code that needs more memory than there is.
func exhausts(t *testing.T, s *harness.Server, code string) {
	t.Helper()
	harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": code, "timeout": 300}, "[ERROR] STORAGE-CONDITION\n…")
}

// bounded checks a successful reply whose middle had to be left out.
func bounded(t *testing.T, got string) {
	t.Helper()
	if n := len([]rune(got)); n > 41_000 || n < 1000 {
		t.Errorf("reply has %d characters, want at most 40,000 and its notes", n)
	}
	harness.Says(t, got, "read-output") // how to read the rest
}

func TestCancelledSleep(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	for _, code := range []string{"(sleep 100)", "(loop)", "(loop (print 1))", "(ignore-errors (loop (handler-case (loop) (serious-condition () nil))))"} {
		p := harness.Running(t, s, code)
		harness.Check(t, p.Cancel("the user pressed escape"))
		l.GoesOn(t, s)
		if n := s.Answers()[p.ID.String()]; n != 0 {
			t.Errorf("the cancelled request %s was answered %d times", p.ID, n)
		}
	}
}

func TestTwoHundredInFlight(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	var calls []*wire.Pending
	for i := range 200 {
		p := harness.SendCall(t, s, fmt.Sprintf("(progn (sleep 0.001) (format t \"out ~D\" %d) %d)", i, i))
		calls = append(calls, p)
	}
	for i, p := range calls {
		harness.WantAnswer(t, p, fmt.Sprintf("[stdout]\nout %d\n\n=> %d", i, i))
	}
	l.GoesOn(t, s)
}

// The call that a shortened reply names reads the rest of the text.
func TestReadTheRest(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	got, _ := harness.Eval(t, s, `(dotimes (i 20000) (format t "line ~5,'0D of many~%" i))`)
	bounded(t, got)
	harness.Says(t, got, "line 00000 of many", "line 19999 of many")
	rest := harness.Good(t, s, "read-output", readOutputArguments(t, got))
	harness.Says(t, rest, "of many")
	if n := len([]rune(rest)); n > 41_000 {
		t.Errorf("read-output answered %d characters", n)
	}
}

// readOutputArguments takes the arguments out of the call that a reply offers.
func readOutputArguments(t *testing.T, text string) map[string]any {
	t.Helper()
	m := regexp.MustCompile(`read-output (\{[^}]*\})`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("the reply offers no call of read-output:\n%s", harness.Clip(text))
	}
	var args map[string]any
	if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
		t.Fatalf("the arguments offered are no JSON: %q", m[1])
	}
	return args
}
