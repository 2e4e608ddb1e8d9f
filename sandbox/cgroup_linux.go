package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The processes of root are not counted by its limit, so they are in a control group that
// does it. The name of one has the process that has made it, which removes it.

const groupPrefix = "swank-mcp-"

var groups atomic.Int64

// countingGroups returns the directory in which groups can be made that count processes, or
// "". It removes those of servers that are no more.
func countingGroups() string {
	for _, base := range groupBases() {
		old, _ := filepath.Glob(filepath.Join(base, groupPrefix+"*"))
		for _, dir := range old {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
			if _, err := strconv.Atoi(pid); err != nil {
				continue // it is somebody else's
			}
			if _, err := os.Stat("/proc/" + pid); err != nil {
				_ = os.Remove(dir)
			}
		}
		if dir, err := makeGroup(base, processes); err == nil {
			_ = os.Remove(dir)
			return base
		}
	}
	return ""
}

// groupBases are where groups may be made: in the one hierarchy of version 2, or in that of
// the controller pids.
func groupBases() []string {
	const all = "/sys/fs/cgroup"
	if controllers, err := os.ReadFile(all + "/cgroup.controllers"); err == nil {
		if strings.Contains(string(controllers), "pids") {
			_ = os.WriteFile(all+"/cgroup.subtree_control", []byte("+pids"), 0)
		}
		return []string{all}
	}
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		if _, path, ok := strings.Cut(strings.TrimSpace(line), ":pids:"); ok {
			return []string{filepath.Join(all, "pids", path), all + "/pids"}
		}
	}
	return nil
}

// makeGroup makes a group that has at most so many processes.
func makeGroup(base string, most uint64) (dir string, err error) {
	dir = filepath.Join(base, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1)))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.FormatUint(most, 10)), 0); err != nil {
		_ = os.Remove(dir)
		return "", err
	}
	return dir, nil
}

// enterGroup puts this process into a group.
func enterGroup(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
}

// endGroup kills what is left in a group and removes it.
func endGroup(dir string) {
	for range 100 {
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(pid); err == nil && pid > 1 {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
