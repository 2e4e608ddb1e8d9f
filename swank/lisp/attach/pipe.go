package attach

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"swank-mcp/swank/lisp/host"
)

// commandPipe is a connection through a command, such as ssh -W. Closing it ends
// the command and what it has started.
type commandPipe struct {
	io.Reader
	io.Writer
	cmd    *exec.Cmd
	in     *os.File // our end of its stdout
	out    io.WriteCloser
	errors lastBytes
	once   sync.Once
	disown func()
}

// pipeGrace is how long a command's standard error is listened to after its end.
// Others may hold it for ever: ssh with ControlPersist leaves a process behind.
const pipeGrace = 500 * time.Millisecond

// startPipe runs command in the shell.
func startPipe(command string) (*commandPipe, error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.SysProcAttr = host.OwnGroup()
	cmd.WaitDelay = pipeGrace
	p := &commandPipe{cmd: cmd}
	cmd.Stderr = &p.errors
	var err error
	if p.out, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// Not StdoutPipe, which Wait would close under the reader.
	in, theirs, err := os.Pipe()
	if err != nil {
		p.out.Close()
		return nil, err
	}
	p.in, cmd.Stdout = in, theirs
	err = cmd.Start()
	theirs.Close()
	if err != nil {
		p.out.Close()
		in.Close()
		return nil, fmt.Errorf("starting it: %w", err)
	}
	p.disown = host.Own(cmd.Process.Pid)
	p.Reader, p.Writer = p.in, p.out
	return p, nil
}

// Close implements [io.Closer].
func (p *commandPipe) Close() error {
	p.once.Do(func() {
		p.out.Close()
		host.KillGroup(p.cmd.Process)
		p.in.Close()
		defer p.disown()
		_ = p.cmd.Wait() // killed, or ended before: its complaint is what counts
	})
	return nil
}

// complaint returns the last lines of what the command has said on stderr; "" where
// there is none.
func (p *commandPipe) complaint() string {
	if p == nil {
		return ""
	}
	return p.errors.text()
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct {
	mu  sync.Mutex
	end []byte
}

func (l *lastBytes) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = append(l.end, b...)
	if n := len(l.end) - 2000; n > 0 {
		l.end = append(l.end[:0], l.end[n:]...)
	}
	return len(b), nil
}

func (l *lastBytes) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.end))
}
