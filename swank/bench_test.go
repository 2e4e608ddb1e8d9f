package swank

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/swank/swanktest"
)

// pong answers each request with its id, at the least cost.
func pong(nc net.Conn) {
	r := bufio.NewReader(nc)
	var buf, out []byte
	for {
		h, err := r.Peek(6)
		if err != nil {
			return
		}
		n, _ := strconv.ParseUint(string(h), 16, 24)
		r.Discard(6)
		buf = append(buf[:0], make([]byte, n)...)
		if _, err := io.ReadFull(r, buf); err != nil {
			return
		}
		id := buf[strings.LastIndexByte(string(buf), ' ')+1:]
		out = append(out[:0], "000000(:return (:ok (\"\" \"3\")) "...)
		out = append(out, id...)
		copy(out, fmt.Sprintf("%06X", len(out)-6))
		if _, err := nc.Write(out); err != nil {
			return
		}
	}
}

func socketPair(b *testing.B) (client, server net.Conn) {
	l, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("unix", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// BenchmarkCall is one evaluation after another; compare BenchmarkRaw, the same
// bytes without this package.
func BenchmarkCall(b *testing.B) {
	client, server := socketPair(b)
	go pong(server)
	c := NewConn(client, nil)
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		var g Grabbed
		if err := c.Call(context.Background(), Request{Form: EvalAndGrabOutput("(+ 1 2)"), Thread: 4}, &g); err != nil || g.Values != "3" {
			b.Fatal(g, err)
		}
	}
}

// BenchmarkRaw is the floor: a prepared request written, a reply read.
func BenchmarkRaw(b *testing.B) {
	client, server := socketPair(b)
	go pong(server)
	req := []byte(swanktest.Frame(`(:emacs-rex (swank:eval-and-grab-output "(+ 1 2)") "COMMON-LISP-USER" 4 1000)`))
	buf := make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := client.Write(req); err != nil {
			b.Fatal(err)
		}
		if _, err := client.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMessages is the reader's own cost.
func BenchmarkMessages(b *testing.B) {
	for _, m := range []string{`(:write-string "some line of output\n")`, debugMessage(4, 1, "(1)"), `(:return (:ok ("" "3")) 4711)`} {
		b.Run(headOf([]byte(m)), func(b *testing.B) {
			c := &Conn{calls: map[int64]*Call{}, debugs: map[ThreadID][]*Debug{}, opts: Options{Handler: func(*Debug) {}}}
			payload := []byte(m)
			b.ReportAllocs()
			for b.Loop() {
				c.dispatch(frame{payload: payload})
			}
		})
	}
}
