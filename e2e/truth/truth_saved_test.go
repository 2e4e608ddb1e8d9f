package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/model"
)

// A saved file loads its systems as they are on disk, also in the second in which
// they were compiled: in a plain SBCL, and by load-session.
func TestSavedSessionLoadsWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	w := model.NewWorld(t)
	look := func(when, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: (mini::fa) is %s, want %s", when, got, want)
		}
	}
	w.Do(t, model.Mini("a", "(defun fa () 11)"))
	w.Do(t, model.LoadMini)
	w.Do(t, model.Mini("a", "(defun fa () 12)"))
	file, _ := w.Save(t)
	look("a plain sbcl with the saved file", w.InPlainSBCL(t, "(mini::fa)", file), "12")
	value, _ := w.Ask(t, "(mini::fa)")
	look("the image, which has not loaded it again", value, "11")
	w.Do(t, model.Mini("a", "(defun fa () 13)"))
	w.Do(t, model.Tool("load-session", harness.Object{"file": file}))
	value, _ = w.Ask(t, "(mini::fa)")
	look("after load-session", value, "13")
}
