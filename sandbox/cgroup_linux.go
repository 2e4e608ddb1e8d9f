package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Control groups limit and count what the processes of an image use up together; of root's
// the number of processes, too, for which its own limit does not hold. The name of a group
// has the process that has made it, which removes it.

const (
	allGroups   = "/sys/fs/cgroup"
	groupPrefix = "swank-mcp-"
)

var groups atomic.Int64

// controllers are the directories in which groups can be made that limit the number of
// processes, limit memory, and count the processor's time; each may be "", and several may
// be the same.
type controllers struct{ pids, memory, cpu string }

// findControllers tries what can be done. It removes groups of servers that are no more.
func findControllers() (c controllers) {
	removeOldGroups()
	for _, base := range groupBases("pids", allGroups+"/pids") {
		if c.pids == "" && (controllers{pids: base}).work() {
			c.pids = base
		}
	}
	for _, base := range groupBases("memory") { // elsewhere it would leave the limit that the server has
		if c.memory == "" && (controllers{memory: base}).work() {
			c.memory = base
		}
	}
	for _, base := range groupBases("cpuacct", allGroups+"/cpuacct") {
		if c.cpu == "" && (controllers{cpu: base}).work() {
			c.cpu = base
		}
	}
	return c
}

// groupBases are where groups for a controller of version 1 may be made: in the one hierarchy
// of version 2, or in that of the controller, where this process is, or at last elsewhere.
func groupBases(controller string, elsewhere ...string) []string {
	if all, err := os.ReadFile(allGroups + "/cgroup.controllers"); err == nil {
		if slices.Contains(strings.Fields(string(all)), controller) {
			_ = os.WriteFile(allGroups+"/cgroup.subtree_control", []byte("+"+controller), 0)
		}
		return []string{allGroups}
	}
	text, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && slices.Contains(strings.Split(parts[1], ","), controller) {
			return append([]string{filepath.Join(allGroups, controller, parts[2])}, elsewhere...)
		}
	}
	return nil
}

func removeOldGroups() {
	bases := slices.Concat(groupBases("pids", allGroups+"/pids"), groupBases("memory"), groupBases("cpuacct", allGroups+"/cpuacct"))
	for _, base := range bases {
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
	}
}

// work reports whether a group can be made there.
func (c controllers) work() bool {
	dirs, err := c.makeGroup(limits{Processes: processes, Together: 64 * mib})
	if err != nil {
		return false
	}
	_, counts := cpuOf(dirs)
	for _, dir := range dirs {
		_ = os.Remove(dir)
	}
	return counts || c.cpu == ""
}

// makeGroup makes a group for an image with those limits: a directory for each hierarchy.
func (c controllers) makeGroup(l limits) (dirs []string, err error) {
	name := fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1))
	in := func(base string) string {
		dir := filepath.Join(base, name)
		if !slices.Contains(dirs, dir) && err == nil {
			if err = os.Mkdir(dir, 0o755); err == nil {
				dirs = append(dirs, dir)
			}
		}
		return dir
	}
	set := func(dir, file string, n uint64) error {
		return os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatUint(n, 10)), 0)
	}
	if c.pids != "" {
		dir := in(c.pids)
		err = errors.Join(err, set(dir, "pids.max", l.Processes))
	}
	if c.memory != "" {
		dir := in(c.memory)
		if set(dir, "memory.max", l.Together) == nil {
			_ = set(dir, "memory.swap.max", 0) // there may be no swap
		} else {
			err = errors.Join(err, set(dir, "memory.limit_in_bytes", l.Together))
			_ = set(dir, "memory.memsw.limit_in_bytes", l.Together)
		}
	}
	if c.cpu != "" {
		in(c.cpu)
	}
	if err != nil {
		for _, dir := range dirs {
			_ = os.Remove(dir)
		}
		return nil, err
	}
	return dirs, nil
}

// cpuOf is how long all that has been in a group has had the processor, if that is counted.
func cpuOf(dirs []string) (used time.Duration, ok bool) {
	for _, dir := range dirs {
		if text, err := os.ReadFile(filepath.Join(dir, "cpuacct.usage")); err == nil {
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			return time.Duration(n), err == nil
		}
		if text, err := os.ReadFile(filepath.Join(dir, "cpu.stat")); err == nil {
			var n int64
			_, err := fmt.Sscanf(string(text), "usage_usec %d", &n)
			return time.Duration(n) * time.Microsecond, err == nil
		}
	}
	return 0, false
}

// enterGroup puts this process into a group.
func enterGroup(dirs []string) error {
	for _, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return err
		}
	}
	return nil
}

// inGroup are the processes of a group, by one of its directories.
func inGroup(dir string) []int {
	return numbers(filepath.Join(dir, "cgroup.procs"))
}

// numbers returns the processes or threads that a file lists.
func numbers(file string) (list []int) {
	text, _ := os.ReadFile(file)
	for word := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(word); err == nil && n > 1 {
			list = append(list, n)
		}
	}
	return list
}

// endGroup kills what is left in a group and removes it. A group that stays all the same is
// removed by the next server.
func endGroup(dirs []string) {
	for _, dir := range dirs {
		endAll(func() []int { return threadsIn(dir) })
		_ = os.Remove(dir)
	}
}

// threadsIn returns the threads of a group, which cannot be removed before it has none: a
// process that gives back its memory at its end has threads, and inGroup leaves it out.
func threadsIn(dir string) (threads []int) {
	for _, name := range []string{"cgroup.threads", "tasks"} { // of the one version, and the other
		threads = append(threads, numbers(filepath.Join(dir, name))...)
	}
	return threads
}
