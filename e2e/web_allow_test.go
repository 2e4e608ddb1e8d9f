package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"swank-mcp/internal/tier"
)

// The page asks the person whether an evaluation is allowed, and their yes or no counts.
func TestWebAllows(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("asking")
	want(t, s, "(defvar *done* 0)", "=> *DONE*")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows(`.policy button[aria-pressed="true"]`, "Everything")
	b.js(`[...document.querySelectorAll(".policy button")].find(x => x.textContent === "Ask before each evaluation").focus()`)
	b.types(kb.Enter)
	b.shows("#said", "You are asked before each evaluation.")
	b.shows(`.policy button[aria-pressed="true"]`, "Ask before each evaluation")
	asked := func(code string) func(reply string) {
		t.Helper()
		call := sendCall(t, s, code)
		b.shows("#lamp", "An agent waits for your answer")
		b.shows(".question p", code)
		b.becomes(`/^\d+ s left$/.test(document.querySelector(".question .faint").innerText)`)
		return func(reply string) {
			t.Helper()
			wantAnswer(t, call, reply)
			b.becomes(`!document.querySelector(".question")`)
		}
	}
	done := 0
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			b.size(width, 900, dark)
			ends := asked("(incf *done*) #| <b>hostile</b> |#") // one for each picture: it waits no longer than 20 s
			b.shows(".question p", "wire", "(default) evaluates: ")
			b.becomes(`!document.querySelector(".question b")`)
			name := fmt.Sprintf("asking-%d-%v", width, dark)
			b.becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width))
			b.picture(name)
			if width != 820 {
				b.accessible(name)
			}
			b.clicks(".question .yes")
			done++
			ends(fmt.Sprint("=> ", done))
		}
	}
	b.size(1280, 900, false)
	b.shows("#said", "Allowed: wire")
	b.shows(".event.person", "You: allowed: wire")
	b.shows(".event", "You are asked, for 20 s: wire", "Answered: yes")
	ends := asked("(incf *done* 100)")
	b.types("a") // from the keyboard
	b.types(kb.Tab)
	b.types(kb.Enter)
	ends("[ERROR] NOT-ALLOWED\nThe person was asked and does not allow this.…")
	b.shows("#said", "Not allowed: wire")
	b.js(`document.querySelector(".policy button").click()`)
	b.shows("#said", "You are not asked.")
	want(t, s, "*done*", fmt.Sprint("=> ", done))
	b.quiet()
}
