package e2e

import "testing"

// A saved file loads its systems as they are on disk, also in the second in which
// they were compiled: in a plain SBCL, and by load-session.
func TestSavedSessionLoadsWhatIsOnDisk(t *testing.T) {
	t.Parallel()
	w := newTruthWorld(t)
	look := func(when, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: (mini::fa) is %s, want %s", when, got, want)
		}
	}
	w.do(t, miniFile("a", "(defun fa () 11)"))
	w.do(t, loadMini)
	w.do(t, miniFile("a", "(defun fa () 12)"))
	file, _ := w.save(t)
	look("a plain sbcl with the saved file", w.inPlainSBCL(t, file, "(mini::fa)"), "12")
	value, _ := w.ask(t, "(mini::fa)")
	look("the image, which has not loaded it again", value, "11")
	w.do(t, miniFile("a", "(defun fa () 13)"))
	w.do(t, toolCall("load-session", object{"file": file}))
	value, _ = w.ask(t, "(mini::fa)")
	look("after load-session", value, "13")
}
