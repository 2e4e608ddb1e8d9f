package tools

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/swank/lisp"
)

func TestStatusText(t *testing.T) {
	full := &lisp.Status{
		State: "running", Launched: true, PID: 4711, Implementation: "SBCL 2.2.9.debian", SwankVersion: "2.27",
		Address: "unix:/tmp/x/swank.sock", FromCore: true, Uptime: 192 * time.Second, Restarts: 1, Package: "COMMON-LISP-USER",
		Running: &lisp.Running{Code: "(loop)", Age: 3200 * time.Millisecond, Frames: []string{"(SPIN)", "(MAIN)"}}, Waiting: 2,
		Definitions: map[string]int{"functions": 3, "variables": 1, "classes": 1, "macros": 0},
		Threads:     []lisp.Thread{{Name: "main thread", Status: "running"}, {Name: "worker"}},
		HeapUsed:    45 << 20, HeapLimit: 2048 << 20, Background: lisp.Text{Head: "late\x1b\n"}, Notes: []string{"a note"},
	}
	want := `Image: running, launched, pid 4711, SBCL 2.2.9.debian, Swank 2.27, from the cached core, unix:/tmp/x/swank.sock
Up: 3 min 12 s, 1 restart
Package: COMMON-LISP-USER
Running for 3.2 s: (loop)
  0: (SPIN)
  1: (MAIN)
Queue: 2 calls wait
Definitions: 1 class, 3 functions, 1 variable
Heap: 45 of 2,048 MB (2%)
Threads: 2: main thread (running), worker
; a note

[background output]
late\u{1B}`
	if diff := cmp.Diff(want, StatusText(full)); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if got, want := StatusText(&lisp.Status{State: "not started"}), "Image: not started, the first evaluate-lisp starts it"; got != want {
		t.Errorf("status = %q, want %q", got, want)
	}
}
