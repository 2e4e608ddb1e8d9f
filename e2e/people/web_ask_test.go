package people

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// A person evaluates in the session of the agent, whose next reply says so, and has a
// suspended evaluation go on from the restart that they choose.
func TestWebEvaluates(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("asked")
	harness.Want(t, s, "(defvar *level* 1)", "=> *LEVEL*")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows("#ask select", "default")
	b.Does(chromedp.SendKeys(chromedp.CSS("#code"), "(list :mine (incf *level*))"))
	b.Clicks("#ask button")
	b.Shows("#said", "⇒ (:MINE 2)")
	b.Shows(".cell .values", "(:MINE 2)")
	b.Shows(".cell:last-child .origin", "the person")
	b.Becomes(`document.querySelector("#code").value === ""`)
	text, _ := harness.Eval(t, s, "*level*")
	harness.Says(t, text, "=> 2\n", "; The person evaluated (list :mine (incf *level*)) => (:MINE 2)")
	harness.Want(t, s, "*level*", "=> 2") // it is said once

	b.Clicks("#pause") // the person's own code does not wait
	b.Js(`document.querySelector("#code").value = "(car 'nothing)"; document.querySelector("#code").focus()`)
	b.Does(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.Shows("#said", "ERROR TYPE-ERROR")
	b.Shows(".cell.failed .condition", "TYPE-ERROR")
	b.Clicks("#pause")
	b.Shows("#lamp", "Idle")
	text, _ = harness.Eval(t, s, ":next")
	harness.Says(t, text, "=> :NEXT\n", "; The person evaluated (car 'nothing) [ERROR] TYPE-ERROR ")

	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"on-error": "debug", "code": `(with-simple-restart (skip-it "Skip it, as the person likes.") (error "Shall I?"))`})
	harness.Says(t, r.Text(), "Shall I?", "SKIP-IT")
	b.Shows("#lamp", "Suspended at an error")
	b.Shows(".cell.suspended .restarts", "It waits in the debugger", "Skip it, as the person likes.")
	for _, dark := range []bool{false, true} {
		b.Size(820, 1000, dark)
		b.Js(`scrollTo(0, 1e6)`)
		b.Picture(map[bool]string{false: "ask-light", true: "ask-dark"}[dark])
		b.Accessible("ask")
	}
	b.Size(360, 900, false)
	b.Becomes(`document.documentElement.scrollWidth <= 360`)
	b.Size(1280, 900, false)
	b.Js(`[...document.querySelectorAll(".restarts button")].find(x => x.textContent === "SKIP-IT").focus()`)
	b.Types(kb.Enter)
	b.Shows("#said", "⇒ NIL, T")
	b.Becomes(`!document.querySelector(".restarts")`)
	b.Shows(".cell.suspended .state", "was suspended as evaluation 1")
	text, _ = harness.Eval(t, s, ":after")
	harness.Says(t, text, "=> :AFTER\n", "; The person was in the debugger with evaluation 1, from its restart 0 on => NIL, T")
	b.Quiet()
}
