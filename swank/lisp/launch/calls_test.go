package launch

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/swank/lisp/host"
)

// A process that calls and that nobody wants sees no end of its connection before it is
// told to end, or has ended: a copy would take it that the server has ended, and remove the
// directory of the image.
func TestUnwantedCalls(t *testing.T) {
	t.Parallel()
	l := &line{runDir: t.TempDir()}
	address, err := l.listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.calls.hangUp()
		l.calls.wait(t.Context())
	})
	call := func(hello string) (told string) {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.WriteString(conn, hello+"\x00")
		b, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("after %s: %v", hello, err)
		}
		return string(b)
	}
	for range 5 {
		late := exec.Command("sleep", "60")
		late.SysProcAttr = host.OwnGroup()
		if err := late.Start(); err != nil {
			t.Fatal(err)
		}
		call(fmt.Sprintf("(:copy 1000 :pid %d)", late.Process.Pid))
		if syscall.Kill(late.Process.Pid, 0) == nil {
			t.Error("a process that calls too late still lives when its connection ends")
			host.KillGroup(late.Process)
			_ = late.Wait()
		}
	}
	for _, hello := range []string{"nonsense", "(:copy 1001 :pid 0)", "(:copy 1002 :pid 1)", "(:copy 1003)"} {
		if told := call(hello); !strings.Contains(told, ":drop") {
			t.Errorf("after %s the process is told %q", hello, told)
		}
	}
}
