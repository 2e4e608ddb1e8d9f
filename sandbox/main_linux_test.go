package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
)

// stallVariable names a file: while it is there, a try writes its process into it and stops.
const stallVariable = "SWANK_MCP_TEST_STALL"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if file, err := os.OpenFile(os.Getenv(stallVariable), os.O_WRONLY, 0); err == nil {
			fmt.Fprintln(file, strconv.Itoa(os.Getpid()))
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		}
		fmt.Fprintln(os.Stderr, Confine(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}
