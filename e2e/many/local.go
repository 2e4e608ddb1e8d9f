package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// local is a server of this machine that was started for the sessions.
type local struct {
	dir   string
	cmd   *exec.Cmd
	ended chan struct{}
	log   syncText
	url   string
}

// syncText keeps what a process writes.
type syncText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (t *syncText) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *syncText) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

var serving = regexp.MustCompile(`serving MCP at (\S+)/mcp\n`)

// startTime is how long it may take to serve, or to start images: on a machine at work building
// the core takes a while.
const startTime = 5 * time.Minute

// startLocal starts the server with its files below dir, and waits until its first image has
// been started: a core is built before that.
func startLocal(o options, dir string, args ...string) (*local, error) {
	l := &local{dir: dir, ended: make(chan struct{})}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	l.cmd = exec.Command(binary, append([]string{"serve", "--http", "127.0.0.1:0", "--no-userinit"}, args...)...)
	l.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "SWANK_MCP_RUN_DIR=" + filepath.Join(dir, "run"), "LANG=C.UTF-8"}
	l.cmd.Dir = filepath.Join(dir, "project")
	if err := os.Mkdir(l.cmd.Dir, 0o700); err != nil {
		return nil, err
	}
	l.cmd.Stderr = &l.log
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = l.cmd.Wait()
		close(l.ended)
	}()
	tooLate := time.After(startTime)
	for {
		if m := serving.FindStringSubmatch(l.log.String()); m != nil {
			l.url = m[1]
			return l, nil
		}
		select {
		case <-l.ended:
			return nil, fmt.Errorf("the server has ended: %s", l.log.String())
		case <-tooLate:
			l.stop()
			return nil, fmt.Errorf("the server does not serve after %v: %s", startTime, l.log.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (l *local) state() string  { return filepath.Join(l.dir, ".local/state/swank-mcp/http") }
func (l *local) tokens() string { return filepath.Join(l.state(), "tokens") }

// stopTime is how long the server may take to end.
const stopTime = 3 * time.Minute

// stop ends the server and returns how long that took.
func (l *local) stop() time.Duration {
	began := time.Now()
	_ = l.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-l.ended:
	case <-time.After(stopTime):
		_ = l.cmd.Process.Kill()
		<-l.ended
	}
	return time.Since(began)
}

// metric is a number of the server's page for Prometheus.
func (l *local) metric(c *client, name string) (float64, error) {
	r, err := http.NewRequestWithContext(context.Background(), "GET", l.url+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(body)
	if m == nil {
		return 0, fmt.Errorf("there is no %s: %.300s", name, body)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// await waits until the metric has the value.
func (l *local) await(c *client, name string, want float64, patience time.Duration) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got, err := l.metric(c, name)
		if err != nil || got == want {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is %v after %v, not %v", name, got, patience, want)
		}
	}
}

// memory is what the server and the processes that come of it take, in MiB: of pages that are
// shared, each has its part.
func (l *local) memory() (server, images float64, processes int) {
	server = pss(l.cmd.Process.Pid)
	for _, pid := range below(l.cmd.Process.Pid) {
		images += pss(pid)
		processes++
	}
	return server, images, processes
}

var pssLine = regexp.MustCompile(`(?m)^(?:Pss|SwapPss):\s+(\d+) kB$`)

func pss(pid int) (mib float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it may have ended
	for _, m := range pssLine.FindAllSubmatch(text, -1) {
		kb, _ := strconv.Atoi(string(m[1]))
		mib += float64(kb) / 1024
	}
	return mib
}

// below returns the processes that come of one.
func below(pid int) (all []int) {
	children := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var state string
		var parent int
		_, _ = fmt.Sscan(string(text[strings.LastIndexByte(string(text), ')')+1:]), &state, &parent)
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		children[parent] = append(children[parent], child)
	}
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		all = append(all, children[todo[0]]...)
		todo = append(todo, children[todo[0]]...)
	}
	return all
}
