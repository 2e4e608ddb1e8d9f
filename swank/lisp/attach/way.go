package attach

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A way is a process of this machine through which the connection to an attached
// image leads: a tunnel such as ssh or socat, or the command of --attach-command.
type way struct {
	pid   int // 0: the connection leads to the image itself, as far as is known
	name  string
	group bool // pid leads a group of processes, one of which it may be
}

// look finds out what is known of the process of g, and of the way there.
func (g *Guest) look(pipe *commandPipe) Lisp {
	if pipe != nil { // whose other end may be anywhere
		w := processAt(fmt.Sprintf("/proc/%d", pipe.cmd.Process.Pid))
		w.group = w.name != "" // this system tells of processes
		if !w.group {
			w.pid = 0
		}
		return Lisp{way: w}
	}
	l := g.process()
	local, remote := g.Conn.Addrs()
	inode := peerSocket(local, remote)
	if inode == "" || l.pid != 0 && holdsSocket(l.pid, inode) {
		return l
	}
	w := socketHolder(inode)
	if w.pid == g.Info.PID { // a Lisp of another name, as save-lisp-and-die makes them
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.pid))
		return Lisp{pid: w.pid, program: exe}
	}
	l.way = w
	return l
}

// process finds the process that the image says it is, if that is on this machine.
func (g *Guest) process() Lisp {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", g.Info.PID))
	name := strings.ToLower(g.Info.Implementation.Name)
	if err != nil || name == "" || !strings.Contains(strings.ToLower(filepath.Base(exe)), name) {
		return Lisp{} // it may be in another container
	}
	return Lisp{pid: g.Info.PID, program: exe}
}

// condition says whether w is stopped or gone; processUnknown if neither is seen.
func (w way) condition() processCondition {
	state, _ := processState(fmt.Sprintf("/proc/%d", w.pid))
	switch {
	case w.stopped().pid != 0:
		return processWayStopped
	case state == "" || state == "X" || state == "Z":
		return processWayGone
	}
	return processUnknown
}

// stopped returns w, or the process of its group, that is stopped; the zero value if
// none is.
func (w way) stopped() way {
	dirs := []string{fmt.Sprintf("/proc/%d", w.pid)}
	if w.group {
		dirs = slices.DeleteFunc(processes(), func(dir string) bool { return processGroup(dir) != w.pid })
	}
	for _, dir := range dirs {
		if state, _ := processState(dir); state == "T" || state == "t" {
			return processAt(dir)
		}
	}
	return way{}
}

func processAt(dir string) way {
	pid, _ := strconv.Atoi(filepath.Base(dir))
	name, _ := os.ReadFile(filepath.Join(dir, "comm"))
	return way{pid: pid, name: strings.TrimSpace(string(name))}
}

// processes returns the directories of the processes of this machine.
func processes() []string {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	return dirs
}

func processGroup(dir string) int {
	fields := statFields(dir)
	if len(fields) < 3 {
		return 0
	}
	group, _ := strconv.Atoi(fields[2])
	return group
}

// peerSocket returns the inode of the other end of a TCP connection, if that is on
// this machine, and else "".
func peerSocket(local, remote net.Addr) string {
	l, ok := local.(*net.TCPAddr)
	r, ok2 := remote.(*net.TCPAddr)
	if !ok || !ok2 {
		return ""
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, err := os.ReadFile(table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(b)) {
			fields := strings.Fields(line)
			if len(fields) > 9 && isAddress(fields[1], r) && isAddress(fields[2], l) && fields[9] != "0" {
				return fields[9]
			}
		}
	}
	return ""
}

// isAddress reports whether a is written so in /proc/net/tcp: words of 32 bits as a
// little-endian machine reads them, and the port.
func isAddress(written string, a *net.TCPAddr) bool {
	address, port, _ := strings.Cut(written, ":")
	ip, err := hex.DecodeString(address)
	if err != nil || port != fmt.Sprintf("%04X", a.Port) {
		return false
	}
	for word := range slices.Chunk(ip, 4) {
		slices.Reverse(word)
	}
	return net.IP(ip).Equal(a.IP)
}

func holdsSocket(pid int, inode string) bool {
	return holdsSocketIn(fmt.Sprintf("/proc/%d", pid), inode)
}

func holdsSocketIn(dir, inode string) bool {
	links, _ := filepath.Glob(filepath.Join(dir, "fd", "*"))
	return slices.ContainsFunc(links, func(link string) bool {
		to, _ := os.Readlink(link)
		return to == "socket:["+inode+"]"
	})
}

// socketHolder returns the process of this user that has the socket open.
func socketHolder(inode string) way {
	for _, dir := range processes() {
		if w := processAt(dir); w.pid != os.Getpid() && holdsSocketIn(dir, inode) {
			return w
		}
	}
	return way{}
}
