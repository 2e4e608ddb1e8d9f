package launch

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"swank-mcp/swank/lisp/host"
)

// orphanTime is how long a child that has ended may still be somebody's who is about to
// wait for it.
const orphanTime = time.Second

// reaper lets go of orphans for all who want it.
var reaper struct {
	sync.Mutex
	users int
	over  chan struct{} // closed when there is none any more
	done  chan struct{} // closed when its goroutine has ended
}

// reapOrphans lets go of the processes that the program's processes leave behind, when
// they have ended: adopt has made them our children, and nobody waits for them. One
// goroutine does that for all who have called; the last stop ends it.
func reapOrphans() (stop func()) {
	reaper.Lock()
	defer reaper.Unlock()
	if reaper.users++; reaper.users == 1 {
		over, done := make(chan struct{}), make(chan struct{})
		reaper.over, reaper.done = over, done
		go func() {
			defer close(done)
			reap(over)
		}()
	}
	return sync.OnceFunc(func() {
		reaper.Lock()
		defer reaper.Unlock()
		if reaper.users--; reaper.users == 0 {
			close(reaper.over)
			<-reaper.done
		}
	})
}

// reap does it until over is closed.
func reap(over <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	var soon <-chan time.Time
	seen := map[int]bool{}
	for {
		select {
		case <-over:
			return
		case <-ended:
			if soon == nil {
				soon = time.After(orphanTime)
			}
		case <-soon:
			soon = nil
			before := seen
			seen = map[int]bool{}
			for _, pid := range endedOrphans() {
				if before[pid] {
					_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
				} else {
					seen[pid] = true
					soon = time.After(orphanTime)
				}
			}
		}
	}
}

// endedOrphans returns our children that have ended and that we did not start: those that
// we start are noted by [host.Own], or are in our group, which an image and what comes of
// it is not.
func endedOrphans() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/[0-9]*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			stat, _ := os.ReadFile("/proc/" + child + "/stat") // see proc(5)
			var pid, parent, group int
			var state string
			_, _ = fmt.Sscan(child, &pid)
			_, err := fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &state, &parent, &group)
			if err == nil && state == "Z" && group != syscall.Getpgrp() && !host.Owned(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
