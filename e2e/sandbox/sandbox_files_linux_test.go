package sandbox

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// put makes a file of the user's.
func (o *outside) put(t *testing.T, name, text string) {
	t.Helper()
	harness.Write(t, o.path(name), text)
	o.owned(t, name)
}

// owned makes the user the owner of what has that name, be it a link.
func (o *outside) owned(t *testing.T, name string) {
	t.Helper()
	harness.Check(t, os.Lchown(o.path(name), o.uid, o.uid))
}

// A path that a client names is read where the image may read. Of anything else nobody is told what
// it is, what it has, or whether it is there.
func TestSandboxPaths(t *testing.T) {
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.put(t, "elsewhere/credentials.json", "{\n  \"accessToken\": \"sk-secret\",\n  \"x\": (1}\n")
			o.put(t, "elsewhere/theirs.lisp", "(defun secret () \"their own\n")
			o.put(t, "project/good.lisp", "(defun good () 1)\n")
			o.put(t, "project/bad.lisp", "(defun bad () 1\n")
			o.put(t, "project/notes.json", "{\n  \"token\": \"sk-mine\",\n  \"x\": (1}\n")
			for _, to := range []string{"credentials.json", "theirs.lisp", "secret", "none"} {
				harness.Check(t, os.Symlink(o.path("elsewhere/"+to), o.path("project/to-"+to)))
				o.owned(t, "project/to-"+to)
			}
			harness.Check(t, os.Symlink("good.lisp", o.path("project/link.lisp")))
			harness.Check(t, os.Symlink("/dev/zero", o.path("project/zero.lisp")))
			harness.Check(t, syscall.Mkfifo(o.path("project/pipe.lisp"), 0o666))
			s := o.serve(t, "--sandbox", "on")

			var closed []string // with the path left out
			for _, path := range []string{"elsewhere/credentials.json", "elsewhere/theirs.lisp", "elsewhere/secret", "elsewhere/none", "elsewhere", "home/.ssh/id_ed25519", "home/.ssh/none",
				"project/to-credentials.json", "project/to-theirs.lisp", "project/to-secret", "project/to-none", "project/zero.lisp", "run/none"} {
				for _, repair := range []bool{false, true} {
					text := harness.Bad(t, s, "validate-syntax", harness.Object{"path": o.path(path), "repair": repair})
					harness.SaysNot(t, text, "sk-", "their own")
					_, said, _ := strings.Cut(text, "path: ")
					said, _, _ = strings.Cut(said, " leaves open.") // what follows is of the directory
					closed = append(closed, strings.ReplaceAll(said, o.path(path), "PATH"))
				}
			}
			for _, said := range closed {
				if said != "there is no file PATH that the sandbox" {
					t.Errorf("told: %s", said)
				}
			}
			for _, path := range []string{"elsewhere/theirs.lisp", "project/to-theirs.lisp"} {
				for _, tool := range []string{"compile-file", "load-file"} {
					harness.SaysNot(t, harness.Call(t, s, tool, harness.Object{"path": o.path(path)}).Text(), "their own", "The string that begins here")
				}
				harness.SaysNot(t, harness.Bad(t, s, "write-definition", harness.Object{"name": "car", "file": o.path(path)}), "their own")
			}

			harness.Says(t, harness.Good(t, s, "validate-syntax", harness.Object{"path": o.path("project/link.lisp")}), "well-formed: 1 top-level form")
			harness.Says(t, harness.Good(t, s, "validate-syntax", harness.Object{"path": "good.lisp"}), "well-formed: 1 top-level form")
			harness.Says(t, harness.Good(t, s, "validate-syntax", harness.Object{"path": "bad.lisp"}), "1 | (defun bad () 1")
			harness.Says(t, harness.Good(t, s, "validate-syntax", harness.Object{"path": "/usr/share/common-lisp/source/cl-ppcre/packages.lisp"}), "well-formed")
			harness.SaysNot(t, harness.Good(t, s, "validate-syntax", harness.Object{"path": "notes.json"}), "sk-mine", "token")
			harness.Says(t, harness.Bad(t, s, "compile-file", harness.Object{"path": "bad.lisp"}), "never closed")
			await.Do(t, "a pipe", func() {
				harness.Says(t, harness.Bad(t, s, "validate-syntax", harness.Object{"path": "pipe.lisp"}), "is no file")
			})
			harness.Want(t, s, "(+ 1 1)", "=> 2")
		})
	}
}
