package e2e

import (
	"fmt"
	"testing"
)

// An editor asks who is here, what they do, and where their definitions are.
func TestPersonAsksForAgents(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(defun shape (x)\n  (list x))", "=> SHAPE")
	p.wants("(mapcar #'cddr (getf (swank-mcp:agents) :agents))", `((:CLIENT "wire…" :SESSIONS ("default")))`)
	p.wants("(cddr (swank-mcp:agents))", "(:RUNNING NIL :SUSPENDED NIL :ASKS NIL :PAUSED NIL :LAST 1)")
	call(t, s, patience, "evaluate-lisp", object{"code": "(car 'suspended)", "on-error": "debug"})
	runs := running(t, s, "(sleep 100)")
	p.says("(swank-mcp:pause)")
	one := func(kind, keys string) string {
		return fmt.Sprintf("(loop for e in (getf (swank-mcp:agents) %s) collect (loop for key in '%s collect (getf e key)))", kind, keys)
	}
	p.wants(one(":running", "(:number :session :client :code :error)"), `((3 "default" "wire…" "(sleep 100)" NIL))`)
	p.wants(one(":suspended", "(:number :session :client :code :error)"), `((2 "default" "wire…" "(car 'suspended)" "TYPE-ERROR"))`)
	p.wants("(< 0 (getf (first (getf (swank-mcp:agents) :running)) :seconds) 60)", "T")
	p.wants("(getf (swank-mcp:agents) :paused)", "T")
	p.says("(swank-mcp:resume)")
	p.wants("(length (swank-mcp:stop))", "1")
	wantAnswer(t, runs, stoppedHead+"…")
	p.wants(`(loop for d in (swank-mcp:agent-definitions "shape" "COMMON-LISP-USER") collect (loop for key in '(:kind :package :session) collect (getf d key)))`,
		`(("function" "COMMON-LISP-USER" "default"))`)
	p.wants(`(getf (first (swank-mcp:agent-definitions "shape" "COMMON-LISP-USER")) :source)`, "\"(defun shape (x)\n  (list x))\"")
	p.says("(defun shape (x) (vector x))")
	p.wants(`(swank-mcp:agent-definitions "shape" "COMMON-LISP-USER")`, "NIL")
	check(t, s.Close(patience))
	if !eventually(patience, func() bool { return p.says("(getf (swank-mcp:agents) :agents)") == "NIL" }) {
		t.Error("the agent has left, and is still listed")
	}
}
