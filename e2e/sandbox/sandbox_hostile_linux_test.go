package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// readFiles are the files that the server reads where code may write, and the calls that read each. The
// table in docs/howto/sandbox.md has them all.
var readFiles = map[string][]call{
	"project/ocicl.csv":             {{"session-status", nil}, {"load-system", harness.Object{"system": "none"}}},
	"project/qlfile":                {{"session-status", nil}},
	"project/app.asd":               {{"session-status", nil}, {"describe-system", harness.Object{"name": "app"}}},
	"project/a.lisp":                {{"validate-syntax", harness.Object{"path": "a.lisp"}}, {"validate-syntax", harness.Object{"path": "a.lisp", "repair": true}}, {"write-definition", harness.Object{"name": "mine"}}, {"write-definition", harness.Object{"name": "mine", "file": "a.lisp"}}},
	"project/sessions/a.lisp":       {{"load-session", harness.Object{"file": "sessions/a.lisp"}}, {"load-session", harness.Object{"file": "sessions/b.lisp"}}, {"save-session", harness.Object{"file": "sessions/a.lisp"}}},
	"project/.swank-mcp/x.json":     {{"checkpoint", harness.Object{}}, {"checkpoint", harness.Object{"drop": "x"}}},
	"project/.swank-mcp/.lock":      {{"checkpoint", harness.Object{"name": "new", "disk": true}}, {"checkpoint", harness.Object{}}},
	"project/.swank-mcp/.gitignore": {{"checkpoint", harness.Object{"name": "new", "disk": true}}, {"checkpoint", harness.Object{}}},
}

type call struct {
	tool string
	args harness.Object
}

// readOverHTTP are some of these where each session has a directory of its own, and all share the project.
var readOverHTTP = map[string][]call{
	"project/ocicl.csv":         readFiles["project/ocicl.csv"],
	"project/app.asd":           readFiles["project/app.asd"],
	"project/a.lisp":            readFiles["project/a.lisp"],
	"session/a.lisp":            {{"load-session", harness.Object{"file": "a.lisp"}}, {"save-session", harness.Object{"file": "a.lisp"}}},
	"session/.swank-mcp/x.json": readFiles["project/.swank-mcp/x.json"],
}

// maxTaken limits the memory that one call takes of the server, in KiB.
const maxTaken = 64 << 10

var peakPattern = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the most memory that the process of a server has had, in KiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	harness.Check(t, err)
	m := peakPattern.FindSubmatch(text)
	if m == nil {
		t.Fatalf("no peak:\n%s", text)
	}
	kib, err := strconv.Atoi(string(m[1]))
	harness.Check(t, err)
	return kib
}

// Whatever is in the place of a file that the server reads, each call is answered, shows nothing that lies
// elsewhere, changes nothing there, and takes little memory.
func TestSandboxHostileFiles(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.makeDirs(t, "theirs", "project/sessions", "project/.swank-mcp")
			hostileFiles(t, o, o.onStdio(t, "--sandbox", "on"), readFiles)
		})
	}
}

// Over HTTP it is the same.
func TestSandboxHostileFilesOverHTTP(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range someAccounts(tier.Tries(t, 1, 2)) {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			o.makeDirs(t, "theirs")
			d := o.onHTTP(t)
			o.makeDirs(t, "session/.swank-mcp")
			hostileFiles(t, o, d, readOverHTTP)
		})
	}
}

// things puts each kind of thing in the place of a file, by the name of the kind.
var things = map[string]func(o *outside, path string) error{
	"link":           func(o *outside, path string) error { return os.Symlink(o.path("theirs/file"), path) },
	"dangling link":  func(o *outside, path string) error { return os.Symlink(o.path("theirs/none"), path) },
	"link to itself": func(_ *outside, path string) error { return os.Symlink(path, path) },
	"device":         func(_ *outside, path string) error { return os.Symlink("/dev/zero", path) },
	"pipe":           func(_ *outside, path string) error { return syscall.Mkfifo(path, 0o666) },
	"directory":      func(_ *outside, path string) error { return os.Mkdir(path, 0o777) },
	"socket": func(_ *outside, path string) error {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			l.SetUnlinkOnClose(false)
			err = l.Close()
		}
		return err
	},
	"4 GB of nothing": func(o *outside, path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, 4<<30), os.Chown(path, o.uid, o.uid))
	},
	"hard link": func(o *outside, path string) error { return os.Link(o.path("theirs/hard"), path) },
}

// hostileFiles puts each thing in the place of each of files, and calls what reads it.
func hostileFiles(t *testing.T, o *outside, d door, files map[string][]call) {
	t.Helper()
	o.put(t, "theirs/file", "(defun theirs () \"theirs\"")
	o.put(t, "theirs/hard", "; a hard link has no place of its own\n")
	theirs := tree(t, o.path("theirs"))
	d.want(t, "(progn (defun mine () 2) (mine))", "=> 2")
	d.call("session-status", harness.Object{})
	before := peak(t, d.pid)
	for file, calls := range files {
		for thing, put := range things {
			harness.Check(t, os.RemoveAll(o.path(file)))
			harness.Check(t, put(o, o.path(file)))
			o.owned(t, file)
			for _, c := range calls {
				args := maps.Clone(c.args)
				if args == nil {
					args = harness.Object{}
				}
				text := d.call(c.tool, args)
				if strings.Contains(text, "(defun theirs") || strings.Contains(text, "THEIRS") {
					t.Errorf("%s in the place of %s: %s shows it:\n%s", thing, file, c.tool, harness.Clip(text))
				}
				if now := peak(t, d.pid); now-before > maxTaken {
					t.Errorf("%s in the place of %s: %s: the server has had %d MiB, and %d before", thing, file, c.tool, now>>10, before>>10)
					before = now
				}
			}
			if now := tree(t, o.path("theirs")); !maps.Equal(now, theirs) {
				t.Errorf("%s in the place of %s: outside is\n%q\nand was\n%q", thing, file, now, theirs)
				theirs = now
			}
		}
		harness.Check(t, os.RemoveAll(o.path(file)))
	}
	d.want(t, "(mine)", "=> 2"+harness.Elided)
}
