package session

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// What reaches the image's own file descriptors is shown during a call, or
// later by session-status: once, and never on the protocol.
func TestBackgroundOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, text string }{
		{"fd 1", harness.RawWrite("mark-fd1\\n"), "mark-fd1"},
		{"fd 1 without newline", harness.RawWrite("mark-open"), "mark-open"},
		{"fd 2", strings.Replace(harness.RawWrite("mark-fd2\\n"), "unix-write 1", "unix-write 2", 1), "mark-fd2"},
		{"sb-sys:*stdout*", `(progn (format sb-sys:*stdout* "mark-stdout~%") (finish-output sb-sys:*stdout*) :wrote)`, "mark-stdout"},
		{"sb-sys:*stderr*", `(progn (format sb-sys:*stderr* "mark-stderr~%") (finish-output sb-sys:*stderr*) :wrote)`, "mark-stderr"},
		{"child process", `(progn (sb-ext:run-program "/bin/sh" '("-c" "echo mark-child") :output t) :wrote)`, "mark-child"},
		{"foreign printf", `(progn (sb-alien:alien-funcall (sb-alien:extern-alien "puts" (function sb-alien:int sb-alien:c-string)) "mark-puts") :wrote)`, "mark-puts"},
		{"late thread", `(progn (sb-thread:make-thread (lambda () (sleep 0.5) (format sb-sys:*stdout* "mark-late~%") (finish-output sb-sys:*stdout*))) :wrote)`, "mark-late"},
		{"failing thread", `(progn (sb-thread:make-thread (lambda () (error "mark-error"))) :wrote)`, "mark-error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t)
			l := harness.Begin(t, s)
			got := harness.Want(t, s, c.code, "…=> :WROTE")
			all := got
			if await.Until(func() bool {
				_, output, _ := strings.Cut(all, "[background output]") // the code is in what session-status says
				if !strings.Contains(output, c.text) {
					time.Sleep(100 * time.Millisecond)
					all += "\n" + harness.Status(t, s)
					return false
				}
				return true
			}) != nil {
				t.Errorf("%q was never shown:\n%s", c.text, all)
			}
			if strings.Contains(got, c.text) && !strings.Contains(got, "[background output]") {
				t.Errorf("shown without its heading:\n%s", got)
			}
			l.GoesOn(t, s)
			if t.Failed() {
				t.Logf("before that:\n%s", all)
			}
		})
	}
}

// No amount of output into the image's pipes blocks anybody.
func TestFloodOnTheImagesStdout(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	got := harness.Want(t, s, `(let ((l (make-string 1000 :initial-element #\q))) (dotimes (i 20000 :flooded) (write-line l sb-sys:*stdout*)))`, "…=> :FLOODED")
	if len(got) > 45_000 {
		t.Errorf("20 MB on stdout answered with %d bytes:\n%s", len(got), harness.Clip(got))
	}
	l.GoesOn(t, s)
}

// What threads print through the session's streams after the call has ended
// must neither fail nor reach another call's text as its own.
func TestThreadOutlivesItsCall(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	harness.Want(t, s, `(progn (let ((out *standard-output*)) (sb-thread:make-thread (lambda () (dotimes (i 20) (print i out) (sleep 0.05))) :name "printer")) :started)`, "…=> :STARTED")
	for range 10 {
		harness.SaysNot(t, harness.Want(t, s, "(+ 1 2)", "…=> 3"), "[stdout]")
		time.Sleep(50 * time.Millisecond)
	}
	// The thread ends, and what it printed is shown.
	harness.Eval(t, s, `(loop while (find "printer" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal) do (sleep 0.01))`)
	harness.Eval(t, s, "nil")
	l.GoesOn(t, s)
}

func TestRunProgramIntoTheStream(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(progn (sb-ext:run-program "/bin/echo" '("into the stream") :output *standard-output*) 1)`, "[stdout]\ninto the stream\n\n=> 1")
	harness.Want(t, s, `(progn (format *terminal-io* "to the terminal~%") 1)`, "[stdout]\nto the terminal\n\n=> 1")
}
