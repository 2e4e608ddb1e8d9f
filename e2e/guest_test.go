package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

// vitals is what a guest must leave as it was, told by the person's own client.
const vitals = `(format nil "connections ~A sockets ~A threads ~{~A~^, ~}"
  (length swank::*connections*)
  (count-if (lambda (f) (let ((to (ignore-errors (sb-posix:readlink f)))) (and to (search "socket:" to))))
            (loop for fd below 1000 collect (format nil "/proc/self/fd/~D" fd)))
  (sort (mapcar #'sb-thread:thread-name
                (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) #'string<))`

// returns waits until the image is as it was.
func (p *person) returns(was string, limit time.Duration) {
	p.t.Helper()
	got := ""
	if !eventually(limit, func() bool { got = p.says(vitals); return got == was }) {
		p.t.Errorf("after %v the image has\n %s\nit had\n %s", limit, got, was)
	}
}

// However a bridge ends, nothing of it stays.
func TestGuestLeavesNothing(t *testing.T) {
	p := newPerson(t, "")
	p.says("(require :sb-posix)")
	was := p.says(vitals)
	mailboxes := p.says("(length swank/sbcl::*mailboxes*)")
	t.Logf("baseline: %s, %s mailboxes", was, mailboxes)
	for i := range 100 {
		s := attached(t, p)
		want(t, s, "(+ 1 2)", "=> 3")
		switch i % 5 {
		case 1: // while an evaluation runs
			s.GoTool("evaluate-lisp", map[string]any{"code": "(loop)", "timeout": 60}, wire.CallOptions{})
			s.GoTool("evaluate-lisp", map[string]any{"code": "(+ 1 2)", "timeout": 60}, wire.CallOptions{})
		case 2: // one with a lock and an error that it handles for ever
			s.GoTool("evaluate-lisp", map[string]any{"timeout": 60, "code": "(defvar *theirs* (sb-thread:make-mutex)) " +
				"(sb-thread:with-mutex (*theirs*) (loop (handler-case (error \"x\") (error () (sleep 1/100)))))"}, wire.CallOptions{})
		case 4: // suspended at an error, holding a lock
			s.GoTool("evaluate-lisp", map[string]any{"on-error": "debug", "code": "(defvar *theirs* (sb-thread:make-mutex)) " +
				"(sb-thread:with-mutex (*theirs*) (error \"x\"))"}, wire.CallOptions{})
		case 3: // in a debugger that nobody expects
			s.GoTool("evaluate-lisp", map[string]any{"timeout": 60, "code": "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (sleep 1000)))) (error \"x\"))"}, wire.CallOptions{})
		}
		if i%5 != 0 {
			eventually(patience, func() bool { return strings.Contains(p.says(vitals), "swank-mcp session") })
			time.Sleep(20 * time.Millisecond)
		}
		if i%10 == 9 {
			s.Close(patience)
			continue
		}
		syscall.Kill(s.PID(), syscall.SIGKILL)
		<-s.Exited()
	}
	p.returns(was, patience)
	if got := p.says("(or (not (boundp '*theirs*)) (sb-thread:mutex-owner (symbol-value '*theirs*)))"); got != "NIL" {
		t.Errorf("a lock is still held: %s", got)
	}
	var before, after int
	fmt.Sscan(mailboxes, &before)
	fmt.Sscan(p.says("(length swank/sbcl::*mailboxes*)"), &after)
	// The person's own requests leave one each, in threads that have ended.
	if after > before+20 {
		t.Errorf("%d mailboxes, %d before", after, before)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.pid())); err != nil {
		t.Fatal(err)
	}
}
