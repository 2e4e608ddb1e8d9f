package truth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Code may redefine functions that the bridge needs. Soon the session answers again,
// with its other definitions, and the reply that says so names the function.
func TestSabotage(t *testing.T) {
	tier.More(t)
	t.Parallel()
	// Where the evaluation's own answer is broken already, what it has defined is
	// not heard of: there is no name, and nothing that could be brought back.
	for _, c := range []struct{ code, culprit string }{
		{`(defun swank:eval-and-grab-output (s) s nil)`, "function SWANK:EVAL-AND-GRAB-OUTPUT"},
		{`(defun swank-mcp::answer (x) x (values))`, ""},
		{`(defun swank-mcp::registered-outcome (&rest r) r (error "no"))`, "function SWANK-MCP::REGISTERED-OUTCOME"},
		{`(defun swank-mcp::write-datum (d s) d (write-string "#<broken>" s))`, ""},
		{`(fmakunbound 'swank-mcp:evaluate)`, ""},
		{`(defmethod print-object :around ((x t) s) (error "no"))`, ""},
		{`(defmethod print-object :around ((x t) s) (if (typep x 'package) (error "no") (call-next-method)))`, "method (PRINT-OBJECT"},
		{`(let ((n 1)) (defun swank-mcp::outcome (&rest r) r (list :package n)))`, ""},
	} {
		t.Run(c.code, func(t *testing.T) {
			dir := t.TempDir()
			s := harness.Start(t, "--session-dir", dir)
			harness.Want(t, s, "(defun mine () 42)", "=> MINE")
			said := ""
			call := func(code string) string {
				text, _ := harness.Eval(t, s, code)
				if strings.Contains(text, "INTERNAL-ERROR") {
					t.Errorf("%s:\n%s", code, harness.Clip(text))
				}
				said += text + "\n"
				return text
			}
			call(c.code)
			healed := false
			for i := 0; i < 4 && !healed; i++ {
				healed = strings.HasPrefix(call("(list (mine))"), "=> (42)")
			}
			if !healed {
				t.Fatalf("the session does not answer again:\n%s", harness.Clip(said))
			}
			harness.Kill9(t, s)
			if text := call("(list (mine))"); !strings.HasPrefix(text, "=> (42)") ||
				c.culprit != "" && !strings.Contains(text, "Not restored: "+c.culprit) {
				t.Errorf("after the image was replaced:\n%s", harness.Clip(text))
			}
			if strings.Contains(said, "IMAGE-REPLACED") && !strings.Contains(said, "likely culprit is ") {
				t.Errorf("the culprit is not named:\n%s", harness.Clip(said))
			}
			harness.WantReply(t, s, "save-session", harness.Object{"file": "saved.lisp"}, "Saved…")
			if saved, err := os.ReadFile(filepath.Join(dir, "saved.lisp")); err != nil || !strings.Contains(string(saved), "mine") ||
				strings.Contains(string(saved), "(defun swank") {
				t.Errorf("saved (%v):\n%s", err, saved)
			}
		})
	}
}

// What prints a user's own objects is the user's, and comes back.
func TestOwnPrintMethodsComeBack(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defclass dot () ()) (defmethod print-object ((d dot) s) (write-string "DOT!" s)) (make-instance 'dot)`, "=> DOT!")
	harness.Kill9(t, s)
	harness.SaysNot(t, harness.Want(t, s, "(make-instance 'dot)", "=> DOT!\n…"), "Not restored")
}
