package attach

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/swank/lisp/host"
)

// An attempt to connect again says what has become of the image that was there.
func TestGuestOf(t *testing.T) {
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	g, target := Lisp{pid: cmd.Process.Pid, program: exe}, Target{Network: "tcp", Address: "127.0.0.1:4005"}
	silent := &Error{StartError: host.StartError{Problem: "no Swank at 127.0.0.1:4005: nothing.", Advice: "Compare the secret."}, Silent: true}
	for _, c := range []struct {
		name string
		harm func()
		seen processCondition
		want string
	}{
		{"idle", func() {}, processIdle, "does nothing. After a fatal error"},
		{"stopped", func() { stall.Stop(t, cmd.Process.Pid) }, processStopped, " is stopped "},
		{"gone", func() { cmd.Process.Kill(); cmd.Wait() }, processGone, " has ended"},
	} {
		c.harm()
		await.True(t, "the process is "+c.name, func() bool { return g.condition() == c.seen })
		err := g.Explain(target, silent)
		var start *host.StartError
		if !errors.As(err, &start) || !strings.Contains(start.Problem, c.want) || strings.Contains(start.Advice, "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := (Lisp{}).Explain(target, silent); err != error(silent) {
		t.Errorf("of an image that is not known: %v", err)
	}
}

// The process through which a connection leads is found, and whether it is stopped.
func TestWay(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	file, err := far.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command("sleep", "100")
	cmd.ExtraFiles = []*os.File{file}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })

	inode := peerSocket(near.LocalAddr(), near.RemoteAddr())
	if inode == "" || !holdsSocket(os.Getpid(), inode) || !holdsSocket(cmd.Process.Pid, inode) || holdsSocket(1, inode) {
		t.Fatalf("inode %q", inode)
	}
	w := socketHolder(inode)
	if w.pid != cmd.Process.Pid || w.name != "sleep" {
		t.Errorf("the way is %+v, want process %d", w, cmd.Process.Pid)
	}
	g := Lisp{way: w}
	if c := g.condition(); c != processElsewhere || !g.Worthwhile(farPatience/2) || g.Worthwhile(farPatience) {
		t.Errorf("condition %d", c)
	}
	stall.Stop(t, cmd.Process.Pid)
	await.True(t, "the way is stopped", func() bool { return g.condition() == processWayStopped })
	if g.Worthwhile(0) || !strings.Contains(g.inWords(g.condition()), fmt.Sprintf("process %d (sleep), through which the connection leads, is stopped", w.pid)) {
		t.Errorf("stopped: %s", g.inWords(g.condition()))
	}
	cmd.Process.Kill()
	cmd.Wait()
	if g.condition() != processWayGone {
		t.Errorf("gone: %d", g.condition())
	}
}

// witnessOf starts cmd until the end of the test, and returns its witness and its directory in /proc.
func witnessOf(t *testing.T, cmd *exec.Cmd) (w *witness, dir string) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	dir = fmt.Sprintf("/proc/%d", cmd.Process.Pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	return &witness{lisp: Lisp{pid: cmd.Process.Pid, program: exe}}, dir
}

// A process that runs now and then does not stand still, whatever it does when it is looked at.
func TestWitness(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	w, dir := witnessOf(t, cmd)
	stop := func() {
		t.Helper()
		stall.Stop(t, cmd.Process.Pid)
		for state := ""; state != "T"; {
			if state, _ = processState(dir); t.Context().Err() != nil {
				t.Fatal("it is not stopped")
			}
		}
	}
	for look := range 5 {
		before, _ := processorTime(dir)
		cmd.Process.Signal(syscall.SIGCONT)
		for now := before; now-before < atWork && t.Context().Err() == nil; {
			now, _ = processorTime(dir)
		}
		stop()
		if w.stands(time.Duration(look+1) * writePause) {
			t.Fatalf("look %d: it stands still", look)
		}
	}
	if w.stands(6*writePause) || !w.stands(7*writePause) || !w.stands(8*writePause) {
		t.Error("one that is stopped for good does not stand still")
	}
	if w.stands(writePause) {
		t.Error("a new silence begins with the looks of the last one")
	}
	cmd.Process.Signal(syscall.SIGCONT)
	if w.stands(2 * writePause) {
		t.Error("one that runs stands still")
	}
	if w.able = writeLimit; !w.stands(3 * writePause) {
		t.Error("one that has run for so long and taken nothing does not")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !w.stands(4 * writePause) {
		t.Error("one that has ended does not")
	}
	if w := new(witness); w.stands(writeLimit-1) || !w.stands(writeLimit) {
		t.Error("of one of which nothing is known, not all time counts")
	}
}

// A process that only wakes now and then, and is found waiting, could have read all the time.
func TestWitnessOfOneThatWakesNowAndThen(t *testing.T) {
	cmd := await.Command(t, "sh", "-c", "while read -r line; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done")
	wake, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	w, dir := witnessOf(t, cmd)
	const last = int(writeLimit/writePause) + 1 // the first look begins the silence
	for look := 1; look <= last; look++ {
		before, _ := processorTime(dir)
		if _, err := io.WriteString(wake, "now\n"); err != nil {
			t.Fatal(err)
		}
		await.True(t, "it has worked, and waits", func() bool {
			now, wants := processorTime(dir)
			return now-before >= atWork && !wants
		})
		if got := w.stands(time.Duration(look) * writePause); got != (look == last) {
			t.Fatalf("after look %d of %d: it takes nothing for good: %v, and could have read for %v of %v", look, last, got, w.able, writeLimit)
		}
	}
}

// Behind a way that is stopped nothing is taken, however much the Lisp does.
func TestWitnessOfAWayThatIsStopped(t *testing.T) {
	started := func(script string) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	busy, tunnel := started("while :; do :; done"), started("exec sleep 1000")
	dir := fmt.Sprintf("/proc/%d", busy.Process.Pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{lisp: Lisp{pid: busy.Process.Pid, program: exe, way: processAt(fmt.Sprintf("/proc/%d", tunnel.Process.Pid))}}
	stall.Stop(t, tunnel.Process.Pid)
	await.True(t, "the tunnel is stopped", func() bool { return w.lisp.condition() == processWayStopped })
	looks := func(look int) bool {
		t.Helper()
		before, _ := processorTime(dir)
		await.True(t, "the Lisp runs", func() bool { now, _ := processorTime(dir); return now-before >= atWork })
		return w.stands(time.Duration(look) * writePause)
	}
	if looks(1) || looks(2) || !looks(3) {
		t.Error("it does not stand still after two looks")
	}
	tunnel.Process.Signal(syscall.SIGCONT)
	await.True(t, "the tunnel goes on", func() bool { return w.lisp.condition() != processWayStopped })
	if looks(4) {
		t.Error("with a way that goes on it stands still")
	}
}
