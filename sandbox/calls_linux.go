package sandbox

import (
	"slices"
	"strings"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// refused are the system calls that no image needs: to look into other processes, to change
// what files, networks, clocks and the kernel are for all, and doors past the other filters.
var refused = strings.Fields(`ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp
	mount umount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr setns unshare
	swapon swapoff reboot kexec_load kexec_file_load init_module finit_module delete_module create_module query_module
	bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key
	quotactl quotactl_fd acct settimeofday stime clock_settime clock_settime64 clock_adjtime clock_adjtime64 adjtimex
	iopl ioperm vm86 vm86old modify_ldt open_by_handle_at name_to_handle_at lookup_dcookie nfsservctl syslog
	sethostname setdomainname vhangup fanotify_init fanotify_mark move_pages migrate_pages uselib ustat sysfs _sysctl
	get_kernel_syms afs_syscall tuxcall security vserver getpmsg putpmsg socketcall ipc`)

// otherwise are those that change a file which Landlock would not let be written: its mode,
// owner, times, attributes. In a root of its own only the image's files can be changed.
var otherwise = strings.Fields(`chmod fchmodat fchmodat2 chown lchown fchownat utime utimes futimesat
	setxattr lsetxattr removexattr lremovexattr setxattrat removexattrat
	shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semctl semtimedop mq_open mq_unlink`)

// filterCalls has the kernel refuse all system calls but those that p allows.
func filterCalls(p *policy) error {
	if !seccomp.Supported() {
		return nil // the sandbox has said so
	}
	filters, err := filtersFor(p)
	if err != nil {
		return err
	}
	// Each refusal of some arguments is a filter of its own: the strictest of all counts.
	for _, filter := range filters {
		if err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: filter}); err != nil {
			return err
		}
	}
	return nil
}

func filtersFor(p *policy) ([]seccomp.Policy, error) {
	machine, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	no := slices.Clone(refused)
	if !p.NewRoot {
		no = append(no, otherwise...)
	}
	var yes []string
	for name := range machine.SyscallNames {
		if !slices.Contains(no, name) && name != "clone3" {
			yes = append(yes, name)
		}
	}
	slices.Sort(yes)
	// What is not allowed, by another interface of the processor too, is refused.
	filters := []seccomp.Policy{{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		{Names: []string{"clone3"}, Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)}, // clone is tried then, whose arguments can be seen
		{Names: yes, Action: seccomp.ActionAllow},
	}}}
	refuse := func(name string, conditions ...seccomp.Condition) {
		if _, has := machine.SyscallNames[name]; has {
			filters = append(filters, seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
				{NamesWithCondtions: []seccomp.NameWithConditions{{Name: name, Conditions: conditions}}, Action: seccomp.ActionErrno},
			}})
		}
	}
	is := func(argument uint32, operation seccomp.Operation, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: argument, Operation: operation, Value: value}
	}
	notLocal := is(0, seccomp.NotEqual, unix.AF_UNIX)
	refuse("socketpair", notLocal)
	if len(p.Ports) == 0 {
		refuse("socket", notLocal)
	} else { // TCP alone: Landlock knows its ports
		refuse("socket", notLocal, is(0, seccomp.NotEqual, unix.AF_INET), is(0, seccomp.NotEqual, unix.AF_INET6))
		refuse("socket", notLocal, is(1, seccomp.BitsSet, 0xf&^unix.SOCK_STREAM))
		refuse("socket", notLocal, is(2, seccomp.NotEqual, 0), is(2, seccomp.NotEqual, unix.IPPROTO_TCP))
		refuse("sendto", is(3, seccomp.BitsSet, unix.MSG_FASTOPEN)) // it connects
		refuse("sendmsg", is(2, seccomp.BitsSet, unix.MSG_FASTOPEN))
		refuse("sendmmsg", is(3, seccomp.BitsSet, unix.MSG_FASTOPEN))
	}
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	refuse("clone", is(0, seccomp.BitsSet, namespaces))
	const device = unix.S_IFCHR // and the bit that block devices have, too
	refuse("mknod", is(1, seccomp.BitsSet, device))
	refuse("mknodat", is(2, seccomp.BitsSet, device))
	// What one process sets for another of its user; Landlock has signals alone.
	for _, name := range []string{"prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"} {
		refuse(name, is(0, seccomp.NotEqual, 0))
	}
	refuse("setpriority", is(1, seccomp.NotEqual, 0))
	refuse("ioprio_set", is(1, seccomp.NotEqual, 0))
	if !p.NewRoot { // of a path, not of an open file
		refuse("utimensat", is(1, seccomp.NotEqual, 0))
	}
	return filters, nil
}
