package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/elastic/go-seccomp-bpf"
	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"swank-mcp/swank/lisp/launch"
)

// able is what this system can do.
type able struct {
	landlock int         // version of its interface; 0: there is none
	seccomp  bool        // filters of system calls
	root     string      // why there is no file system of our own; "" if there can be one
	user     bool        // it needs a user namespace
	groups   controllers // where control groups can be made
}

// answered is what the system has said it can do; nil until it has said all of it.
var answered atomic.Pointer[able]

// whatIsAble asks the system, in some ten milliseconds, unless it has answered before. The
// error says why it has not answered now; the next caller asks again.
func whatIsAble(ctx context.Context) (able, error) {
	if a := answered.Load(); a != nil {
		return *a, nil
	}
	if os.Getenv(policyVariable) != "" {
		return able{}, nil // a program that does not call Confine has started itself again
	}
	a := able{seccomp: seccomp.Supported(), user: !has(unix.CAP_SYS_ADMIN)}
	if version, err := landlock.LandlockGetABIVersion(); err == nil {
		a.landlock = version
	}
	var err error
	if a.root, err = a.tryRoot(ctx); err != nil {
		return able{}, err
	}
	if os.Getuid() == 0 {
		a.groups = findControllers()
	}
	answered.Store(&a)
	return a, nil
}

// has reports whether this process has a capability.
func has(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[capability/32].Effective&(1<<(capability%32)) != 0
}

// tryRoot tries to make a file system of our own as for an image, and returns why the system
// refuses that, "" if it does not. The error says why nothing is known of it: ctx has ended,
// or the system lacks something for the moment.
func (a able) tryRoot(ctx context.Context) (why string, err error) {
	own, err := os.MkdirTemp("", "swank-mcp.try-")
	if err != nil {
		return "", err
	}
	a.root, a.groups = "", controllers{}
	p := &policy{Own: own, Cache: own, Temp: "/tmp", NewRoot: true, Reads: existing(systemReads), Limits: limits{Temp: mib}}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", Command, "true")
	cmd.Path = "/proc/self/exe"
	cmd.Env = os.Environ()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := a.apply(cmd, p); err != nil {
		_ = os.RemoveAll(own)
		return "", err
	}
	cmd.Args = []string{"swank-mcp", Command, tryOnly}
	var out []byte
	tried := make(chan error, 1)
	go func() { // ends with the process; one that the kernel does not let die keeps no caller
		defer os.RemoveAll(own)
		text, err := cmd.CombinedOutput()
		out = text
		tried <- err
	}()
	select {
	case err = <-tried:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	switch ended := (*exec.ExitError)(nil); {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.As(err, &ended) && (!ended.Exited() || ended.ExitCode() == tryAgain), passing(err):
		return "", fmt.Errorf("trying it: %w: %s", err, firstLine(string(out)))
	}
	return strings.TrimSpace(firstLine(string(out)) + " (" + err.Error() + ")"), nil
}

// passing reports whether err says that the system lacks something for the moment.
func passing(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EINTR},
		func(lack syscall.Errno) bool { return errors.Is(err, lack) })
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func (a able) newRoot() bool { return a.root == "" }

func (a able) limitsMemory() bool { return a.groups.memory != "" }

// by names what confines.
func (a able) by() string {
	var means []string
	if a.landlock > 0 {
		means = append(means, "Landlock "+strconv.Itoa(a.landlock))
	}
	if a.seccomp {
		means = append(means, "seccomp")
	}
	if a.root == "" {
		means = append(means, "a file system of its own")
	}
	if a.groups != (controllers{}) {
		means = append(means, "a control group")
	}
	return strings.Join(means, ", ")
}

// missing says what cannot be kept from an image here.
func (a able) missing(o Options) (texts []string) {
	add := func(missing bool, text string) {
		if missing {
			texts = append(texts, text)
		}
	}
	add(a.landlock == 0 && a.root != "", "all files of its user can be read and written, because the kernel has no Landlock and no file system of its own can be made: "+a.root)
	add(a.landlock > 0 && a.landlock < 3 && a.root != "", "files elsewhere can be cut to nothing (Landlock 3 is needed)")
	add(a.landlock < 6, "other processes of its user can be sent signals (Landlock 6 is needed)")
	add(a.landlock < 6, "abstract sockets of other processes can be reached (Landlock 6 is needed)")
	add(a.landlock < 1, "other processes of its user can be looked at (Landlock is needed)")
	add(a.landlock < 9 && a.root != "", "sockets in the file system, as of a user's services, can be reached, because no file system of its own can be made: "+a.root)
	add(!a.seccomp, "system calls are not filtered: networks, tracing and mounting are not refused (seccomp is needed)")
	add(len(o.Ports) > 0 && a.landlock < 4, "TCP connections to all ports are possible (Landlock 4 is needed)")
	add(o.MemoryMB > 0 && a.groups.memory == "", "the memory of all processes of an image together is not limited to what --limits memory says, but that of each: "+noMemoryGroup)
	switch {
	case os.Getuid() == 0:
		add(a.groups.pids == "", "processes are not counted: root's need a control group with the controller pids, which cannot be made here")
	default:
		add(a.root != "", "processes are not counted (a user namespace is needed)")
	}
	return texts
}

// noMemoryGroup is what a limit of all memory needs.
const noMemoryGroup = "only root can have control groups, and they need the controller memory"

// memory says what is limited of an image's memory, where no more than so many MB are wanted.
func (a able) memory(mb uint64) string {
	if a.groups.memory == "" {
		return "memory limited for each of its processes, not for all together (" + noMemoryGroup + ")"
	}
	return fmt.Sprintf("at most %d MB of memory for all its processes together", mb)
}

// apply has cmd start this program, which confines itself by p and becomes what cmd was to
// start.
func (a able) apply(cmd *exec.Cmd, p *policy) (w *launch.Wrapped, err error) {
	w = new(launch.Wrapped)
	most := p.Limits.File
	all := func() []int { return nil } // what came of it that nobody may have started any more
	w.Files = func(pids []int, nothing bool) error { return limitFiles(append(pids, all()...), nothing, most) }
	if a.groups != (controllers{}) {
		if p.Groups, err = a.groups.makeGroup(p.Limits); err != nil {
			return nil, err
		}
		group := p.Groups
		w.End = func() { endGroup(group) }
		all = func() []int { return inGroup(group[0]) }
		if a.groups.cpu != "" {
			w.CPU = func() (time.Duration, bool) { return cpuOf(group) }
		}
	}
	if a.groups.pids != "" {
		p.Limits.Processes = 0
	} else if !p.NewRoot || os.Getuid() == 0 {
		p.Limits.Processes = 0 // all processes of the user count, or none
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, policyVariable+"="+string(text))
	cmd.Args = append([]string{"swank-mcp", Command, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/proc/self/exe"
	if !p.NewRoot {
		return w, nil
	}
	if len(p.Groups) == 0 {
		var own space
		w.Started, w.End, all = own.hold, own.end, own.pids
	}
	attributes := cmd.SysProcAttr
	attributes.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC
	if a.user {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		attributes.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}
	}
	return w, nil
}

// policyVariable has the policy, in the environment of the program that confines itself.
const policyVariable = "SWANK_MCP_POLICY"

// tryOnly is the argument with which it becomes nothing, and tryAgain the status with which it
// then ends if the system has lacked something for the moment.
const (
	tryOnly  = "--try"
	tryAgain = 75
)

func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
