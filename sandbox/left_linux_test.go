package sandbox

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// startApart starts a process that waits, with a file system of its own.
func startApart(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// The end of an image ends what has its file system, and nothing that was started after its own
// processes had ended: the kernel uses the numbers of namespaces again at once.
func TestSpaceIsTheImages(t *testing.T) {
	var first, second space
	image := startApart(t)
	first.hold(image.Process.Pid)
	if pids := first.pids(); len(pids) != 1 || pids[0] != image.Process.Pid {
		t.Fatalf("the image %d has the processes %d", image.Process.Pid, pids)
	}
	_ = image.Process.Kill()
	_ = image.Wait()

	next := startApart(t)
	second.hold(next.Process.Pid)
	if pids := first.pids(); len(pids) > 0 {
		t.Errorf("the image that has ended has the processes %d; the next is %d", pids, next.Process.Pid)
	}
	first.end()
	if pids := second.pids(); len(pids) != 1 {
		t.Errorf("after the end of the image before, the next one has the processes %d", pids)
	}
	second.end()
	if err := next.Wait(); err == nil || next.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the image ended by %v, %v", next.ProcessState, err)
	}
	if pids := second.pids(); len(pids) > 0 {
		t.Errorf("at its end, it has the processes %d", pids)
	}
}
