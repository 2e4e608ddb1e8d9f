package launch

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
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
		l.calls.end()
	})
	call := func(hello string) (told string) {
		conn, err := net.Dial("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, hello+"\x00")
		b, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("after %s: %v", hello, err)
		}
		return string(b)
	}
	for range 5 {
		late := exec.Command(os.Args[0], "-test.run=TestCallsAndWaits$")
		late.Env = append(os.Environ(), callAt+"="+address)
		late.SysProcAttr = host.OwnGroup()
		var heard bytes.Buffer
		late.Stdout = &heard
		if err := late.Start(); err != nil {
			t.Fatal(err)
		}
		limit := time.AfterFunc(10*time.Second, func() { host.KillGroup(late.Process) })
		_ = late.Wait()
		if !limit.Stop() {
			t.Error("a process that calls too late still lives when its connection ends")
		}
		if heard.Len() > 0 {
			t.Errorf("it has heard %q before", heard.String())
		}
	}
	// Code of a session's can call, too: it cannot have another process ended.
	other := exec.Command("sleep", "60")
	other.SysProcAttr = host.OwnGroup()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if told := call(fmt.Sprintf("(:copy 1000 :pid %d)", other.Process.Pid)); runtime.GOOS == "linux" && !strings.Contains(told, ":drop") {
		t.Errorf("who names another process is told %q", told)
	}
	_ = other.Process.Signal(syscall.SIGTERM)
	_ = other.Wait()
	if ws, ok := other.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGTERM {
		t.Errorf("a process that has not called was ended: %v", other.ProcessState)
	}
	for _, hello := range []string{"nonsense", "(:copy 1001 :pid 0)", "(:copy 1002 :pid 1)", "(:copy 1003)"} {
		if told := call(hello); !strings.Contains(told, ":drop") {
			t.Errorf("after %s the process is told %q", hello, told)
		}
	}
}

// callAt is the variable of the environment that has the address at which this program is to
// call as a copy.
const callAt = "SWANK_MCP_TEST_CALL_AT"

// TestCallsAndWaits is a process that calls too late, for TestUnwantedCalls. It prints what it
// is told, and that its connection has ended.
func TestCallsAndWaits(t *testing.T) {
	address := os.Getenv(callAt)
	if address == "" {
		return
	}
	conn, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "(:copy 1000 :pid %d)\x00", os.Getpid())
	told, err := io.ReadAll(conn)
	fmt.Printf("told %q, and then the end: %v", told, err)
	time.Sleep(time.Minute)
}
