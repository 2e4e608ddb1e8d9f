package e2e

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"testing"

	"swank-mcp/internal/tier"
)

var updatePicturesFlag = flag.Bool("update-pictures", false, "write the pictures of the page that the documentation shows")

// largestPicture is how many bytes a picture of the documentation may have.
const largestPicture = 100_000

// The documentation has pictures of the page, which are of this: an agent redefines a function,
// and is in an error.
func TestWebPictures(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	skipLaunchedOnly(t)
	d := newDesk(t)
	s := d.server("shop")
	want(t, s, `(defvar *stock* (list :apple 3 :pear 5))`, "=> *STOCK*")
	good(t, s, "evaluate-lisp", object{"debug": 3, "code": "(defun left (fruit)\n  \"How many there are.\"\n  (getf *stock* fruit))"})
	want(t, s, "(left :pear)", "=> 5")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.size(1100, 540, false)
	good(t, s, "evaluate-lisp", object{"debug": 3, "code": "(defun left (fruit)\n  \"How many there are, or NIL.\"\n  (1- (getf *stock* fruit)))"})
	b.shows(".changed summary", "Redefined function LEFT")
	b.js(`document.querySelector(".changed details").open = true`)
	b.shows(".changed .diff", "-  (getf *stock* fruit))", "+  (1- (getf *stock* fruit)))")
	b.js(`document.querySelector(".changed").closest(".cell").scrollIntoView({block: "center"}), document.activeElement.blur()`)
	b.documents("page-light")

	r := call(t, s, "evaluate-lisp", object{"on-error": "debug", "code": "(mapcar #'left '(:apple :plum))"})
	says(t, r.Text(), "The value", "NIL")
	b.size(1100, 540, true)
	b.shows(".cell.suspended .restarts", "RETRY")
	b.js(`document.querySelector(".frames").open = true`)
	frame := `[...document.querySelectorAll(".frame")].find(f => f.textContent.includes("(LEFT :PLUM)"))`
	b.becomes(frame)
	b.js(frame + `.open = true`)
	b.shows(".locals", "FRUIT", ":PLUM")
	b.js(`document.querySelector(".cell.suspended").scrollIntoView()`)
	b.documents("page-dark")
	b.quiet()
}

// documents compares the picture of the documentation with the window, as far as that can be
// the same each time, or writes it.
func (b *browser) documents(name string) {
	b.t.Helper()
	path := inTree("docs", "pictures", name+".png")
	shot := b.shot()
	if *updatePicturesFlag {
		check(b.t, os.WriteFile(path, shot, 0o644))
	}
	data, err := os.ReadFile(path)
	check(b.t, err)
	there, err := png.DecodeConfig(bytes.NewReader(data))
	check(b.t, err)
	now, err := png.DecodeConfig(bytes.NewReader(shot))
	check(b.t, err)
	if there.Width != now.Width || there.Height != now.Height || len(data) > largestPicture {
		b.t.Errorf("%s has %d by %d points in %d bytes, and the page %d by %d: go test ./e2e -run TestWebPictures -update-pictures", path, there.Width, there.Height, len(data), now.Width, now.Height)
	}
}
