package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"swank-mcp/internal/tier"
)

// The notebook has what an evaluation has redefined, as a diff, and the person puts it back.
func TestWebRedefined(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("changed")
	want(t, s, "(defun price (x)\n  \"Of one.\"\n  (* x 10))\n(defun other () 1)", "=> OTHER")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows(".cell .values", "OTHER")
	want(t, s, "(defun price (x)\n  \"Of one, <b>in cents</b>.\"\n  (* x 1000))", "=> PRICE")
	want(t, s, "(defvar *list* (list 1))", "=> *LIST*")
	b.shows(".changed summary", "Redefined function PRICE")
	b.becomes(`document.querySelectorAll(".changed").length === 1 && !document.querySelector(".changed details").open`)
	b.js(`document.querySelector(".changed").closest(".cell").focus()`)
	b.types("o")
	b.becomes(`document.querySelector(".changed details").open`)
	b.becomes(`document.querySelector(".diff").innerText === " (defun price (x)\n-  \"Of one.\"\n-  (* x 10))\n+  \"Of one, <b>in cents</b>.\"\n+  (* x 1000))\n"`)
	b.becomes(`document.querySelectorAll(".diff del").length === 2 && document.querySelectorAll(".diff ins").length === 2`)
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("changed-%d-%v", width, dark)
			b.size(width, 900, dark)
			b.becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.js(`document.querySelector(".changed").closest(".cell").scrollIntoView({block: "center"})`)
			b.picture(name)
			b.accessible(name)
		}
	}
	b.size(1280, 900, false)
	b.js(`document.querySelector(".changed button").focus()`)
	b.types(kb.Enter)
	b.shows("#said", "Put back: function PRICE.")
	b.shows(".changed .note", "You: put back function PRICE")
	b.becomes(`!document.querySelector(".changed button")`)
	b.shows(".event.person", "You: put back function PRICE")
	text, _ := eval(t, s, "(price 2)")
	says(t, text, "=> 20\n", "The person has undone what evaluation 2 redefined: function PRICE is again as before it.")

	// What somebody has defined again since is left alone, and the person is told.
	want(t, s, "(defun price (x) x)", "=> PRICE")
	want(t, s, "(defun price (x) (- x))", "=> PRICE")
	b.becomes(`document.querySelectorAll(".changed button").length === 2`)
	b.js(`document.querySelector(".changed button").click()`)
	b.shows("#said", "Not put back: function PRICE: it has been defined again, or undefined, since then.")
	want(t, s, "(price 2)", "=> -2")
	// The same source once more, and one that is too long to be shown.
	want(t, s, "(defun price (x) (- x))", "=> PRICE")
	b.shows(".cell:last-child .changed", "Its source is the same as before.")
	want(t, s, fmt.Sprintf("(defun price (x) %q x)", fmt.Sprintf("%015000d", 1)), "=> PRICE")
	b.shows(".cell:last-child .changed", "The sources are not known, or too long.")
	s.Kill()
	b.shows("#lamp", "The server has ended")
	b.becomes(`!document.querySelector(".changed button")`)
	b.quiet()
}
