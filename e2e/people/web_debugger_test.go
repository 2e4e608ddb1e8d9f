package people

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// A suspended evaluation shows the variables of a frame that is folded out, and takes the
// value that a restart wants, from the keyboard.
func TestWebDebugs(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("debugged")
	harness.Good(t, s, "evaluate-lisp", harness.Object{"debug": 3, "code": `(defun weigh (item factor) (let ((label "<i>kg</i>")) (list label (* factor (weight-of item)))))
(defun weight-of (item) (restart-case (error "~S has no weight" item) (use-value (value) :report "Take this weight." :interactive (lambda () (list 0)) value)))`})
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"on-error": "debug", "debug": 3, "code": `(weigh '(:apple "red") 3)`})
	harness.Says(t, r.Text(), "has no weight", "USE-VALUE")
	b.Shows(".cell.suspended .restarts", "It waits in the debugger", "Take this weight.")
	b.Does(chromedp.Navigate(strings.TrimSuffix(b.Address(), "#newest") + "frame?session=default&evaluation=1&frame=1"))
	b.Shows(".locals", "FACTOR", "LABEL")
	b.Accessible("frame")
	b.Picture("frame")
	b.Clicks("header a")
	b.Shows(".cell.suspended .restarts", "Take this weight.")
	b.Becomes(`!document.querySelector(".frame").checkVisibility()`)
	b.Js(`document.querySelector(".frames > summary").focus()`)
	b.Types(kb.Enter)
	b.Becomes(`document.querySelector(".frame").checkVisibility()`)
	number := b.Js(`[...document.querySelectorAll(".frame")].findIndex(f => f.querySelector("summary").textContent.startsWith("(WEIGH "))`)
	frame := fmt.Sprintf(`document.querySelectorAll(".frame")[%s]`, number)
	b.Js(frame + `.querySelector("summary").focus()`)
	b.Types(kb.Enter)
	b.Becomes(frame + `.open && [...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === "FACTOR3")`)
	b.Becomes(`[...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === 'LABEL"<i>kg</i>"') && !document.querySelector(".locals i")`)
	b.Becomes(`[...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === 'ITEM(:APPLE "red")')`)
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("debugged-%d-%v", width, dark)
			b.Size(width, 900, dark)
			b.Becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.Js(`document.querySelector(".cell.suspended").scrollIntoView()`)
			b.Picture(name)
			b.Accessible(name)
		}
	}
	b.Size(1280, 900, false)
	// What is typed stays while entries come, and the frame stays open with its variables.
	use := `[...document.querySelectorAll(".restarts form")].find(f => f.textContent.includes("Take this weight."))`
	b.Js(use + `.querySelector("input[name=values]").focus()`)
	b.Does(chromedp.KeyEvent("(+ 1 *wei"))
	harness.Want(t, s, "(defvar *weight* 4)", "=> *WEIGHT*")
	b.Shows(".cell .values", "*WEIGHT*")
	b.Becomes(frame + `.querySelector(".locals") !== null`)
	b.Types("ght*)")
	b.Types(kb.Enter)
	b.Shows("#said", `⇒ ("<i>kg</i>" 15)`)
	b.Becomes(`!document.querySelector(".restarts") && !document.querySelector(".frame")`)
	text, _ := harness.Eval(t, s, ":after")
	harness.Says(t, text, "=> :AFTER\n", "; The person was in the debugger with evaluation 1, from its restart ", `(+ 1 *weight*) => ("<i>kg</i>" 15)`)
	b.Quiet()
}
