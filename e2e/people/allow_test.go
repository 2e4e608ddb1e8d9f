package people

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

const notAllowed = "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow this."

// The person of a launched image is asked in the terminal where they watch, and answers there,
// or by the command. The first answer counts.
func TestTerminalAllows(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("asks")
	id := fmt.Sprint(s.PID())
	// Before there is an image, for those that come.
	harness.Says(t, d.Gets("allow", "nothing"), "You are asked before each evaluation. To answer: y or n in swank-mcp watch "+id+", or swank-mcp allow "+id+" yes|no\n")
	for args, want := range map[string]string{
		"allow new":             "swank-mcp: the image was launched for agents, and what is defined in it counts as theirs: allow everything or nothing\n",
		"allow yes":             "swank-mcp: nobody asks you anything\n",
		"allow " + id + " no 3": "swank-mcp: there is no question 3\n",
		"allow":                 "swank-mcp: wrong usage: allow takes everything, new or nothing, or answers a question by yes or no, as in: swank-mcp allow yes\n",
		"allow nothing 3":       "swank-mcp: wrong usage: after allow nothing there may be",
		"allow yes three":       "swank-mcp: wrong usage: after allow yes there may be",
	} {
		if out, status := d.Types(strings.Fields(args)...); status == 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%s: %d, %s", args, status, out)
		}
	}
	w, keys := d.Sits()
	w.Shows(t, "Ctrl-C")
	call := harness.SendCall(t, s, "(list :first)")
	w.Shows(t, "question 1: wire 1 (default) evaluates: (list :first)", "; Allow it? y or n and Enter, within ")
	harness.Says(t, d.Gets("ps"), "allowed is nothing: swank-mcp allow "+id+" everything ends that", "asks 1: wire 1 (default) evaluates: (list :first) (")
	io.WriteString(keys, "what\n")
	w.Shows(t, "; type y or n to answer a question")
	io.WriteString(keys, "y\n")
	harness.WantAnswer(t, call, "=> (:FIRST)")
	w.Shows(t, "question 1: yes", "person: allowed: wire 1 (default) evaluates: (list :first)")
	io.WriteString(keys, "y\n")
	w.Shows(t, "; no such question waits for an answer")

	call = harness.SendCall(t, s, "(list :second)")
	w.Shows(t, "question 2: wire 1 (default) evaluates: (list :second)")
	io.WriteString(keys, "n\n")
	harness.WantAnswer(t, call, notAllowed+"…")

	// The command answers, and the terminal is told.
	call = harness.SendCall(t, s, "(list :third)")
	w.Shows(t, "question 3: wire 1 (default) evaluates: (list :third)")
	harness.Says(t, d.Gets("allow", "no"), "Not allowed: wire 1 (default) evaluates: (list :third)\n")
	harness.WantAnswer(t, call, notAllowed+"…")
	w.Shows(t, "question 3: no")
	if out, status := d.Types("allow", "yes", "3"); status != 1 || out != "swank-mcp: question 3 was answered already, by no\n" {
		t.Errorf("a second answer: %d, %s", status, out)
	}

	// Two at once are told apart.
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(list :fourth)", "background": true})
	w.Shows(t, "evaluates: (list :fourth)")
	call = harness.SendCall(t, s, "(list :fifth)")
	w.Shows(t, "evaluates: (list :fifth)")
	if out, status := d.Types("allow", "yes"); status != 1 || !strings.HasPrefix(out, "swank-mcp: 2 questions are open; name one, as in: swank-mcp allow "+id+" yes 4\n  4: wire 1 (default) evaluates: (list :fourth) (") {
		t.Errorf("an answer to two: %d, %s", status, out)
	}
	io.WriteString(keys, "y 5\n")
	harness.WantAnswer(t, call, "=> (:FIFTH)")
	harness.Says(t, d.Gets("allow", id, "yes", "4"), "Allowed: wire 1 (default) evaluates: (list :fourth)\n")
	w.Shows(t, "=> (:FOURTH)")

	if out := d.Gets("allow", "everything"); out != "Agents evaluate without asking you.\n" {
		t.Errorf("allow everything: %s", out)
	}
	harness.Want(t, s, "(list :free)", "=> (:FREE)…")
	w.Shows(t, "policy: nothing", "policy: everything")
}

// A person's image is asked about in each Emacs and at each server; the first answer counts,
// wherever it is given, and the others are told.
func TestFirstAnswerCounts(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	p := harness.NewPerson(t, "(defun cl-user::theirs () :theirs)")
	one, two := d.Server("one", "--attach", p.Address), d.Server("two", "--attach", p.Address, "--session", "two")
	// Before they are attached.
	harness.Says(t, d.Gets("allow", "one", "new"), "You are asked before an agent redefines what it has not defined.")
	harness.Want(t, one, "(+ 1 2)", "=> 3")
	harness.Want(t, two, "(+ 1 2)", "=> 3")
	if await.Until(func() bool { return p.Says("(swank-mcp::policy)") == `"new"` }) != nil {
		t.Fatal("the image does not learn what is allowed")
	}
	w, _ := d.Sits("two")
	silent, ready := newREPL(t, p), newREPL(t, p)
	silent.answer = func(string) (bool, bool) { return false, false }
	var now atomic.Bool
	questions := make(chan string, 10)
	ready.answer = func(question string) (bool, bool) {
		questions <- question
		return true, now.Load()
	}
	now.Store(true)
	const question = "wire 1 (default) redefines function THEIRS in: (defun theirs () 1)"
	call := harness.SendCall(t, one, "(defun theirs () 1)")
	harness.WantAnswer(t, call, "=> THEIRS…")
	select {
	case q := <-questions:
		if q != question+"  Allow it? " {
			t.Errorf("the question is %q", q)
		}
	default:
		t.Error("nobody was asked")
	}
	silent.until(t, "; swank-mcp: answered elsewhere, by yes: "+question+"\n")
	w.Shows(t, "question 1: "+question, "question 1: yes")

	now.Store(false)
	p.Says("(defun cl-user::theirs () :theirs)")
	call = harness.SendCall(t, one, "(defun theirs () 1)")
	w.Shows(t, "question 2: "+question)
	harness.Says(t, d.Gets("allow", "two", "no"), "Not allowed: "+question)
	harness.WantAnswer(t, call, "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow that this redefines function THEIRS.")
	silent.until(t, "; swank-mcp: answered elsewhere, by no: "+question+"\n")
	ready.until(t, "; swank-mcp: answered elsewhere, by no: "+question+"\n")

	// What the person says in the image, both know.
	p.Says("(swank-mcp:allow :everything)")
	if await.Until(func() bool { return !strings.Contains(d.Gets("ps"), "allowed is") }) != nil {
		t.Error(d.Gets("ps"))
	}
	harness.Want(t, one, "(defun theirs () 1)", "=> THEIRS…")
}

// A server's own connection is no person's Emacs: nobody is asked there, and no debugger opens.
func TestServerIsNoEditor(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.Want(t, harness.Start(t), "(swank-mcp::editors)", "=> NIL")
	p := harness.NewPerson(t, "")
	one, two := harness.Attached(t, p), harness.Attached(t, p, "--session", "two")
	harness.Want(t, one, "(swank-mcp::editors)", "=> NIL")
	harness.Want(t, two, "(swank-mcp::editors)", "=> NIL")
	p.Wants("(equal (swank-mcp::editors) swank::*connections*)", "T") // the one with which they ask this
	newREPL(t, p)
	p.Wants("(mapcar #'swank::connection.user-output (swank-mcp::editors))", "(#<…")
	p.Wants("(length (swank-mcp::editors))", "1")
}
