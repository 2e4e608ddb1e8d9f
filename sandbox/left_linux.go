package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// What an image has left behind is found by the file system of its own, which nobody in it can
// leave and nobody else has.

// space is the mount namespace of an image's processes. The kernel gives the number of a namespace
// to the next one as soon as it has no process and no descriptor, so a descriptor is held. The zero
// value has no processes.
type space struct {
	mu   sync.Mutex
	held *os.File // nil before hold, and after end
	name string   // as links in proc(5) have it; "" while nothing is held
}

// hold makes s the namespace of a process, unless that has ended or is another user's.
func (s *space) hold(pid int) {
	held, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/mnt")
	if err != nil {
		return
	}
	name, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(held.Fd())))
	if own, _ := os.Readlink("/proc/self/ns/mnt"); err != nil || name == own {
		held.Close()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.name = held, name
}

// pids returns the processes in s.
func (s *space) pids() (pids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		return nil
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			continue
		}
		if name, err := os.Readlink(process + "/ns/mnt"); err == nil && name == s.name {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end kills the processes in s and lets go of it.
func (s *space) end() {
	endAll(s.pids)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		s.held.Close()
	}
	s.held, s.name = nil, ""
}

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
