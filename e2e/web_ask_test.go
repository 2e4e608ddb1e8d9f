package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/internal/tier"
)

// A person evaluates in the session of the agent, whose next reply says so, and has a
// suspended evaluation go on from the restart that they choose.
func TestWebEvaluates(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("asked")
	want(t, s, "(defvar *level* 1)", "=> *LEVEL*")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows("#ask select", "default")
	b.does(chromedp.SendKeys(chromedp.CSS("#code"), "(list :mine (incf *level*))"))
	b.clicks("#ask button")
	b.shows("#said", "⇒ (:MINE 2)")
	b.shows(".cell .values", "(:MINE 2)")
	b.shows(".cell:last-child .origin", "the person")
	b.becomes(`document.querySelector("#code").value === ""`)
	text, _ := eval(t, s, "*level*")
	says(t, text, "=> 2\n", "; The person evaluated (list :mine (incf *level*)) => (:MINE 2)")
	want(t, s, "*level*", "=> 2") // it is said once

	b.clicks("#pause") // the person's own code does not wait
	b.js(`document.querySelector("#code").value = "(car 'nothing)"; document.querySelector("#code").focus()`)
	b.does(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.shows("#said", "ERROR TYPE-ERROR")
	b.shows(".cell.failed .condition", "TYPE-ERROR")
	b.clicks("#pause")
	b.shows("#lamp", "Idle")
	text, _ = eval(t, s, ":next")
	says(t, text, "=> :NEXT\n", "; The person evaluated (car 'nothing) [ERROR] TYPE-ERROR ")

	r := call(t, s, "evaluate-lisp", object{"on-error": "debug", "code": `(with-simple-restart (skip-it "Skip it, as the person likes.") (error "Shall I?"))`})
	says(t, r.Text(), "Shall I?", "SKIP-IT")
	b.shows("#lamp", "Suspended at an error")
	b.shows(".cell.suspended .restarts", "It waits in the debugger", "Skip it, as the person likes.")
	for _, dark := range []bool{false, true} {
		b.size(820, 1000, dark)
		b.js(`scrollTo(0, 1e6)`)
		b.picture(map[bool]string{false: "ask-light", true: "ask-dark"}[dark])
		b.accessible("ask")
	}
	b.size(360, 900, false)
	b.becomes(`document.documentElement.scrollWidth <= 360`)
	b.size(1280, 900, false)
	b.js(`[...document.querySelectorAll(".restarts button")].find(x => x.textContent === "SKIP-IT").focus()`)
	b.types(kb.Enter)
	b.shows("#said", "⇒ NIL, T")
	b.becomes(`!document.querySelector(".restarts")`)
	b.shows(".cell.suspended .state", "was suspended as evaluation 1")
	text, _ = eval(t, s, ":after")
	says(t, text, "=> :AFTER\n", "; The person was in the debugger with evaluation 1, from its restart 0 on => NIL, T")
	b.quiet()
}
