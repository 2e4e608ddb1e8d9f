package survival

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// The client's ends of the streams may belong to other processes, too, and one of
// them may make them blocking ones: a shell does when it reads the terminal again.
func TestSharedStandardStreams(t *testing.T) {
	t.Parallel()
	for name, streams := range map[string]func() (theirs, ours *os.File, err error){
		"pipe": func() (*os.File, *os.File, error) {
			r, w, err := os.Pipe()
			return r, w, err
		},
		"socket": func() (*os.File, *os.File, error) {
			fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			return os.NewFile(uintptr(fds[0]), "theirs"), os.NewFile(uintptr(fds[1]), "ours"), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, send, err := streams()
			harness.Check(t, err)
			defer in.Close()
			defer send.Close()
			cmd := exec.Command(harness.Run.Binary)
			cmd.Env = harness.Environ(harness.Run.Dir)
			cmd.Stdin = in
			out, err := cmd.StdoutPipe()
			harness.Check(t, err)
			harness.Check(t, cmd.Start())
			defer cmd.Process.Kill()
			lines := make(chan string, 100)
			go func() {
				for r := bufio.NewReader(out); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					lines <- line
				}
			}()
			ping := func(id int) bool {
				fmt.Fprintf(send, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id)
				return strings.Contains(await.From(t, "the answer", lines), fmt.Sprintf(`"id":%d,`, id))
			}
			if !ping(1) {
				t.Fatal("the first ping was not answered")
			}
			harness.Check(t, syscall.SetNonblock(int(in.Fd()), false))
			for id := 2; id < 5; id++ {
				if !ping(id) {
					t.Errorf("ping %d was not answered after the input was made a blocking one", id)
				}
			}
			cmd.Process.Signal(syscall.SIGTERM)
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			await.From(t, "the end of the server after SIGTERM", ended)
			io.WriteString(send, "\n")
		})
	}
}

// A client that has gone reads nothing any more, and may have left more requests than are taken
// before answers are read: the end of the input is behind them.
func TestClientGoneWithoutReading(t *testing.T) {
	t.Parallel()
	cmd := await.Command(t, harness.Run.Binary)
	cmd.Env = harness.Environ(harness.Run.Dir)
	in, send, err := os.Pipe()
	harness.Check(t, err)
	receive, out, err := os.Pipe()
	harness.Check(t, err)
	defer receive.Close()
	cmd.Stdin, cmd.Stdout = in, out
	harness.Check(t, cmd.Start())
	in.Close()
	out.Close()
	harness.Check(t, send.SetWriteDeadline(time.Now().Add(2*time.Second)))
	_, err = fmt.Fprintln(send, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"gone","version":"1"}}}`)
	for id := 1; err == nil; id++ { // until nothing more is taken
		_, err = fmt.Fprintf(send, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":"(make-string 30000 :initial-element #\\x) %s"}}}`+"\n", id, strings.Repeat(" ", 3000))
		if err == nil {
			err = send.SetWriteDeadline(time.Now().Add(2 * time.Second))
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	send.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
}
