package checkpoints

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// The person undoes several calls at once, does them again, and goes to a checkpoint by its
// name; each time the agent is told.
func TestTerminalUndoesSteps(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("steps")
	// step evaluates code, and returns when there is a checkpoint of what came of it.
	step := func(code string) {
		t.Helper()
		before := d.Checkpoints()
		harness.Eval(t, s, code)
		if await.Until(func() bool { return d.Checkpoints() > before }) != nil {
			t.Fatal("no checkpoint is taken")
		}
	}
	value := func(want string, told ...string) {
		t.Helper()
		text, _ := harness.Eval(t, s, "*x*")
		harness.Says(t, text, append([]string{"=> " + want + "\n"}, told...)...)
	}
	step("(defvar *x* 1)")
	harness.Good(t, s, "checkpoint", harness.Object{"name": "one"})
	for _, code := range []string{"(setf *x* 2)", "(setf *x* 3)", "(setf *x* 4)"} {
		step(code)
	}
	harness.Says(t, d.Gets("undo", "steps", "--steps", "2"), "Undone in default: (setf *x* 3); (setf *x* 4)\nThe image is as it was at ")
	harness.Says(t, d.Gets("undo", "--steps", "-1"), "Done again in default: (setf *x* 3)\n")
	value("3", "; The person took the image back to ", "Undone: (setf *x* 3); (setf *x* 4).", "; The person took the image forward to ", "Done again: (setf *x* 3).")
	harness.Says(t, d.Gets("undo", "--to=one"), "Undone in default: ")
	value("1", "; The person took the image back to ")
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--to", "two"}, 1, "there is no checkpoint two; there are: "},
		{[]string{"--steps", "0"}, 2, "--steps is 0; valid: 1 to 1000, and -1 to -1000 to do again what was undone"},
		{[]string{"--steps", "two"}, 2, "invalid value"},
		{[]string{"--steps", "2", "--to", "one"}, 2, "--steps and --to are both given"},
		{[]string{"steps", "other", "--steps", "2"}, 2, "undo takes one ID"},
	} {
		if out, status := d.Types(append([]string{"undo"}, c.args...)...); status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("undo %v: %d, %s", c.args, status, out)
		}
	}
	if out, status := d.Types("undo", "--steps=-900"); status != 1 || !strings.Contains(out, "nothing can be done again") {
		t.Errorf("undo forward of more than there is: %d, %s", status, out)
	}
	harness.Want(t, s, "*x*", "=> 1")
}
