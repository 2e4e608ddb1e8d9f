package launch

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"swank-mcp/swank/lisp/host"
)

// orphanTime is how long a child that has ended may still be somebody's who is about to
// wait for it.
const orphanTime = time.Second

// reaping is held by the one who looks for orphans: they are of the whole process, and
// where it has many images, each of those would look at the children of all.
var reaping = make(chan struct{}, 1)

// reapOrphans lets go of the processes that the program's processes leave behind, when
// they have ended: adopt has made them our children, and nobody waits for them. It
// returns when over is closed.
func reapOrphans(over <-chan struct{}) {
	select {
	case reaping <- struct{}{}:
		defer func() { <-reaping }()
	case <-over:
		return
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	soon := time.After(0) // what the one before has not come to
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
	children(func(pid int, state string, group int) {
		if state == "Z" && group != syscall.Getpgrp() && !host.Owned(pid) {
			pids = append(pids, pid)
		}
	})
	return pids
}
