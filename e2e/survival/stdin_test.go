package survival

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// Whatever a client writes, the session goes on; what is no message gets the
// error reply of JSON-RPC, or none where the standard asks for none.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	ping := `{"jsonrpc":"2.0","id":"b1","method":"ping"}`
	for _, c := range []struct {
		name, line string
		code       int // of the error reply with a null id; 0: none wanted
	}{
		{"a word", "hello", -32700},
		{"truncated", `{"jsonrpc":"2.0","id":7,"meth`, -32700},
		{"two texts on a line", `{"jsonrpc":"2.0"} {"jsonrpc":"2.0"}`, -32700},
		{"deep nesting", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), -1},
		{"deep nesting, unclosed", strings.Repeat(`{"a":`, 5000), -1},
		{"no version", `{"id":1001,"method":"ping"}`, -1},
		{"version 1.0", `{"jsonrpc":"1.0","id":1002,"method":"ping"}`, -1},
		{"a number", "42", -32600},
		{"null", "null", -32600},
		{"a string", `"x"`, -32600},
		{"empty object", `{}`, -32600},
		{"empty batch", `[]`, -32600},
		{"batch", "[" + ping + "]", -1},
		{"method is a number", `{"jsonrpc":"2.0","id":1003,"method":5}`, -1},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -1},
		{"id is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -1},
		{"params is a string", `{"jsonrpc":"2.0","id":1004,"method":"tools/list","params":"x"}`, -1},
		{"answer to nothing", `{"jsonrpc":"2.0","id":1005,"result":{}}`, 0},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99999}}`, 0},
		{"cancel without id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, 0},
		{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/nonsense"}`, 0},
		{"blank", "   ", 0},
		{"empty", "", 0},
		{"carriage return", "\r", 0},
		{"NUL bytes", "\x00\x00\x00", -32700},
		{"binary", "\xff\xfe\x80\x01", -32700},
		{"six megabytes of nothing", strings.Repeat(" ", 6<<20), 0},
		{"six megabytes of a word", strings.Repeat("x", 6<<20), -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, received := len(s.NullReplies()), len(s.Received())
			harness.Check(t, s.Inject([]byte(c.line+"\n")))
			if c.code < 0 && await.Until(func() bool { return len(s.Received()) > received }) != nil {
				t.Errorf("no reply to %.80q", c.line)
			}
			harness.Want(t, s, "(+ 1 2)", "=> 3")
			replies := s.NullReplies()[before:]
			switch {
			case c.code == 0 && len(replies) > 0:
				t.Errorf("%.80q was answered: %s", c.line, replies)
			case c.code < -1 && (len(replies) != 1 || !bytes.Contains(replies[0], fmt.Appendf(nil, `"code":%d`, c.code))):
				t.Errorf("%.80q was answered %s, want one error with code %d", c.line, replies, c.code)
			}
		})
	}
	l.GoesOn(t, s)
}

// A call that reads the process' stdin must not eat the calls behind it.
func TestStdinOfTheServerIsNotTheImages(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	var calls []*wire.Pending
	for _, code := range []string{"(read-line sb-sys:*stdin*)", "(read-char sb-sys:*stdin*)", "(read)", "(+ 1 1)", "(+ 1 2)"} {
		p := harness.SendCall(t, s, code)
		calls = append(calls, p)
	}
	for i, text := range []string{"[ERROR] END-OF-FILE", "[ERROR] END-OF-FILE", "[ERROR] END-OF-FILE", "=> 2", "=> 3"} {
		var r wire.Result
		if err := calls[i].Wait(t.Context(), &r); err != nil || !strings.HasPrefix(r.Text(), text) {
			t.Errorf("call %d answered %v, %q; want %q", i, err, r.Text(), text)
		}
	}
	l.GoesOn(t, s)
}

// A message may come in pieces, and many in one piece.
func TestPiecesOfMessages(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	line := `{"jsonrpc":"2.0","id":"piece","method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":"(+ 20 22)"}}}` + "\r\n"
	for i := range len(line) {
		s.Inject([]byte{line[i]})
		if i%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	var many strings.Builder
	for i := range 50 {
		fmt.Fprintf(&many, `{"jsonrpc":"2.0","id":"many%d","method":"ping"}`+"\n", i)
	}
	s.Inject([]byte(many.String()))
	if await.Until(func() bool {
		n := s.Answers()
		for i := range 50 {
			if n[fmt.Sprintf(`"many%d"`, i)] != 1 {
				return false
			}
		}
		return n[`"piece"`] == 1
	}) != nil {
		t.Errorf("not every piece was answered: %v", s.Answers())
	}
	l.GoesOn(t, s)
}

func TestIDsComeBackAsSent(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for _, id := range []jsonrpc2.ID{{Str: "a string", IsString: true}, {Str: "λ😀", IsString: true}, {Str: "123", IsString: true}, {Num: 123456789}} {
		p, err := s.GoTool("evaluate-lisp", harness.Object{"code": "(+ 1 2)"}, wire.CallOptions{ID: &id})
		harness.Check(t, err)
		harness.WantAnswer(t, p, "=> 3")
	}
	s.Inject([]byte(`{"jsonrpc":"2.0","id":0,"method":"ping"}` + "\n"))
	if await.Until(func() bool { return s.Answers()["0"] == 1 }) != nil {
		t.Error("id 0 was not answered")
	}
}

// Cancelled once, twice, before it began, after it ended: no harm.
func TestOddCancellations(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	gate := await.NewGate(t)
	first := harness.SendCall(t, s, gate.Hold())
	waiting := harness.SendCall(t, s, "(setf *kept* :harmed)")
	waiting.Cancel("before its turn")
	waiting.Cancel("again")
	harness.Status(t, s) // it is answered when the server has read what came before it
	gate.Open()
	harness.WantAnswer(t, first, "=> NIL")
	first.Cancel("too late")
	l.GoesOn(t, s)
	if n := s.Answers()[waiting.ID.String()]; n != 0 {
		t.Errorf("the cancelled call was answered %d times", n)
	}
}
