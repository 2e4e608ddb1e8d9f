package survival

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// peak is the most memory that a server has had, without the pages of its own file: all
// servers have these in common, and how many of them are there depends on what the system has
// read of the file before. The kernel's own peak, VmHWM, has them in it, and nobody knows how
// many they were then, for it takes them away from who does not use them. So the memory is
// read every millisecond or two; a peak between two looks is missed, but the Go runtime gives
// memory back more slowly than that.
type peak struct{ kiB atomic.Int64 }

// peakOf watches the memory of a process until the end of the test.
func peakOf(t *testing.T, pid int) *peak {
	t.Helper()
	p := new(peak)
	if !p.look(pid) {
		t.Fatalf("/proc/%d/status does not tell the memory of the process", pid)
	}
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.look(pid)
			case <-over:
				return
			}
		}
	}()
	t.Cleanup(func() { close(over); <-watched })
	return p
}

// look reads how much memory the process has, and reports whether that is told.
func (p *peak) look(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var anonymous, shared int64
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Rss") {
			_, _ = fmt.Sscanf(line, "RssAnon: %d kB", &anonymous)
			_, _ = fmt.Sscanf(line, "RssShmem: %d kB", &shared)
		}
	}
	p.kiB.Store(max(p.kiB.Load(), anonymous+shared))
	return anonymous > 0
}

func (p *peak) MiB() int { return int(p.kiB.Load() >> 10) }

// Whatever a client sends, and however slowly it reads, the server stays small.
func TestMemoryOfTheServer(t *testing.T) {
	tier.Nightly(t)
	for name, use := range map[string]func(t *testing.T, s *harness.Server){
		"a hundred calls of 1 MB": func(t *testing.T, s *harness.Server) {
			code := `(length "` + strings.Repeat("x", 1_000_000) + `")`
			var calls []*wire.Pending
			for range 100 {
				p := harness.SendTool(t, s, "evaluate-lisp", harness.Object{"code": code, "timeout": 60})
				calls = append(calls, p)
			}
			for _, p := range calls {
				harness.WantAnswer(t, p, "=> 1000000")
			}
		},
		"a call of 15 MB": func(t *testing.T, s *harness.Server) {
			r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": `(length "` + strings.Repeat("x", 15_000_000) + `")`, "timeout": 60})
			if r.Text() != "=> 15000000" {
				t.Errorf("answered %q", harness.Clip(r.Text()))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.Start(t)
			l := harness.Begin(t, s)
			p := peakOf(t, s.PID())
			idle := p.MiB()
			use(t, s)
			l.GoesOn(t, s)
			small(t, p, idle)
		})
	}
	t.Run("a slow reader", func(t *testing.T) {
		const calls = 600
		cmd := exec.Command(harness.Run.Binary)
		cmd.Env = harness.Environ(harness.Run.Dir)
		in, err := cmd.StdinPipe()
		harness.Check(t, err)
		out, err := cmd.StdoutPipe()
		harness.Check(t, err)
		harness.Check(t, cmd.Start())
		defer cmd.Process.Kill()
		go func() {
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"slow","version":"1"}}}`)
			for i := range calls {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":"(make-string 39000 :initial-element (code-char 955))"}}}`+"\n", i)
			}
		}()
		p := peakOf(t, cmd.Process.Pid)
		idle := p.MiB()
		time.Sleep(5 * time.Second)
		small(t, p, idle)
		answered := 0
		for r := bufio.NewReader(out); answered <= calls; answered++ {
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatalf("after %d of %d answers: %v", answered, calls, err)
			}
		}
		small(t, p, idle)
		in.Close()
		cmd.Wait()
	})
}

func small(t *testing.T, p *peak, idle int) {
	t.Helper()
	const most = 46
	had := p.MiB()
	t.Logf("%d MiB, %d before", had, idle)
	if had > most {
		t.Errorf("the server has had %d MiB, want at most %d", had, most)
	}
}
