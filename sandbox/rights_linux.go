package sandbox

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// limit sets the limits of each process.
func limit(l limits) error {
	resources := map[int]uint64{unix.RLIMIT_AS: l.Memory, unix.RLIMIT_FSIZE: l.File, unix.RLIMIT_NOFILE: l.Open, unix.RLIMIT_NPROC: l.Processes}
	for resource, n := range resources {
		if n == 0 {
			continue
		}
		var old syscall.Rlimit
		if err := syscall.Getrlimit(resource, &old); err != nil {
			return err
		}
		n = min(n, old.Max)
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	return syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{})
}

// limitFiles has processes make no file longer, or than most bytes. Those that have ended do not
// matter. Only who may raise limits again takes from the processes the right to do that.
func limitFiles(pids []int, nothing bool, most uint64) error {
	if nothing {
		most = 0
	}
	mayRaise := has(unix.CAP_SYS_RESOURCE)
	var problems []error
	for _, pid := range pids {
		var limit unix.Rlimit
		err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit)
		if mayRaise {
			limit.Max = most
		}
		limit.Cur = min(most, limit.Max)
		if err == nil {
			err = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// giveUpRights gives up all capabilities, for ever: this thread's, and those that root or a
// program with capabilities would get.
func giveUpRights() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for capability := range uintptr(64) {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) // only who may give rights can; nobody gets them in any case
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
