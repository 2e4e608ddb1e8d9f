package lisp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An attempt to connect again says what has become of the image that was there.
func TestGuestOf(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	g, target := guestOf{pid: cmd.Process.Pid, program: exe}, Target{Network: "tcp", Address: "127.0.0.1:4005"}
	silent := &StartError{Problem: "no Swank at 127.0.0.1:4005: nothing.", Advice: "Compare the secret.", silent: true}
	for _, c := range []struct {
		name string
		harm func()
		want string
	}{
		{"idle", func() {}, "does nothing. After a fatal error"},
		{"stopped", func() { cmd.Process.Signal(syscall.SIGSTOP) }, " is stopped "},
		{"gone", func() { cmd.Process.Kill(); cmd.Wait() }, " has ended"},
	} {
		c.harm()
		time.Sleep(50 * time.Millisecond)
		err := g.told(target, silent)
		var start *StartError
		if !errors.As(err, &start) || !strings.Contains(start.Problem, c.want) || c.name != "gone" && strings.Contains(start.Advice, "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := (guestOf{}).told(target, silent); err != error(silent) {
		t.Errorf("of an image that is not known: %v", err)
	}
}
