package swank

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"swank-mcp/internal/await"
	"swank-mcp/swank/swanktest"
)

// FuzzFrame: no input panics; how the bytes arrive makes no difference; and
// what was cut out, framed again, is the input up to where it ended.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{"", "000003abc", "000000", "00000Aaaaaabbbbb000001x", "00000gabc", "0fffff", "    2b", "000014(:return (:ok 1) 77)"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err1 := readAll(bytes.NewReader(in))
		single, err2 := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if fmt.Sprint(whole, err1) != fmt.Sprint(single, err2) {
			t.Fatalf("whole: %q, %v; by byte: %q, %v", whole, err1, single, err2)
		}
		var again []byte
		for _, p := range whole {
			again = append(again, swanktest.Frame(p)...)
		}
		if len(again) > len(in) || !strings.EqualFold(string(again), string(in[:len(again)])) {
			t.Fatalf("%q was read as %q", in, again)
		}
	})
}

// FuzzEvent: whatever frame comes, the connection lives, the reader waits for
// nobody, and a frame that cannot be its answer leaves the pending call pending.
func FuzzEvent(f *testing.F) {
	for _, c := range messages {
		f.Add(c.in)
	}
	for _, c := range debugCases {
		f.Add(c.in)
	}
	for _, s := range []string{`(:return (:ok "v") 1)`, `(:return (:ok) 1)`, `(:return (:abort "NIL") 1)`, `(:return (:ok ("unbalanced ) 1)`,
		`(:invalid-rpc 1 "x")`, `(:reader-error "(:emacs-rex (x) nil t 1)" "m")`, `(:debug 1 1 ("m" "t" nil) nil nil (1))`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		client, server := net.Pipe()
		defer server.Close()
		c := NewConn(client, &Options{Handler: func(d *Debug) { _ = fmt.Sprintf("%+v", d) }})
		defer c.Close()
		go func() {
			for buf := make([]byte, 4096); ; {
				if _, err := server.Read(buf); err != nil {
					return
				}
			}
		}()
		k := mustGo(t, c)
		server.Write([]byte(swanktest.Frame(in) + swanktest.Frame(`(:return (:ok "sentinel") 1)`)))
		var v string
		err := k.Wait(await.Context(t), &v)
		if cause := c.Err(); cause != nil {
			t.Fatalf("connection failed: %v", cause)
		}
		answers := strings.Contains(in, "1") && (strings.Contains(in, ":return") || strings.Contains(in, ":invalid-rpc") || strings.Contains(in, ":reader-error"))
		if !answers && (err != nil || v != "sentinel") {
			t.Fatalf("call ended with %q, %v", v, err)
		}
	})
}
