package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// project puts the project ledger where the server of o works.
func (o *outside) project(t *testing.T) {
	t.Helper()
	harness.Check(t, os.CopyFS(o.path("project"), os.DirFS(harness.Testdata("ledger"))))
	harness.Check(t, await.Command(t, "chown", "-R", strconv.Itoa(o.uid), o.path("project")).Run())
}

// fasls lists the fasls of a system that are below a directory.
func fasls(t *testing.T, dir, system string) (files []string) {
	t.Helper()
	harness.Check(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".fasl") && strings.Contains(path, "/"+system+"/") {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// What a session needs works in the sandbox.
func TestSandboxWorks(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for name, uid := range someAccounts(tier.Tries(t, 1, 2)) {
		t.Run(name, func(t *testing.T) { worksInSandbox(t, newOutside(t, uid), "strict") })
	}
}

// It works also where no file system of its own can be made.
func TestSandboxWorksWithoutNamespaces(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	o.withoutNamespaces()
	worksInSandbox(t, o, "on")
}

func worksInSandbox(t *testing.T, o *outside, mode string) {
	o.project(t)
	s := o.serve(t, "--sandbox", mode)
	harness.Says(t, harness.Status(t, s), "\nSandbox: "+mode+", by ")

	// Systems of the project and of Debian, and what is compiled.
	harness.Good(t, s, "load-system", harness.Object{"system": "ledger"})
	harness.Good(t, s, "load-system", harness.Object{"system": "cl-ppcre"})
	harness.Want(t, s, `(cl-ppcre:scan-to-strings "b+" "abbc")`, "=> \"bb\"\n=> #()")
	if n := len(fasls(t, o.path("cache/common-lisp"), "project")) + len(fasls(t, o.path("cache/common-lisp"), "alexandria")); n > 0 {
		t.Errorf("%d fasls are where other Lisps find them", n)
	}
	if len(fasls(t, o.path("cache/swank-mcp/sandbox"), "project")) == 0 {
		t.Error("no fasl is kept for the next image in the sandbox")
	}
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "ledger"}), "passed")
	harness.Says(t, harness.Good(t, s, "run-tests", harness.Object{"system": "ledger", "fresh": true}), "passed")
	harness.Want(t, s, `(with-open-file (out "square.lisp" :direction :output) (print '(defun square (x) (* x x)) out)) (load (compile-file "square.lisp")) (square 12)`, harness.Elided+"=> 144")
	if _, err := os.Stat(o.path("project/square.fasl")); err != nil {
		t.Error(err)
	}

	// Programs, temporary files, foreign code, threads.
	harness.Want(t, s, `(uiop:run-program "ls | sort | head -n 1" :output '(:string :stripped t))`, "=> \"import\"\n=> NIL\n=> 0")
	harness.Want(t, s, `(uiop:with-temporary-file (:stream out :pathname file) (print 1 out) (finish-output out) (and (probe-file file) t))`, "=> T")
	harness.Want(t, s, `(with-open-file (out "/dev/null" :direction :output :if-exists :append) (print 1 out) :written)`, "=> :WRITTEN")
	harness.Want(t, s, `(sb-thread:join-thread (sb-thread:make-thread (lambda () (sb-alien:alien-funcall (sb-alien:extern-alien "abs" (function sb-alien:int sb-alien:int)) -5))))`, "=> 5")
	harness.Want(t, s, `(plusp (length (directory "/usr/share/common-lisp/source/*/")))`, "=> T")

	// Checkpoints, and images that come of them, which can be copied again.
	harness.WantRuns(t, s, "(defvar *values* (list 1 2 3))")
	for i, word := range []string{"first", "second", "third"} {
		before := strings.Count(harness.Status(t, s), "Checkpoint")
		harness.WantRuns(t, s, `(push "`+word+`" *values*)`)
		if await.Until(func() bool { return strings.Contains(harness.Status(t, s), `after (push "`+word+`" *values*)`) }) != nil {
			t.Fatalf("no checkpoint after number %d (%d before):\n%s", i, before, harness.Status(t, s))
		}
		harness.WantRuns(t, s, "(setf *values* nil)")
		harness.Good(t, s, "undo", harness.Object{})
		harness.Want(t, s, "(first *values*)", `=> "`+word+`"`)
	}

	// An image that is killed is replaced by its copy, as it was.
	if await.Until(func() bool { return strings.Contains(harness.Status(t, s), "Checkpoint") }) != nil {
		t.Fatal(harness.Status(t, s))
	}
	harness.WantRuns(t, s, "(defun late () :late)")
	harness.Check(t, syscall.Kill(harness.ImagePID(t, s), syscall.SIGKILL))
	if await.Until(func() bool {
		text, failed := harness.Eval(t, s, "(list (length *values*) (late))")
		return !failed && strings.Contains(text, "=> (6 :LATE)")
	}) != nil {
		t.Errorf("the session did not come back:\n%s", harness.Status(t, s))
	}

	// Sessions in files, and checkpoints on the disk.
	harness.Says(t, harness.Good(t, s, "save-session", harness.Object{"file": "session.lisp"}), "Saved: ")
	harness.Good(t, s, "checkpoint", harness.Object{"name": "kept", "disk": true})
	if await.Until(func() bool {
		return strings.Contains(harness.Good(t, s, "checkpoint", harness.Object{}), "On disk: kept of ")
	}) != nil {
		t.Errorf("it is not on the disk:\n%s", harness.Status(t, s))
	}
	harness.Check(t, s.Close(await.Ceiling))

	s = o.serve(t, "--sandbox", mode, "--resume", "kept")
	harness.Want(t, s, "(list (length *values*) (late))", "=> (6 :LATE)\n; Your work from "+harness.Elided)
	harness.Says(t, harness.Status(t, s), "\nSandbox: "+mode+", by ")
	harness.WantError(t, s, `(open "`+o.path("elsewhere/secret")+`")`, "[ERROR] ")
	harness.Good(t, s, "load-session", harness.Object{"file": "session.lisp"})
}

// Without a core images are compiled in their own directory, in the sandbox.
func TestSandboxServesWithoutCore(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	s := o.serve(t, "--sandbox", "strict", "--no-core")
	harness.SendCall(t, s, "(+ 1 2)")
	if await.Until(func() bool { return strings.Contains(harness.Status(t, s), "Image: running") }) != nil {
		t.Fatal(harness.Status(t, s))
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	harness.WantError(t, s, `(open "`+o.path("elsewhere/secret")+`")`, "[ERROR] ")
}

// controlGroups are the directories of the control groups that a server has.
func controlGroups(server int) (dirs []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "swank-mcp-"+strconv.Itoa(server)+"-") {
			dirs = append(dirs, path)
		}
		return nil
	})
	return dirs
}

// All processes of an image together have no more memory than --limits says, where there can
// be control groups; else it is said that there is no such limit. The session goes on.
func TestSandboxMemory(t *testing.T) {
	tier.More(t)
	t.Parallel()
	// dd has the whole block in memory.
	hog := func(mb int) string {
		return fmt.Sprintf(`(nth-value 2 (uiop:run-program "dd if=/dev/zero of=/dev/null bs=%dMB count=1 iflag=fullblock || exit 1" :ignore-error-status t))`, mb)
	}
	limit := []string{"--heap", "512", "--limits", "memory=600"}
	takes := func(s *harness.Server, mb int, text string) {
		t.Helper()
		harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": hog(mb), "timeout": 300}, text)
	}
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			if uid != 0 {
				s := o.serve(t, append(limit, "--sandbox", "on")...)
				takes(s, 700, "=> 0")
				harness.Says(t, harness.Status(t, s), "memory limited for each of its processes, not for all together (only root", "missing: the memory of all processes of an image together is not limited to what --limits memory says")
				command := o.program(o.binary, append(limit, "--sandbox", "strict", "eval", "1")...)
				strict := await.Command(t, command[0], command[1:]...)
				strict.Env, strict.Dir = o.env(), o.path("project")
				if out, err := strict.CombinedOutput(); err == nil || !strings.Contains(string(out), "--limits memory") {
					t.Errorf("strict: %v\n%s", err, out)
				}
				return
			}
			s := o.serve(t, append(limit, "--sandbox", "strict")...)
			harness.Want(t, s, "(defvar *here* 1)", "=> *HERE*")
			harness.Says(t, harness.Status(t, s), "at most 600 MB of memory for all its processes together")
			takes(s, 100, "=> 0")
			takes(s, 700, "=> 1")
			harness.Want(t, s, `(handler-case (with-open-file (out "/tmp/full" :direction :output :if-exists :append :if-does-not-exist :create :element-type '(unsigned-byte 8))
			  (let ((bytes (make-array 1000000 :element-type '(unsigned-byte 8) :initial-element 1))) (loop repeat 900 do (write-sequence bytes out)) :all)) (error () :refused))`, "=> :REFUSED")
			harness.Want(t, s, "*here*", "=> 1")
			if groups := controlGroups(s.PID()); len(groups) < 2 {
				t.Errorf("its control groups are %q", groups)
			}
			command := append([]string{"--sandbox", "on", "--heap", "512"}, "doctor")
			doctor := await.Command(t, o.binary, command...)
			doctor.Env, doctor.Dir = o.env(), o.path("project")
			out, err := doctor.CombinedOutput()
			harness.Check(t, err)
			harness.Says(t, string(out), "at most 4608 MB of memory for all its processes together\n")
		})
	}
}

// Nothing is left of a sandbox when its server has ended: no directory and no control group.
func TestSandboxLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, uid := range accounts() {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, uid)
			s := o.serve(t, "--sandbox", "strict")
			harness.WantRuns(t, s, `(sb-ext:run-program "/bin/sh" '("-c" "setsid sleep 300 & exec sleep 300") :wait nil)`)
			pid := s.PID()
			harness.Check(t, s.Close(await.Ceiling))
			left, _ := filepath.Glob(o.path("run/swank-mcp.*"))
			if left = append(left, controlGroups(pid)...); len(left) > 0 {
				t.Errorf("these are left: %q", left)
			}
		})
	}
}
