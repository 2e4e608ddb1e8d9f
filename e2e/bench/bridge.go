package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"swank-mcp/e2e/wire"
)

// lab is the home, cache and binary of one run of the benchmark.
type lab struct {
	binary, dir string
}

func (l lab) env(cache string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "TMPDIR=" + l.dir, "SWANK_MCP_RUN_DIR=" + l.dir,
		"XDG_CACHE_HOME=" + filepath.Join(l.dir, cache), "LANG=C.UTF-8"}
}

// bridge is one running binary.
type bridge struct{ *wire.Client }

// start runs the binary and opens it; it also tells how long that took,
// counted from just before the process was made.
func (l lab) start(cache string, args ...string) (bridge, time.Duration, error) {
	c, err := wire.Start(wire.Options{Env: l.env(cache), NoRecord: true}, l.binary, args...)
	if err != nil {
		return bridge{}, 0, err
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if _, err := c.Open(ctx); err != nil {
		c.Kill()
		return bridge{}, 0, fmt.Errorf("%w\n%s", err, c.Said())
	}
	return bridge{c}, time.Since(c.Started()), nil
}

// eval evaluates code and fails unless the reply contains want.
func (b bridge) eval(code, want string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	r, err := b.Tool(ctx, "evaluate-lisp", map[string]any{"code": code})
	if err != nil {
		return "", fmt.Errorf("evaluating %s: %w\n%s", code, err, b.Said())
	}
	if text := r.Text(); !strings.Contains(text, want) {
		return text, fmt.Errorf("evaluating %s: got %.300q, want %q", code, text, want)
	}
	return r.Text(), nil
}

// number evaluates code whose value is an integer.
func (b bridge) number(code string) (int, error) {
	text, err := b.eval(code, "=> ")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(text, "=> ")))
}

var addressPattern = regexp.MustCompile(`unix:\S+\.sock|127\.0\.0\.1:\d+`)

// address is where the image listens, as session-status tells it.
func (c *lean) address() (string, error) {
	text, err := c.tool("session-status")
	if err != nil {
		return "", err
	}
	addr := addressPattern.FindString(text)
	if addr == "" {
		return "", fmt.Errorf("session-status shows no address:\n%s", text)
	}
	return addr, nil
}

// memory reads a line of the kernel's account of the bridge, in MiB: VmRSS
// (now) or VmHWM (highest so far).
func (b bridge) memory(line string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.PID()))
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(data)
	if m == nil {
		return 0, fmt.Errorf("no %s of process %d", line, b.PID())
	}
	kb, err := strconv.Atoi(string(m[1]))
	return float64(kb) / 1024, err
}
