package people

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// The image may refuse a call for a pause whose end the server hears of before it reads the
// refusal. Here it hears of neither.
func TestPersonPausesForAMoment(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	p.Says("(setf swank-mcp::*paused* t)")
	call := harness.Begun(t, s, "(+ 2 3)")
	p.Says("(setf swank-mcp::*paused* nil)")
	harness.WantAnswer(t, call, "=> 5")
}

// What the person says to a server that is not in their image yet counts when it comes there.
func TestPersonResumesBeforeItComes(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	p := harness.NewPerson(t, "")
	first := harness.Attached(t, p)
	harness.Want(t, first, "(+ 1 2)", "=> 3")
	p.Says("(swank-mcp:pause)")
	waits := harness.SendCall(t, first, "(+ 2 3)")
	later := d.Server("later", "--attach", p.Address, "--session", "later")
	if out := d.Gets("resume"); out != "Calls go on.\n" {
		t.Errorf("resume: %s", out)
	}
	harness.Want(t, later, "(+ 3 4)", "=> 7")
	harness.WantAnswer(t, waits, "=> 5")
}
