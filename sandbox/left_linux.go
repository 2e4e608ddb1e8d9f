package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// What an image has left behind is found by the file system of its own, which nobody in it can
// leave and nobody else has.

// mountsOf names the file system of a process; "" if it has ended or is another user's.
func mountsOf(pid string) string {
	name, _ := os.Readlink("/proc/" + pid + "/ns/mnt")
	return name
}

// inSpace are the processes whose file system is that of the name space.
func inSpace(space string) (pids []int) {
	if space == "" || space == mountsOf("self") {
		return nil
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		name := filepath.Base(process)
		if pid, err := strconv.Atoi(name); err == nil && mountsOf(name) == space {
			pids = append(pids, pid)
		}
	}
	return pids
}

// endSpace kills the processes whose file system is that of the name space.
func endSpace(space string) { endAll(func() []int { return inSpace(space) }) }

// endAll kills the processes that left returns, which may have made others meanwhile, until it
// returns none that can be killed. A process that is killed ends as soon as it has a processor.
func endAll(left func() []int) {
	const longest = time.Second // of one that waits for a device
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longest) {
		some := false
		for _, pid := range left() {
			some = syscall.Kill(pid, syscall.SIGKILL) == nil || some
		}
		if !some {
			return
		}
		time.Sleep(pause)
	}
}
