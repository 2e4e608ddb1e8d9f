package people

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// The documentation has pictures of the page, which are of this: an agent redefines a function,
// and is in an error.
func TestWebPictures(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	d := harness.NewDesk(t)
	s := d.Server("shop")
	harness.Want(t, s, `(defvar *stock* (list :apple 3 :pear 5))`, "=> *STOCK*")
	harness.Good(t, s, "evaluate-lisp", harness.Object{"debug": 3, "code": "(defun left (fruit)\n  \"How many there are.\"\n  (getf *stock* fruit))"})
	harness.Want(t, s, "(left :pear)", "=> 5")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Size(1100, 540, false)
	harness.Good(t, s, "evaluate-lisp", harness.Object{"debug": 3, "code": "(defun left (fruit)\n  \"How many there are, or NIL.\"\n  (1- (getf *stock* fruit)))"})
	b.Shows(".changed summary", "Redefined function LEFT")
	b.Js(`document.querySelector(".changed details").open = true`)
	b.Shows(".changed .diff", "-  (getf *stock* fruit))", "+  (1- (getf *stock* fruit)))")
	b.Js(`document.querySelector(".changed").closest(".cell").scrollIntoView({block: "center"}), document.activeElement.blur()`)
	b.Documents("page-light")

	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"on-error": "debug", "code": "(mapcar #'left '(:apple :plum))"})
	harness.Says(t, r.Text(), "The value", "NIL")
	b.Size(1100, 540, true)
	b.Shows(".cell.suspended .restarts", "RETRY")
	b.Js(`document.querySelector(".frames").open = true`)
	frame := `[...document.querySelectorAll(".frame")].find(f => f.textContent.includes("(LEFT :PLUM)"))`
	b.Becomes(frame)
	b.Js(frame + `.open = true`)
	b.Shows(".locals", "FRUIT", ":PLUM")
	b.Js(`document.querySelector(".cell.suspended").scrollIntoView()`)
	b.Documents("page-dark")
	b.Quiet()
}
