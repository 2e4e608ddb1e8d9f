package swank_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"swank-mcp/swank"
	"swank-mcp/swank/swanktest"
)

// One request.
func ExampleConn_Call() {
	var t testing.T // in a program: swank.Dial(ctx, "tcp", "127.0.0.1:4005", …)
	server, stream := net.Pipe()
	peer := swanktest.NewPeer(&t, server)
	peer.Go(func() {
		peer.Expect(`(:emacs-rex (swank:eval-and-grab-output "(print 1)") "COMMON-LISP-USER" t 1)`)
		peer.Send("(:return (:ok (\"\n1 \" \"1\")) 1)")
	})

	conn := swank.NewConn(stream, nil)
	defer conn.Close()
	var g swank.Grabbed
	err := conn.Call(context.Background(), swank.Request{Form: swank.EvalAndGrabOutput("(print 1)")}, &g)
	fmt.Printf("output %q, values %q, error %v\n", g.Output, g.Values, err)
	// Output:
	// output "\n1 ", values "1", error <nil>
}
