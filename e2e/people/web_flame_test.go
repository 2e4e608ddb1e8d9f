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

// A profile has its flame graph in the notebook, drawn to scale, also without the pointer.
func TestWebFlames(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("profiled")
	harness.Want(t, s, `(defun |<i>sum</i>| (n) (let ((x 0d0)) (dotimes (i n x) (incf x (sqrt (coerce i 'double-float))))))
(defun most () (list (|<i>sum</i>| 30000000))) (defun least () (list (|<i>sum</i>| 6000000)))
(defun both () (list (most) (least)))`, "=> BOTH")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	harness.Says(t, harness.Good(t, s, "profile-code", harness.Object{"code": "(both)", "timeout": 600}), "[profile] cpu")
	b.Shows(".profile summary", "Flame graph: processor time, ")
	b.Becomes(`!document.querySelector(".flame")`)
	b.Js(`document.querySelector(".profile").closest(".cell").focus()`)
	b.Types("o")
	b.Shows(".profile .totals th", "BOTH", "MOST", "LEAST", "<i>sum</i>")
	b.Becomes(`!document.querySelector(".graph i") && [...document.querySelectorAll(".flame title")].some(t => /^COMMON-LISP-USER:+\|<i>sum<\/i>\|: \d+ of \d+ samples, [0-9.]+%$|^\|<i>sum<\/i>\|: \d+ of \d+ samples, [0-9.]+%$/.test(t.textContent))`)
	b.Js(`window.box = n => [...document.querySelectorAll(".flame > svg")].find(s => s.querySelector("title").textContent.startsWith(n + ": ")).querySelector("rect").getBoundingClientRect(); 1`)
	scale := `(() => { const all = box("all"), both = box("BOTH"), most = box("MOST"), least = box("LEAST");
		return all.width > 200 && Math.abs(all.width - document.querySelector(".flame").getBoundingClientRect().width) < 2 && both.width > all.width * .8
			&& most.bottom <= both.top + 2 && both.bottom <= all.top + 2 && least.width > 5 && most.width > 2 * least.width && most.right <= least.left + 1 && least.right <= both.right + 1 })()`
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("profiled-%d-%v", width, dark)
			b.Size(width, 900, dark)
			b.Becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.Js(`document.querySelector(".flame").scrollIntoView({block: "center"})`)
			b.Becomes(scale)
			b.Picture(name)
			b.Accessible(name)
		}
	}
	b.Size(1280, 900, false)
	b.Becomes(`getComputedStyle(document.querySelector(".flame .project rect")).fill !== getComputedStyle(document.querySelector(".flame .internal rect")).fill`)
	id := strings.Trim(b.Js(`document.querySelector(".profile").closest(".cell").dataset.id`), `"`)
	b.Does(chromedp.Navigate(strings.TrimSuffix(b.Address(), "#newest") + "flame?id=" + id))
	b.Shows("h2", "Flame graph: processor time, ")
	b.Shows(".code", "(both)")
	b.Shows(".totals th", "MOST")
	b.Picture("flame-page")
	b.Accessible("flame-page")
	b.Js(`document.querySelector("header a").focus()`)
	b.Types(kb.Enter)
	b.Shows(".profile summary", "Flame graph")
	b.Quiet()
}
