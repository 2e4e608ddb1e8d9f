package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"swank-mcp/swank/lisp/host"
)

// Process is one SBCL that we started, or a copy of one ([Copy.Start]): the leader of its
// own process group, its output drained for as long as it lives. Whoever has it calls
// Close, or End if others of its line go on. It is a [host.Host].
type Process struct {
	*line
	status   imageStatus // what the image said of itself when it served
	fromCore bool
	core     string   // that it was started from, or ""
	notes    []string // remarks on the start, one line each

	pid    int
	child  *os.Process      // whom the system may let us wait for
	state  *os.ProcessState // how it ended; nil if only that it has
	socket string           // at which it serves, "" if at none of the file system
	report *os.File         // read end of the status pipe, nil once served
	peer   *peer            // to a copy, or nil
	before int64            // bytes of standard error that others of the line had written

	done chan struct{} // closed when the process is reaped and its output read
}

// coreFD is the descriptor of the core that [spawn] hands over.
const coreFD = 5

// spawn starts program with the four descriptors of boot.lisp, and that of core unless that is nil, after
// prepare has seen the command, and writes parameters on the lifetime pipe. On an error nothing is left.
func spawn(program string, args []string, dir string, parameters []byte, core *os.File, prepare func(*exec.Cmd) error) (_ *Process, err error) {
	var opened []*os.File
	defer func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			opened = append(opened, r, w)
		}
		return r, w
	}
	lifetimeR, lifetimeW := pipe()
	reportR, reportW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	if err != nil {
		return nil, fmt.Errorf("making pipes: %w", err)
	}
	// A pipe holds 4 KiB at least, so this does not wait for the reader.
	if _, err = lifetimeW.Write(parameters); err != nil {
		return nil, fmt.Errorf("writing parameters: %w", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = outW, errW
	cmd.ExtraFiles = []*os.File{lifetimeR, reportW}
	if core != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, core)
	}
	cmd.SysProcAttr = host.OwnGroup()
	if err := prepare(cmd); err != nil {
		return nil, err
	}
	l, err := newLine(lifetimeW, outR, errR)
	if err != nil {
		return nil, err
	}
	if err = cmd.Start(); err != nil {
		l.out.close()
		l.err.close()
		return nil, err
	}
	opened = []*os.File{lifetimeR, reportW, outW, errW} // the child has its own now
	p := &Process{line: l, pid: cmd.Process.Pid, child: cmd.Process, report: reportR, done: make(chan struct{})}
	disown := host.Own(p.pid)
	go func() {
		awaitEnd(cmd.Process.Pid)
		_ = cmd.Wait() // how it ended is in ProcessState
		disown()
		p.ended(cmd.ProcessState)
	}()
	return p, nil
}

// ended notes how the process has ended, and ends what it left behind in its group.
func (p *Process) ended(state *os.ProcessState) {
	p.state = state
	p.signalGroup()
	p.Settle()
	close(p.done)
	reapGroup(p.pid)
}

// signalGroup kills every process of the group. The group's id is the pid of
// its leader, which the system does not give away while the group exists.
func (p *Process) signalGroup() { host.KillGroup(p.child) }

// PID returns the process id of the image, which is also that of its group.
func (p *Process) PID() int { return p.pid }

// Address returns what net.Dial takes to reach Swank.
func (p *Process) Address() (network, address string) {
	if p.socket != "" { // whatever it says: code of the session's may have spoken
		return "unix", p.socket
	}
	return p.status.Network, p.status.Address
}

// Secret returns what the image wants to be sent first by whoever connects to its address, or "".
func (p *Process) Secret() string { return p.secret }

// Dir is the image's own directory, which Close removes.
func (p *Process) Dir() string { return p.runDir }

// Exited is closed when the image has ended and all that it printed is kept.
func (p *Process) Exited() <-chan struct{} { return p.done }

// Remarks returns what there is to say about the start, one line each.
func (p *Process) Remarks() []string { return p.notes }

// FromCore reports whether it was started from the cached core.
func (p *Process) FromCore() bool { return p.fromCore }

// KeptFasls is the directory for fasls of a project that images from the same core can
// take, with a slash at its end; "" if the image was not started from a core. It is
// removed with the core.
func (p *Process) KeptFasls() string {
	if p.core == "" || p.image.cacheProblem != "" || p.image.sandbox != nil {
		return "" // others load them
	}
	dir := filepath.Join(filepath.Dir(p.core), "fasls")
	pruneFasls(dir)
	return dir + "/"
}

// Killed is the word for what Kill does.
func (p *Process) Killed() string { return "killed" }

// HasExited reports whether the image has ended and all that it printed is kept.
func (p *Process) HasExited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// ExitText tells how the image ended: "exit status 3", "killed by signal 9
// (killed)", or "still running".
func (p *Process) ExitText() string {
	if !p.HasExited() {
		return "still running"
	}
	state := p.state
	if state == nil {
		return "ended for an unknown reason"
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("killed by signal %d (%v)", int(ws.Signal()), ws.Signal())
	}
	return fmt.Sprintf("exit status %d", state.ExitCode())
}

// LastErrors returns the last lines, at most 20, of what came on standard error since
// the image was started, or "".
func (p *Process) LastErrors() string {
	p.last.Lock()
	own := p.last.tail
	if others := len(own.buf) - int(p.last.written-p.before); others > 0 {
		own.buf, own.dropped = own.buf[others:], 0
	}
	text, omitted := own.take()
	p.last.Unlock()
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if omitted > 0 && len(lines) > 1 {
		lines = lines[1:] // its beginning is cut off
	}
	if len(lines) > 20 {
		lines = lines[len(lines)-20:]
	}
	return strings.Join(lines, "\n")
}

// Background returns what reached the image's descriptors 1 and 2 since it was
// last called.
func (p *Process) Background() host.Text { return p.printed.take() }

// Settle returns when Background would return all that was written before.
func (p *Process) Settle() {
	p.out.settle()
	p.err.settle()
}

// Kill ends the image and the processes of its group at once.
func (p *Process) Kill() {
	if !p.HasExited() {
		p.signalGroup()
	}
}

// Close ends the image, its copies, and all that has come of them, and releases all that
// belongs to them: processes, goroutines, descriptors, their directory. They are killed: to
// end by itself an image does no more either, at the end of its lifetime pipe. It waits until
// they have ended, whatever ctx says. It may be called more than once.
func (p *Process) Close(context.Context) {
	p.closeOnce.Do(func() {
		p.Kill()
		p.hangUp()
		<-p.done
		if p.report != nil {
			_ = p.report.Close()
		}
		p.release()
	})
}

// End kills this image alone and returns when it is reaped: its copies go on.
func (p *Process) End() {
	p.Kill()
	<-p.done
	if p.socket != "" {
		_ = os.Remove(p.socket)
	}
}

// awaitStatus returns the next message of the status pipe. It returns early
// with ctx's error when ctx is done.
func (p *Process) awaitStatus(ctx context.Context) (imageStatus, error) {
	report, fired := p.report, make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = report.SetReadDeadline(time.Unix(1, 0))
	})
	defer func() {
		if !stop() { // it is over before the next one reads, or report is gone
			<-fired
			_ = report.SetReadDeadline(time.Time{})
		}
	}()
	var message []byte
	for one := make([]byte, 1); ; {
		n, err := p.report.Read(one)
		switch {
		case n == 1 && one[0] == 0:
			return parseStatus(message)
		case n == 1:
			message = append(message, one[0])
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() != nil:
			return imageStatus{}, context.Cause(ctx)
		default:
			return imageStatus{}, fmt.Errorf("status pipe: %w", err)
		}
		if len(message) > 1<<20 {
			return imageStatus{}, errors.New("status pipe: message without end")
		}
	}
}

// EndedBy reports whether one of the signals has ended the image.
func (p *Process) EndedBy(signals ...syscall.Signal) bool {
	if !p.HasExited() || p.state == nil {
		return false
	}
	ws, ok := p.state.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && slices.Contains(signals, ws.Signal())
}
