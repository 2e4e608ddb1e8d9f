//go:build compose

package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

func TestAttachedEvaluates(t *testing.T) {
	c := start(t)
	c.want(`(+ 1 2)`, "=> 3")
	c.want(`(values 1 "zwei" 'drei)`, "=> 1\n=> \"zwei\"\n=> DREI")
	c.want(`(format t "naïve ~a~%" 'λ) (code-char 955)`, "[stdout]\nnaïve Λ\n\n=> #\\GREEK_SMALL_LETTER_LAMDA")
	c.want(`(machine-instance)`, c.eval(`(machine-instance)`))
	status, bad := c.call("session-status", nil)
	if bad {
		t.Fatal(status)
	}
	contains(t, "session-status", status, "attached", "lisp:4005", "SBCL")
}

func TestAttachedErrors(t *testing.T) {
	c := start(t)
	text := c.fail(map[string]any{"code": "(defun halve (x) (/ x 0)) (1+ (halve 1))", "debug": 3})
	contains(t, "the error", text, "[ERROR] DIVISION-BY-ZERO\n", "[Backtrace]\n0: (/ 1 0)\n", "(HALVE 1)")
	text = c.fail(map[string]any{"code": "(list 1"})
	contains(t, "the error", text, "[ERROR] ")
	text = c.fail(map[string]any{"code": "(labels ((f (x) (+ 1 (f x)))) (f 1))"})
	contains(t, "the error", text, "[ERROR] STORAGE-CONDITION")
	c.want("(+ 1 2)", "=> 3")
}

func TestAttachedTimeout(t *testing.T) {
	c := start(t)
	c.eval("(defun spin () (loop))")
	text := c.fail(map[string]any{"code": "(spin)", "timeout": 1})
	contains(t, "the timeout", text, "[TIMEOUT] Evaluation exceeded 1 second", "(SPIN)")
	c.want("(+ 1 2)", "=> 3")
}

// What was made stays in the image, for the next bridge as well.
func TestAttachedPersistence(t *testing.T) {
	c := start(t)
	c.eval(`(defpackage :kept (:use :cl)) (in-package :kept)
	  (defvar *n* 40) (defun more () (incf *n*)) (defclass box () ((v :initarg :v :reader v)))
	  (defvar *box* (make-instance 'box :v 'inside))`)
	c.want("(more)", "=> 41")
	if err := c.Close(await.Ceiling); err != nil {
		t.Error(err)
	}
	c = start(t) // the package is the session's, too
	c.joins("(more)", "=> 42", wasThere+" its package is KEPT")
	c.want("(v *box*)", "=> INSIDE")
	c.eval("(in-package :cl-user) (delete-package :kept)")
}

func TestAttachedDefinitionsAndReset(t *testing.T) {
	c := start(t)
	if text, bad := c.call("reset-session", nil); bad {
		t.Fatal(text)
	}
	c.eval("(defun mine (x) x) (defvar *mine* 1) (defmacro with-mine (&body b) `(progn ,@b))")
	text, bad := c.call("list-definitions", nil)
	if bad {
		t.Fatal(text)
	}
	contains(t, "list-definitions", text, "- MINE (X)", "- *MINE* = 1", "- WITH-MINE")
	if text, bad = c.call("reset-session", nil); bad || !strings.HasPrefix(text, "Session reset.") {
		t.Errorf("reset-session: %s", text)
	}
	if text, _ = c.call("list-definitions", nil); text != "No user definitions." {
		t.Errorf("after the reset: %s", text)
	}
	contains(t, "calling what is gone", c.fail(map[string]any{"code": "(mine 1)"}), "[ERROR] UNDEFINED-FUNCTION")
	text, bad = c.call("list-packages", map[string]any{"filter": "swank"})
	if bad {
		t.Fatal(text)
	}
}

// A wrong secret, and none, are refused with words that say so. The image and
// the next client do not suffer from it.
func TestAttachedSecret(t *testing.T) {
	good := start(t)
	good.eval("(defvar *survivor* 'here)")
	for _, test := range []struct{ name, secret string }{{"wrong", "not the secret"}, {"none", ""}} {
		t.Run(test.name, func(t *testing.T) {
			home := t.TempDir()
			if test.secret != "" {
				if err := os.WriteFile(filepath.Join(home, ".slime-secret"), []byte(test.secret+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c := startWith(t, []string{"HOME=" + home}, strings.Fields(*serverFlag)...)
			text := c.fail(map[string]any{"code": "(+ 1 2)"})
			contains(t, "the refusal", text, ".slime-secret", "lisp:4005")
		})
	}
	good.want("*survivor*", "=> HERE")
	start(t).joins("*survivor*", "=> HERE", another)
}

func TestAttachedNobodyListens(t *testing.T) {
	words := strings.Fields(strings.ReplaceAll(*serverFlag, ":4005", ":4006"))
	c := startWith(t, nil, words...)
	contains(t, "the error", c.fail(map[string]any{"code": "(+ 1 2)"}), "lisp:4006", "swank:create-server")
}

// counts are what an image holds for its clients.
type counts struct{ connections, threads, mailboxes, arrived int }

// count takes the smallest numbers of some samples: a health check may be
// under way in any one of them.
func count(t *testing.T, c *client) counts {
	t.Helper()
	var least counts
	for i := range 8 {
		var n counts
		got := value(t, c.eval(`(format nil "~d ~d ~d ~d" (length swank::*connections*) (length (sb-thread:list-all-threads))
		  (length swank/sbcl::*mailboxes*) *arrived*)`))
		if _, err := fmt.Sscanf(strings.Trim(got, `"`), "%d %d %d %d", &n.connections, &n.threads, &n.mailboxes, &n.arrived); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if i == 0 {
			least = n
		}
		least.connections, least.threads = min(least.connections, n.connections), min(least.threads, n.threads)
		least.mailboxes, least.arrived = min(least.mailboxes, n.mailboxes), max(least.arrived, n.arrived)
		time.Sleep(100 * time.Millisecond)
	}
	return least
}

// Many health checks later, the image holds what it held before. (A thread's
// mailbox is swept up only when the next connection ends: so three may be on
// the way out. They would be thirty.)
func TestAttachedHealthCheckDoesNoHarm(t *testing.T) {
	c := start(t)
	c.eval(`(defvar *arrived* 0) (setf *arrived* 0) (defun arrive (c) (declare (ignore c)) (incf *arrived*))
	  (pushnew 'arrive swank::*new-connection-hook*)`)
	defer c.eval(`(setf swank::*new-connection-hook* (remove 'arrive swank::*new-connection-hook*))`)
	arrived := func(n int) counts {
		t.Helper()
		await.True(t, fmt.Sprintf("%d health checks arrive", n), func() bool { return count(t, c).arrived >= n })
		return count(t, c)
	}
	before := arrived(2)
	after := arrived(12)
	if after.connections > before.connections || after.threads > before.threads || after.mailboxes > before.mailboxes+3 {
		t.Errorf("after ten health checks %+v, before %+v", after, before)
	}
}

// Bridges that are killed leave nothing behind in the image.
func TestAttachedKilledBridges(t *testing.T) {
	c := start(t)
	c.eval("(defvar *arrived* 0)")
	before := count(t, c)
	for range 10 {
		killed := startWith(t, nil, strings.Fields(*serverFlag)...)
		killed.joins("(+ 1 2)", "=> 3", another)
		if _, err := killed.GoTool("evaluate-lisp", map[string]any{"code": "(dotimes (i 1000) (print i) (sleep 0.01))"}, wire.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		killed.kill()
	}
	var after counts
	if await.Until(func() bool {
		after = count(t, c)
		return after.connections <= before.connections && after.threads <= before.threads && after.mailboxes <= before.mailboxes+3
	}) != nil {
		t.Errorf("after ten killed bridges %+v, before %+v", after, before)
	}
}

// The image dies; Compose starts it again, and the bridge finds it.
func TestAttachedImageDies(t *testing.T) {
	c := start(t)
	c.eval("(defvar *doomed* 1)")
	text := c.fail(map[string]any{"code": `(sb-alien:alien-funcall (sb-alien:extern-alien "kill" (function sb-alien:int sb-alien:int sb-alien:int)) (sb-unix:unix-getpid) 9)`})
	contains(t, "the call in flight", text, "[ERROR] IMAGE-DIED")
	reply, _ := c.back("(+ 1 2)")
	if value(t, reply) != "3" {
		t.Errorf("back again, it said\n%s", reply)
	}
	contains(t, "the first reply of the new image", reply, "another image")
	c.want("(+ 1 2)", "=> 3")
}
