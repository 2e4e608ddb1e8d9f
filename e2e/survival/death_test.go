package survival

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
)

// An evaluation that cannot be stopped costs the image, never the session.
func TestUnstoppableLoop(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t, "--no-checkpoints")
	l := harness.Begin(t, s)
	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(sb-sys:without-interrupts (loop))", "timeout": 2})
	if !r.IsError || !strings.HasPrefix(r.Text(), "[TIMEOUT] Evaluation exceeded 2 seconds") {
		t.Errorf("answered (isError %v):\n%s", r.IsError, r.Text())
	}
	if !strings.Contains(r.Text(), "could not be stopped") && !strings.Contains(r.Text(), "cannot be stopped") {
		t.Errorf("the reply does not say that the evaluation could not be stopped:\n%s", r.Text())
	}
	newImage(t, s, l)
}

// newImage checks that the next call is answered by a new image and that the
// old one is no more. The server takes no checkpoints: whether there would be one
// depends on how long it was idle.
func newImage(t *testing.T, s *harness.Server, old harness.Life) {
	t.Helper()
	wantReplaced(t, s)
	if pid := harness.ImagePID(t, s); pid == old.Pid {
		t.Errorf("the image is still process %d", pid)
	}
	if !harness.Gone(old.Pid) {
		t.Errorf("the old image, process %d, is still there", old.Pid)
	}
	harness.Want(t, s, "(defvar *again* 1) (incf *again*)", "=> 2")
}

// wantReplaced evaluates (+ 1 2), whose reply must also say, this once, that it
// comes from a new image and what has come back.
func wantReplaced(t *testing.T, s *harness.Server) {
	t.Helper()
	text := harness.Want(t, s, "(+ 1 2)", "=> 3\n; The image was replaced…Restored: …")
	if strings.Count(text, "\n") != 1 {
		t.Errorf("the note has more than a line:\n%s", text)
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// A look-up, too, says that the image has died, and not that the server is broken.
func TestImageKilledInMidLookUp(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, tool := range []string{"describe-symbol", "list-definitions"} {
		t.Run(tool, func(t *testing.T) {
			s := harness.Start(t, "--no-checkpoints")
			l := harness.Begin(t, s)
			stall.Stop(t, l.Pid) // so that it does not answer before
			args := harness.Object{}
			if tool == "describe-symbol" {
				args["name"] = "car"
			}
			p := harness.SendTool(t, s, tool, args)
			time.Sleep(300 * time.Millisecond)
			syscall.Kill(l.Pid, syscall.SIGKILL)
			died(t, p, "kill")
			wantReplaced(t, s)
		})
	}
}

func TestImageKilledInMidEvaluation(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"(sleep 100)", "(loop)", "(loop (print 1))"} {
		t.Run(code, func(t *testing.T) {
			s := harness.Start(t, "--no-checkpoints")
			l := harness.Begin(t, s)
			p := harness.Running(t, s, code)
			syscall.Kill(l.Pid, syscall.SIGKILL)
			died(t, p, "kill")
			newImage(t, s, l)
		})
	}
}

// died waits for the report of an image's death, which must name its cause.
func died(t *testing.T, p *wire.Pending, cause string) {
	t.Helper()
	harness.WantAnswer(t, p, "[ERROR] IMAGE-DIED\n…"+cause+harness.Elided)
}

func TestImageEndsItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, cause string }{
		{"exit that cannot be refused", "(sb-ext:exit :code 7 :abort t)", "7"},
		{"crash", "(sb-alien:alien-funcall (sb-alien:extern-alien \"abort\" (function sb-alien:void)))", "SIGABRT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := harness.Start(t, "--no-checkpoints")
			l := harness.Begin(t, s)
			p := harness.SendCall(t, s, c.code)
			died(t, p, c.cause)
			newImage(t, s, l)
		})
	}
}

func TestImageKilledWhileIdle(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, "--no-checkpoints")
	l := harness.Begin(t, s)
	syscall.Kill(l.Pid, syscall.SIGKILL)
	s.Loses(t, l.Pid)
	newImage(t, s, l)
}

func TestImageKilledTenTimes(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t, "--no-checkpoints")
	for range 10 {
		l := harness.Begin(t, s)
		syscall.Kill(l.Pid, syscall.SIGKILL)
		if !harness.Gone(l.Pid) {
			t.Fatal("the image survived SIGKILL")
		}
		// Whether this call still goes to the dead image, and says so, or to a
		// new one, is a race with the news.
		if text, isErr := harness.Eval(t, s, "(kept 100)"); isErr {
			if !strings.HasPrefix(text, "[ERROR] IMAGE-DIED\n") {
				t.Errorf("after a death:\n%s", text)
			}
			newImage(t, s, l)
		} else if !strings.HasPrefix(text, "=> 141\n; The image was replaced") {
			t.Errorf("after a death:\n%s", text)
		}
	}
}

// However the server ends, and whatever the image is doing: no Lisp is left.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	// The child lives longer than the image, and no longer than the test.
	child := filepath.Join(t.TempDir(), "lives")
	harness.Write(t, child, "")
	for _, c := range []struct{ name, code string }{
		{"idle", ""},
		{"looping", "(loop)"},
		{"without interrupts", "(sb-sys:without-interrupts SIGN (loop))"},
		{"without gcing", "(sb-sys:without-gcing SIGN (loop))"},
		{"printing", "(loop (print 1))"},
		{"with a child", fmt.Sprintf(`(let ((child (sb-ext:run-program "/bin/sh" '("-c" "while test -e %s; do sleep 0.1; done") :wait nil))) SIGN (sb-ext:process-wait child))`, child)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := harness.Start(t)
			l := harness.Begin(t, s)
			if c.code != "" {
				harness.Running(t, s, c.code)
			}
			if strings.Contains("ZX", harness.State(l.Pid)) {
				t.Fatalf("no image to begin with")
			}
			s.Kill()
			if !harness.Gone(l.Pid) {
				t.Errorf("process %d (%s) lives on after its server was killed", l.Pid, harness.Command(l.Pid))
				syscall.Kill(l.Pid, syscall.SIGKILL)
			}
		})
	}
}

// At the end of its input the server ends at once, and all below it.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Begin(t, s)
	p := harness.SendCall(t, s, "(progn (sleep 0.2) :drained)")
	time.Sleep(50 * time.Millisecond)
	kids := harness.Descendants(s.PID())
	if len(kids) == 0 {
		t.Fatal("found no process below the server")
	}
	s.CloseStdin()
	harness.WantAnswer(t, p, "=> :DRAINED")
	await.From(t, "the end of the server", s.Exited())
	for _, pid := range kids {
		if !harness.Gone(pid) {
			t.Errorf("process %d (%s) outlived its server", pid, harness.Command(pid))
		}
	}
}
