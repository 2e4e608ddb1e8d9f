package people

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// The notebook has what an evaluation has redefined, as a diff, and the person puts it back.
func TestWebRedefined(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("changed")
	harness.Want(t, s, "(defun price (x)\n  \"Of one.\"\n  (* x 10))\n(defun other () 1)", "=> OTHER")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows(".cell .values", "OTHER")
	harness.Want(t, s, "(defun price (x)\n  \"Of one, <b>in cents</b>.\"\n  (* x 1000))", "=> PRICE")
	harness.Want(t, s, "(defvar *list* (list 1))", "=> *LIST*")
	b.Shows(".changed summary", "Redefined function PRICE")
	b.Becomes(`document.querySelectorAll(".changed").length === 1 && !document.querySelector(".changed details").open`)
	b.Js(`document.querySelector(".changed").closest(".cell").focus()`)
	b.Types("o")
	b.Becomes(`document.querySelector(".changed details").open`)
	b.Becomes(`document.querySelector(".diff").innerText === " (defun price (x)\n-  \"Of one.\"\n-  (* x 10))\n+  \"Of one, <b>in cents</b>.\"\n+  (* x 1000))\n"`)
	b.Becomes(`document.querySelectorAll(".diff del").length === 2 && document.querySelectorAll(".diff ins").length === 2`)
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("changed-%d-%v", width, dark)
			b.Size(width, 900, dark)
			b.Becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.Js(`document.querySelector(".changed").closest(".cell").scrollIntoView({block: "center"})`)
			b.Picture(name)
			b.Accessible(name)
		}
	}
	b.Size(1280, 900, false)
	b.Js(`document.querySelector(".changed button").focus()`)
	b.Types(kb.Enter)
	b.Shows("#said", "Put back: function PRICE.")
	b.Shows(".changed .note", "You: put back function PRICE")
	b.Becomes(`!document.querySelector(".changed button")`)
	b.Shows(".event.person", "You: put back function PRICE")
	text, _ := harness.Eval(t, s, "(price 2)")
	harness.Says(t, text, "=> 20\n", "The person has undone what evaluation 2 redefined: function PRICE is again as before it.")

	// What somebody has defined again since is left alone, and the person is told.
	harness.Want(t, s, "(defun price (x) x)", "=> PRICE")
	harness.Want(t, s, "(defun price (x) (- x))", "=> PRICE")
	b.Becomes(`document.querySelectorAll(".changed button").length === 2`)
	b.Js(`document.querySelector(".changed button").click()`)
	b.Shows("#said", "Not put back: function PRICE: it has been defined again, or undefined, since then.")
	harness.Want(t, s, "(price 2)", "=> -2")
	// The same source once more, and one that is too long to be shown.
	harness.Want(t, s, "(defun price (x) (- x))", "=> PRICE")
	b.Shows(".cell:last-child .changed", "Its source is the same as before.")
	harness.Want(t, s, fmt.Sprintf("(defun price (x) %q x)", fmt.Sprintf("%015000d", 1)), "=> PRICE")
	b.Shows(".cell:last-child .changed", "The sources are not known, or too long.")
	s.Kill()
	b.Shows("#lamp", "The server has ended")
	b.Becomes(`!document.querySelector(".changed button")`)
	b.Quiet()
}
