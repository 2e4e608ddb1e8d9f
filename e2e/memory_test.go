package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

// peakMiB is the most memory that the server has had so far, without the pages of its own
// file: all servers have these in common, and how many of them are there depends on what the
// system has read of the file before.
func peakMiB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	check(t, err)
	var most, file int
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &most)
		_, _ = fmt.Sscanf(line, "RssFile: %d kB", &file)
	}
	if most == 0 {
		t.Fatalf("no VmHWM in\n%s", status)
	}
	return (most - file) >> 10
}

// Whatever a client sends, and however slowly it reads, the server stays small.
func TestMemoryOfTheServer(t *testing.T) {
	for name, use := range map[string]func(t *testing.T, s *server){
		"a hundred calls of 1 MB": func(t *testing.T, s *server) {
			code := `(length "` + strings.Repeat("x", 1_000_000) + `")`
			var calls []*wire.Pending
			for range 100 {
				p := sendTool(t, s, "evaluate-lisp", object{"code": code, "timeout": 60})
				calls = append(calls, p)
			}
			for _, p := range calls {
				wantAnswer(t, p, "=> 1000000")
			}
		},
		"a call of 15 MB": func(t *testing.T, s *server) {
			r := call(t, s, time.Minute, "evaluate-lisp", object{"code": `(length "` + strings.Repeat("x", 15_000_000) + `")`, "timeout": 60})
			if r.Text() != "=> 15000000" {
				t.Errorf("answered %q", clip(r.Text()))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			l := begin(t, s)
			idle := peakMiB(t, s.PID())
			use(t, s)
			l.goesOn(t, s)
			small(t, s.PID(), idle)
		})
	}
	t.Run("a slow reader", func(t *testing.T) {
		const calls = 600
		cmd := exec.Command(run.binary)
		cmd.Env = environ(run.dir)
		in, err := cmd.StdinPipe()
		check(t, err)
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		defer cmd.Process.Kill()
		go func() {
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"slow","version":"1"}}}`)
			for i := range calls {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":"(make-string 39000 :initial-element (code-char 955))"}}}`+"\n", i)
			}
		}()
		idle := peakMiB(t, cmd.Process.Pid)
		time.Sleep(5 * time.Second)
		small(t, cmd.Process.Pid, idle)
		answered := 0
		for r := bufio.NewReader(out); answered <= calls; answered++ {
			if _, err := r.ReadString('\n'); err != nil {
				t.Fatalf("after %d of %d answers: %v", answered, calls, err)
			}
		}
		small(t, cmd.Process.Pid, idle)
		in.Close()
		cmd.Wait()
	})
}

func small(t *testing.T, pid, idle int) {
	t.Helper()
	const most = 46
	peak := peakMiB(t, pid)
	t.Logf("%d MiB, %d before", peak, idle)
	if peak > most {
		t.Errorf("the server has had %d MiB, want at most %d", peak, most)
	}
}
