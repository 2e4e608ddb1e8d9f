package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// lean is the least MCP client that can be, as raw is the least Swank client:
// it writes lines and reads lines. A client that does more would measure
// itself: between two processors, one wake-up too many is a third of a call.
type lean struct {
	cmd *exec.Cmd
	out io.WriteCloser
	in  *bufio.Reader
	id  int
}

// startLean runs the binary and opens it in the handshake's era.
func (l lab) startLean(cache string) (*lean, error) {
	c := &lean{cmd: exec.Command(l.binary)}
	c.cmd.Env = l.env(cache)
	c.cmd.Stderr = os.Stderr
	var err error
	if c.out, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	in, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in = bufio.NewReaderSize(in, 1<<16)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.send("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`); err != nil {
		return nil, err
	}
	if _, err := c.next(); err != nil {
		return nil, err
	}
	_, err = io.WriteString(c.out, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, err
}

func (c *lean) send(method, params string) error {
	c.id++
	_, err := fmt.Fprintf(c.out, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.id, method, params)
	return err
}

// next returns the next line, which must be a reply.
func (c *lean) next() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		var b []byte
		b, err = c.in.ReadBytes('\n')
		line = append(bytes.Clone(line), b...)
	}
	if err == nil && !bytes.Contains(line, []byte(`"result"`)) {
		err = fmt.Errorf("got %.300s", line)
	}
	return line, err
}

func (c *lean) sendEval(code string) error {
	return c.send("tools/call", `{"name":"evaluate-lisp","arguments":{"code":`+strconv.Quote(code)+`}}`)
}

// eval evaluates code and fails unless the reply contains want.
func (c *lean) eval(code, want string) error {
	if err := c.sendEval(code); err != nil {
		return err
	}
	line, err := c.next()
	if err == nil && !bytes.Contains(line, []byte(want)) {
		err = fmt.Errorf("evaluating %s: got %.300s, want %q", code, line, want)
	}
	return err
}

// flight evaluates code n times with depth calls in flight.
func (c *lean) flight(code, want string, n, depth int) (time.Duration, error) {
	began := time.Now()
	for sent, done := 0, 0; done < n; done++ {
		for ; sent < n && sent-done < depth; sent++ {
			if err := c.sendEval(code); err != nil {
				return 0, err
			}
		}
		line, err := c.next()
		if err == nil && !bytes.Contains(line, []byte(want)) {
			err = fmt.Errorf("in flight: got %.300s", line)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// tool calls a tool and returns its text.
func (c *lean) tool(name string) (string, error) {
	if err := c.send("tools/call", `{"name":"`+name+`","arguments":{}}`); err != nil {
		return "", err
	}
	line, err := c.next()
	if err != nil {
		return "", err
	}
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &reply); err != nil || len(reply.Result.Content) == 0 {
		return "", fmt.Errorf("%s: %v, %.300s", name, err, line)
	}
	return reply.Result.Content[0].Text, nil
}

// close ends the program, which goes when its input ends.
func (c *lean) close() error {
	c.out.Close()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	kill := context.AfterFunc(ctx, func() { c.cmd.Process.Kill() })
	defer kill()
	return c.cmd.Wait()
}
