package e2e

import "testing"

// The image may refuse a call for a pause whose end the server hears of before it reads the
// refusal. Here it hears of neither.
func TestPersonPausesForAMoment(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(+ 1 2)", "=> 3")
	p.says("(setf swank-mcp::*paused* t)")
	call := running(t, s, "(+ 2 3)")
	p.says("(setf swank-mcp::*paused* nil)")
	wantAnswer(t, call, "=> 5")
}

// What the person says to a server that is not in their image yet counts when it comes there.
func TestPersonResumesBeforeItComes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPerson(t, "")
	first := attached(t, p)
	want(t, first, "(+ 1 2)", "=> 3")
	p.says("(swank-mcp:pause)")
	waits := sendCall(t, first, "(+ 2 3)")
	later := d.server("later", "--attach", p.address, "--session", "later")
	if out := d.gets("resume"); out != "Calls go on.\n" {
		t.Errorf("resume: %s", out)
	}
	want(t, later, "(+ 3 4)", "=> 7")
	wantAnswer(t, waits, "=> 5")
}
