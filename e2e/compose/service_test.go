//go:build compose

package compose

import (
	"testing"

	"swank-mcp/internal/await"
)

// The way a person registers it: docker compose run, over stdio.
func TestServiceEvaluates(t *testing.T) {
	c := start(t)
	c.want("(+ 1 2)", "=> 3")
	c.eval("(defun from-the-first () 'kept)")
	if err := c.Close(await.Ceiling); err != nil {
		t.Error(err)
	}
	start(t).want("(from-the-first)", "=> KEPT")
}

// docker compose restart: the same bridge goes on with the new image.
func TestServiceReconnects(t *testing.T) {
	c := start(t)
	c.want("(defvar *generation* 1)", "=> *GENERATION*")
	runCommand(t, *restartFlag)
	reply, before := c.back("(+ 20 22)")
	t.Logf("before it was back, it said:\n%s", before)
	if value(t, reply) != "42" {
		t.Errorf("after the restart: %s", reply)
	}
	contains(t, "the first reply of the new image", reply, "another image", "1 definition")
	c.want("(boundp '*generation*)", "=> NIL")
	c.want("(progn (defun again () 'defined) (again))", "=> DEFINED")
	start(t).joins("(again)", "=> DEFINED", another)
}
