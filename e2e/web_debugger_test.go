package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/internal/tier"
)

// A suspended evaluation shows the variables of a frame that is folded out, and takes the
// value that a restart wants, from the keyboard.
func TestWebDebugs(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("debugged")
	good(t, s, "evaluate-lisp", object{"debug": 3, "code": `(defun weigh (item factor) (let ((label "<i>kg</i>")) (list label (* factor (weight-of item)))))
(defun weight-of (item) (restart-case (error "~S has no weight" item) (use-value (value) :report "Take this weight." :interactive (lambda () (list 0)) value)))`})
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	r := call(t, s, "evaluate-lisp", object{"on-error": "debug", "debug": 3, "code": `(weigh '(:apple "red") 3)`})
	says(t, r.Text(), "has no weight", "USE-VALUE")
	b.shows(".cell.suspended .restarts", "It waits in the debugger", "Take this weight.")
	b.does(chromedp.Navigate(strings.TrimSuffix(b.address(), "#newest") + "frame?session=default&evaluation=1&frame=1"))
	b.shows(".locals", "FACTOR", "LABEL")
	b.accessible("frame")
	b.picture("frame")
	b.clicks("header a")
	b.shows(".cell.suspended .restarts", "Take this weight.")
	b.becomes(`!document.querySelector(".frame").checkVisibility()`)
	b.js(`document.querySelector(".frames > summary").focus()`)
	b.types(kb.Enter)
	b.becomes(`document.querySelector(".frame").checkVisibility()`)
	number := b.js(`[...document.querySelectorAll(".frame")].findIndex(f => f.querySelector("summary").textContent.startsWith("(WEIGH "))`)
	frame := fmt.Sprintf(`document.querySelectorAll(".frame")[%s]`, number)
	b.js(frame + `.querySelector("summary").focus()`)
	b.types(kb.Enter)
	b.becomes(frame + `.open && [...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === "FACTOR3")`)
	b.becomes(`[...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === 'LABEL"<i>kg</i>"') && !document.querySelector(".locals i")`)
	b.becomes(`[...` + frame + `.querySelectorAll(".locals > div")].some(l => l.textContent === 'ITEM(:APPLE "red")')`)
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("debugged-%d-%v", width, dark)
			b.size(width, 900, dark)
			b.becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.js(`document.querySelector(".cell.suspended").scrollIntoView()`)
			b.picture(name)
			b.accessible(name)
		}
	}
	b.size(1280, 900, false)
	// What is typed stays while entries come, and the frame stays open with its variables.
	use := `[...document.querySelectorAll(".restarts form")].find(f => f.textContent.includes("Take this weight."))`
	b.js(use + `.querySelector("input[name=values]").focus()`)
	b.does(chromedp.KeyEvent("(+ 1 *wei"))
	want(t, s, "(defvar *weight* 4)", "=> *WEIGHT*")
	b.shows(".cell .values", "*WEIGHT*")
	b.becomes(frame + `.querySelector(".locals") !== null`)
	b.types("ght*)")
	b.types(kb.Enter)
	b.shows("#said", `⇒ ("<i>kg</i>" 15)`)
	b.becomes(`!document.querySelector(".restarts") && !document.querySelector(".frame")`)
	text, _ := eval(t, s, ":after")
	says(t, text, "=> :AFTER\n", "; The person was in the debugger with evaluation 1, from its restart ", `(+ 1 *weight*) => ("<i>kg</i>" 15)`)
	b.quiet()
}
