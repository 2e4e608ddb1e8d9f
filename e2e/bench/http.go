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
	var first times
	for i := range 20 {
		began := time.Now()
		if err := h.at(fmt.Sprintf("/s/new%d/mcp", i)).eval("(+ 1 2)", "=> 3"); err != nil {
			return err
		}
		first = append(first, time.Since(began))
	}
	t.add("first evaluation of a new session, p50", "ms", 0, ms(first.at(50))).most(100)
	return nil
}

// site is a server over HTTP, and a session there.
type site struct {
	url, path string
	cmd       *exec.Cmd
}

func (s site) at(path string) site { return site{url: s.url, path: path} }

var serving = regexp.MustCompile(`serving MCP at (\S+)/mcp\n`)

// startHTTP runs the binary as a server over HTTP that wants no token.
func (l lab) startHTTP(project string) (site, error) {
	said := &wire.Output{}
	s := site{path: "/s/bench/mcp", cmd: exec.Command(l.binary, "serve", "--http", "127.0.0.1:0", "--no-auth", "--no-checkpoints", "--max-rate", "1000000", "--project", project)}
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
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "evaluate-lisp", "arguments": map[string]any{"code": code},
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1"},
		}}})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+s.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "evaluate-lisp"} {
		r.Header.Set(k, v)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !strings.Contains(strings.ReplaceAll(string(text), `\u003e`, ">"), want) {
		err = fmt.Errorf("evaluating %s over HTTP: %s, %.300q, want %q", code, answer.Status, text, want)
	}
	return err
}
