package e2e

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// sits is watches in a terminal of its own, in which the person types what is written to the
// result.
func (d *desk) sits(args ...string) (*watching, io.Writer) {
	d.t.Helper()
	command := strings.Join(append([]string{run.binary, "watch"}, args...), " ")
	w := &watching{cmd: exec.Command("script", "-qec", command, "/dev/null")}
	w.cmd.Env, w.cmd.Dir, w.cmd.Stdout, w.cmd.Stderr = append(d.env, "TERM=dumb"), d.dir, &w.out, &w.out
	keys, err := w.cmd.StdinPipe()
	check(d.t, err)
	check(d.t, w.cmd.Start())
	ended := make(chan struct{})
	go func() {
		w.cmd.Wait()
		close(ended)
	}()
	d.t.Cleanup(func() {
		keys.Close()
		w.cmd.Process.Kill()
		<-ended
	})
	return w, keys
}

const notAllowed = "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow this."

// The person of a launched image is asked in the terminal where they watch, and answers there,
// or by the command. The first answer counts.
func TestTerminalAllows(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("asks")
	id := fmt.Sprint(s.PID())
	// Before there is an image, for those that come.
	says(t, d.gets("allow", "nothing"), "You are asked before each evaluation. To answer: y or n in swank-mcp watch "+id+", or swank-mcp allow "+id+" yes|no\n")
	for args, want := range map[string]string{
		"allow new":             "swank-mcp: the image was launched for agents, and what is defined in it counts as theirs: allow everything or nothing\n",
		"allow yes":             "swank-mcp: nobody asks you anything\n",
		"allow " + id + " no 3": "swank-mcp: there is no question 3\n",
		"allow":                 "swank-mcp: wrong usage: allow takes everything, new or nothing, or answers a question by yes or no, as in: swank-mcp allow yes\n",
		"allow nothing 3":       "swank-mcp: wrong usage: after allow nothing there may be",
		"allow yes three":       "swank-mcp: wrong usage: after allow yes there may be",
	} {
		if out, status := d.types(strings.Fields(args)...); status == 0 || !strings.HasPrefix(out, want) {
			t.Errorf("%s: %d, %s", args, status, out)
		}
	}
	w, keys := d.sits()
	w.shows(t, "Ctrl-C")
	call := sendCall(t, s, "(list :first)")
	w.shows(t, "question 1: wire 1 (default) evaluates: (list :first)", "; Allow it? y or n and Enter, within ")
	says(t, d.gets("ps"), "allowed is nothing: swank-mcp allow "+id+" everything ends that", "asks 1: wire 1 (default) evaluates: (list :first) (")
	io.WriteString(keys, "what\n")
	w.shows(t, "; type y or n to answer a question")
	io.WriteString(keys, "y\n")
	wantAnswer(t, call, "=> (:FIRST)")
	w.shows(t, "question 1: yes", "person: allowed: wire 1 (default) evaluates: (list :first)")
	io.WriteString(keys, "y\n")
	w.shows(t, "; no such question waits for an answer")

	call = sendCall(t, s, "(list :second)")
	w.shows(t, "question 2: wire 1 (default) evaluates: (list :second)")
	io.WriteString(keys, "n\n")
	wantAnswer(t, call, notAllowed+"…")

	// The command answers, and the terminal is told.
	call = sendCall(t, s, "(list :third)")
	w.shows(t, "question 3: wire 1 (default) evaluates: (list :third)")
	says(t, d.gets("allow", "no"), "Not allowed: wire 1 (default) evaluates: (list :third)\n")
	wantAnswer(t, call, notAllowed+"…")
	w.shows(t, "question 3: no")
	if out, status := d.types("allow", "yes", "3"); status != 1 || out != "swank-mcp: question 3 was answered already, by no\n" {
		t.Errorf("a second answer: %d, %s", status, out)
	}

	// Two at once are told apart.
	good(t, s, "evaluate-lisp", object{"code": "(list :fourth)", "background": true})
	w.shows(t, "evaluates: (list :fourth)")
	call = sendCall(t, s, "(list :fifth)")
	w.shows(t, "evaluates: (list :fifth)")
	if out, status := d.types("allow", "yes"); status != 1 || !strings.HasPrefix(out, "swank-mcp: 2 questions are open; name one, as in: swank-mcp allow "+id+" yes 4\n  4: wire 1 (default) evaluates: (list :fourth) (") {
		t.Errorf("an answer to two: %d, %s", status, out)
	}
	io.WriteString(keys, "y 5\n")
	wantAnswer(t, call, "=> (:FIFTH)")
	says(t, d.gets("allow", id, "yes", "4"), "Allowed: wire 1 (default) evaluates: (list :fourth)\n")
	w.shows(t, "=> (:FOURTH)")

	if out := d.gets("allow", "everything"); out != "Agents evaluate without asking you.\n" {
		t.Errorf("allow everything: %s", out)
	}
	want(t, s, "(list :free)", "=> (:FREE)…")
	w.shows(t, "policy: nothing", "policy: everything")
}

// A person's image is asked about in each Emacs and at each server; the first answer counts,
// wherever it is given, and the others are told.
func TestFirstAnswerCounts(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	p := newPerson(t, "(defun cl-user::theirs () :theirs)")
	one, two := d.server("one", "--attach", p.address), d.server("two", "--attach", p.address, "--session", "two")
	// Before they are attached.
	says(t, d.gets("allow", "one", "new"), "You are asked before an agent redefines what it has not defined.")
	want(t, one, "(+ 1 2)", "=> 3")
	want(t, two, "(+ 1 2)", "=> 3")
	if await.Until(func() bool { return p.says("(swank-mcp::policy)") == `"new"` }) != nil {
		t.Fatal("the image does not learn what is allowed")
	}
	w, _ := d.sits("two")
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
	call := sendCall(t, one, "(defun theirs () 1)")
	wantAnswer(t, call, "=> THEIRS…")
	select {
	case q := <-questions:
		if q != question+"  Allow it? " {
			t.Errorf("the question is %q", q)
		}
	default:
		t.Error("nobody was asked")
	}
	silent.until(t, "; swank-mcp: answered elsewhere, by yes: "+question+"\n")
	w.shows(t, "question 1: "+question, "question 1: yes")

	now.Store(false)
	p.says("(defun cl-user::theirs () :theirs)")
	call = sendCall(t, one, "(defun theirs () 1)")
	w.shows(t, "question 2: "+question)
	says(t, d.gets("allow", "two", "no"), "Not allowed: "+question)
	wantAnswer(t, call, "[ERROR] NOT-ALLOWED\nThe person was asked and does not allow that this redefines function THEIRS.")
	silent.until(t, "; swank-mcp: answered elsewhere, by no: "+question+"\n")
	ready.until(t, "; swank-mcp: answered elsewhere, by no: "+question+"\n")

	// What the person says in the image, both know.
	p.says("(swank-mcp:allow :everything)")
	if await.Until(func() bool { return !strings.Contains(d.gets("ps"), "allowed is") }) != nil {
		t.Error(d.gets("ps"))
	}
	want(t, one, "(defun theirs () 1)", "=> THEIRS…")
}

// A server's own connection is no person's Emacs: nobody is asked there, and no debugger opens.
func TestServerIsNoEditor(t *testing.T) {
	tier.More(t)
	t.Parallel()
	want(t, start(t), "(swank-mcp::editors)", "=> NIL")
	p := newPerson(t, "")
	one, two := attached(t, p), attached(t, p, "--session", "two")
	want(t, one, "(swank-mcp::editors)", "=> NIL")
	want(t, two, "(swank-mcp::editors)", "=> NIL")
	p.wants("(equal (swank-mcp::editors) swank::*connections*)", "T") // the one with which they ask this
	newREPL(t, p)
	p.wants("(mapcar #'swank::connection.user-output (swank-mcp::editors))", "(#<…")
	p.wants("(length (swank-mcp::editors))", "1")
}
