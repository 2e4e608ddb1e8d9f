package people

import (
	"fmt"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An editor asks who is here, what they do, and where their definitions are.
func TestPersonAsksForAgents(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defun shape (x)\n  (list x))", "=> SHAPE")
	p.Wants("(mapcar #'cddr (getf (swank-mcp:agents) :agents))", `((:CLIENT "wire…" :SESSIONS ("default")))`)
	p.Becomes("(cddr (swank-mcp:agents))", "(:RUNNING NIL :SUSPENDED NIL :ASKS NIL :PAUSED NIL :LAST 1)")
	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(car 'suspended)", "on-error": "debug"})
	runs := harness.Begun(t, s, "(sleep 100)")
	p.Says("(swank-mcp:pause)")
	one := func(kind, keys string) string {
		return fmt.Sprintf("(loop for e in (getf (swank-mcp:agents) %s) collect (loop for key in '%s collect (getf e key)))", kind, keys)
	}
	p.Becomes(one(":running", "(:number :session :client :code :error)"), `((3 "default" "wire…" "(sleep 100)" NIL))`)
	p.Becomes(one(":suspended", "(:number :session :client :code :error)"), `((2 "default" "wire…" "(car 'suspended)" "TYPE-ERROR"))`)
	p.Wants("(< 0 (getf (first (getf (swank-mcp:agents) :running)) :seconds) 60)", "T")
	p.Wants("(getf (swank-mcp:agents) :paused)", "T")
	p.Says("(swank-mcp:resume)")
	p.Wants("(length (swank-mcp:stop))", "1")
	harness.WantAnswer(t, runs, harness.StoppedHead+"…")
	p.Wants(`(loop for d in (swank-mcp:agent-definitions "shape" "COMMON-LISP-USER") collect (loop for key in '(:kind :package :session) collect (getf d key)))`,
		`(("function" "COMMON-LISP-USER" "default"))`)
	p.Wants(`(getf (first (swank-mcp:agent-definitions "shape" "COMMON-LISP-USER")) :source)`, "\"(defun shape (x)\n  (list x))\"")
	p.Says("(defun shape (x) (vector x))")
	p.Wants(`(swank-mcp:agent-definitions "shape" "COMMON-LISP-USER")`, "NIL")
	harness.Check(t, s.Close(await.Ceiling))
	p.Becomes("(getf (swank-mcp:agents) :agents)", "NIL")
}

// Two agents of different clients in one session, and a third of the same client as the first,
// are told apart wherever people see them, and are told of each other.
func TestAgentsAreToldApart(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	joined := func(client string) *harness.Server {
		return harness.StartWith(t, wire.Options{Client: client, Env: harness.Environ(t.TempDir())}, "--attach", p.Address)
	}
	first := joined("ada")
	harness.Want(t, first, "(setf *print-base* 8)", "=> 10")
	harness.Call(t, first, "evaluate-lisp", harness.Object{"code": "(car 'left)", "on-error": "debug"})
	second := joined("bob")
	text, _ := harness.Eval(t, second, "(+ 4 4)")
	harness.Says(t, text, `; The session "default" was in this image before: *PRINT-BASE* is 8, (car 'left) of ada 1 is suspended at TYPE-ERROR. reset-session makes it as new.`,
		`; Another server (ada 1) works in the session "default", too. `)
	text, _ = harness.Eval(t, first, "(+ 4 4)")
	harness.Says(t, text, `; Another server (bob 1) works in this session, "default", now.`)
	third := joined("ada")
	text, _ = harness.Eval(t, third, "(+ 4 5)")
	harness.Says(t, text, `; 2 other servers (ada 1, bob 1) work in the session "default", too. `)
	harness.Eval(t, second, "(+ 4 6)")
	harness.Eval(t, first, "(+ 4 7)")
	harness.Eval(t, third, "(+ 4 8)")
	p.Wants(`(format nil "~{~A~^, ~}" (mapcar (lambda (e) (getf e :client)) (swank-mcp:history-entries)))`,
		`"ada 1, ada 1, bob 1, ada 1, ada 1 #2, bob 1, ada 1, ada 1 #2"`)
	p.Wants(`(format nil "~{~A~^, ~}" (mapcar (lambda (a) (getf a :client)) (getf (swank-mcp:agents) :agents)))`, `"ada 1, bob 1, ada 1 #2"`)
	runs := harness.Running(t, second, "(loop (sleep 0.01))")
	harness.Eval(t, first, "(+ 4 7)")
	p.Becomes("(mapcar (lambda (e) (getf e :client)) (append (getf (swank-mcp:agents) :running) (getf (swank-mcp:agents) :suspended)))", `("bob 1" "ada 1")`)
	p.Says("(swank-mcp:stop)")
	harness.WantAnswer(t, runs, harness.StoppedHead+"…")
	harness.Good(t, third, "reset-session", harness.Object{})
	p.Wants("(getf (first (last (swank-mcp:history-entries))) :client)", `"ada 1 #2"`)
	text, _ = harness.Eval(t, second, "(+ 4 4)")
	harness.Says(t, text, `; Another server (ada 1 #2) has reset this session, "default"`)
	// Its number is free when it has gone.
	harness.Check(t, third.Close(await.Ceiling))
	p.Becomes("(length (getf (swank-mcp:agents) :agents))", "2")
	fourth := joined("ada")
	harness.Eval(t, fourth, "(+ 4 9)")
	p.Wants("(getf (first (last (swank-mcp:history-entries))) :client)", `"ada 1 #2"`)
}
