package survival

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

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
