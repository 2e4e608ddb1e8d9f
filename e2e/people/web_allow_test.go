package people

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// The page asks the person whether an evaluation is allowed, and their yes or no counts.
func TestWebAllows(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("asking")
	harness.Want(t, s, "(defvar *done* 0)", "=> *DONE*")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows(`.policy button[aria-pressed="true"]`, "Everything")
	b.Js(`[...document.querySelectorAll(".policy button")].find(x => x.textContent === "Ask before each evaluation").focus()`)
	b.Types(kb.Enter)
	b.Shows("#said", "You are asked before each evaluation.")
	b.Shows(`.policy button[aria-pressed="true"]`, "Ask before each evaluation")
	asked := func(code string) func(reply string) {
		t.Helper()
		call := harness.SendCall(t, s, code)
		b.Shows("#lamp", "An agent waits for your answer")
		b.Shows(".question p", code)
		b.Becomes(`/^\d+ s left$/.test(document.querySelector(".question .faint").innerText)`)
		return func(reply string) {
			t.Helper()
			harness.WantAnswer(t, call, reply)
			b.Becomes(`!document.querySelector(".question")`)
		}
	}
	done := 0
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			b.Size(width, 900, dark)
			ends := asked("(incf *done*) #| <b>hostile</b> |#") // one for each picture: it waits no longer than 20 s
			b.Shows(".question p", "wire", "(default) evaluates: ")
			b.Becomes(`!document.querySelector(".question b")`)
			name := fmt.Sprintf("asking-%d-%v", width, dark)
			b.Becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.Picture(name)
			if width != 820 {
				b.Accessible(name)
			}
			b.Clicks(".question .yes")
			done++
			ends(fmt.Sprint("=> ", done))
		}
	}
	b.Size(1280, 900, false)
	b.Shows("#said", "Allowed: wire")
	b.Shows(".event.person", "You: allowed: wire")
	b.Shows(".event", "You are asked, for 20 s: wire", "Answered: yes")
	ends := asked("(incf *done* 100)")
	b.Types("a") // from the keyboard
	b.Types(kb.Tab)
	b.Types(kb.Enter)
	ends("[ERROR] NOT-ALLOWED\nThe person was asked and does not allow this.…")
	b.Shows("#said", "Not allowed: wire")
	b.Js(`document.querySelector(".policy button").click()`)
	b.Shows("#said", "You are not asked.")
	harness.Want(t, s, "*done*", fmt.Sprint("=> ", done))
	b.Quiet()
}
