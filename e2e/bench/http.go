package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"swank-mcp/e2e/wire"
)

// overHTTP measures evaluating over HTTP beside stdio, in n pairs of blocks, with a
// connection that is kept open.
func (l lab) overHTTP(t *table, n int) error {
	project := filepath.Join(l.dir, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		return err
	}
	stdio, _, err := l.start("cache", "--no-checkpoints", "--sandbox", "on", "--project", project)
	if err != nil {
		return err
	}
	defer stdio.Close(10 * time.Second)
	h, err := l.startHTTP(project)
	if err != nil {
		return err
	}
	defer h.end()
	var more []float64
	var all [2]times
	for pair := range n {
		var block [2]times
		for k := range 2 {
			i := (pair + k) % 2
			took, err := repeat(200, func() error {
				if i == 1 {
					return h.eval("(+ 1 2)", "=> 3")
				}
				_, err := stdio.eval("(+ 1 2)", "=> 3")
				return err
			})
			if err != nil {
				return err
			}
			block[i], all[i] = took, append(all[i], took...)
		}
		more = append(more, ms(block[1].at(50))-ms(block[0].at(50)))
	}
	t.add("(+ 1 2), p50", "ms", ms(all[0].at(50)), ms(all[1].at(50)))
	t.add(fmt.Sprintf("how much longer it takes, median of %d pairs of blocks", n), "ms", 0, median(more)).most(0.5)
	h.end()
	for _, of := range []struct {
		name string
		pool int
		most float64
	}{{"cold", 0, 100}, {"from the pool", 2, 20}} {
		h, err := l.startHTTP(project, "--pool", strconv.Itoa(of.pool))
		if err != nil {
			return err
		}
		var named, first, asked times
		for i := range 20 {
			time.Sleep(fillTime)
			began := time.Now()
			err = h.at(fmt.Sprintf("/s/new%s-%d/mcp", of.name[:4], i)).eval("(+ 1 2)", "=> 3")
			if err != nil {
				break
			}
			named = append(named, time.Since(began))
			time.Sleep(fillTime)
			conn := connection{site: h.at("/mcp")}
			began = time.Now()
			if err = conn.begin(); err != nil {
				break
			}
			asked = append(asked, time.Since(began))
			began = time.Now()
			if err = conn.eval("(+ 1 2)", "=> 3"); err != nil {
				break
			}
			first = append(first, time.Since(began))
		}
		h.end()
		if err != nil {
			return err
		}
		t.add("first evaluation of a new session, "+of.name+", p50", "ms", 0, ms(named.at(50))).most(of.most)
		t.add("the same after a handshake, p50", "ms", 0, ms(first.at(50))).most(of.most)
		t.add("the handshake, p50", "ms", 0, ms(asked.at(50)))
	}
	return nil
}

// fillTime is long enough for the pool to be filled again.
const fillTime = 400 * time.Millisecond

// site is a server over HTTP, and a session there.
type site struct {
	url, path string
	cmd       *exec.Cmd
}

func (s site) at(path string) site { return site{url: s.url, path: path} }

var serving = regexp.MustCompile(`serving MCP at (\S+)/mcp\n`)

// startHTTP runs the binary as a server over HTTP that wants no token.
func (l lab) startHTTP(project string, args ...string) (site, error) {
	said := &wire.Output{}
	s := site{path: "/s/bench/mcp", cmd: exec.Command(l.binary, "serve", "--http", "127.0.0.1:0", "--no-auth", "--no-checkpoints", "--max-rate", "1000000", "--project", project)}
	s.cmd.Args = append(s.cmd.Args, args...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = l.env("cache"), project, said
	if err := s.cmd.Start(); err != nil {
		return s, err
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m := serving.FindStringSubmatch(said.String()); m != nil {
			s.url = m[1]
			return s, nil
		}
	}
	s.end()
	return s, errors.New("it does not serve over HTTP:\n" + said.String())
}

func (s site) end() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// eval evaluates code and fails unless the answer contains want.
func (s site) eval(code, want string) error {
	_, err := s.post(map[string]any{"name": "evaluate-lisp", "arguments": map[string]any{"code": code},
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
		}}, "tools/call", want, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "evaluate-lisp")
	return err
}

// connection is one of the era with handshakes.
type connection struct {
	site
	id string
}

const handshakeEra = "2025-11-25"

func (c *connection) begin() error {
	head, err := c.post(map[string]any{"protocolVersion": handshakeEra, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"}}, "initialize", "serverInfo")
	if err != nil {
		return err
	}
	c.id = head.Get("Mcp-Session-Id")
	_, err = c.post(map[string]any{}, "notifications/initialized", "", c.headers()...)
	return err
}

func (c *connection) headers() []string {
	return []string{"MCP-Protocol-Version", handshakeEra, "Mcp-Session-Id", c.id}
}

func (c *connection) eval(code, want string) error {
	_, err := c.post(map[string]any{"name": "evaluate-lisp", "arguments": map[string]any{"code": code}}, "tools/call", want, c.headers()...)
	return err
}

// post sends a message with headers, names and values in turns, and fails unless the answer
// contains want.
func (s site) post(params map[string]any, method, want string, headers ...string) (http.Header, error) {
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		message["id"] = 1
	}
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+s.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(strings.ReplaceAll(string(text), `\u003e`, ">"), want) {
		err = fmt.Errorf("%s %v over HTTP: %s, %.300q, want %q", method, params, answer.Status, text, want)
	}
	return answer.Header, err
}
