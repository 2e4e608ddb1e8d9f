package e2e

import (
	"fmt"
	"testing"

	"swank-mcp/internal/tier"
)

// The page has what the session has made, plots of the heap and of the time of evaluations,
// and the checkpoints, to each of which the person can go.
func TestWebRestores(t *testing.T) {
	tier.More(t)
	t.Parallel()
	skipLaunchedOnly(t)
	d := newDesk(t)
	s := d.server("made")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	want(t, s, `(defpackage :made (:export #:one #:two)) (defvar *stock* (list 1 2 3)) (defun count-stock () (length *stock*))`, "=> COUNT-STOCK")
	b.shows("#contents h2", "Definitions of default", "Packages")
	b.shows("#contents summary", "functions, 1", "variables, 1")
	b.js(`document.querySelectorAll("#contents details").forEach(d => d.open = true)`)
	b.shows("#contents li", "COUNT-STOCK", "*STOCK*", "MADE", "2 exported, made here")
	checkpoints := func(n int) {
		t.Helper()
		b.becomes(fmt.Sprintf(`document.querySelectorAll("#timeline li").length >= %d && document.querySelector("#timeline li.now")`, n))
	}
	checkpoints(1)
	want(t, s, `(setf *stock* nil)`, "=> NIL")
	checkpoints(2)
	want(t, s, `(defun later () 1)`, "=> LATER")
	checkpoints(3)
	b.becomes(`document.querySelector("#contents details").open`)
	b.shows("#contents li", "LATER")
	b.shows("#timeline li.now", "the image is here", "(defun later () 1)")
	b.shows("#timeline li:nth-child(3)", "2 back", "(defpackage :made")
	b.becomes(`document.querySelectorAll("#plots polyline").length === 2 && [...document.querySelectorAll("#plots polyline")].every(p => p.points.length > 1 && p.getBoundingClientRect().width > 50)`)
	b.becomes(`[...document.querySelectorAll("#plots svg")].map(s => s.getAttribute("aria-label")).join().match(/^Heap in use, the last \d+ seconds: from \d+ to \d+ MB, now \d+ MB,Time of the last 3 evaluations: half below /)`)
	for _, dark := range []bool{false, true} {
		b.size(1280, 1000, dark)
		name := fmt.Sprintf("made-%v", dark)
		b.picture(name)
		b.accessible(name)
	}
	b.size(360, 1000, false)
	b.js(`window.scrollTo(0, 0)`)
	b.picture("made-360")
	b.size(1280, 1000, false)

	b.clicks("#timeline li:nth-child(3) button")
	b.shows("#said", "The image is as it was at ", "Undone: (setf *stock* nil); (defun later () 1)")
	b.shows(".event.person", "You: undone: (setf *stock* nil); (defun later () 1)")
	b.shows("#timeline li.now", "(defpackage :made")
	b.becomes(`![...document.querySelectorAll("#contents li")].some(e => e.textContent.includes("LATER"))`)
	text, _ := eval(t, s, "*stock*")
	says(t, text, "=> (1 2 3)\n", "; The person took the image back to ", "Undone: (setf *stock* nil)")
	b.quiet()
}
