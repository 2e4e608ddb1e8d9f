package launch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// adopts reports whether adopt does something.
const adopts = true

// adopt makes processes whose parents have ended our children: the copies of an image
// outlive it, and we learn how they end.
var adopt = sync.OnceFunc(func() {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, see prctl(2)
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
})

// reapGroup lets go of the processes of a group that has been killed which have become our
// children. Its leader has been waited for, so that all have that will. It takes as long
// as they take to end.
func reapGroup(group int) {
	for {
		switch pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); {
		case err == syscall.EINTR:
		case err != nil:
			return
		case pid <= 0:
			children(func(pid int, _ string, of int) {
				if of == group {
					awaitEnd(pid)
				}
			})
		}
	}
}

// memoryOf returns how much anonymous memory a process has, in bytes: its share of what it
// has in common with others, and all of it. Only a process and its copies have any in
// common; the pages of a core are common to all that were started from it. See proc(5).
func memoryOf(pid int) (share, whole int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0
	}
	size := func(name string) int64 {
		_, rest, _ := bytes.Cut(text, []byte("\n"+name+":"))
		kB, _, _ := bytes.Cut(rest, []byte(" kB"))
		n, _ := strconv.ParseInt(string(bytes.TrimSpace(kB)), 10, 64)
		return n << 10
	}
	return size("Pss_Anon"), size("Anonymous")
}
