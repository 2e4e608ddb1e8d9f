package e2e

import (
	"fmt"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An editor asks who is here, what they do, and where their definitions are.
func TestPersonAsksForAgents(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(defun shape (x)\n  (list x))", "=> SHAPE")
	p.wants("(mapcar #'cddr (getf (swank-mcp:agents) :agents))", `((:CLIENT "wire…" :SESSIONS ("default")))`)
	p.becomes("(cddr (swank-mcp:agents))", "(:RUNNING NIL :SUSPENDED NIL :ASKS NIL :PAUSED NIL :LAST 1)")
	call(t, s, "evaluate-lisp", object{"code": "(car 'suspended)", "on-error": "debug"})
	runs := running(t, s, "(sleep 100)")
	p.says("(swank-mcp:pause)")
	one := func(kind, keys string) string {
		return fmt.Sprintf("(loop for e in (getf (swank-mcp:agents) %s) collect (loop for key in '%s collect (getf e key)))", kind, keys)
	}
	p.becomes(one(":running", "(:number :session :client :code :error)"), `((3 "default" "wire…" "(sleep 100)" NIL))`)
	p.becomes(one(":suspended", "(:number :session :client :code :error)"), `((2 "default" "wire…" "(car 'suspended)" "TYPE-ERROR"))`)
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
	check(t, s.Close(await.Ceiling))
	p.becomes("(getf (swank-mcp:agents) :agents)", "NIL")
}

// Two agents of different clients in one session, and a third of the same client as the first,
// are told apart wherever people see them, and are told of each other.
func TestAgentsAreToldApart(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := newPerson(t, "")
	joined := func(client string) *server {
		return startWith(t, wire.Options{Client: client, Env: environ(t.TempDir())}, "--attach", p.address)
	}
	first := joined("ada")
	want(t, first, "(setf *print-base* 8)", "=> 10")
	call(t, first, "evaluate-lisp", object{"code": "(car 'left)", "on-error": "debug"})
	second := joined("bob")
	text, _ := eval(t, second, "(+ 4 4)")
	says(t, text, `; The session "default" was in this image before: *PRINT-BASE* is 8, (car 'left) of ada 1 is suspended at TYPE-ERROR. reset-session makes it as new.`,
		`; Another server (ada 1) works in the session "default", too. `)
	text, _ = eval(t, first, "(+ 4 4)")
	says(t, text, `; Another server (bob 1) works in this session, "default", now.`)
	third := joined("ada")
	text, _ = eval(t, third, "(+ 4 5)")
	says(t, text, `; 2 other servers (ada 1, bob 1) work in the session "default", too. `)
	eval(t, second, "(+ 4 6)")
	eval(t, first, "(+ 4 7)")
	eval(t, third, "(+ 4 8)")
	p.wants(`(format nil "~{~A~^, ~}" (mapcar (lambda (e) (getf e :client)) (swank-mcp:history-entries)))`,
		`"ada 1, ada 1, bob 1, ada 1, ada 1 #2, bob 1, ada 1, ada 1 #2"`)
	p.wants(`(format nil "~{~A~^, ~}" (mapcar (lambda (a) (getf a :client)) (getf (swank-mcp:agents) :agents)))`, `"ada 1, bob 1, ada 1 #2"`)
	runs := running(t, second, "(loop (sleep 0.01))")
	eval(t, first, "(+ 4 7)")
	p.becomes("(mapcar (lambda (e) (getf e :client)) (append (getf (swank-mcp:agents) :running) (getf (swank-mcp:agents) :suspended)))", `("bob 1" "ada 1")`)
	p.says("(swank-mcp:stop)")
	wantAnswer(t, runs, stoppedHead+"…")
	good(t, third, "reset-session", object{})
	p.wants("(getf (first (last (swank-mcp:history-entries))) :client)", `"ada 1 #2"`)
	text, _ = eval(t, second, "(+ 4 4)")
	says(t, text, `; Another server (ada 1 #2) has reset this session, "default"`)
	// Its number is free when it has gone.
	check(t, third.Close(await.Ceiling))
	p.becomes("(length (getf (swank-mcp:agents) :agents))", "2")
	fourth := joined("ada")
	eval(t, fourth, "(+ 4 9)")
	p.wants("(getf (first (last (swank-mcp:history-entries))) :client)", `"ada 1 #2"`)
}
