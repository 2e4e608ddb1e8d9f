package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many processes are waited for without a thread for each, and each end is seen when it comes.
func TestAwaitEnd(t *testing.T) {
	const many = 60
	threads := func() int {
		all, err := filepath.Glob("/proc/self/task/[0-9]*")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := threads()
	var ended atomic.Int32
	var waiting sync.WaitGroup
	var all []*os.Process
	for range many {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd.Process)
		waiting.Go(func() {
			awaitEnd(cmd.Process.Pid)
			ended.Add(1)
			_ = cmd.Wait()
		})
	}
	time.Sleep(300 * time.Millisecond)
	if n := threads() - before; n > many/2 || ended.Load() != 0 {
		t.Errorf("%d processes are waited for by %d threads; %d seem to have ended", many, n, ended.Load())
	}
	for i, p := range all {
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); ended.Load() != int32(i+1); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d were killed, and %d have ended", i+1, ended.Load())
			}
		}
	}
	waiting.Wait()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	awaitEnd(cmd.Process.Pid) // it has ended before
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	awaitEnd(cmd.Process.Pid) // nobody is called so any more
}
