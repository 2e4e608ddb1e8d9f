package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Options say how a server is started and spoken to.
type Options struct {
	Era      Era
	Env      []string // environment of the server; nil inherits ours
	Dir      string   // its working directory; "" inherits ours
	Client   string   // the name that we give; "" is "wire"
	NoRecord bool     // keep no record of the lines, for long measurements
}

// Client is one running server and the connection to it.
type Client struct {
	opts   Options
	cmd    *exec.Cmd
	conn   *jsonrpc2.Conn
	stream *stream
	stderr Output
	seq    atomic.Uint64

	mu       sync.Mutex
	progress map[string]func(Progress)
	notes    []json.RawMessage // other notifications and requests of the server

	exited  chan struct{}
	exitErr error // valid once exited is closed
	started time.Time
}

// Start runs the named program with pipes for stdin, stdout and stderr. It
// sends nothing: see [Client.Open].
func Start(o Options, name string, args ...string) (*Client, error) {
	c := &Client{opts: o, progress: map[string]func(Progress){}, exited: make(chan struct{})}
	c.cmd = exec.Command(name, args...)
	c.cmd.Env, c.cmd.Dir = o.Env, o.Dir
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe: Wait would close it under a reader that still has lines to take.
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout = outW
	c.cmd.Stderr = &c.stderr
	// An image that outlived its server would hold stderr open: Wait must not hang on it.
	c.cmd.WaitDelay = 2 * time.Second
	c.started = time.Now()
	err = c.cmd.Start()
	outW.Close()
	if err != nil {
		outR.Close()
		return nil, fmt.Errorf("wire: starting %q: %w", name, err)
	}
	go func() {
		c.exitErr = c.cmd.Wait()
		close(c.exited)
	}()
	c.stream = &stream{out: in, in: bufio.NewReaderSize(outR, 1<<16), rec: !o.NoRecord}
	quiet := log.New(io.Discard, "", 0)
	c.conn = jsonrpc2.NewConn(context.Background(), c.stream, handler{c}, jsonrpc2.SetLogger(quiet))
	return c, nil
}

// PID is the process id of the server.
func (c *Client) PID() int { return c.cmd.Process.Pid }

// Started is the moment just before the server process was made.
func (c *Client) Started() time.Time { return c.started }

// Exited is closed once the server process has ended and been waited for.
func (c *Client) Exited() <-chan struct{} { return c.exited }

// Disconnected is closed once nothing more can arrive from the server.
func (c *Client) Disconnected() <-chan struct{} { return c.conn.DisconnectNotify() }

// Inject writes raw bytes to the server's stdin, never inside a message.
func (c *Client) Inject(data []byte) error { return c.stream.write(data) }

// CloseStdin ends the server's input and leaves its output open.
func (c *Client) CloseStdin() error { return c.stream.Close() }

// Close ends the server's input and waits at most limit for it to exit, then
// kills it and says so.
func (c *Client) Close(limit time.Duration) error {
	c.stream.Close()
	select {
	case <-c.exited:
	case <-time.After(limit):
		c.Kill()
		return fmt.Errorf("wire: server still running %v after the end of its input", limit)
	}
	select {
	case <-c.Disconnected():
	case <-time.After(limit):
		return errors.New("wire: something keeps the server's stdout open after its end")
	}
	if c.exitErr != nil {
		return fmt.Errorf("wire: server ended badly: %w", c.exitErr)
	}
	return c.Breach()
}

// Kill ends the server with SIGKILL and waits for it.
func (c *Client) Kill() {
	c.cmd.Process.Signal(syscall.SIGKILL)
	<-c.exited
}

// Breach is the first thing the server wrote that was not one UTF-8 JSON-RPC
// message on one line, or nil.
func (c *Client) Breach() error {
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	return c.stream.bad
}

// Sent returns what was written so far, oldest first.
func (c *Client) Sent() []Line {
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	return slices.Clone(c.stream.sent)
}

// Received returns what the server has written so far, oldest first.
func (c *Client) Received() []Line {
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	return slices.Clone(c.stream.got)
}

// NullReplies returns the error replies that carried no id.
func (c *Client) NullReplies() []json.RawMessage {
	c.stream.mu.Lock()
	defer c.stream.mu.Unlock()
	return slices.Clone(c.stream.null)
}

// Said returns what the server has logged so far.
func (c *Client) Said() string { return c.stderr.String() }

// Output is what a program writes. It may be read meanwhile.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *Output) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns what was written so far.
func (b *Output) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
