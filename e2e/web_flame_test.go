package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/internal/tier"
)

// A profile has its flame graph in the notebook, drawn to scale, also without the pointer.
func TestWebFlames(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("profiled")
	want(t, s, `(defun |<i>sum</i>| (n) (let ((x 0d0)) (dotimes (i n x) (incf x (sqrt (coerce i 'double-float))))))
(defun most () (list (|<i>sum</i>| 30000000))) (defun least () (list (|<i>sum</i>| 6000000)))
(defun both () (list (most) (least)))`, "=> BOTH")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	says(t, good(t, s, "profile-code", object{"code": "(both)"}), "[profile] cpu")
	b.shows(".profile summary", "Flame graph: processor time, ")
	b.becomes(`!document.querySelector(".flame")`)
	b.js(`document.querySelector(".profile").closest(".cell").focus()`)
	b.types("o")
	b.shows(".profile .totals th", "BOTH", "MOST", "LEAST", "<i>sum</i>")
	b.becomes(`!document.querySelector(".graph i") && [...document.querySelectorAll(".flame title")].some(t => /^COMMON-LISP-USER:+\|<i>sum<\/i>\|: \d+ of \d+ samples, [0-9.]+%$|^\|<i>sum<\/i>\|: \d+ of \d+ samples, [0-9.]+%$/.test(t.textContent))`)
	b.js(`window.box = n => [...document.querySelectorAll(".flame > svg")].find(s => s.querySelector("title").textContent.startsWith(n + ": ")).querySelector("rect").getBoundingClientRect(); 1`)
	scale := `(() => { const all = box("all"), both = box("BOTH"), most = box("MOST"), least = box("LEAST");
		return all.width > 200 && Math.abs(all.width - document.querySelector(".flame").getBoundingClientRect().width) < 2 && both.width > all.width * .8
			&& most.bottom <= both.top + 2 && both.bottom <= all.top + 2 && least.width > 5 && most.width > 2 * least.width && most.right <= least.left + 1 && least.right <= both.right + 1 })()`
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("profiled-%d-%v", width, dark)
			b.size(width, 900, dark)
			b.becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.js(`document.querySelector(".flame").scrollIntoView({block: "center"})`)
			b.becomes(scale)
			b.picture(name)
			b.accessible(name)
		}
	}
	b.size(1280, 900, false)
	b.becomes(`getComputedStyle(document.querySelector(".flame .project rect")).fill !== getComputedStyle(document.querySelector(".flame .internal rect")).fill`)
	id := strings.Trim(b.js(`document.querySelector(".profile").closest(".cell").dataset.id`), `"`)
	b.does(chromedp.Navigate(strings.TrimSuffix(b.address(), "#newest") + "flame?id=" + id))
	b.shows("h2", "Flame graph: processor time, ")
	b.shows(".code", "(both)")
	b.shows(".totals th", "MOST")
	b.picture("flame-page")
	b.accessible("flame-page")
	b.js(`document.querySelector("header a").focus()`)
	b.types(kb.Enter)
	b.shows(".profile summary", "Flame graph")
	b.quiet()
}
