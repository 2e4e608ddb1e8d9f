package sandbox

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// swapped is a file or a directory that code replaces by a link, with the link's target, and a call that opens it.
type swapped struct {
	name, at, to, tool string
	args               harness.Object
}

// swaps has files with "theirs" in them where links lead.
var swaps = []swapped{
	{"checkpoints, one is dropped", "project/sessions/.swank-mcp", "theirs/.swank-mcp", "checkpoint", harness.Object{"drop": "x"}},
	{"checkpoints, they are listed", "project/sessions/.swank-mcp", "theirs/.swank-mcp", "checkpoint", harness.Object{}},
	{"the session directory, a session is saved", "project/sessions", "theirs", "save-session", harness.Object{"file": "a.lisp", "overwrite": true}},
	{"the session directory, a session is loaded", "project/sessions", "theirs", "load-session", harness.Object{"file": "a.lisp"}},
	{"the session directory, a checkpoint is dropped", "project/sessions", "theirs", "checkpoint", harness.Object{"drop": "x"}},
	{"a directory of sources, one is checked", "project/src", "theirs", "validate-syntax", harness.Object{"path": "src/a.lisp"}},
	{"a directory of sources, one is mended", "project/src", "theirs", "validate-syntax", harness.Object{"path": "src/a.lisp", "repair": true}},
	{"a source, it is mended", "project/src/a.lisp", "theirs/a.lisp", "validate-syntax", harness.Object{"path": "src/a.lisp", "repair": true}},
	{"a directory of sources, a definition is written", "project/src", "theirs", "write-definition", harness.Object{"name": "mine", "file": "src/a.lisp", "force": true}},
	{"the list of dependencies, the project is looked at", "project/ocicl.csv", "theirs/ocicl.csv", "session-status", harness.Object{}},
}

// swapsOverHTTP has some of these in the project, which sessions share, and in the session's directory.
var swapsOverHTTP = []swapped{
	{"checkpoints, one is dropped", "session/.swank-mcp", "theirs/.swank-mcp", "checkpoint", harness.Object{"drop": "x"}},
	{"a session, it is loaded", "session/a.lisp", "theirs/a.lisp", "load-session", harness.Object{"file": "a.lisp"}},
	{"a source, it is mended", "project/src/a.lisp", "theirs/a.lisp", "validate-syntax", harness.Object{"path": "src/a.lisp", "repair": true}},
	{"a directory of sources, a definition is written", "project/src", "theirs", "write-definition", harness.Object{"name": "mine", "file": "src/a.lisp", "force": true}},
	{"the list of dependencies, the project is looked at", "project/ocicl.csv", "theirs/ocicl.csv", "session-status", harness.Object{}},
}

// Whatever code swaps with a link, by renameat2, while a tool uses it, nothing that lies where the link
// leads is written, removed or shown.
func TestSandboxSwaps(t *testing.T) {
	tier.More(t)
	t.Parallel()
	tries := tier.Tries(t, 40, 1_000)
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.makeDirs(t, "project/sessions", "project/sessions/.swank-mcp")
			o.put(t, "project/sessions/a.lisp", "(defun mine () 1)\n")
			swapAll(t, o, o.onStdio(t, "--sandbox", "on", "--session-dir", o.path("project/sessions")), swaps, tries)
		})
	}
}

// Over HTTP it is the same.
func TestSandboxSwapsOverHTTP(t *testing.T) {
	tier.More(t)
	t.Parallel()
	tries := tier.Tries(t, 40, 1_000)
	for name, uid := range someAccounts(tier.Tries(t, 1, 2)) {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			d := o.onHTTP(t)
			o.makeDirs(t, "session/.swank-mcp")
			o.put(t, "session/a.lisp", "(defun mine () 1)\n")
			swapAll(t, o, d, swapsOverHTTP, tries)
		})
	}
}

// swapAll makes so many calls of each of list while what it opens is swapped.
func swapAll(t *testing.T, o *outside, d door, list []swapped, tries int) {
	t.Helper()
	o.makeDirs(t, "theirs", "theirs/.swank-mcp", "project/src")
	for _, file := range []string{"a.lisp", "ocicl.csv", ".swank-mcp/x.json", ".swank-mcp/x.core", ".swank-mcp/x.lisp"} {
		o.put(t, "theirs/"+file, "(defun theirs () \"theirs\"")
	}
	o.put(t, "project/src/a.lisp", "(defun mine () 1)\n")
	o.put(t, "project/ocicl.csv", "")
	theirs := tree(t, o.path("theirs"))
	d.want(t, "(progn (defun mine () 2) (mine))", "=> 2")
	for _, c := range list {
		stop := o.swap(t, o.path(c.at), o.path(c.to))
		answered := map[bool]int{}
		for i := range tries {
			text := d.call(c.tool, c.args)
			answered[harness.Failure(text)]++
			if strings.Contains(text, "(defun theirs") || strings.Contains(text, "THEIRS") {
				t.Errorf("%s: call %d shows what is theirs:\n%s", c.name, i+1, harness.Clip(text))
				break
			}
		}
		stop()
		if now := tree(t, o.path("theirs")); !maps.Equal(now, theirs) {
			t.Errorf("%s: outside is\n%q\nand was\n%q", c.name, now, theirs)
			theirs = now
		}
		t.Logf("%s: %d calls answered, %d refused", c.name, answered[false], answered[true])
	}
	d.want(t, "(list (mine) (fboundp 'theirs))", harness.Elided+"NIL)"+harness.Elided)
}

// swap exchanges at with a link to another place until it is stopped, when at is what it was.
func (o *outside) swap(t *testing.T, at, to string) (stop func()) {
	t.Helper()
	link := o.path("project/link")
	harness.Check(t, os.Symlink(to, link))
	var swapping sync.WaitGroup
	ended := make(chan struct{})
	exchange := func() error {
		return unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
	}
	var first sync.WaitGroup
	first.Add(1)
	swapping.Go(func() {
		for n := 0; ; n++ {
			if err := exchange(); err != nil {
				t.Errorf("swapping: %v", err)
			}
			if n == 0 {
				first.Done()
			}
			select {
			case <-ended:
				if n%2 == 0 {
					harness.Check(t, exchange())
				}
				return
			default:
			}
		}
	})
	await.Do(t, "the first swap", first.Wait)
	return func() {
		close(ended)
		swapping.Wait()
		if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 { // a tool has renamed something to one of them
			harness.Check(t, os.RemoveAll(link))
			return
		}
		harness.Check(t, os.Remove(link))
	}
}

// tree returns the names, modes and texts of all files in dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	harness.Check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = info.Mode().String() + " " + string(text)
		return err
	}))
	return files
}

// A session directory that lies in the project, and is named by a link to that, is the project's: what code puts
// in its place leads no image out.
func TestSandboxSessionDirectoryByALink(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.makeDirs(t, "project/sessions")
			harness.Check(t, os.Symlink(o.path("project"), o.path("link")))
			o.owned(t, "link")
			dir := o.path("link/sessions")
			s := o.serve(t, "--sandbox", "on", "--no-checkpoints", "--session-dir", dir)
			harness.Want(t, s, `(with-open-file (out "`+dir+`/mine" :direction :output) (print 1 out))`, "=> 1")
			harness.Want(t, s, `(nth-value 2 (uiop:run-program "cd '`+o.path("project")+`' && rm -r sessions && ln -s '`+o.path("elsewhere")+`' sessions"))`, "=> 0")
			harness.Check(t, syscall.Kill(harness.ImagePID(t, s), syscall.SIGKILL))
			const refused = "(handler-case (progn %s :done) (file-error () :refused) (stream-error () :refused))"
			await.True(t, "a new image", func() bool {
				text, failed := harness.Eval(t, s, "(+ 1 2)")
				return !failed && strings.Contains(text, "=> 3")
			})
			for _, at := range []string{dir, o.path("elsewhere")} {
				harness.Want(t, s, fmt.Sprintf(refused, `(with-open-file (in "`+at+`/secret") (read-line in))`), "=> :REFUSED"+harness.Elided)
				harness.Want(t, s, fmt.Sprintf(refused, `(with-open-file (out "`+at+`/new" :direction :output) (print 1 out))`), "=> :REFUSED"+harness.Elided)
			}
			if _, err := os.Lstat(o.path("elsewhere/new")); err == nil {
				t.Error("code of the session writes elsewhere")
			}
		})
	}
}
