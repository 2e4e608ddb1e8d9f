//go:build unix

package harness

import (
	"fmt"
	"io"
	"net"
)

// ForwardTo, set in the environment, makes this program a tunnel to that address, as
// ssh -L is one.
const ForwardTo = "SWANK_MCP_TEST_FORWARD_TO"

func serveForward(to string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("listening %s\n", l.Addr())
	for {
		near, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer near.Close()
			far, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer far.Close()
			go func() {
				io.Copy(far, near)
				far.Close()
			}()
			io.Copy(near, far)
		}()
	}
}
