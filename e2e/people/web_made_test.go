package people

import (
	"fmt"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// The page has what the session has made, plots of the heap and of the time of evaluations,
// and the checkpoints, to each of which the person can go.
func TestWebRestores(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	d := harness.NewDesk(t)
	s := d.Server("made")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	harness.Want(t, s, `(defpackage :made (:export #:one #:two)) (defvar *stock* (list 1 2 3)) (defun count-stock () (length *stock*))`, "=> COUNT-STOCK")
	b.Shows("#contents h2", "Definitions of default", "Packages")
	b.Shows("#contents summary", "functions, 1", "variables, 1")
	b.Js(`document.querySelectorAll("#contents details").forEach(d => d.open = true)`)
	b.Shows("#contents li", "COUNT-STOCK", "*STOCK*", "MADE", "2 exported, made here")
	checkpoints := func(n int) {
		t.Helper()
		b.Becomes(fmt.Sprintf(`document.querySelectorAll("#timeline li").length >= %d && document.querySelector("#timeline li.now")`, n))
	}
	checkpoints(1)
	harness.Want(t, s, `(setf *stock* nil)`, "=> NIL")
	checkpoints(2)
	harness.Want(t, s, `(defun later () 1)`, "=> LATER")
	checkpoints(3)
	b.Becomes(`document.querySelector("#contents details").open`)
	b.Shows("#contents li", "LATER")
	b.Shows("#timeline li.now", "the image is here", "(defun later () 1)")
	b.Shows("#timeline li:nth-child(3)", "2 back", "(defpackage :made")
	b.Becomes(`document.querySelectorAll("#plots polyline").length === 2 && [...document.querySelectorAll("#plots polyline")].every(p => p.points.length > 1 && p.getBoundingClientRect().width > 50)`)
	b.Becomes(`[...document.querySelectorAll("#plots svg")].map(s => s.getAttribute("aria-label")).join().match(/^Heap in use, the last \d+ seconds: from \d+ to \d+ MB, now \d+ MB,Time of the last 3 evaluations: half below /)`)
	for _, dark := range []bool{false, true} {
		b.Size(1280, 1000, dark)
		name := fmt.Sprintf("made-%v", dark)
		b.Picture(name)
		b.Accessible(name)
	}
	b.Size(360, 1000, false)
	b.Js(`window.scrollTo(0, 0)`)
	b.Picture("made-360")
	b.Size(1280, 1000, false)

	b.Clicks("#timeline li:nth-child(3) button")
	b.Shows("#said", "The image is as it was at ", "Undone: (setf *stock* nil); (defun later () 1)")
	b.Shows(".event.person", "You: undone: (setf *stock* nil); (defun later () 1)")
	b.Shows("#timeline li.now", "(defpackage :made")
	b.Becomes(`![...document.querySelectorAll("#contents li")].some(e => e.textContent.includes("LATER"))`)
	text, _ := harness.Eval(t, s, "*stock*")
	harness.Says(t, text, "=> (1 2 3)\n", "; The person took the image back to ", "Undone: (setf *stock* nil)")
	b.Quiet()
}
